//! The target held exactly: rest shape and contact forces for which the drawn shape itself is in balance.
//!
//! The shape stays where it was drawn; unknown are the rest shape x̄ and the contact forces r. At zero weight x̄ = x_t and r = 0. A step is
//! Newton's for
//!
//! F(x_t, x̄) − r = 0,   r inside its cone,
//!
//! the shortest one in a metric that prefers smooth changes of x̄ and forces deep inside their cones: one sparse saddle point
//! of six unknowns a vertex. Forces stay strictly inside by the logarithmic barrier of the cone. How much of a step is taken is
//! decided by the size of the step that would be left, which does not depend on units nor on how stiff stretching is against bending.
//! References: Deuflhard 2011 (natural level functions); Nesterov and Todd 1998 (the barrier).

use nalgebra::Matrix3;
use toile_energy::Curvature;
use toile_geometry::Vec3;
use toile_sim::{MixedPattern, Model, State, Stitch, force_unit};
use toile_solve::{Cholesky, SolveError};

use crate::InverseError;
use crate::judge::yielding;
use crate::kkt::{Kkt, Rows, Weights};
use crate::settle::Carrying;

mod follow;
mod near;
mod pressed;
mod rise;
mod sewn;
mod soften;
mod steady;
mod strain;

use near::Wall;
pub(crate) use pressed::Press;
use pressed::{Barrier, Pressed};
pub(crate) use rise::NEWTON;
use strain::Strains;

/// Weight of the barrier against that of a change of the rest shape by a thousandth of the size.
const BARRIER: f64 = 1.0;
/// Part of the friction the centre of a step aims within: a little less than what forces are judged by.
const AIM: f64 = 0.97;
/// Unit of length, as a part of the size.
const LENGTH_UNIT: f64 = 1e-3;
/// Part of the way to the border of a cone that a step may go.
const TO_THE_BORDER: f64 = 0.9;
/// Longest change of an edge of the rest shape in one step, as a part of its length.
const EDGE_CHANGE: f64 = 0.5;

/// What it costs to move a contact of several vertices, or to open a seam, by a thousandth of the size where the shape yields.
const TIED: f64 = 1e6;

/// Force that counts as balanced, in units of a vertex's weight.
const TOLERANCE: f64 = 1e-9;
/// How cheap springs are that carry what the rest shape does not: a rest shape is not changed by more than some 30 thousandths of the
/// size for the weight of a vertex.
const SPRINGS: f64 = 1e-3;
/// The same at contacts.
const PRESSED: f64 = 1e-6;
/// Least eigenvalue that a rest shape is brought to where it has to be made stable, over that of a pendulum as long as the garment: cloth that yields to less
/// than its own weight does is moved far by nothing.
const FLOOR: f64 = 1.0;
/// Least one that counts as stable where no more is reached, in the same unit.
const LEAST_FLOOR: f64 = 0.1;
/// How a thread yields: its force costs as little as that of a contact, in the square. Cheaper ones would take large forces for a shorter
/// change of the rest shape, and the cloth along the seam would bear them as pressure and buckle.
const THREAD: f64 = 1e1;

/// Sees steps so far, part of the weight and the largest force that is not balanced; `false` ends the search.
pub(crate) type Watch<'a> = dyn FnMut(usize, f64, f64, &dyn Fn() -> Vec<Vec3>) -> bool + 'a;

/// A step: changes of angles, of the rest shape and of forces (contacts, then threads).
type Step = (Vec<f64>, Vec<f64>, Vec<Vec3>);

/// Where the search for an exact rest shape is.
pub(crate) struct Exact {
    model: Model,
    kkt: Kkt,
    mixed: MixedPattern,
    contacts: Vec<Pressed>,
    pinned: Vec<bool>,
    rest_held: Vec<bool>,
    /// What it costs to move the shape, per unknown of the model; empty where it stays.
    shape: Vec<f64>,
    /// Unknowns of the shape that stay all the same: pins, and vertices on colliders.
    shape_held: Vec<bool>,
    /// Colliders near vertices that do not touch them.
    walls: Vec<Wall>,
    /// Part of the way to the target that the next step goes, too.
    drawn: f64,
    /// What strains cost where the shape yields.
    strains: Strains,
    edges: Vec<(u32, u32)>,
    /// The target, or where the shape has yielded to; edge angles move.
    pub(crate) x: State,
    pub(crate) rest: State,
    /// Contact forces in units of force.
    forces: Vec<Vec3>,
    /// Stitches as the nodes they join with their weights, and the forces of their threads in units of force: at the target, where the seams
    /// are closed, threads carry nothing by themselves.
    seams: Vec<Vec<(usize, f64)>>,
    threads: Vec<Vec3>,
    /// Whether the threads carry by what they stretch, and no forces of theirs are unknown.
    stretched: bool,
    /// Part of the weight that is carried.
    pub(crate) load: f64,
    length: f64,
    force: f64,
    /// Stiffness of what holds contacts of several vertices where stability is asked for \[N/m\].
    holding: f64,
    /// Least eigenvalue to aim for \[1/s²\].
    floor: f64,
    cholesky: Cholesky,
    hessian: Vec<f64>,
    mixed_values: Vec<f64>,
    /// Factorisations of the saddle point so far.
    pub(crate) steps: usize,
    /// The rest shape that balances the full weight, where that is not stable.
    pub(crate) unstable: Option<State>,
    /// Least part of the weight that was asked for and not carried in a stable way; infinite when there is none.
    pub(crate) refused: f64,
    /// Part of the weight to ask for first.
    first_load: f64,
    /// Whether some part of the weight was nearly balanced and no more.
    pub(crate) stuck: bool,
    target: State,
    /// Whether forces are inside the true cones, not wider ones.
    pub(crate) true_cones: bool,
    /// Modes that had to be raised, each with unit mass, the latest last.
    modes: Vec<Vec<f64>>,
    /// Whether the watcher has ended the present part of the search.
    stopped: bool,
}

/// Where a search can return to.
#[derive(Clone)]
struct Point {
    x: State,
    rest: State,
    forces: Vec<Vec3>,
    threads: Vec<Vec3>,
    load: f64,
}

/// What is left to be balanced, in the rows of the saddle point.
struct Left {
    rows: Vec<f64>,
    /// Largest force that is not balanced, in units of force.
    largest: f64,
}

impl Exact {
    /// A search with a model that starts and rests at the target; the shape may yield at the price of `shape` for a way of a thousandth of the
    /// size, or stays.
    pub(crate) fn new(
        mut model: Model,
        touching: &[Press],
        seams: &[Stitch],
        edges: &[(u32, u32)],
        cone_part: f64,
        shape: Option<f64>,
    ) -> Result<Self, InverseError> {
        let first = model.first_unknowns().to_vec();
        let pinned = model.fixed().to_vec();
        let whole = |(&f, &size): (&usize, &u8)| pinned[f..f + size as usize].iter().all(|p| *p);
        let rest_held: Vec<bool> = first.iter().zip(&model.graph().sizes).map(whole).collect();
        model.set_load(1.0);
        let force = force_unit(&model);
        let loads = model.load_vector();
        let total: f64 = model
            .vertices()
            .iter()
            .map(|&v| {
                let i = model.unknown(v);
                Vec3::from_column_slice(&loads[i..i + 3]).norm()
            })
            .sum();
        let share = total / (force * touching.len().max(1) as f64);
        let contacts: Vec<Pressed> = touching
            .iter()
            .map(|c| {
                let node = |&(v, w): &(u32, f64)| (model.vertices()[v as usize] as usize, w);
                let free = |(v, _): &(usize, f64)| !pinned[first[*v]];
                let carriers: Vec<_> = c.carriers.iter().map(node).filter(free).collect();
                let alone = c.carriers.len() == 1 && carriers.len() == 1;
                let friction = AIM * cone_part * c.friction;
                Pressed {
                    unknown: alone.then(|| first[carriers[0].0]),
                    carriers,
                    normal: c.normal,
                    friction,
                    typical: share * (1.0 + 1.0 / friction),
                    shift: 0.0,
                }
            })
            .collect();
        let node = |(v, w): (u32, f64)| (model.vertices()[v as usize] as usize, w);
        let joined: Vec<Vec<(usize, f64)>> = seams
            .iter()
            .map(|s| {
                // Pins carry what is sewn to them.
                let free = |(v, _): &(usize, f64)| !pinned[first[*v]];
                let all = s.carriers().into_iter().filter(|(_, w)| *w != 0.0).map(node);
                all.filter(free).collect()
            })
            .collect();
        let masses = model.vertices().iter().map(|&v| model.masses()[model.unknown(v)]);
        let mass: f64 = masses.sum();
        let mean = total / model.vertex_count().max(1) as f64;
        let ground: Vec<f64> = model
            .graph()
            .sizes
            .iter()
            .zip(&first)
            .map(|(&size, &f)| match size {
                3 if mean > 0.0 => {
                    let weight = Vec3::from_column_slice(&loads[f..f + 3]).norm();
                    1e-3 * (weight / mean).max(1e-2)
                }
                _ => 1e-3,
            })
            .collect();
        // Smooth across seams as elsewhere: what the two sides are to each other changes as little as what neighbours are.
        let across = joined.iter().flat_map(|carriers| {
            let mut ends = carriers.iter();
            let first = ends.next().map_or(0, |(v, _)| *v as u32);
            ends.map(move |(v, w)| (first, *v as u32, w.abs()))
        });
        let springs = edges.iter().map(|&(a, b)| (a, b, 1.0)).chain(across).collect();
        let mixed = model.mixed_pattern();
        let kkt = Kkt::new(&model, &mixed, springs, ground, shape.is_some())?;
        let vertices = model.vertex_count().max(1) as f64;
        let share = |m: &f64| if mass > 0.0 { (m * vertices / mass).max(1e-2) } else { 1.0 };
        let priced = |price: f64| model.masses().iter().map(|m| price * share(m)).collect();
        let shape = shape.map_or_else(Vec::new, priced);
        let mut shape_held = pinned.clone();
        for c in contacts.iter().filter_map(|c| c.unknown) {
            shape_held[c..c + 3].fill(true);
        }
        let (x, rest) = (model.start().clone(), model.rest().clone());
        let size = model.size(&x);
        model.set_load(0.0);
        Ok(Self {
            cholesky: Cholesky::new(model.pattern().clone())?,
            hessian: vec![0.0; model.pattern().nnz()],
            mixed_values: vec![0.0; mixed.nnz()],
            kkt,
            mixed,
            contacts,
            pinned,
            rest_held,
            shape,
            shape_held,
            walls: Vec::new(),
            drawn: 0.0,
            strains: Strains::default(),
            edges: edges.to_vec(),
            forces: vec![Vec3::zeros(); touching.len()],
            threads: vec![Vec3::zeros(); seams.len()],
            seams: joined,
            stretched: false,
            x,
            rest,
            load: 0.0,
            length: LENGTH_UNIT * size.max(f64::MIN_POSITIVE),
            force,
            holding: total / (yielding(model.vertex_count()) * size.max(f64::MIN_POSITIVE)),
            floor: FLOOR * total / (mass * size).max(f64::MIN_POSITIVE),
            steps: 0,
            unstable: None,
            refused: f64::INFINITY,
            first_load: 1.0,
            stuck: false,
            target: model.rest().clone(),
            true_cones: true,
            modes: Vec::new(),
            stopped: false,
            model,
        })
    }

    /// Whether an unknown of the shape moves: an edge angle, or where the shape yields.
    fn moves(&self, size: usize, unknown: usize) -> bool {
        match size {
            3 => !self.shape.is_empty() && !self.shape_held[unknown],
            _ => !self.pinned[unknown],
        }
    }

    /// How threads yield.
    fn thread(&self) -> f64 {
        if self.stretched { 0.0 } else { THREAD }
    }

    /// Lets the memory of factors go while something else needs some; the next factorisations take it again.
    pub(crate) fn let_go(&mut self) -> Result<(), InverseError> {
        self.kkt.let_go();
        // Memory that is new is not there before it is written to.
        self.cholesky = Cholesky::new(self.model.pattern().clone())?;
        Ok(())
    }

    fn point(&self) -> Point {
        Point {
            x: self.x.clone(),
            rest: self.rest.clone(),
            forces: self.forces.clone(),
            threads: self.threads.clone(),
            load: self.load,
        }
    }

    fn return_to(&mut self, point: Point) {
        Point {
            x: self.x,
            rest: self.rest,
            forces: self.forces,
            threads: self.threads,
            load: self.load,
        } = point;
        self.model.set_load(self.load);
        self.model.set_rest(&self.rest);
    }

    fn advance(
        &mut self,
        from: &Point,
        (dx, drest, dforces): (&[f64], &[f64], &[Vec3]),
        part: f64,
    ) {
        from.x.advanced_into(dx, part, &mut self.x);
        from.rest.advanced_into(drest, part, &mut self.rest);
        // Those of contacts, then those of threads.
        let now = self.forces.iter_mut().chain(&mut self.threads);
        let start = from.forces.iter().chain(&from.threads);
        for (f, (s, d)) in now.zip(start.zip(dforces)) {
            *f = s + d * part;
        }
        self.model.set_rest(&self.rest);
    }

    fn tell(&mut self, left: &Left, watch: &mut Watch<'_>) -> bool {
        let rest = || self.positions(&self.rest);
        let go_on = watch(self.steps, self.load, left.largest, &rest);
        self.stopped = !go_on;
        go_on
    }

    fn barriers(&self, weight: f64) -> Vec<Barrier> {
        let all = self.contacts.iter().zip(&self.forces);
        all.map(|(c, f)| c.barrier(f, c.typical * self.load, weight)).collect()
    }

    /// The step that balances what is left, forces drawn to the middle of their cones if `centring`.
    fn solve(&mut self, left: &Left, barriers: &[Barrier], centring: bool) -> Option<Step> {
        self.kkt.rhs.iter_mut().zip(&left.rows).for_each(|(r, l)| *r = -l);
        if centring {
            for (c, b) in self.contacts.iter().zip(barriers) {
                let drawn = b.compliance * b.gradient;
                for &(node, weight) in &c.carriers {
                    let (_, _, multiplier) = self.kkt.at(node);
                    for k in 0..3 {
                        self.kkt.rhs[multiplier + k] -= weight * drawn[k];
                    }
                }
            }
        }
        let part = std::mem::take(&mut self.drawn);
        if part > 0.0 {
            self.draw_near(part);
        }
        self.kkt.solve().then(|| self.step(barriers, centring))
    }

    fn left(&self) -> Left {
        let mut gradient = vec![0.0; self.model.len()];
        self.model.gradient(&self.x, &mut gradient);
        let mut rows = vec![0.0; self.kkt.rhs.len()];
        let mut largest = 0.0f64;
        let levers = self.model.levers();
        for (v, &f) in self.model.first_unknowns().iter().enumerate() {
            let (_, _, multiplier) = self.kkt.at(v);
            for k in 0..self.model.graph().sizes[v] as usize {
                if !self.pinned[f + k] {
                    rows[multiplier + k] = gradient[f + k] / (levers[f + k] * self.force);
                }
            }
        }
        let pressed = self.contacts.iter().map(|c| &c.carriers).zip(&self.forces);
        for (carriers, force) in pressed.chain(self.seams.iter().zip(&self.threads)) {
            for &(node, weight) in carriers {
                let (_, _, multiplier) = self.kkt.at(node);
                for k in 0..3 {
                    rows[multiplier + k] -= weight * force[k];
                }
            }
        }
        for r in &rows {
            // NaN must not be lost.
            largest = if r.is_nan() { f64::NAN } else { largest.max(r.abs()) };
            if largest.is_nan() {
                break;
            }
        }
        Left { rows, largest }
    }

    /// Assembles and factorises the saddle point; what is not balanced may be left to `springs`.
    fn factorize(&mut self, barriers: &[Barrier], springs: f64) -> Result<bool, SolveError> {
        self.steps += 1;
        self.model.hessian(&self.x, Curvature::Exact, &mut self.hessian);
        self.model.mixed_hessian(&self.x, &self.mixed, &mut self.mixed_values);
        let first = self.model.first_unknowns();
        let mut rows = vec![Rows::Balance; first.len()];
        let yielding = Matrix3::identity() * springs;
        for ((row, &f), &size) in rows.iter_mut().zip(first).zip(&self.model.graph().sizes) {
            if self.pinned[f] {
                *row = Rows::Free;
            } else if springs > 0.0 && size == 3 {
                *row = Rows::Yields(yielding);
            }
        }
        if springs > 0.0 {
            for &(node, _) in self.contacts.iter().flat_map(|c| &c.carriers) {
                rows[node] = Rows::Yields(yielding * (PRESSED / SPRINGS));
            }
        }
        let weights = Weights { shape: &self.shape, rest: 1.0, cone: 1.0 };
        self.kkt.assemble(
            &self.model,
            &self.hessian,
            (&self.mixed, &self.mixed_values),
            &weights,
            &rows,
            if self.shape.is_empty() { self.model.fixed() } else { &self.shape_held },
            &self.rest_held,
            self.length / self.force,
        );
        if !self.shape.is_empty() {
            // What lies on other cloth and what is sewn to it goes along with it.
            let several = self.contacts.iter().filter(|c| c.unknown.is_none()).map(|c| &c.carriers);
            for carriers in several.chain(&self.seams) {
                self.kkt.tie(carriers, TIED, &self.shape_held);
            }
            self.lean_on_walls();
        }
        if self.strains.minded() {
            self.mind_strains();
        }
        for (c, b) in self.contacts.iter().zip(barriers) {
            self.kkt.share(&c.carriers, &b.compliance);
        }
        let yielding = Matrix3::identity() * self.thread();
        for carriers in &self.seams {
            self.kkt.share(carriers, &yielding);
        }
        self.kkt.factorize()
    }

    /// Squared length of the shortest step that would balance what is left.
    fn level(&mut self, left: &Left) -> Option<f64> {
        self.kkt.rhs.iter_mut().zip(&left.rows).for_each(|(r, l)| *r = -l);
        if !self.kkt.solve() {
            return None;
        }
        let level: f64 = left.rows.iter().zip(&self.kkt.solution).map(|(c, l)| c * l).sum();
        level.is_finite().then(|| level.max(0.0))
    }

    /// Reads a step from the saddle point: change of the angles, of the rest shape, of the forces.
    fn step(&self, barriers: &[Barrier], centring: bool) -> Step {
        let n = self.model.len();
        let (mut dx, mut drest) = (vec![0.0; n], vec![0.0; n]);
        for (v, &f) in self.model.first_unknowns().iter().enumerate() {
            let (x, rest, _) = self.kkt.at(v);
            let size = self.model.graph().sizes[v] as usize;
            for k in 0..size {
                if size == 3 && !self.rest_held[v] {
                    drest[f + k] = self.length * self.kkt.solution[rest + k];
                }
                if self.moves(size, f + k) {
                    dx[f + k] = self.length / self.model.levers()[f + k] * self.kkt.solution[x + k];
                }
            }
        }
        let pull = |carriers: &[(usize, f64)]| {
            let at = |&(node, weight): &(usize, f64)| {
                let (_, _, multiplier) = self.kkt.at(node);
                Vec3::from_fn(|k, _| weight * self.kkt.solution[multiplier + k])
            };
            carriers.iter().map(at).sum::<Vec3>()
        };
        let dforce = |(c, b): (&Pressed, &Barrier)| {
            let pull = pull(&c.carriers);
            b.compliance * if centring { pull - b.gradient } else { pull }
        };
        let thread = |carriers: &Vec<(usize, f64)>| pull(carriers) * self.thread();
        let pressed = self.contacts.iter().zip(barriers).map(dforce);
        let dforces = pressed.chain(self.seams.iter().map(thread)).collect();
        (dx, drest, dforces)
    }

    /// Part of a step that keeps forces inside their cones and edges of the rest shape from changing too much.
    fn allowed(&self, (dx, drest, dforces): (&[f64], &[f64], &[Vec3])) -> f64 {
        let mut part = 1.0f64;
        for ((c, f), d) in self.contacts.iter().zip(&self.forces).zip(dforces) {
            let least = (1.0 - TO_THE_BORDER) * c.depth(f);
            if c.depth(&(f + d * part)) >= least {
                continue;
            }
            // The depth is concave along the step.
            let (mut low, mut high) = (0.0, part);
            for _ in 0..30 {
                let middle = 0.5 * (low + high);
                if c.depth(&(f + d * middle)) >= least {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            part = low;
        }
        part = part.min(self.before_walls(dx));
        let first = self.model.first_unknowns();
        let of_rest = (self.rest.coordinates(), drest);
        let of_shape = (!self.shape.is_empty()).then_some((self.x.coordinates(), dx));
        for (now, change) in std::iter::once(of_rest).chain(of_shape) {
            for &(a, b) in &self.edges {
                let (a, b) = (first[a as usize], first[b as usize]);
                let (mut length, mut longer) = (0.0, 0.0);
                for k in 0..3 {
                    length += (now[a + k] - now[b + k]).powi(2);
                    longer += (change[a + k] - change[b + k]).powi(2);
                }
                if longer > 0.0 {
                    part = part.min(EDGE_CHANGE * (length / longer).sqrt());
                }
            }
        }
        part
    }

    /// Force at each vertex that the present rest shape leaves to be carried where the target was drawn \[N\].
    pub(crate) fn unheld(&self) -> Vec<f64> {
        let left = self.left();
        let at = |&node: &u32| {
            let (_, _, multiplier) = self.kkt.at(node as usize);
            let squares = left.rows[multiplier..multiplier + 3].iter().map(|c| c * c);
            self.force * squares.sum::<f64>().sqrt()
        };
        self.model.vertices().iter().map(at).collect()
    }

    /// Contacts with the forces that were found.
    pub(crate) fn carrying(&self, contacts: &[Carrying]) -> Vec<Carrying> {
        let with = |(c, f): (&Carrying, &Vec3)| Carrying { force: f * self.force, ..*c };
        contacts.iter().zip(&self.forces).map(with).collect()
    }

    /// Positions of the vertices of a state.
    pub(crate) fn positions(&self, state: &State) -> Vec<Vec3> {
        self.model.positions(state)
    }
}
