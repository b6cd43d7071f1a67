//! Strains in the steps of a shape that yields.
//!
//! Cloth is so much stiffer against stretching than against bending that a change of shape and rest shape which turns an edge by a fortieth strains it by as much as the
//! weight does, and pressure of that size makes soft cloth buckle in hundreds of places. So a step is the shortest in a metric that minds strains beside ways,
//!
//! w/2 Σ (δsₑ)²,   sₑ = |xₐ − x_b| / |x̄ₐ − x̄_b| − 1   for each edge,
//!
//! and where it has been gone, strains are brought to what its linear model said, forces into balance at the same time, with the same factorisation:
//! a second-order correction. Reference: Nocedal and Wright 2006, §18.3 (for constraints).

use toile_geometry::Vec3;
use toile_sim::State;

use super::pressed::Barrier;
use super::soften::Softened;
use super::{Exact, Point, Step};

/// What a change of all strains by what they are costs beside a way of a thousandth of the size at every edge.
const PRICE: f64 = 5.0;
/// Strain below which cloth is as good as not strained: lighter cloth must not make the metric singular.
const LEAST: f64 = 1e-6;
/// Corrections of one step at most.
const CORRECTIONS: usize = 6;
/// Part of what strains are off that a correction must take away where it does not bring forces nearer to balance.
const GAIN: f64 = 0.2;
/// Part of what counts as balanced at which another correction is not worth it.
const DEEPER: f64 = 1e-2;

/// How the strain of an edge changes with unknowns of the saddle point; not at all with those that stay.
type Change = [(usize, f64); 12];

/// What strains cost; nothing where the weight is zero.
#[derive(Default)]
pub(super) struct Strains {
    weight: f64,
    /// One per edge, where the saddle point was factorised last.
    changes: Vec<Change>,
}

impl Strains {
    /// Whether strains are minded.
    pub(super) fn minded(&self) -> bool {
        self.weight > 0.0
    }
}

impl Exact {
    /// The same search with steps that mind strains, whose size is `typical` (root mean square).
    pub(crate) fn minding(mut self, typical: f64) -> Self {
        self.strains.weight = PRICE / typical.max(LEAST).powi(2);
        self
    }

    /// Root mean square of the strains of the edges where cloth was held.
    pub(crate) fn typical_strain(&self, held: &Softened) -> f64 {
        let Point { x, rest, .. } = held.point();
        let squares: f64 = self.edges.iter().map(|&e| self.strain(e, rest, x).powi(2)).sum();
        (squares / self.edges.len().max(1) as f64).sqrt()
    }

    /// The edge from its first end to its second in a state \[m\].
    fn edge(&self, (a, b): (u32, u32), state: &State) -> Vec3 {
        let first = self.model.first_unknowns();
        let (fa, fb) = (first[a as usize], first[b as usize]);
        let c = state.coordinates();
        Vec3::from_fn(|k, _| c[fb + k] - c[fa + k])
    }

    fn strain(&self, edge: (u32, u32), rest: &State, x: &State) -> f64 {
        self.edge(edge, x).norm() / self.edge(edge, rest).norm() - 1.0
    }

    fn strains(&self) -> Vec<f64> {
        self.edges.iter().map(|&e| self.strain(e, &self.rest, &self.x)).collect()
    }

    fn change(&self, edge: (u32, u32)) -> Change {
        let (d, d_bar) = (self.edge(edge, &self.x), self.edge(edge, &self.rest));
        let (l, l_bar) = (d.norm(), d_bar.norm());
        let by_x = d * (self.length / (l * l_bar));
        let by_rest = d_bar * (-self.length * l / l_bar.powi(3));
        let mut change = Change::default();
        let ends = [(edge.0 as usize, -1.0), (edge.1 as usize, 1.0)];
        for (part, (v, sign)) in change.chunks_exact_mut(6).zip(ends) {
            let (x, rest, _) = self.kkt.at(v);
            let f = self.model.first_unknowns()[v];
            for k in 0..3 {
                let moves = if self.moves(3, f + k) { sign } else { 0.0 };
                let rests = if self.rest_held[v] { 0.0 } else { sign };
                part[k] = (x + k, moves * by_x[k]);
                part[3 + k] = (rest + k, rests * by_rest[k]);
            }
        }
        change
    }

    /// Adds the price of strains to the saddle point, before it is factorised.
    pub(super) fn mind_strains(&mut self) {
        let mut changes = std::mem::take(&mut self.strains.changes);
        changes.clear();
        changes.extend(self.edges.iter().map(|&e| self.change(e)));
        self.strains.changes = changes;
        for change in &self.strains.changes {
            self.kkt.square(change, self.strains.weight);
        }
    }

    /// The strains to which the linear model says a part of a step leads from here.
    pub(super) fn strains_ahead(&self, (dx, drest): (&[f64], &[f64]), part: f64) -> Vec<f64> {
        let mut way = vec![0.0; self.kkt.rhs.len()];
        for (v, &f) in self.model.first_unknowns().iter().enumerate() {
            if self.model.graph().sizes[v] == 3 {
                let (x, rest, _) = self.kkt.at(v);
                for k in 0..3 {
                    way[x + k] = part * dx[f + k] / self.length;
                    way[rest + k] = part * drest[f + k] / self.length;
                }
            }
        }
        let along = |change: &Change| change.iter().map(|(i, c)| c * way[*i]).sum::<f64>();
        self.strains().iter().zip(&self.strains.changes).map(|(s, c)| s + along(c)).collect()
    }

    /// Brings strains to what was aimed at and forces into balance with the factorisation at hand, as far as that leads.
    pub(super) fn correct(&mut self, aim: &[f64], barriers: &[Barrier], tolerance: f64) {
        let off = |strains: &[f64]| -> f64 {
            let squares = strains.iter().zip(aim).map(|(s, a)| (s - a).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let (mut strains, mut left) = (self.strains(), self.left());
        for _ in 0..CORRECTIONS {
            if !left.largest.is_finite() || left.largest < DEEPER * tolerance {
                break;
            }
            self.kkt.rhs.iter_mut().zip(&left.rows).for_each(|(r, l)| *r = -l);
            for ((s, a), change) in strains.iter().zip(aim).zip(&self.strains.changes) {
                for &(i, c) in change {
                    self.kkt.rhs[i] -= self.strains.weight * (s - a) * c;
                }
            }
            if !self.kkt.solve() {
                break;
            }
            let (dx, drest, dforces): Step = self.step(barriers, false);
            let part = self.allowed((&dx, &drest, &dforces));
            let start = self.point();
            self.advance(&start, (&dx, &drest, &dforces), part);
            let (then, after) = (self.strains(), self.left());
            let nearer = after.largest < left.largest || off(&then) < (1.0 - GAIN) * off(&strains);
            if !nearer || !after.largest.is_finite() {
                self.return_to(start);
                break;
            }
            (strains, left) = (then, after);
        }
    }
}

/// A skirt with some rest shape that is not its shape, not yet in balance.
#[cfg(test)]
pub(super) fn strained() -> Exact {
    use crate::gallery::{Skirt, cotton};
    let skirt = Skirt { rows: 5, around: 12, ..Skirt::default() };
    let garment = skirt.garment(cotton(1000.0, 1e-4), 0.15, 0.7).unwrap();
    let target = garment.target();
    let edges = garment.shells[0].topology.edges().iter();
    let edges: Vec<(u32, u32)> = edges.map(|e| (e.vertices[0], e.vertices[1])).collect();
    let model = garment.held_model(&target, &target, &[], 0.0).unwrap();
    let mut exact = Exact::new(model, &[], &[], &edges, 0.9, Some(0.3)).unwrap().minding(1e-3);
    let n = exact.model.len();
    let way: Vec<f64> = (0..n).map(|i| 2e-3 * (1.7 * i as f64).sin()).collect();
    let start = exact.point();
    exact.advance(&start, (&vec![0.0; n], &way, &[]), 1.0);
    exact
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a step does to strains is what the linear model says, to second order in the step.
    #[test]
    fn strains_change_as_their_linear_model_says() {
        let mut exact = strained();
        exact.mind_strains();
        let n = exact.model.len();
        let first = exact.model.first_unknowns().to_vec();
        let (mut dx, mut drest) = (vec![0.0; n], vec![0.0; n]);
        for (&f, &size) in first.iter().zip(&exact.model.graph().sizes) {
            if size == 3 {
                for i in f..f + 3 {
                    dx[i] = 1e-3 * (0.9 * i as f64).cos();
                    drest[i] = 1e-3 * (2.3 * i as f64).sin();
                }
            }
        }
        let start = exact.point();
        let mut off = |part: f64| {
            exact.return_to(start.clone());
            let before = exact.strains();
            let aim = exact.strains_ahead((&dx, &drest), part);
            exact.advance(&start, (&dx, &drest, &[]), part);
            let worst = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
            };
            (worst(&exact.strains(), &aim), worst(&aim, &before))
        };
        let ((coarse, way), (fine, _)) = (off(0.2), off(0.1));
        assert!(way > 1e-3, "strains hardly change: {way}");
        assert!(coarse < 0.1 * way && fine < 0.27 * coarse, "{coarse} {fine} of {way}");
    }
}
