//! Part of a symmetric shell: borders on a plane of symmetry see their own mirror image.

use toile_energy::{Curvature, KoiterFace, KoiterRest, Membrane, ShellStiffness, StencilEnergy};
use toile_geometry::measure::{EdgeRule, FORM_COORDINATES, NormalRule, triangle_area};
use toile_geometry::{TriMesh, Vec3};
use toile_num::{Matrix, Scalar, Vector};
use toile_sim::{ModelBuilder, NO_NODE, Role, ShellNodes};

const N: usize = FORM_COORDINATES;

/// A face whose neighbour across some edges is its own mirror image in a coordinate plane.
///
/// The vertex across such an edge is the reflected corner, so the stencil is a linear map followed by
/// [`KoiterFace`], and its derivatives are those of the face pulled back. The coordinates of that vertex are not looked
/// at. Corner 0 must lie on every plane of the face: then coordinates relative to it reflect as absolute ones
/// do, and keep their last digits. Check: `derivatives_match_dual_numbers`, `half_a_shell_with_its_image_is_the_whole`.
#[derive(Clone, Copy, Debug)]
pub struct MirroredFace {
    /// The face; mirrored edges have `fold` = ½ and `turn` = 0, since a symmetric normal lies in the plane.
    pub face: KoiterFace,
    /// For each edge, by opposite corner: the axis normal to its plane of symmetry, if it has one.
    pub planes: [Option<usize>; 3],
}

impl MirroredFace {
    /// Puts the reflected corners in the place of the missing neighbours.
    fn unfold<T: Scalar>(&self, x: &Vector<N, T>) -> Vector<N, T> {
        let mut full = *x;
        for (m, plane) in self.planes.iter().enumerate() {
            if let Some(axis) = *plane {
                for k in 0..3 {
                    full[9 + 3 * m + k] = if k == axis { -x[3 * m + k] } else { x[3 * m + k] };
                }
            }
        }
        full
    }

    /// Transpose of [`Self::unfold`] on the rows of a matrix.
    fn pull_back<const C: usize>(&self, mut g: Matrix<N, C>) -> Matrix<N, C> {
        for (m, plane) in self.planes.iter().enumerate() {
            if let Some(axis) = *plane {
                for c in 0..C {
                    for k in 0..3 {
                        let image = g[(9 + 3 * m + k, c)];
                        g[(9 + 3 * m + k, c)] = 0.0;
                        g[(3 * m + k, c)] += if k == axis { -image } else { image };
                    }
                }
            }
        }
        g
    }
}

impl StencilEnergy<N> for MirroredFace {
    const NODES: &'static [u8] = <KoiterFace as StencilEnergy<N>>::NODES;
    type Rest = KoiterRest;

    fn rest(&self, x_bar: &Vector<N>) -> KoiterRest {
        self.face.rest(&self.unfold(x_bar))
    }

    fn value<T: Scalar>(&self, x: &Vector<N, T>, x_bar: &Vector<N, T>) -> T {
        self.face.value(&self.unfold(x), &self.unfold(x_bar))
    }

    fn energy(&self, x: &Vector<N>, rest: &KoiterRest) -> f64 {
        self.face.energy(&self.unfold(x), rest)
    }

    fn gradient(&self, x: &Vector<N>, rest: &KoiterRest) -> Vector<N> {
        self.pull_back(self.face.gradient(&self.unfold(x), rest))
    }

    fn hessian(&self, x: &Vector<N>, rest: &KoiterRest, curvature: Curvature) -> Matrix<N, N> {
        let rows = self.pull_back(self.face.hessian(&self.unfold(x), rest, curvature));
        self.pull_back(rows.transpose())
    }

    fn mixed_hessian(&self, x: &Vector<N>, x_bar: &Vector<N>) -> Matrix<N, N> {
        let rows = self.pull_back(self.face.mixed_hessian(&self.unfold(x), &self.unfold(x_bar)));
        self.pull_back(rows.transpose()).transpose()
    }
}

/// Which coordinate planes through the origin are planes of symmetry, by the axis normal to them.
pub type Mirrors = [bool; 3];

/// One part of a Koiter shell that is symmetric about coordinate planes, shape and load alike.
///
/// Vertices on a plane stay on it; border edges on it bend as if the image were there. All other borders are free.
/// Nothing else is held.
#[derive(Clone, Debug)]
pub struct MirroredShell {
    /// The part, at rest where it starts.
    pub mesh: TriMesh,
    /// The planes of symmetry.
    pub mirrors: Mirrors,
    /// Elastic constants.
    pub stiffness: ShellStiffness,
    /// Rule for mid-edge normals.
    pub normals: NormalRule,
}

impl MirroredShell {
    /// On which planes of symmetry each vertex lies.
    fn on_planes(&self) -> Vec<[bool; 3]> {
        let size = self.mesh.positions.iter().map(|x| x.amax()).fold(0.0, f64::max);
        let on = |x: &Vec3, axis: usize| self.mirrors[axis] && x[axis].abs() <= 1e-12 * size;
        self.mesh.positions.iter().map(|x| std::array::from_fn(|axis| on(x, axis))).collect()
    }

    /// Adds the shell to a model, with unit mass per area to weigh steps.
    pub fn add_to(&self, builder: &mut ModelBuilder) -> ShellNodes {
        let topology = &self.mesh.topology;
        let mut base = None;
        let on_planes = self.on_planes();
        for (x, planes) in self.mesh.positions.iter().zip(&on_planes) {
            let node = builder.vertex(*x, *x);
            base.get_or_insert(node);
            builder.fix_axes(node, *planes);
        }
        let base = base.unwrap_or(0);
        let area = |f: usize| triangle_area(&self.mesh.corners(f));
        for (f, corners) in topology.faces().iter().enumerate() {
            for v in corners {
                builder.add_mass(base + v, area(f) / 3.0);
            }
        }
        let mut angles = vec![NO_NODE; topology.edge_count()];
        let mut planes = vec![None; topology.edge_count()];
        for (e, edge) in topology.edges().iter().enumerate() {
            if edge.is_boundary() {
                let [a, b] = edge.vertices.map(|v| on_planes[v as usize]);
                planes[e] = (0..3).find(|&axis| a[axis] && b[axis]);
            }
            if self.normals.has_edge_angles() && planes[e].is_none() {
                let [a, b] = edge.vertices.map(|v| self.mesh.positions[v as usize]);
                let around: f64 = edge.faces.iter().flatten().map(|&f| area(f as usize)).sum();
                let length = (b - a).norm();
                angles[e] = builder.angle(around * length * length, length);
            }
        }
        let (mut inside, mut mirrored) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for (f, corners) in topology.faces().iter().enumerate() {
            let mut stencil = [NO_NODE; 9];
            let mut rules = [EdgeRule { fold: 0.0, turn: 0.0 }; 3];
            // Begin the face at a corner on all of its planes.
            let face_planes = topology.face_edges()[f].map(|e| planes[e as usize]);
            let on_all = |v: u32| face_planes.iter().flatten().all(|&a| on_planes[v as usize][a]);
            let first = (0..3).find(|&m| on_all(corners[m])).unwrap_or(0);
            let corners: [u32; 3] = std::array::from_fn(|m| corners[(first + m) % 3]);
            let edges: [usize; 3] =
                std::array::from_fn(|m| topology.face_edges()[f][(first + m) % 3] as usize);
            for m in 0..3 {
                stencil[m] = base + corners[m];
                let edge = &topology.edges()[edges[m]];
                let side = usize::from(edge.faces[0] != Some(f as u32));
                if let Some(across) = edge.opposite[1 - side] {
                    stencil[3 + m] = base + across;
                    rules[m].fold = 0.5;
                } else if planes[edges[m]].is_some() {
                    rules[m].fold = 0.5;
                }
                if angles[edges[m]] != NO_NODE {
                    stencil[6 + m] = angles[edges[m]];
                    rules[m].turn = if side == 0 { 1.0 } else { -1.0 };
                }
            }
            let face = KoiterFace {
                normals: self.normals,
                edges: rules,
                membrane: Membrane::StVenantKirchhoff,
                stiffness: self.stiffness,
                warp: [1.0, 0.0], // the laws of the cases are isotropic
            };
            let planes = edges.map(|e| planes[e]);
            if planes.iter().all(Option::is_none) {
                inside.0.push(face);
                inside.1.push(stencil);
            } else {
                mirrored.0.push(MirroredFace { face, planes });
                mirrored.1.push(stencil);
            }
        }
        builder.add::<_, 21, 9>(Role::Elastic, inside.0, inside.1);
        builder.add::<_, 21, 9>(Role::Elastic, mirrored.0, mirrored.1);
        ShellNodes { vertices: base, angles }
    }
}
