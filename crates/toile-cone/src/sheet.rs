//! The measured task: a sheet of cloth held on a turning sphere, every vertex a contact.

use toile_num::Vector;

use crate::banded::BandedMass;
use crate::factored::{ContactRows, MassInverse};

/// One implicit time step of a sheet on a sphere that turns: M = mass + dt² stiffness, H with the
/// frames of the sphere, b from gravity and the motion of the surface.
#[derive(Clone, Debug)]
pub struct SheetProblem {
    /// H: one contact at each vertex, on three unknowns.
    pub rows: ContactRows<3>,
    /// Entries (i, j, value) of M; those of one place are to be added.
    pub entries: Vec<(usize, usize, f64)>,
    /// m v₀ + dt f, of which M⁻¹ makes the free velocity.
    pub impulse: Vec<f64>,
    /// Velocity of the surface at each unknown \[m/s\].
    pub surface: Vec<f64>,
    /// Friction of each contact.
    pub mu: Vec<f64>,
    side: usize,
}

impl SheetProblem {
    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.impulse.len()
    }

    /// M factorised in its band: n² for n contacts; a sparse factorisation does better on large sheets.
    pub fn banded(&self) -> BandedMass {
        let entries = self.entries.iter().copied();
        let Some(banded) = BandedMass::new(self.unknowns(), 3 * self.side + 5, entries) else {
            unreachable!("mass and springs make a positive definite matrix")
        };
        banded
    }

    /// Free velocity at the contacts \[m/s\], by whatever factorisation of M.
    pub fn free_velocity(&self, mass: &dyn MassInverse) -> Vec<f64> {
        let mut v = self.impulse.clone();
        mass.solve(&mut v);
        v.iter_mut().zip(&self.surface).for_each(|(v, s)| *v -= s);
        let mut b = vec![0.0; 3 * self.mu.len()];
        self.rows.product(&v, &mut b);
        b
    }
}

/// Areal density \[kg/m²\].
const DENSITY: f64 = 0.2;
/// Stretching stiffness E h \[N/m\] of threads, of the two diagonals, and across as by tension.
const STIFFNESS: [f64; 3] = [1000.0, 300.0, 2.0];
/// Time step \[s\].
const STEP: f64 = 5e-3;
const GRAVITY: f64 = 9.81;
/// Radius of the sphere \[m\] below a sheet of side 1 m.
const RADIUS: f64 = 0.8;
/// Turning speed of the sphere \[rad/s\] about the vertical, slow enough for a part of the sheet to
/// be carried along.
const SPIN: f64 = 0.03;

/// The sheet with `side`² vertices; the same numbers on every machine. `side` from 2.
///
/// Stick, slip and take-off all occur: the sheet rests but for waves that lift parts of it.
pub fn sheet_problem(side: usize, friction: f64) -> SheetProblem {
    let side = side.max(2);
    let vertices = side * side;
    let spacing = 1.0 / (side - 1) as f64;
    let mass = DENSITY * spacing * spacing;
    let mut entries: Vec<(usize, usize, f64)> = (0..3 * vertices).map(|i| (i, i, mass)).collect();
    let mut spring = |a: usize, b: usize, dx: f64, dy: f64, stiffness: f64| {
        let length = dx.hypot(dy);
        let along = [dx / length, dy / length, 0.0];
        for p in 0..3 {
            for q in 0..3 {
                let across = if p == q { STIFFNESS[2] } else { 0.0 };
                let k = STEP * STEP * (stiffness * along[p] * along[q] + across);
                for (i, j, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
                    entries.push((3 * i + p, 3 * j + q, sign * k));
                }
            }
        }
    };
    for y in 0..side {
        for x in 0..side {
            let v = y * side + x;
            if x + 1 < side {
                spring(v, v + 1, 1.0, 0.0, STIFFNESS[0]);
            }
            if y + 1 < side {
                spring(v, v + side, 0.0, 1.0, STIFFNESS[0]);
            }
            if x + 1 < side && y + 1 < side {
                spring(v, v + side + 1, 1.0, 1.0, STIFFNESS[1]);
                spring(v + 1, v + side, -1.0, 1.0, STIFFNESS[1]);
            }
        }
    }
    let mut impulse = vec![0.0; 3 * vertices];
    let mut rows = ContactRows::new(3 * vertices);
    let mut surface = vec![0.0; 3 * vertices];
    for y in 0..side {
        for x in 0..side {
            let k = y * side + x;
            let (px, py) = (x as f64 * spacing - 0.5, y as f64 * spacing - 0.5);
            let radius2 = px * px + py * py;
            let pz = (RADIUS * RADIUS - radius2).max(0.0).sqrt();
            let normal = Vector::<3>::new(px, py, pz) / RADIUS;
            let first = Vector::<3>::new(normal.z, 0.0, -normal.x).normalize();
            let second = normal.cross(&first);
            let row: Vec<(usize, Vector<3>)> = (0..3)
                .map(|c| (3 * k + c, Vector::<3>::new(normal[c], first[c], second[c])))
                .collect();
            if rows.push(&row).is_err() {
                unreachable!("the unknowns of a vertex exist");
            }
            // Waves that lift a part of the sheet.
            let lift = 0.15 * (9.0 * px).sin() * (7.0 * py).cos() * radius2.sqrt();
            impulse[3 * k + 2] = mass * (lift - STEP * GRAVITY);
            surface[3 * k] = -SPIN * py;
            surface[3 * k + 1] = SPIN * px;
        }
    }
    SheetProblem { rows, entries, impulse, surface, mu: vec![friction; vertices], side }
}
