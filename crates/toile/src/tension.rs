//! How hard a shell is pulled at each vertex.

use toile_energy::{KoiterFace, Membrane, ShellStiffness, principal_values};
use toile_geometry::measure::{EdgeRule, NormalRule, triangle_area};
use toile_geometry::{Topology, Vec3};
use toile_sim::{Shell, ShellMaterial};

/// Largest principal tension of the membrane at each vertex \[N/m\]: force per width along the direction that is pulled most; negative
/// where everything is pressed.
///
/// The mean of the faces around, weighted by their rest areas; zero at vertices without faces. Of springs (Discrete Shells) it is the
/// mean stress of each face: Σ f ⊗ d / A over its edges, half of those that it shares.
pub fn shell_tensions(shell: &Shell, rest_positions: &[Vec3], positions: &[Vec3]) -> Vec<f64> {
    let topology = &shell.topology;
    let n = topology.vertex_count();
    let (mut area, mut tension) = (vec![0.0; n], vec![0.0; n]);
    for (f, corners) in topology.faces().iter().enumerate() {
        let [x, x_bar] = [positions, rest_positions].map(|p| corners.map(|v| p[v as usize]));
        let (rest_area, [largest, _]) = (triangle_area(&x_bar), principal(shell, f, &x, &x_bar));
        for &v in corners {
            area[v as usize] += rest_area;
            tension[v as usize] += largest * rest_area;
        }
    }
    tension.iter().zip(&area).map(|(t, a)| if *a > 0.0 { t / a } else { 0.0 }).collect()
}

/// Principal tensions of a face, the larger first \[N/m\].
fn principal(shell: &Shell, face: usize, x: &[Vec3; 3], x_bar: &[Vec3; 3]) -> [f64; 2] {
    match shell.material {
        ShellMaterial::Koiter { stiffness, membrane, warp, .. } => {
            sheet(stiffness, membrane, &warp, x_bar).principal_tensions(x, x_bar)
        }
        ShellMaterial::HingedMembrane { stiffness, membrane, .. } => {
            sheet(stiffness, membrane, &Vec3::x(), x_bar).principal_tensions(x, x_bar)
        }
        ShellMaterial::DiscreteShells { k_length, k_area, .. } => {
            springs(&shell.topology, face, k_length, k_area, x, x_bar)
        }
    }
}

/// The membrane of one face.
fn sheet(
    stiffness: ShellStiffness,
    membrane: Membrane,
    warp: &Vec3,
    x_bar: &[Vec3; 3],
) -> KoiterFace {
    let (g, h) = (x_bar[1] - x_bar[0], x_bar[2] - x_bar[0]);
    let (a, b, c) = (g.dot(&g), g.dot(&h), h.dot(&h));
    let (p, q) = (warp.dot(&g), warp.dot(&h));
    // The part of the warp in the face, by its edges; the scale does not matter, a warp across the face is none.
    let along = [c * p - b * q, a * q - b * p];
    let length = (g * along[0] + h * along[1]).norm();
    let known = length > 1e-6 * warp.norm() * (a * c - b * b);
    KoiterFace {
        normals: NormalRule::Average,
        edges: [EdgeRule { fold: 0.0, turn: 0.0 }; 3],
        membrane,
        stiffness,
        warp: if known { along } else { [1.0, 0.0] },
    }
}

fn springs(
    topology: &Topology,
    face: usize,
    k_length: f64,
    k_area: f64,
    x: &[Vec3; 3],
    x_bar: &[Vec3; 3],
) -> [f64; 2] {
    let (g, h) = (x[1] - x[0], x[2] - x[0]);
    let a = [g.dot(&g), g.dot(&h), h.dot(&h)];
    let det = a[0] * a[2] - a[1] * a[1];
    let area = 0.5 * det.sqrt();
    // Surface tension pulls every way alike: it goes with the inverse of the metric.
    let surface = k_area * (area / triangle_area(x_bar) - 1.0);
    let mut n = [a[2], -a[1], a[0]].map(|m| surface * m / det);
    // Edges opposite to the corners, in the basis (g, h).
    for (corner, [u, v]) in [[-1.0, 1.0], [0.0, -1.0], [1.0, 0.0]].into_iter().enumerate() {
        let length = |p: &[Vec3; 3]| (p[(corner + 2) % 3] - p[(corner + 1) % 3]).norm();
        let (l, l_bar) = (length(x), length(x_bar));
        let edge = &topology.edges()[topology.face_edges()[face][corner] as usize];
        let share = 1.0 / edge.faces.iter().flatten().count().max(1) as f64;
        let pull = share * k_length * (l / l_bar - 1.0) / (l * area);
        n[0] += pull * u * u;
        n[1] += pull * u * v;
        n[2] += pull * v * v;
    }
    principal_values(&n, &a.into())
}
