//! Corner angles, angle defects and the theorem of Gauss and Bonnet.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, TAU};

use nalgebra::Matrix3;
use toile_num::{Matrix, Scalar, Vector};

use crate::{Topology, Vec3};

/// Angle at `p[0]` of the triangle \[rad\], between 0 and π.
///
/// atan2(|u × v|, u·v) with u = p₁ − p₀, v = p₂ − p₀: accurate for all angles. Undefined when
/// p₁ or p₂ lies on p₀; derivatives are singular at 0 and π.
pub fn corner_angle<T: Scalar>(p: &[Vector<3, T>; 3]) -> T {
    let (u, v) = (p[1] - p[0], p[2] - p[0]);
    let dot = |a: &Vector<3, T>, b: &Vector<3, T>| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let normal = u.cross(&v);
    dot(&normal, &normal).sqrt().atan2(dot(&u, &v))
}

/// The frame of a corner: for u and v each, length, direction and the normal to it in the plane
/// of the triangle that points to the other.
struct Corner {
    lengths: [f64; 2],
    along: [Vec3; 2],
    towards: [Vec3; 2],
    normal: Vec3,
    cosine: f64,
    sine: f64,
}

impl Corner {
    fn new(p: &[Vec3; 3]) -> Self {
        let (u, v) = (p[1] - p[0], p[2] - p[0]);
        let lengths = [u.norm(), v.norm()];
        let along = [u / lengths[0], v / lengths[1]];
        let cross = along[0].cross(&along[1]);
        let (sine, cosine) = (cross.norm(), along[0].dot(&along[1]));
        let normal = cross / sine;
        let towards = [normal.cross(&along[0]), along[1].cross(&normal)];
        Self { lengths, along, towards, normal, cosine, sine }
    }
}

/// ∂θ/∂p of [`corner_angle`] [rad/m]: −e/|u| for p₁, where e is the direction in the plane,
/// normal to u, towards v; the same for p₂; minus their sum for p₀.
///
/// Check: `angle_derivatives_match_dual_numbers`.
pub fn corner_angle_gradient(p: &[Vec3; 3]) -> Vector<9> {
    let corner = Corner::new(p);
    let ends = [0, 1].map(|i| -corner.towards[i] / corner.lengths[i]);
    let mut gradient = Vector::<9>::zeros();
    gradient.fixed_rows_mut::<3>(0).copy_from(&-(ends[0] + ends[1]));
    gradient.fixed_rows_mut::<3>(3).copy_from(&ends[0]);
    gradient.fixed_rows_mut::<3>(6).copy_from(&ends[1]);
    gradient
}

/// ∂²θ/∂p² of [`corner_angle`] [rad/m²].
///
/// With unit vectors û along u, e as in [`corner_angle_gradient`] and the normal n:
/// θ_uu = (û eᵀ + e ûᵀ + cot θ n nᵀ)/|u|², θ_uv = −n nᵀ/(|u||v| sin θ).
/// Check: `angle_derivatives_match_dual_numbers`.
pub fn corner_angle_hessian(p: &[Vec3; 3]) -> Matrix<9, 9> {
    let corner = Corner::new(p);
    let out_of_plane = corner.normal * corner.normal.transpose();
    let [uu, vv] = [0, 1].map(|i| {
        let mixed = corner.along[i] * corner.towards[i].transpose();
        let bend = out_of_plane * (corner.cosine / corner.sine);
        (mixed + mixed.transpose() + bend) / corner.lengths[i].powi(2)
    });
    let uv = -out_of_plane / (corner.lengths[0] * corner.lengths[1] * corner.sine);
    // Translations change nothing: the row of p₀ is minus the sum of the others.
    let rows = [[-(uu + uv), -(uv + vv)], [uu, uv], [uv, vv]];
    let mut hessian = Matrix::<9, 9>::zeros();
    for (i, [to_u, to_v]) in rows.iter().enumerate() {
        let blocks = [-(to_u + to_v), *to_u, *to_v];
        for (j, block) in blocks.iter().enumerate() {
            hessian.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(block);
        }
    }
    hessian
}

/// Angle defect of each vertex \[rad\]: its share of the Gauss curvature.
///
/// 2π − Σ angles inside, π − Σ angles on the boundary (the turning of the boundary curve).
/// In general 2π − b π/2 − Σ angles with b boundary edges, which also holds where sheets
/// touch in one vertex and makes the sum exactly 2πχ. Zero for a vertex without faces.
/// Panics if there are fewer positions than vertices.
pub fn angle_defects(topology: &Topology, positions: &[Vec3]) -> Vec<f64> {
    let mut defects: Vec<f64> = (0..topology.vertex_count())
        .map(|v| if topology.vertex_faces(v).is_empty() { 0.0 } else { TAU })
        .collect();
    for edge in topology.edges().iter().filter(|edge| edge.is_boundary()) {
        for v in edge.vertices {
            defects[v as usize] -= FRAC_PI_2;
        }
    }
    for face in topology.faces() {
        for m in 0..3 {
            defects[face[m] as usize] -= corner_angle(&corner(face, m, positions));
        }
    }
    defects
}

/// The sum of all angle defects, boundary included \[rad\].
///
/// Theorem of Gauss and Bonnet: 2π times the Euler characteristic, whatever the positions.
pub fn total_curvature(topology: &Topology, positions: &[Vec3]) -> f64 {
    angle_defects(topology, positions).iter().sum()
}

/// Derivatives of the angle defect of one vertex with respect to the positions around it.
#[derive(Clone, Debug)]
pub struct DefectDerivatives {
    /// The vertex and its neighbours, in increasing order.
    pub vertices: Vec<u32>,
    /// ∂K/∂x of each of them [rad/m].
    pub gradient: Vec<Vec3>,
    /// ∂²K/∂x∂x [rad/m²]: `hessian[i][j]` for `vertices[i]` and `vertices[j]`.
    pub hessian: Vec<Vec<Matrix3<f64>>>,
}

/// First and second derivatives of the angle defect of `vertex`.
///
/// Minus the sum of those of its corner angles; not finite if one of its triangles is flat.
/// Panics if there is no such vertex.
pub fn angle_defect_derivatives(
    topology: &Topology,
    positions: &[Vec3],
    vertex: usize,
) -> DefectDerivatives {
    let around = topology.vertex_faces(vertex);
    let mut place: BTreeMap<u32, usize> = BTreeMap::new();
    for &f in around {
        place.extend(topology.faces()[f as usize].map(|v| (v, 0)));
    }
    for (i, entry) in place.values_mut().enumerate() {
        *entry = i;
    }
    let n = place.len();
    let mut gradient = vec![Vec3::zeros(); n];
    let mut hessian = vec![vec![Matrix3::zeros(); n]; n];
    for &f in around {
        let face = topology.faces()[f as usize];
        let m = (0..3).find(|&m| face[m] as usize == vertex).expect("a face of the vertex");
        let at = [0, 1, 2].map(|k| place[&face[(m + k) % 3]]);
        let p = corner(&face, m, positions);
        let (g, h) = (corner_angle_gradient(&p), corner_angle_hessian(&p));
        for i in 0..3 {
            gradient[at[i]] -= g.fixed_rows::<3>(3 * i);
            for j in 0..3 {
                hessian[at[i]][at[j]] -= h.fixed_view::<3, 3>(3 * i, 3 * j);
            }
        }
    }
    DefectDerivatives { vertices: place.into_keys().collect(), gradient, hessian }
}

/// The corners of a face, starting with corner m.
fn corner(face: &[u32; 3], m: usize, positions: &[Vec3]) -> [Vec3; 3] {
    [0, 1, 2].map(|k| positions[face[(m + k) % 3] as usize])
}
