//! What holds a target besides vertices on colliders: edges and faces on them, other layers; and whether that can carry it.

use toile_contact::{Bounds, Contact, PlacedCollider};
use toile_geometry::Vec3;
use toile_sim::dynamics::{ContactSource, Reach, Surroundings};

use crate::design::extent;
use crate::diagnosis::friction_of;
use crate::feasible::{self, Support};
use crate::touch::{nearest, part_again};
use crate::{Garment, InverseError, Touching};

/// How near edges and faces are to lying on a collider where they do, in units of its gap.
const LYING: f64 = 0.01;
/// Rounds in which layers are closed at most, how much of a gap is closed at once, and gap that is closed, in units of the tolerance.
const CLOSING: usize = 40;
const CAREFUL: f64 = 0.5;
const CLOSED: f64 = 1e-3;

/// One of so many vertices on a collider is enough to be held by, as a garment is that is drawn a little off its body.
pub(crate) const ENOUGH: usize = 20;

/// Part of the mass of a garment that its trims have at most.
const SMALL: f64 = 0.05;

/// Cloth that hangs together.
pub(crate) struct Piece {
    pub(crate) vertices: Vec<u32>,
    /// Mass \[kg\] and its centre \[m\].
    pub(crate) mass: f64,
    pub(crate) centre: Vec3,
    /// Whether one of its vertices is pinned.
    pub(crate) pinned: bool,
}

/// The pieces of a garment, sewn panels together.
pub(crate) fn pieces(garment: &Garment, positions: &[Vec3]) -> Result<Vec<Piece>, InverseError> {
    let components = garment.topology()?.components();
    let none = || Piece { vertices: Vec::new(), mass: 0.0, centre: Vec3::zeros(), pinned: false };
    let mut pieces: Vec<Piece> = (0..components.count).map(|_| none()).collect();
    for (v, pinned) in garment.pinned().into_iter().enumerate() {
        if let Some(k) = components.of_vertex[v] {
            pieces[k as usize].vertices.push(v as u32);
            pieces[k as usize].pinned |= pinned;
        }
    }
    let mut base = 0;
    for shell in &garment.shells {
        for face in shell.topology.faces() {
            let [a, b, c] = face.map(|v| positions[base + v as usize]);
            let m = 0.5 * shell.areal_density * (b - a).cross(&(c - a)).norm();
            if let Some(k) = components.of_vertex[base + face[0] as usize] {
                pieces[k as usize].mass += m;
                pieces[k as usize].centre += (a + b + c) * (m / 3.0);
            }
        }
        base += shell.positions.len();
    }
    for piece in pieces.iter_mut().filter(|p| p.mass > 0.0) {
        piece.centre /= piece.mass;
    }
    Ok(pieces)
}

/// Where layers of the target are within `tolerance` \[m\] of touching each other.
pub(crate) fn layers_within(
    garment: &Garment,
    positions: &[Vec3],
    tolerance: f64,
) -> Result<Vec<Contact>, InverseError> {
    let mut found = Vec::new();
    if garment.self_contact.is_some() {
        let mut around = garment.surroundings(positions, positions)?;
        around.contacts(positions, 0.0, &Reach::of(tolerance), &mut found)?;
        found.retain(|c| c.key.between_layers());
    }
    Ok(found)
}

/// Refuses pieces that nothing holds; whether some are held by other layers only.
pub(crate) fn check_held(
    garment: &Garment,
    positions: &[Vec3],
    pinned: &[bool],
    touching: &Touching,
    layers: &[Contact],
) -> Result<bool, InverseError> {
    let components = garment.topology()?.components();
    let mut held = vec![false; components.count];
    let mut size = vec![0; components.count];
    for (v, pinned) in pinned.iter().enumerate() {
        if let Some(c) = components.of_vertex[v] {
            size[c as usize] += 1;
            held[c as usize] |= pinned;
        }
    }
    for contact in &touching.contacts {
        if let Some(c) = components.of_vertex[contact.vertex as usize] {
            held[c as usize] = true;
        }
    }
    let hung = held.contains(&false);
    let piece = |v: u32| components.of_vertex[v as usize].map(|c| c as usize);
    for _ in 0..components.count {
        for contact in layers {
            let pieces: Vec<usize> = contact.carriers().filter_map(|(v, _)| piece(v)).collect();
            if pieces.iter().any(|c| held[*c]) {
                pieces.iter().for_each(|c| held[*c] = true);
            }
        }
    }
    let Some(c) = held.iter().position(|h| !h) else { return Ok(hung) };
    let first = |c: usize| components.of_vertex.iter().position(|k| *k == Some(c as u32));
    let pieces =
        (0..held.len()).filter(|c| !held[*c]).filter_map(first).map(|v| v as u32).collect();
    let of = |v: &usize| components.of_vertex[*v] == Some(c as u32);
    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let mut away: Vec<(f64, f64)> = (0..positions.len())
        .filter(of)
        .filter_map(|v| nearest(&placed, &positions[v]))
        .map(|(c, gap)| (gap, gap + placed[c].gap()))
        .collect();
    away.sort_by(|a, b| a.0.total_cmp(&b.0));
    let gap = garment.colliders.iter().map(toile_contact::Collider::gap).fold(0.0, f64::max);
    Err(InverseError::Unheld {
        vertex: (0..positions.len()).find(of).unwrap_or(0),
        size: size[c],
        pieces,
        reach: gap + touching.tolerance.largest(),
        nearest: away.first().map_or(f64::INFINITY, |(_, distance)| *distance),
        enough: away.get(away.len() / ENOUGH).map_or(f64::INFINITY, |(gap, _)| *gap),
        sizes: [extent(positions), size_of(&placed)],
    })
}

/// Diagonal of the box around all colliders \[m\]; infinite where one has no end.
pub(crate) fn size_of(placed: &[PlacedCollider<'_>]) -> f64 {
    let all = placed.iter().fold(Bounds::EMPTY, |all, c| all.join(&c.bounds()));
    let squares = (0..3).map(|k| (all.high[k] - all.low[k]).max(0.0).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Where edges and faces of the target lie on colliders, between vertices: what a simulated target does.
///
/// Chords of vertices that lie on a round body are inside it and carry nothing.
pub(crate) fn between_vertices(
    garment: &Garment,
    positions: &[Vec3],
) -> Result<Vec<Contact>, InverseError> {
    let mut found = Vec::new();
    if !garment.colliders.is_empty() {
        let mut around = Surroundings::new(garment.topology()?, garment.colliders.clone())
            .with_seams(&garment.seams());
        around.contacts(positions, 0.0, &Reach::of(0.0), &mut found)?;
        let reach = |c: &Contact| {
            let collider = c.key.collider().and_then(|c| garment.colliders.get(c as usize));
            collider.map_or(0.0, |c| LYING * c.gap())
        };
        found.retain(|c| c.count > 1 && c.gap.abs() <= reach(c));
    }
    Ok(found)
}

/// Moves layers of the target that nearly touch to where they do; where they touch.
pub(crate) fn close_layers(
    garment: &Garment,
    positions: &mut [Vec3],
    pinned: &[bool],
    touching: &Touching,
) -> Result<Vec<Contact>, InverseError> {
    let tolerance = touching.tolerance.layers;
    let mut still = pinned.to_vec();
    for contact in &touching.contacts {
        still[contact.vertex as usize] = true;
    }
    let mut layers = layers_within(garment, positions, tolerance)?;
    for _ in 0..CLOSING {
        let worst = layers.iter().map(|c| c.gap.abs()).fold(0.0, f64::max);
        if worst <= CLOSED * tolerance {
            break;
        }
        let then = positions.to_vec();
        for c in &layers {
            let free = || c.carriers().filter(|(v, _)| !still[*v as usize]);
            let squares: f64 = free().map(|(_, w)| w * w).sum();
            if squares > 0.0 {
                // Contacts share vertices: each closes what those before it have left.
                let moved = |(v, w): (u32, f64)| {
                    w * c.normal.dot(&(positions[v as usize] - then[v as usize]))
                };
                let gap = c.gap + free().map(moved).sum::<f64>();
                for (v, w) in free() {
                    positions[v as usize] -= c.normal * (CAREFUL * gap * w / squares);
                }
            }
        }
        layers = layers_within(garment, positions, tolerance)?;
    }
    if part_again(positions, garment, &still)? {
        layers = layers_within(garment, positions, tolerance)?;
    }
    Ok(layers)
}

/// Least friction of which a `part` lets the contacts of every piece without pins balance its weight; `None` when it is there.
pub(crate) fn friction_needed(
    garment: &Garment,
    positions: &[Vec3],
    touching: &Touching,
    part: f64,
) -> Result<Option<f64>, InverseError> {
    let most = friction_of(garment);
    // What forces may use of it.
    let base = if most > 0.0 { most } else { 1.0 };
    let mut worst: Option<f64> = None;
    let all = pieces(garment, positions)?;
    let small = SMALL * all.iter().map(|p| p.mass).sum::<f64>();
    let mut slides: Vec<&Piece> = Vec::new();
    for piece in all.iter().filter(|p| !p.pinned && p.mass > 0.0) {
        let supports: Vec<Support> = touching
            .contacts
            .iter()
            .filter(|c| piece.vertices.binary_search(&c.vertex).is_ok())
            .map(|c| Support {
                point: positions[c.vertex as usize],
                normal: c.normal,
                friction: part * if most > 0.0 { c.friction } else { base },
            })
            .collect();
        let (weight, centre) = (garment.gravity * piece.mass, piece.centre);
        if most > 0.0 && feasible::can_carry(&supports, &weight, &centre, 1.0) {
            continue;
        }
        slides.push(piece);
        let factor = feasible::least_friction(&supports, &weight, &centre);
        let least = base * factor.unwrap_or(f64::INFINITY);
        worst = Some(worst.map_or(least, |w| w.max(least)));
    }
    // Where only trims slide it is not the garment that is at fault.
    if let Some(first) =
        slides.first().filter(|_| slides.iter().map(|p| p.mass).sum::<f64>() <= small)
    {
        return Err(InverseError::Uncarried {
            vertex: first.vertices[0],
            size: first.vertices.len(),
            pieces: slides.iter().map(|p| p.vertices[0]).collect(),
        });
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LayerContact;
    use crate::gallery::made_of;
    use crate::hover::Tolerance;
    use crate::judge::{Crossing, tie_stiffness};
    use toile_geometry::{Topology, TriMesh};
    use toile_sim::ShellMaterial;

    /// Square sheets 20 cm wide, each of n × n vertices at a height \[m\].
    fn sheets(of: &[(usize, f64)]) -> TriMesh {
        let (mut positions, mut faces) = (Vec::new(), Vec::new());
        for &(n, height) in of {
            let base = positions.len();
            for k in 0..n * n {
                let [x, y] = [k % n, k / n].map(|i| 0.2 * i as f64 / (n - 1) as f64);
                positions.push(Vec3::new(x, y, height));
            }
            for k in (0..(n - 1) * n).filter(|k| k % n != n - 1) {
                let [a, b, c, d] = [k, k + 1, k + n, k + n + 1].map(|v| (base + v) as u32);
                faces.extend([[a, b, d], [a, d, c]]);
            }
        }
        let topology = Topology::new(positions.len(), faces).unwrap();
        TriMesh { topology, positions }
    }

    fn cloth(mesh: TriMesh) -> Garment {
        let mut garment = made_of(mesh, ShellMaterial::isotropic(1e6, 0.3, 1e-3), 0.15, Vec::new());
        garment.self_contact = Some(LayerContact { thickness: 1e-3, friction: 0.4 });
        garment
    }

    #[test]
    fn closing_layers_that_share_many_contacts_does_not_put_them_through_each_other() {
        // Each vertex of the coarse sheet has a part in hundreds of contacts.
        let garment = cloth(sheets(&[(4, 1.3e-3), (31, 0.0)]));
        let mut positions = garment.target();
        let count = positions.len();
        let touching = Touching { tolerance: Tolerance::given(count, 5e-4), ..Touching::default() };
        let layers =
            close_layers(&garment, &mut positions, &vec![false; count], &touching).unwrap();
        assert!(layers.len() > 500, "{}", layers.len());
        assert_eq!(Crossing::of(&garment, &positions).unwrap().count, 0);
        let open = layers.iter().map(|c| c.gap.abs()).fold(0.0, f64::max);
        assert!(open <= 1e-6, "open by {open} m");
        let ways = positions.iter().zip(garment.target()).map(|(p, t)| (p - t).norm());
        let longest = ways.fold(0.0, f64::max);
        assert!(longest <= 6e-4, "moved by {longest} m for a gap of 0.3 mm");
    }

    /// Springs turn what positions are rounded by into forces.
    #[test]
    fn springs_at_contacts_of_fine_cloth_keep_the_last_digits_of_its_balance() {
        for n in [10, 60, 170] {
            let garment = cloth(sheets(&[(n, 0.0)]));
            let size = extent(&garment.target());
            let stiffness = tie_stiffness(&garment, &garment.target(), size);
            let weight = 0.15 * 0.04 * 9.81 / (n * n) as f64;
            let rounded = f64::EPSILON * size * stiffness / weight;
            assert!(rounded <= 2e-9, "{n}: {rounded} of a vertex's weight");
        }
    }
}
