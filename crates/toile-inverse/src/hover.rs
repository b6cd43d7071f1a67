//! How far off its body a target was drawn, and what therefore counts as touching.
//!
//! Drawn garments keep a distance from their body that nobody meant to be seen. Where no tolerance is given, each piece has the least one
//! with which its contacts can carry it and which does not cut through a heap of vertices that hover alike. A garment that was not drawn to touch needs more: a few vertices drawn
//! a little inside its body would carry it were it rigid, and soft cloth not.

use toile_contact::Contact;
use toile_geometry::Vec3;
use toile_sim::tied_vertices;

use crate::feasible::{Support, can_carry};
use crate::held::{ENOUGH, Piece, check_held, layers_within, pieces};
use crate::touch::nearest;
use crate::{Garment, InverseError, InverseSettings, Touching};

/// Tolerance of a target that touches its body \[m\].
pub(crate) const USUAL: f64 = 5e-4;
/// Largest tolerance that is chosen: a part of the size, and a length \[m\]. Farther away a gap may be meant.
const LARGEST: (f64, f64) = (1e-2, 1e-2);
/// What is at most this many times as far away as may touch goes along the body; one in so many of these is enough for soft cloth to be spread on.
const ALONG: f64 = 2.0;
const SPREAD: usize = 3;
/// How many times more vertices touch in a target that was drawn to touch than are as near and do not.
const PEAK: usize = 2;
/// Width of the classes into which distances are sorted \[m\].
const CLASS: f64 = 2.5e-4;
/// A heap ends where a class holds at most this part of its fullest one.
const EDGE: f64 = 0.5;

/// What counts as touching in a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Of each vertex on colliders \[m\].
    of_vertex: Vec<f64>,
    /// Between layers \[m\].
    pub(crate) layers: f64,
    /// How far that between layers may be raised \[m\]; nothing where one was given.
    pub(crate) most: Option<f64>,
}

impl Tolerance {
    /// The same for all.
    pub(crate) fn given(count: usize, tolerance: f64) -> Self {
        Self { of_vertex: vec![tolerance; count], layers: tolerance, most: None }
    }

    /// Leaves others than these the usual tolerance at most.
    pub(crate) fn only(&mut self, these: impl Fn(usize) -> bool) {
        for (_, t) in self.of_vertex.iter_mut().enumerate().filter(|(v, _)| !these(*v)) {
            *t = t.min(USUAL);
        }
    }

    /// How much farther than its gap from a collider a vertex may be and touch it \[m\].
    pub fn of(&self, vertex: usize) -> f64 {
        self.of_vertex[vertex]
    }

    /// The largest of all vertices \[m\].
    pub fn largest(&self) -> f64 {
        self.of_vertex.iter().copied().fold(0.0, f64::max)
    }

    /// How far apart beyond their thickness layers may be and touch \[m\].
    pub fn of_layers(&self) -> f64 {
        self.layers
    }

    /// Whether it was raised because the target hovers.
    pub fn is_raised(&self) -> bool {
        self.most.is_some() && self.largest().max(self.layers) > USUAL
    }

    /// The tolerance that is asked for, or one for each piece from how it was drawn.
    pub(crate) fn of_target(
        positions: &[Vec3],
        garment: &Garment,
        settings: &InverseSettings,
        size: f64,
    ) -> Result<Self, InverseError> {
        if let Some(given) = settings.contact_tolerance {
            return Ok(Self::given(positions.len(), given));
        }
        let most = (LARGEST.0 * size).min(LARGEST.1).max(USUAL);
        let mut chosen = Self { most: Some(most), ..Self::given(positions.len(), USUAL) };
        if garment.colliders.is_empty() || most <= USUAL {
            return Ok(chosen);
        }
        let near = near_colliders(positions, garment, ALONG * most);
        let pieces = pieces(garment, positions)?;
        let lowest: Vec<f64> = pieces.iter().map(|p| lowest(p, &near)).collect();
        let lies_on = lying_on(garment, positions, &pieces, &lowest, most)?;
        for (piece, lies_on) in pieces.iter().zip(lies_on) {
            if piece.pinned || lies_on {
                continue;
            }
            let tolerance = of_piece(piece, &near, garment, settings.cone_part, most);
            for &v in &piece.vertices {
                chosen.of_vertex[v as usize] = tolerance;
            }
        }
        Ok(chosen)
    }
}

/// A vertex near a collider: how much farther away than its gap \[m\], and how it would be carried.
type Near = Option<(f64, Support)>;

fn near_colliders(positions: &[Vec3], garment: &Garment, most: f64) -> Vec<Near> {
    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let (pinned, tied) = (garment.pinned(), tied_vertices(positions.len(), &garment.seams()));
    let near = |(v, point): (usize, &Vec3)| {
        if pinned[v] || tied[v] {
            return None;
        }
        let (c, gap) = nearest(&placed, point).filter(|(_, gap)| *gap <= most + CLASS)?;
        let normal = placed[c].query(point).normal;
        Some((gap, Support { point: *point, normal, friction: placed[c].friction() }))
    };
    positions.iter().enumerate().map(near).collect()
}

/// How far off its body a piece is where it is nearest: one in so many of its vertices is at most that far \[m\].
fn lowest(piece: &Piece, near: &[Near]) -> f64 {
    let mut gaps: Vec<f64> = piece
        .vertices
        .iter()
        .map(|&v| near[v as usize].map_or(f64::INFINITY, |(gap, _)| gap))
        .collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / ENOUGH).copied().unwrap_or(f64::INFINITY)
}

/// Which pieces lie on others that are nearer to the body: they are to stay there.
fn lying_on(
    garment: &Garment,
    positions: &[Vec3],
    pieces: &[Piece],
    lowest: &[f64],
    most: f64,
) -> Result<Vec<bool>, InverseError> {
    let mut upper = vec![false; pieces.len()];
    if pieces.len() < 2 {
        return Ok(upper);
    }
    let mut of_vertex = vec![usize::MAX; positions.len()];
    for (k, piece) in pieces.iter().enumerate() {
        piece.vertices.iter().for_each(|&v| of_vertex[v as usize] = k);
    }
    for contact in layers_within(garment, positions, most)? {
        let met: Vec<usize> = contact.carriers().map(|(v, _)| of_vertex[v as usize]).collect();
        let Some(&under) = met.iter().min_by(|a, b| lowest[**a].total_cmp(&lowest[**b])) else {
            continue;
        };
        for &k in met.iter().filter(|k| lowest[**k] > lowest[under]) {
            upper[k] = true;
        }
    }
    Ok(upper)
}

/// Tolerance of one piece \[m\].
fn of_piece(piece: &Piece, near: &[Near], garment: &Garment, part: f64, most: f64) -> f64 {
    let mut at: Vec<(f64, Support)> =
        piece.vertices.iter().filter_map(|&v| near[v as usize]).collect();
    at.sort_by(|a, b| a.0.total_cmp(&b.0));
    let gaps: Vec<f64> = at.iter().map(|(gap, _)| *gap).collect();
    let supports: Vec<Support> =
        at.iter().map(|(_, s)| Support { friction: part * s.friction, ..*s }).collect();
    let weight = garment.gravity * piece.mass;
    let within = |t: f64| gaps.partition_point(|gap| *gap <= t);
    let carries = |t: f64| {
        let n = within(t);
        n > 0 && can_carry(&supports[..n], &weight, &piece.centre, 1.0)
    };
    // What no tolerance would make carry is told so, with its contacts where it has some.
    let touches = |t: f64| within(t) * ENOUGH >= piece.vertices.len();
    let on_it = within(USUAL) - gaps.partition_point(|gap| *gap < -USUAL);
    let drawn_to_touch = on_it >= PEAK * (within(3.0 * USUAL) - within(USUAL)) && on_it > 0;
    // The few that were drawn a little inside its body may carry a rigid garment; soft cloth needs more to lie on.
    let enough = (within(ALONG * most) / SPREAD).min(within(most));
    let spread = |t: f64| within(t) >= enough && carries(t);
    let held: &dyn Fn(f64) -> bool = if carries(most) {
        if drawn_to_touch { &carries } else { &spread }
    } else if touches(most) {
        &touches
    } else {
        return USUAL;
    };
    least(&gaps, most, held)
}

/// Where layers touch, and whether some pieces are held by others only; refuses what nothing holds. Where no tolerance was given, layers that
/// hover over each other touch within the least that holds all pieces.
pub(crate) fn hanging_on(
    garment: &Garment,
    positions: &[Vec3],
    pinned: &[bool],
    touching: &mut Touching,
) -> Result<(Vec<Contact>, bool), InverseError> {
    let usual = touching.tolerance.layers;
    let within = |t: f64| layers_within(garment, positions, t);
    let hung = |layers: &[Contact]| check_held(garment, positions, pinned, touching, layers);
    let layers = within(usual)?;
    let error = match hung(&layers) {
        Ok(hung) => return Ok((layers, hung)),
        Err(error) => error,
    };
    let Some(most) = touching.tolerance.most.filter(|_| garment.self_contact.is_some()) else {
        return Err(error);
    };
    let all = within(most)?;
    let near = |t: f64| all.iter().filter(|c| c.gap <= t).copied().collect::<Vec<Contact>>();
    if hung(&all).is_err() {
        return Err(error);
    }
    let gaps: Vec<f64> = all.iter().map(|c| c.gap).collect();
    let chosen = least(&gaps, most, &|t| hung(&near(t)).is_ok());
    touching.tolerance.layers = chosen;
    Ok((within(chosen)?, true))
}

/// The least tolerance, in whole classes, at which `enough` holds (it goes on holding for larger ones) and no heap of gaps is cut.
pub(crate) fn least(gaps: &[f64], most: f64, enough: &dyn Fn(f64) -> bool) -> f64 {
    let steps = ((most - USUAL) / CLASS).floor().max(0.0) as usize;
    let at = |k: usize| USUAL + CLASS * k as f64;
    // By halves, since asking takes long.
    let (mut low, mut high) = (0, steps);
    while low < high {
        let middle = usize::midpoint(low, high);
        if enough(at(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let within = |t: f64| gaps.iter().filter(|gap| **gap <= t).count();
    let class = |t: f64| within(t) - within(t - CLASS);
    let mut fullest = (1..=low).map(|k| class(at(k))).fold(within(CLASS), usize::max);
    fullest = fullest.max(class(USUAL));
    for k in low..=steps {
        fullest = fullest.max(class(at(k)));
        if class(at(k) + CLASS) as f64 <= EDGE * fullest as f64 {
            return at(k);
        }
    }
    at(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps around `middle`, a hundred of them within ± `spread`.
    fn heap(middle: f64, spread: f64) -> Vec<f64> {
        (0..100).map(|k| middle + spread * (f64::from(k) / 49.5 - 1.0)).collect()
    }

    #[test]
    fn what_touches_keeps_the_usual_tolerance() {
        let mut gaps = heap(0.0, 1e-5);
        gaps.extend(heap(3e-3, 2e-4)); // a loose part is to stay loose
        assert_eq!(least(&gaps, 5e-3, &|_| true), USUAL);
    }

    #[test]
    fn a_heap_that_hovers_is_taken_whole() {
        let gaps = heap(2e-3, 3e-4);
        let touches = |t: f64| gaps.iter().any(|gap| *gap <= t);
        let chosen = least(&gaps, 5e-3, &touches);
        assert!((2.2e-3..=2.6e-3).contains(&chosen), "{chosen}");
        // One vertex that touches does not carry the others, and none farther away is taken along.
        let mut gaps = heap(2e-3, 3e-4);
        gaps.insert(0, 0.0);
        gaps.extend(heap(4e-3, 1e-4));
        let chosen = least(&gaps, 5e-3, &|t| t > 1.8e-3);
        assert!((2.2e-3..=2.6e-3).contains(&chosen), "{chosen}");
    }
}
