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

use crate::kkt::{Kkt, Rows, Weights};
use crate::{InverseError, TargetContact};

/// Weight of the barrier against that of a change of the rest shape by a thousandth of the size.
const BARRIER: f64 = 1.0;
/// The same where springs help: forces are then not given up for a shorter way.
const FIRM_BARRIER: f64 = 1e2;
/// Part of the friction the centre of a step aims within: a little less than what forces are judged by.
const AIM: f64 = 0.97;
/// Unit of length, as a part of the size.
const LENGTH_UNIT: f64 = 1e-3;
/// Part of the way to the border of a cone that a step may go.
const TO_THE_BORDER: f64 = 0.9;
/// Newton steps at one weight at most.
const NEWTON: usize = 20;
/// ... of which so many draw forces to the middle of their cones.
const CENTRING: usize = 5;
/// Least part of a Newton step worth taking.
const LEAST_PART: f64 = 0.02;
/// A step of a smaller part is a short one; so many in one search lead nowhere.
const SHORT: f64 = 0.15;
const MOST_SHORT: usize = 4;
/// Longest change of an edge of the rest shape in one step, as a part of its length.
const EDGE_CHANGE: f64 = 0.5;

/// Factorisations on the way to the full weight at most.
const MOST_STEPS: usize = 45;
/// Part of the weight below which a target is far from being held, and how well its part is then worth knowing.
const FAR: f64 = 0.5;
const COARSE: f64 = 0.4;
/// How well the part at which stability is lost is worth knowing above that.
const FINE: f64 = 0.1;
/// Halvings in which a stable rest shape is looked for below an unstable one.
const GUESSES: usize = 6;
/// Least part of the weight worth asking for.
const LEAST_LOAD: f64 = 5e-4;
/// Force that counts as balanced, in units of a vertex's weight.
const TOLERANCE: f64 = 1e-9;
/// The same where rounding leaves no way to less: draping the result mends it.
const ROUNDING: f64 = 1e-7;
/// How cheap springs are that carry what the rest shape does not: a rest shape is not changed by more than some 30 thousandths of the
/// size for the weight of a vertex.
const SPRINGS: f64 = 1e-3;
/// The same at contacts.
const PRESSED: f64 = 1e-6;
/// Steps towards the best rest shape with springs at most.
const NEARLY: usize = 8;

/// How a thread yields: forces of seams are free, up to this in the square.
const THREAD: f64 = 1e5;

/// Sees steps so far, part of the weight and the largest force that is not balanced; `false` ends the search.
pub(crate) type Watch<'a> = dyn FnMut(usize, f64, f64, &dyn Fn() -> Vec<Vec3>) -> bool + 'a;

/// A contact whose force is an unknown.
#[derive(Clone, Copy, Debug)]
struct Pressed {
    node: usize,
    unknown: usize,
    normal: Vec3,
    friction: f64,
    /// Normal force to aim at, at full weight, in units of force.
    typical: f64,
}

/// The logarithmic barrier of a cone at a force: τ (−log((μ f_N)² − |f_T|²) + 2 f_N / typical).
struct Barrier {
    gradient: Vec3,
    /// Inverse of its Hessian.
    compliance: Matrix3<f64>,
}

impl Pressed {
    /// Distance to the border of the cone, negative outside.
    fn depth(&self, f: &Vec3) -> f64 {
        let along = f.dot(&self.normal);
        self.friction * along - (f - self.normal * along).norm()
    }

    fn barrier(&self, f: &Vec3, typical: f64, weight: f64) -> Barrier {
        let n = self.normal;
        let along = f.dot(&n);
        let across = f - n * along;
        let (mu, y) = (self.friction, self.friction * along);
        let q = y * y - across.norm_squared();
        let gradient = (n * (-2.0 * mu * y) + across * 2.0) / q + n * (2.0 / typical);
        // (∇²φ)⁻¹ = S⁻¹ (2 y yᵀ − q J) S⁻¹ / 2 with y = S f, S = μ along n and 1 across it.
        let back = f; // S⁻¹ y
        let nn = n * n.transpose();
        let tangent = Matrix3::identity() - nn;
        let compliance = back * back.transpose() - nn * (0.5 * q / (mu * mu)) + tangent * (0.5 * q);
        Barrier { gradient: gradient * weight, compliance: compliance / weight }
    }
}

/// Where the search for an exact rest shape is.
pub(crate) struct Exact {
    model: Model,
    kkt: Kkt,
    mixed: MixedPattern,
    contacts: Vec<Pressed>,
    pinned: Vec<bool>,
    rest_held: Vec<bool>,
    edges: Vec<(u32, u32)>,
    /// The target; edge angles move.
    pub(crate) x: State,
    pub(crate) rest: State,
    /// Contact forces in units of force.
    forces: Vec<Vec3>,
    /// Stitches as the nodes they join with their weights, and the forces of their threads in units of force: at the target, where the seams
    /// are closed, threads carry nothing by themselves.
    seams: Vec<Vec<(usize, f64)>>,
    threads: Vec<Vec3>,
    /// Part of the weight that is carried.
    pub(crate) load: f64,
    length: f64,
    force: f64,
    cholesky: Cholesky,
    hessian: Vec<f64>,
    mixed_values: Vec<f64>,
    /// Factorisations of the saddle point so far.
    pub(crate) steps: usize,
    /// The rest shape that balances the full weight, where that is not stable.
    pub(crate) unstable: Option<State>,
    target: State,
    stopped: bool,
}

/// Where a search can return to.
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
    /// A search with a model that starts and rests at the target.
    pub(crate) fn new(
        mut model: Model,
        touching: &[TargetContact],
        seams: &[Stitch],
        edges: &[(u32, u32)],
        cone_part: f64,
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
        let contacts = touching
            .iter()
            .map(|c| {
                let node = model.vertices()[c.vertex as usize];
                let friction = AIM * cone_part * c.friction;
                Pressed {
                    node: node as usize,
                    unknown: model.unknown(node),
                    normal: c.normal,
                    friction,
                    typical: share * (1.0 + 1.0 / friction),
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
        let springs = edges.iter().map(|&(a, b)| (a, b, 1.0)).collect();
        let mixed = model.mixed_pattern();
        let kkt = Kkt::new(&model, &mixed, springs, ground, false)?;
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
            edges: edges.to_vec(),
            forces: vec![Vec3::zeros(); touching.len()],
            threads: vec![Vec3::zeros(); seams.len()],
            seams: joined,
            x,
            rest,
            load: 0.0,
            length: LENGTH_UNIT * size.max(f64::MIN_POSITIVE),
            force,
            steps: 0,
            unstable: None,
            target: model.rest().clone(),
            stopped: false,
            model,
        })
    }

    /// Puts the weight on, at once if that works, else in parts; the largest part found that is carried in a stable way.
    ///
    /// What was found there is what the search has then; with none, the target as its own rest shape.
    pub(crate) fn rise(&mut self, watch: &mut Watch<'_>) -> Result<f64, InverseError> {
        let mut stable = 0.0f64;
        let mut lost = f64::INFINITY; // least part at which stability is known to be lost
        let mut failed = f64::INFINITY; // least part that was not balanced
        let mut step = 1.0;
        while self.load < 1.0 && self.steps < MOST_STEPS && step >= LEAST_LOAD && !self.stopped {
            let before = self.point();
            let load = (self.load + step).min(1.0);
            if !self.carry(load, TOLERANCE, watch)? {
                failed = failed.min(load);
                step *= 0.3;
                // Far below the full weight its part need not be known well.
                if failed < FAR && self.load > 0.0 {
                    step = step.min(0.5 * (failed - self.load));
                    if failed - self.load <= COARSE * failed {
                        break;
                    }
                }
                continue;
            }
            if self.stable()? {
                stable = load;
                step = if lost.is_finite() { 0.5 * (lost - load) } else { 2.0 * step };
                if failed < FAR {
                    step = step.min(0.5 * (failed - load));
                }
            } else {
                if load >= 1.0 {
                    self.unstable = Some(self.rest.clone());
                }
                lost = load;
                let high = self.point();
                self.return_to(before);
                step = self.guess_lost(&high)? * (lost - self.load);
            }
            if lost.min(failed) - stable <= COARSE * lost.min(failed) && lost.min(failed) < FAR
                || lost.is_finite() && lost - stable <= FINE * lost
            {
                break;
            }
        }
        Ok(stable)
    }

    /// About which part of the way from here to an unstable point stability is lost, by looking between the two rest shapes; a little less, and
    /// at most a half.
    fn guess_lost(&mut self, high: &Point) -> Result<f64, InverseError> {
        let here = self.point();
        let between = |a: &State, b: &State| -> Vec<f64> {
            a.coordinates().iter().zip(b.coordinates()).map(|(a, b)| b - a).collect()
        };
        let (way, turn) = (between(&here.rest, &high.rest), between(&here.x, &high.x));
        let (mut low, mut part) = (0.0, 0.5);
        for _ in 0..GUESSES {
            self.advance(&here, (&turn, &way, &[]), part);
            if self.stable()? {
                low = part;
                break;
            }
            part *= 0.5;
        }
        self.return_to(here);
        Ok(if low > 0.0 { low } else { part })
    }

    /// The rest shape that balances the drawn shape as well as one near the target can, its contacts pressed as they should be.
    ///
    /// Springs carry what soft cloth cannot; the cheaper they are the less the rest shape changes.
    pub(crate) fn nearly(&mut self, watch: &mut Watch<'_>) -> Result<(), InverseError> {
        let (x, rest) = (self.model.start().clone(), self.target.clone());
        let forces = self.contacts.iter().map(|c| c.normal * c.typical).collect();
        let threads = vec![Vec3::zeros(); self.seams.len()];
        self.return_to(Point { x, rest, forces, threads, load: 1.0 });
        let mut left = self.left();
        for _ in 0..NEARLY {
            if !left.largest.is_finite() || !self.tell(&left, watch) {
                break;
            }
            let barriers = self.barriers(FIRM_BARRIER);
            if !self.factorize(&barriers, SPRINGS)? {
                break;
            }
            let Some(level) = self.level(&left) else { break };
            let Some((dx, drest, dforces)) = self.solve(&left, &barriers, true) else { break };
            let start = self.point();
            let mut part = self.allowed(&drest, &dforces);
            let fallen = loop {
                if part < LEAST_PART {
                    break None;
                }
                self.advance(&start, (&dx, &drest, &dforces), part);
                left = self.left();
                let now = if left.largest.is_finite() { self.level(&left) } else { None };
                if let Some(now) = now.filter(|l| *l < level) {
                    break Some(now / level);
                }
                part *= 0.5;
            };
            let Some(fallen) = fallen else {
                self.return_to(start);
                break;
            };
            if fallen > 0.95 {
                break;
            }
        }
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
        self.stopped |= !go_on;
        !self.stopped
    }

    fn barriers(&self, weight: f64) -> Vec<Barrier> {
        let all = self.contacts.iter().zip(&self.forces);
        all.map(|(c, f)| c.barrier(f, c.typical * self.load, weight)).collect()
    }

    /// Carries `load` of the weight if Newton's method gets there; else nothing is changed.
    fn carry(
        &mut self,
        load: f64,
        tolerance: f64,
        watch: &mut Watch<'_>,
    ) -> Result<bool, InverseError> {
        let before = self.point();
        for (c, f) in self.contacts.iter().zip(&mut self.forces) {
            *f = if self.load > 0.0 {
                *f * (load / self.load)
            } else {
                c.normal * (c.typical * load)
            };
        }
        if self.load > 0.0 {
            self.threads.iter_mut().for_each(|f| *f *= load / self.load);
        }
        self.load = load;
        self.model.set_load(load);
        if self.balance(tolerance, watch)? {
            return Ok(true);
        }
        self.return_to(before);
        Ok(false)
    }

    /// Newton's method at the present weight.
    fn balance(&mut self, tolerance: f64, watch: &mut Watch<'_>) -> Result<bool, InverseError> {
        let mut left = self.left();
        let mut last = f64::INFINITY;
        let mut short = 0;
        for round in 0..NEWTON {
            let rounding = left.largest <= ROUNDING && left.largest > 0.1 * last;
            if left.largest <= tolerance || rounding {
                return Ok(true);
            }
            last = left.largest;
            if !left.largest.is_finite() || !self.tell(&left, watch) {
                return Ok(false);
            }
            let barriers = self.barriers(BARRIER);
            if !self.factorize(&barriers, 0.0)? {
                return Ok(false);
            }
            let Some(level) = self.level(&left) else { return Ok(false) };
            // First to the middle of the cones, then the shortest way to the balance.
            let centring = left.largest > 1e-2 && round < CENTRING;
            let Some(step) = self.solve(&left, &barriers, centring) else { return Ok(false) };
            let (dx, drest, dforces) = step;
            let mut part = self.allowed(&drest, &dforces);
            let start = self.point();
            loop {
                if part < SHORT && short >= MOST_SHORT {
                    return Ok(false);
                }
                self.advance(&start, (&dx, &drest, &dforces), part);
                let then = self.left();
                let now = if then.largest.is_finite() { self.level(&then) } else { None };
                let falls = now.is_some_and(|l| l <= (1.0 - 0.5 * part).powi(2) * level);
                if falls || then.largest <= tolerance {
                    short += usize::from(part < SHORT);
                    left = then;
                    break;
                }
                part *= 0.5;
                if part < LEAST_PART {
                    self.return_to(start);
                    return Ok(left.largest <= ROUNDING);
                }
            }
        }
        Ok(left.largest <= tolerance)
    }

    /// The step that balances what is left, forces drawn to the middle of their cones if `centring`.
    fn solve(
        &mut self,
        left: &Left,
        barriers: &[Barrier],
        centring: bool,
    ) -> Option<(Vec<f64>, Vec<f64>, Vec<Vec3>)> {
        self.kkt.rhs.iter_mut().zip(&left.rows).for_each(|(r, l)| *r = -l);
        if centring {
            for (c, b) in self.contacts.iter().zip(barriers) {
                let (_, _, multiplier) = self.kkt.at(c.node);
                let shift = b.compliance * b.gradient;
                for k in 0..3 {
                    self.kkt.rhs[multiplier + k] -= shift[k];
                }
            }
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
        for (c, force) in self.contacts.iter().zip(&self.forces) {
            let (_, _, multiplier) = self.kkt.at(c.node);
            for k in 0..3 {
                rows[multiplier + k] -= force[k];
            }
        }
        for (carriers, force) in self.seams.iter().zip(&self.threads) {
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
        for (c, b) in self.contacts.iter().zip(barriers) {
            rows[c.node] = Rows::Yields(b.compliance + yielding * (PRESSED / SPRINGS));
        }
        let weights = Weights { shape: &[], rest: 1.0, cone: 1.0 };
        self.kkt.assemble(
            &self.model,
            &self.hessian,
            (&self.mixed, &self.mixed_values),
            &weights,
            &rows,
            self.model.fixed(),
            &self.rest_held,
            self.length / self.force,
        );
        for carriers in &self.seams {
            self.kkt.share(carriers, &(Matrix3::identity() * THREAD));
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
    fn step(&self, barriers: &[Barrier], centring: bool) -> (Vec<f64>, Vec<f64>, Vec<Vec3>) {
        let n = self.model.len();
        let (mut dx, mut drest) = (vec![0.0; n], vec![0.0; n]);
        for (v, &f) in self.model.first_unknowns().iter().enumerate() {
            let (x, rest, _) = self.kkt.at(v);
            let size = self.model.graph().sizes[v] as usize;
            for k in 0..size {
                if size == 3 && !self.rest_held[v] {
                    drest[f + k] = self.length * self.kkt.solution[rest + k];
                } else if size != 3 && !self.pinned[f + k] {
                    dx[f + k] = self.length / self.model.levers()[f + k] * self.kkt.solution[x + k];
                }
            }
        }
        let dforce = |(c, b): (&Pressed, &Barrier)| {
            let (_, _, multiplier) = self.kkt.at(c.node);
            let pull = Vec3::from_fn(|k, _| self.kkt.solution[multiplier + k]);
            b.compliance * if centring { pull - b.gradient } else { pull }
        };
        let thread = |carriers: &Vec<(usize, f64)>| {
            let pull = |&(node, weight): &(usize, f64)| {
                let (_, _, multiplier) = self.kkt.at(node);
                Vec3::from_fn(|k, _| weight * self.kkt.solution[multiplier + k])
            };
            carriers.iter().map(pull).sum::<Vec3>() * THREAD
        };
        let pressed = self.contacts.iter().zip(barriers).map(dforce);
        let dforces = pressed.chain(self.seams.iter().map(thread)).collect();
        (dx, drest, dforces)
    }

    /// Part of a step that keeps forces inside their cones and edges of the rest shape from changing too much.
    fn allowed(&self, drest: &[f64], dforces: &[Vec3]) -> f64 {
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
        let (first, rest) = (self.model.first_unknowns(), self.rest.coordinates());
        for &(a, b) in &self.edges {
            let (a, b) = (first[a as usize], first[b as usize]);
            let (mut length, mut change) = (0.0, 0.0);
            for k in 0..3 {
                length += (rest[a + k] - rest[b + k]).powi(2);
                change += (drest[a + k] - drest[b + k]).powi(2);
            }
            if change > 0.0 {
                part = part.min(EDGE_CHANGE * (length / change).sqrt());
            }
        }
        part
    }

    /// Whether the shape is a stable equilibrium with its contacts held.
    fn stable(&mut self) -> Result<bool, InverseError> {
        self.hold(true);
        self.model.hessian(&self.x, Curvature::Exact, &mut self.hessian);
        self.hold(false);
        match self.cholesky.factorize(&self.hessian) {
            Ok(()) => Ok(true),
            Err(SolveError::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn hold(&mut self, held: bool) {
        for c in &self.contacts {
            for k in 0..3 {
                self.model.set_fixed(c.unknown + k, held);
            }
        }
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

    /// Positions of the vertices of a state.
    pub(crate) fn positions(&self, state: &State) -> Vec<Vec3> {
        self.model.positions(state)
    }
}
