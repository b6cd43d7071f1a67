//! Areas, normals and size of a mesh.

use crate::{Topology, TriMesh, Vec3};

/// Area of each face \[m²\].
pub fn face_areas(topology: &Topology, positions: &[Vec3]) -> Vec<f64> {
    let faces = topology.faces().iter();
    faces.map(|face| 0.5 * double_area_vector(face, positions).norm()).collect()
}

/// Unit normal of each face; zero for a face without area.
pub fn face_normals(topology: &Topology, positions: &[Vec3]) -> Vec<Vec3> {
    let faces = topology.faces().iter();
    let normal = |face| double_area_vector(face, positions).try_normalize(0.0).unwrap_or_default();
    faces.map(normal).collect()
}

/// Area of each vertex \[m²\]: a third of the faces around it. They sum to the whole area.
pub fn vertex_areas(topology: &Topology, positions: &[Vec3]) -> Vec<f64> {
    let mut areas = vec![0.0; topology.vertex_count()];
    for face in topology.faces() {
        let third = double_area_vector(face, positions).norm() / 6.0;
        for &v in face {
            areas[v as usize] += third;
        }
    }
    areas
}

/// Area-weighted unit normal of each vertex; zero where the normals around cancel.
pub fn vertex_normals(topology: &Topology, positions: &[Vec3]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::zeros(); topology.vertex_count()];
    for face in topology.faces() {
        let weighted = double_area_vector(face, positions);
        for &v in face {
            normals[v as usize] += weighted;
        }
    }
    normals.iter().map(|n| n.try_normalize(0.0).unwrap_or_default()).collect()
}

/// Lowest and highest corner of the axis-aligned box around the points \[m\]; `None` without
/// points. Coordinates that are not numbers are left out.
pub fn bounding_box(positions: &[Vec3]) -> Option<[Vec3; 2]> {
    let first = positions.first()?;
    let grow =
        |[low, high]: [Vec3; 2], x: &Vec3| [low.zip_map(x, f64::min), high.zip_map(x, f64::max)];
    Some(positions.iter().fold([*first, *first], grow))
}

/// Diagonal of the axis-aligned box around the points \[m\]; 0 without points.
pub fn size(positions: &[Vec3]) -> f64 {
    bounding_box(positions).map_or(0.0, |[low, high]| (high - low).norm())
}

impl TriMesh {
    /// Area of each face \[m²\].
    pub fn face_areas(&self) -> Vec<f64> {
        face_areas(&self.topology, &self.positions)
    }

    /// Unit normal of each face; zero for a face without area.
    pub fn face_normals(&self) -> Vec<Vec3> {
        face_normals(&self.topology, &self.positions)
    }

    /// A third of the faces around each vertex \[m²\].
    pub fn vertex_areas(&self) -> Vec<f64> {
        vertex_areas(&self.topology, &self.positions)
    }

    /// Whole area \[m²\].
    pub fn area(&self) -> f64 {
        self.face_areas().iter().sum()
    }

    /// Volume enclosed by a closed mesh \[m³\], positive with outward normals. Without meaning
    /// for a mesh with a boundary.
    pub fn volume(&self) -> f64 {
        let cone = |f| {
            let [a, b, c] = self.corners(f);
            a.dot(&b.cross(&c)) / 6.0
        };
        (0..self.faces().len()).map(cone).sum()
    }

    /// Diagonal of the axis-aligned box around the mesh \[m\].
    pub fn size(&self) -> f64 {
        size(&self.positions)
    }

    /// Angle defect of each vertex \[rad\]; see [`angle_defects`](crate::angle_defects).
    pub fn angle_defects(&self) -> Vec<f64> {
        crate::angle_defects(&self.topology, &self.positions)
    }
}

/// Normal of a face with twice its area as length.
fn double_area_vector(face: &[u32; 3], positions: &[Vec3]) -> Vec3 {
    let [a, b, c] = face.map(|v| positions[v as usize]);
    (b - a).cross(&(c - a))
}
