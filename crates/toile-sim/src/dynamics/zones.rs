//! The last resort when contacts have failed to keep things apart: what would collide goes together.
//!
//! Vertices that would meet something in a step are joined into zones, and a zone moves as one: with the collider it
//! would meet, with what is held, or else by its mean displacement, which keeps its momentum. Zones grow until nothing
//! collides any more (Provot 1997; Harmon et al. 2008). Things that move together cannot collide, so this ends, at the worst
//! with everything in one zone.

use toile_num::Vector;

/// Vertices that would collide, with each other or with a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The vertices, the first `count` of them.
    pub vertices: [u32; 4],
    /// How many.
    pub count: usize,
    /// The collider they meet, if not each other.
    pub collider: Option<u32>,
}

/// What a zone goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Leader {
    /// Its own mean.
    None,
    /// A collider.
    Collider(u32),
    /// Vertices that cannot move.
    Held,
}

/// Sets of vertices that go together.
pub(crate) struct Zones {
    /// A vertex nearer to the root of its tree; roots are their own.
    parent: Vec<u32>,
    leader: Vec<Leader>,
    /// Whether a vertex has met anything.
    met: Vec<bool>,
}

impl Zones {
    /// Every vertex alone; `fixed` ones do not move.
    pub(crate) fn new(fixed: impl Iterator<Item = bool>) -> Self {
        let leader: Vec<Leader> =
            fixed.map(|fixed| if fixed { Leader::Held } else { Leader::None }).collect();
        let count = leader.len();
        Self { parent: (0..count as u32).collect(), leader, met: vec![false; count] }
    }

    fn root(&mut self, mut v: u32) -> u32 {
        while self.parent[v as usize] != v {
            let up = self.parent[self.parent[v as usize] as usize];
            self.parent[v as usize] = up;
            v = up;
        }
        v
    }

    fn lead(&mut self, root: u32, leader: Leader) -> bool {
        let old = self.leader[root as usize];
        self.leader[root as usize] = old.max(leader);
        old < leader
    }

    /// Joins what collides. Whether anything has changed.
    pub(crate) fn join(&mut self, collision: &Collision) -> bool {
        let vertices = &collision.vertices[..collision.count];
        let Some(&first) = vertices.first() else { return false };
        let mut changed = false;
        for &v in vertices {
            changed |= !std::mem::replace(&mut self.met[v as usize], true);
            let (a, b) = (self.root(first), self.root(v));
            if a != b {
                // The smaller number is the root: the same whatever the order.
                let (root, other) = (a.min(b), a.max(b));
                self.parent[other as usize] = root;
                let leader = self.leader[other as usize];
                self.lead(root, leader);
                changed = true;
            }
        }
        let root = self.root(first);
        changed | collision.collider.is_some_and(|c| self.lead(root, Leader::Collider(c)))
    }

    /// How many vertices go with others or with a collider.
    pub(crate) fn len(&self) -> usize {
        self.met.iter().filter(|met| **met).count()
    }

    /// Whether a vertex goes with a collider.
    pub(crate) fn is_carried(&mut self, v: u32) -> bool {
        let root = self.root(v);
        self.met[v as usize] && matches!(self.leader[root as usize], Leader::Collider(_))
    }

    /// Displacement of each vertex with its zone, `alone` where it has met nothing; `carry(c, v)` is that of vertex v
    /// when it goes with collider c.
    pub(crate) fn displacements(
        &mut self,
        alone: &[Vector<3>],
        masses: &[f64],
        carry: impl Fn(u32, usize) -> Vector<3>,
    ) -> Vec<Vector<3>> {
        let roots: Vec<u32> = (0..alone.len() as u32).map(|v| self.root(v)).collect();
        let mut sums = vec![(Vector::<3>::zeros(), 0.0); alone.len()];
        for (v, &root) in roots.iter().enumerate() {
            let sum = &mut sums[root as usize];
            sum.0 += alone[v] * masses[v];
            sum.1 += masses[v];
        }
        let go = |v: usize| {
            let root = roots[v] as usize;
            match self.leader[root] {
                _ if !self.met[v] => alone[v],
                Leader::Held => Vector::zeros(),
                Leader::Collider(c) => carry(c, v),
                Leader::None if sums[root].1 > 0.0 => sums[root].0 / sums[root].1,
                Leader::None => Vector::zeros(),
            }
        };
        (0..alone.len()).map(go).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vec3 = Vector<3>;

    fn pair(a: u32, b: u32, collider: Option<u32>) -> Collision {
        Collision { vertices: [a, b, 0, 0], count: 2, collider }
    }

    #[test]
    fn what_meets_goes_on_with_the_momentum_it_has_together() {
        let mut zones = Zones::new([false; 4].into_iter());
        assert!(zones.join(&pair(0, 1, None)));
        assert!(!zones.join(&pair(1, 0, None)));
        let alone = [Vec3::x(), Vec3::z(), Vec3::y(), Vec3::zeros()];
        let go = zones.displacements(&alone, &[1.0, 3.0, 1.0, 1.0], |_, _| unreachable!());
        let mean = (Vec3::x() + Vec3::z() * 3.0) / 4.0;
        assert_eq!(go, [mean, mean, alone[2], alone[3]]);
        assert_eq!(zones.len(), 2);
    }

    #[test]
    fn colliders_lead_and_held_vertices_hold() {
        let mut zones = Zones::new([false, false, false, true, false].into_iter());
        assert!(zones.join(&pair(0, 1, None)));
        assert!(zones.join(&Collision { vertices: [1, 0, 0, 0], count: 1, collider: Some(7) }));
        assert!(zones.join(&pair(2, 3, None)));
        let alone = [Vec3::x(); 5];
        let carry = |c: u32, _: usize| Vec3::z() * f64::from(c);
        let go = zones.displacements(&alone, &[1.0; 5], carry);
        let (up, rest) = (Vec3::z() * 7.0, Vec3::zeros());
        assert_eq!(go, [up, up, rest, rest, Vec3::x()]);
        assert_eq!([0, 1, 2, 3, 4].map(|v| zones.is_carried(v)), [true, true, false, false, false]);
    }
}
