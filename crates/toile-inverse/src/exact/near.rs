//! The shape free to yield: of the equilibria with all contacts where the target has them, one near the target.
//!
//! The shape becomes an unknown beside rest shape and forces, at a price. A step is Gauss and Newton's for
//!
//! α/2 Σ aᵢ |xᵢ − tᵢ|²/ℓ² + ½ |x̄ − x̄₀|² + barrier of the cones   with   F(x, x̄) − r = 0,
//!
//! x̄₀ where the rest shape is: one sparse saddle point of nine unknowns a vertex. After it forces are balanced anew and what has become unstable is made stable, shape and rest shape
//! together; what is kept is nearer to the target.

use toile_geometry::Vec3;

use super::{BARRIER, Exact, TIED, TO_THE_BORDER, TOLERANCE, Watch};
use crate::InverseError;

/// Steps at most, and rounds in which one is made stable.
const STEPS: usize = 8;
const ROUNDS: usize = 12;
/// Part of a step that is tried first.
const FIRST_PART: f64 = 0.5;
/// Least part of a step worth taking, and what the distance must fall by for another one.
const LEAST_PART: f64 = 0.05;
const GAIN: f64 = 0.95;

/// Price of coming as near to a collider as a thousandth of the size, a way of that much at that distance.
const WALL: f64 = 1.0;
/// How much dearer vertices far from the target are at most, and the mean distance from which on they are, in units of length.
const DEAREST: f64 = 30.0;
const LEAST_AWAY: f64 = 0.1;
/// Nearest distance that counts, in units of length.
const LEAST_GAP: f64 = 0.1;

/// A collider near a vertex that does not touch it, as a plane.
pub(super) struct Wall {
    node: usize,
    unknown: usize,
    normal: Vec3,
    /// Distance of the vertex in the target \[m\].
    gap: f64,
    /// Whether a step would have gone through it: the vertex then comes no nearer and goes no farther.
    shut: bool,
}

impl Exact {
    /// The same search with colliders that vertices which do not touch them must not enter: vertex, normal and distance from where it may touch \[m\].
    pub(crate) fn among(mut self, walls: &[(u32, Vec3, f64)]) -> Self {
        let wall = |&(vertex, normal, gap): &(u32, Vec3, f64)| {
            let node = self.model.vertices()[vertex as usize];
            Wall {
                node: node as usize,
                unknown: self.model.unknown(node),
                normal,
                gap,
                shut: false,
            }
        };
        let free = |w: &Wall| !self.shape_held[w.unknown];
        self.walls = walls.iter().map(wall).filter(free).collect();
        self
    }

    /// Distance of a vertex from a collider where the shape is now \[m\].
    fn gap(&self, wall: &Wall) -> f64 {
        let (now, then) = (self.x.coordinates(), self.model.start().coordinates());
        let moved = |k: usize| wall.normal[k] * (now[wall.unknown + k] - then[wall.unknown + k]);
        wall.gap + (0..3).map(moved).sum::<f64>()
    }

    /// Makes ways towards colliders the dearer the nearer they are.
    pub(super) fn lean_on_walls(&mut self) {
        for wall in &self.walls {
            let near = self.length / self.gap(wall).max(LEAST_GAP * self.length);
            let price = if wall.shut { TIED } else { WALL * near * near };
            self.kkt.lean(wall.node, &wall.normal, price);
        }
    }

    /// Shuts the colliders that a step would enter, for the saddle point that is factorised next; whether there are any.
    ///
    /// Else one vertex that is all but there would allow no step at all, however little it matters where it is.
    pub(super) fn shut_before(&mut self, dx: &[f64]) -> bool {
        let mut walls = std::mem::take(&mut self.walls);
        let mut any = false;
        for wall in walls.iter_mut().filter(|w| !w.shut) {
            wall.shut = towards(wall, dx) > TO_THE_BORDER * self.gap(wall);
            any |= wall.shut;
        }
        self.walls = walls;
        any
    }

    /// Part of a step that enters no collider.
    pub(super) fn before_walls(&self, dx: &[f64]) -> f64 {
        let mut part = 1.0f64;
        for wall in &self.walls {
            let (gap, way) = (self.gap(wall), towards(wall, dx));
            if gap > 0.0 && way > 0.0 {
                part = part.min(TO_THE_BORDER * gap / way);
            }
        }
        part
    }

    /// Largest and root mean square distance of the shape from the target \[m\].
    pub(crate) fn away(&self) -> (f64, f64) {
        let here = self.positions(&self.x);
        crate::judge::distances(&here, &self.positions(self.model.start()))
    }

    /// Makes vertices the dearer to move the farther they are from the target, for it is the largest distance that counts; `price` is what they cost without.
    pub(super) fn mind_far(&mut self, price: &[f64]) {
        let (goal, here) = (self.model.start().coordinates(), self.x.coordinates());
        let mean = self.away().1.max(LEAST_AWAY * self.length);
        for (v, &f) in self.model.first_unknowns().iter().enumerate() {
            if self.model.graph().sizes[v] == 3 {
                let square: f64 = (0..3).map(|k| (goal[f + k] - here[f + k]).powi(2)).sum();
                let dearer = (square / (mean * mean)).clamp(1.0, DEAREST);
                (f..f + 3).for_each(|i| self.shape[i] = dearer * price[i]);
            }
        }
    }

    /// Adds a part of the way to the target to what the saddle point is solved for.
    pub(super) fn draw_near(&mut self, part: f64) {
        let goal = self.model.start().coordinates();
        for (v, &f) in self.model.first_unknowns().iter().enumerate() {
            let (x, _, _) = self.kkt.at(v);
            for k in 0..3 {
                if self.model.graph().sizes[v] == 3 && !self.shape_held[f + k] {
                    let off = goal[f + k] - self.x.coordinates()[f + k];
                    self.kkt.rhs[x + k] = part * self.shape[f + k] * off / self.length;
                }
            }
        }
    }

    /// Brings the shape nearer to the target, over stable equilibria.
    pub(crate) fn pull(&mut self, watch: &mut Watch<'_>) -> Result<(), InverseError> {
        let mut most = FIRST_PART;
        let price = self.shape.clone();
        for _ in 0..STEPS {
            self.mind_far(&price);
            let before = self.point();
            let away = self.away().1;
            let left = self.left();
            if self.stopped || !self.tell(&left, watch) {
                break;
            }
            let barriers = self.barriers(BARRIER);
            if !self.factorize(&barriers, 0.0)? {
                break;
            }
            self.kkt.rhs.iter_mut().zip(&left.rows).for_each(|(r, l)| *r = -l);
            self.draw_near(1.0);
            if !self.kkt.solve() {
                break;
            }
            let (dx, drest, dforces) = self.step(&barriers, false);
            if self.shut_before(&dx) {
                continue;
            }
            let mut part = self.allowed((&dx, &drest, &dforces)).min(most);
            let gained = loop {
                self.advance(&before, (&dx, &drest, &dforces), part);
                let there = self.balance(TOLERANCE, 0, watch)?
                    && (self.stable()? || self.steady(ROUNDS, watch)?);
                let now = self.away().1;
                if there && now < away {
                    break Some(now / away);
                }
                self.return_to(before.clone());
                part *= 0.3;
                if part < LEAST_PART || self.stopped {
                    break None;
                }
            };
            most = (2.0 * part).min(1.0);
            if gained.is_none_or(|g| g > GAIN) {
                break;
            }
        }
        Ok(())
    }
}

/// How far a step leads towards a collider \[m\].
fn towards(wall: &Wall, dx: &[f64]) -> f64 {
    -(0..3).map(|k| wall.normal[k] * dx[wall.unknown + k]).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::strain::strained;
    use super::*;

    /// A vertex that is all but in a collider stops no step: it stays where it is, and all others go.
    #[test]
    fn one_vertex_before_a_collider_lets_all_others_move() {
        let mut exact = strained();
        let step = |exact: &mut Exact| {
            let left = exact.left();
            let barriers = exact.barriers(BARRIER);
            assert!(exact.factorize(&barriers, 0.0).unwrap());
            exact.solve(&left, &barriers, false).unwrap()
        };
        let (dx, drest, _) = step(&mut exact);
        let free = exact.allowed((&dx, &drest, &[]));
        // A collider just before the vertex that goes farthest.
        let way = |v: u32, dx: &[f64], exact: &Exact| {
            let at = exact.model.unknown(exact.model.vertices()[v as usize]);
            Vec3::new(dx[at], dx[at + 1], dx[at + 2])
        };
        let count = exact.model.vertex_count() as u32;
        let farthest = |a: &u32, b: &u32| {
            let [a, b] = [a, b].map(|v| way(*v, &dx, &exact).norm());
            a.total_cmp(&b)
        };
        let vertex = (0..count).max_by(farthest).unwrap();
        let before = way(vertex, &dx, &exact);
        let gap = 1e-4 * before.norm();
        let mut exact = exact.among(&[(vertex, -before.normalize(), gap)]);
        assert!(exact.allowed((&dx, &drest, &[])) < 1e-3);
        assert!(exact.shut_before(&dx) && !exact.shut_before(&dx));
        let (dx, drest, _) = step(&mut exact);
        let after = way(vertex, &dx, &exact);
        assert!(after.dot(&before.normalize()).abs() < gap, "{after:?} of {before:?}");
        let now = exact.allowed((&dx, &drest, &[]));
        assert!(now > 0.5 * free, "{now} of {free}");
        assert!(exact.left().largest > 0.0 && dx.iter().any(|d| d.abs() > gap));
    }
}
