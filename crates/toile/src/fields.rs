//! What a shell does at each vertex: stretch, bending and what is left of the forces.

use toile_geometry::measure::{dihedral_angle, triangle_area};
use toile_geometry::{Topology, Vec3};

/// Numbers per vertex of one shell.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// Largest principal stretch minus one, the mean of the faces around weighted by their rest areas.
    ///
    /// The principal stretches of a face are √λ for the eigenvalues λ of Ā⁻¹A, with A and Ā its
    /// metric now and at rest.
    pub stretch: Vec<f64>,
    /// Change of κ₁ + κ₂ since rest, without sign \[1/m\]; on a sheet that bends one way only, its
    /// curvature.
    ///
    /// |Σ ½ (θ l − θ̄ l̄)| over the edges at the vertex, by the area nearest to it; θ is the fold at an
    /// edge and l its length, so that the sum over a surface is its total mean curvature (Steiner).
    /// Borders see one side only and come out lower where the edges along them would fold.
    /// Area nearest to a vertex: Meyer, Desbrun, Schröder, Barr 2003, §3.3.
    pub bending: Vec<f64>,
    /// Length of the force that is left at the vertex \[N\]; zero where it is held.
    pub residual: Vec<f64>,
}

/// Fields of a shell at `positions`, with the forces that are left at its vertices \[N\].
///
/// Vertices without faces have no stretch and no bending: zero.
pub fn shell_fields(
    topology: &Topology,
    rest_positions: &[Vec3],
    positions: &[Vec3],
    forces: &[Vec3],
) -> Fields {
    let n = topology.vertex_count();
    let mut area = vec![0.0; n];
    let mut nearest = vec![0.0; n];
    let mut stretch = vec![0.0; n];
    for face in topology.faces() {
        let [x, x_bar] = [positions, rest_positions].map(|p| face.map(|v| p[v as usize]));
        let rest_area = triangle_area(&x_bar);
        let most = largest_stretch(&x, &x_bar) - 1.0;
        for (&v, near) in face.iter().zip(nearest_areas(&x_bar, rest_area)) {
            area[v as usize] += rest_area;
            stretch[v as usize] += most * rest_area;
            nearest[v as usize] += near;
        }
    }
    let mut bending = vec![0.0; n];
    for (_, edge) in topology.interior_edges() {
        let ([a, b], [Some(c), Some(d)]) = (edge.vertices, edge.opposite) else { continue };
        let curvature = |p: &[Vec3]| {
            let [a, b, c, d] = [a, b, c, d].map(|v| p[v as usize]);
            dihedral_angle(&c, &a, &b, &d) * (b - a).norm()
        };
        let change = 0.5 * (curvature(positions) - curvature(rest_positions));
        bending[a as usize] += change;
        bending[b as usize] += change;
    }
    for v in 0..n {
        if area[v] > 0.0 {
            stretch[v] /= area[v];
            bending[v] = bending[v].abs() / nearest[v];
        }
    }
    Fields { stretch, bending, residual: forces.iter().map(|f| f.norm()).collect() }
}

/// The parts of a face nearest to its corners: Voronoi cells, or fixed shares where an angle is obtuse.
/// Thirds would give neighbours in a regular mesh very different areas.
fn nearest_areas(p: &[Vec3; 3], area: f64) -> [f64; 3] {
    // Twice the area times the cotangent of each angle, and the squared side across it.
    let cot = [0, 1, 2].map(|i| (p[(i + 1) % 3] - p[i]).dot(&(p[(i + 2) % 3] - p[i])));
    let side = [0, 1, 2].map(|i| (p[(i + 2) % 3] - p[(i + 1) % 3]).norm_squared());
    if let Some(obtuse) = cot.iter().position(|c| *c < 0.0) {
        return [0, 1, 2].map(|i| if i == obtuse { 0.5 * area } else { 0.25 * area });
    }
    [0, 1, 2].map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        (side[j] * cot[j] + side[k] * cot[k]) / (16.0 * area)
    })
}

/// √ of the larger eigenvalue of Ā⁻¹A.
fn largest_stretch(x: &[Vec3; 3], x_bar: &[Vec3; 3]) -> f64 {
    let metric = |p: &[Vec3; 3]| {
        let (u, v) = (p[1] - p[0], p[2] - p[0]);
        [u.dot(&u), u.dot(&v), v.dot(&v)]
    };
    let [a, b, c] = metric(x);
    let [p, q, r] = metric(x_bar);
    let det_bar = p * r - q * q;
    let half_trace = 0.5 * (a * r - 2.0 * b * q + c * p) / det_bar;
    let det = (a * c - b * b) / det_bar;
    (half_trace + (half_trace * half_trace - det).max(0.0).sqrt()).max(0.0).sqrt()
}
