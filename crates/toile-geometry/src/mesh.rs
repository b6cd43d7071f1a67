//! A triangle mesh: connectivity and positions.

use crate::{MeshError, Topology, Vec3};

/// A triangle mesh with checked connectivity and finite positions.
#[derive(Clone, Debug, PartialEq)]
pub struct TriMesh {
    /// Who is joined to whom.
    pub topology: Topology,
    /// Where the vertices are \[m\].
    pub positions: Vec<Vec3>,
}

impl TriMesh {
    /// Checks connectivity ([`Topology::new`]) and that every coordinate is finite.
    ///
    /// Shape is not judged: flat or tiny triangles pass, [`diagnose`](crate::diagnose())
    /// reports them.
    pub fn new(positions: Vec<Vec3>, faces: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        let topology = Topology::new(positions.len(), faces)?;
        let bad = positions.iter().position(|x| !is_finite(x));
        if let Some(vertex) = bad {
            return Err(MeshError::NotFinite { vertex });
        }
        Ok(Self { topology, positions })
    }

    /// Vertices of each face.
    pub fn faces(&self) -> &[[u32; 3]] {
        self.topology.faces()
    }

    /// The three corners of a face \[m\]. Panics if there is no such face.
    pub fn corners(&self, face: usize) -> [Vec3; 3] {
        self.faces()[face].map(|v| self.positions[v as usize])
    }
}

pub(crate) fn is_finite(x: &Vec3) -> bool {
    x.iter().all(|c| c.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_that_is_no_number_is_refused() {
        for bad in [f64::NAN, f64::INFINITY] {
            let positions = vec![Vec3::zeros(), Vec3::x(), Vec3::new(0.0, bad, 0.0)];
            assert_eq!(
                TriMesh::new(positions, vec![[0, 1, 2]]),
                Err(MeshError::NotFinite { vertex: 2 })
            );
        }
    }
}
