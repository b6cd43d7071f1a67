//! How contacts inside edges and faces move along them when these tilt.

use nalgebra::{Matrix2, Vector2};
use toile_geometry::Vec3;

use crate::{Contact, PlacedCollider};

/// Way over which normals are compared, in units of the length of what touches.
const STEP: f64 = 1e-3;
/// Longest radius, in the same units. On what is straight, contacts would go any way at once; none goes farther than its face reaches.
const LONGEST: f64 = 30.0;
/// Bend below which a surface falls away from what touches it from inside, in units of one over the length: such contacts stay.
const HOLLOW: f64 = -1e-6;

/// A direction in which a contact inside an edge or face moves along it.
///
/// Something flat touches something round where both have the same normal. Tilted by s about its contact, it touches R s further on, with R the radius
/// of the round thing in that direction: a force that presses there holds against tilting with the moment N R s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roll {
    /// Σ wᵢ xᵢ is the unit vector along which the contact moves, so n · Σ wᵢ xᵢ is the tilt; they sum to zero \[1/m\].
    pub weights: [f64; 4],
    /// R \[m\].
    pub radius: f64,
}

impl Roll {
    /// n · Σ wᵢ xᵢ, the slope against the plane of the contact.
    pub fn tilt(&self, contact: &Contact, positions: &[Vec3]) -> f64 {
        let slope = |k: usize| {
            self.weights[k] * contact.normal.dot(&positions[contact.vertices[k] as usize])
        };
        (0..usize::from(contact.count)).map(slope).sum()
    }
}

/// How a contact with a solid given by numbers moves; nothing for vertices, and on meshes, which are flat between their edges.
///
/// Radii are read off how normals change over a thousandth of the edge or face, so a ridge has about none.
/// Check: `contacts_roll_as_tilted_cloth_finds_them`.
pub fn rolls(
    contact: &Contact,
    positions: &[Vec3],
    placed: &PlacedCollider<'_>,
) -> [Option<Roll>; 2] {
    let x = |k: usize| positions[contact.vertices[k] as usize];
    let at = contact.sum(positions);
    let bend = |t: &Vec3, step: f64| {
        let [a, b] = [-step, step].map(|s| placed.query(&(at + t * s)).normal);
        (b - a) / (2.0 * step)
    };
    let radius = |bend: f64, length: f64| {
        (bend * length >= HOLLOW).then(|| (LONGEST * length).min(1.0 / bend.max(f64::MIN_POSITIVE)))
    };
    match contact.count {
        2 => {
            let e = x(1) - x(0);
            let length = e.norm();
            let t = e / length;
            let radius = radius(t.dot(&bend(&t, STEP * length)), length);
            let weights = [-1.0 / length, 1.0 / length, 0.0, 0.0];
            [radius.map(|radius| Roll { weights, radius }), None]
        }
        3 => {
            let (e1, e2) = (x(1) - x(0), x(2) - x(0));
            let length = e1.norm().max(e2.norm());
            let t1 = e1.normalize();
            let t2 = (e2 - t1 * t1.dot(&e2)).normalize();
            let (b1, b2) = (bend(&t1, STEP * length), bend(&t2, STEP * length));
            let mixed = 0.5 * (b1.dot(&t2) + b2.dot(&t1));
            let form = Matrix2::new(b1.dot(&t1), mixed, mixed, b2.dot(&t2));
            let sides = Matrix2::new(e1.dot(&t1), e2.dot(&t1), e1.dot(&t2), e2.dot(&t2));
            let Some(inverse) = sides.try_inverse().filter(|_| form.iter().all(|b| b.is_finite()))
            else {
                return [None; 2];
            };
            let principal = form.symmetric_eigen();
            [0, 1].map(|k| {
                let t: Vector2<f64> = principal.eigenvectors.column(k).into();
                let w = inverse * t;
                let weights = [-w[0] - w[1], w[0], w[1], 0.0];
                radius(principal.eigenvalues[k], length).map(|radius| Roll { weights, radius })
            })
        }
        _ => [None; 2],
    }
}
