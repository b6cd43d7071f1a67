//! The linearised balance of a stage under the exact law, without a factorisation.
//!
//! Where inertia is not much less than stiffness, as in short steps, what a contact does is felt a few vertices away and no farther. Then a matrix
//! D of blocks, one a vertex, may stand for A: with D no smaller than A the step
//!
//!   s ← y − D⁻¹(A y + g − Hᵀr),    (r, d + H s) under the law
//!
//! goes down (a proximal gradient step), and going on along the last change (Nesterov 1983, begun anew where it leads back: O'Donoghue, Candès 2015)
//! takes about √(stiffness/inertia) steps for a digit or two. Contacts are solved in each: D joins only those that share vertices, so that sweeps over them
//! cost little, however many there are and however often they say the same thing. At the end the law holds, and what is left is a part of the balance, of
//! which it is known how large. (With inverses of blocks, too: Daviet 2020, who alternates between elasticity and contact.)

use std::ops::Range;

use toile_cone::{Contact as LocalContact, Law};
use toile_num::{Matrix, Vector, parallel};

use super::blocked::Blocked;
use super::rows::{ContactStatus, Row};

/// How much larger than its diagonal blocks A is taken to be at first, and by how much more where it turns out larger.
pub(super) const LARGER: f64 = 1.8;
const MORE: f64 = 1.2;

/// Sweeps over the contacts in a step at most, and part of the first change of a displacement at which they end.
const SWEEPS: usize = 3;
const SETTLED: f64 = 0.1;

/// Sweeps after the last step at most.
const LAST_SWEEPS: usize = 60;

/// Steps after which contacts that do not push are looked at again.
const WATCH: usize = 5;

/// Largest acceleration that may be left, in units of the mean one that is allowed: contacts that say nearly the same thing exchange their
/// loads slowly, and nothing depends on it.
const WORST: f64 = 30.0;

/// In so many steps, in units of √(stiffness/inertia), at least this part of what is left has to go.
const PATIENCE: f64 = 2.5;
const GAIN: f64 = 0.7;

/// Steps at most, in the same units.
const MOST: f64 = 20.0;

/// Nodes to a task.
const CHUNK: usize = 512;

/// What a linearised problem gives: everything at the vertices is in the numbering of the model.
pub(super) struct Linear<'a> {
    /// A.
    pub(super) matrix: &'a Blocked,
    /// What is left of the balance without a step \[N\].
    pub(super) balance: &'a [f64],
    /// Mass of each unknown \[kg\].
    pub(super) masses: &'a [f64],
    pub(super) fixed: &'a [bool],
    /// What an acceleration is measured by \[m/s²\].
    pub(super) unit: f64,
    /// Change of a displacement at which the law holds well enough at the end \[m\]; infinite where it need not hold.
    pub(super) still: f64,
    /// √(stiffness/inertia), of D.
    pub(super) root: f64,
    /// Mean acceleration that may be left, in its units and over that after the first step.
    pub(super) tolerance: [f64; 2],
}

/// A contact, to be asked whether it would pierce.
struct Watched {
    nodes: [u32; 4],
    weights: [f64; 4],
    normal: Vector<3>,
    /// Gap before the step \[m\].
    gap: f64,
    /// Whether it is among those that are solved for.
    solved: bool,
}

/// A contact that pushes, or might.
struct Touch {
    row: usize,
    nodes: [u32; 4],
    weights: [f64; 4],
    friction: f64,
    /// Columns are the normal and two tangents.
    frame: Matrix<3, 3>,
    /// d before the step.
    start: Vector<3>,
    force: Vector<3>,
    status: ContactStatus,
    /// How it yields in D, and the inverse of that.
    own: [Matrix<3, 3>; 2],
    /// The same, prepared for sliding, once it slides.
    sliding: Option<Box<LocalContact<3>>>,
}

/// What is known of a node between two steps.
#[derive(Clone, Copy, Default)]
struct Node {
    /// The step before, and A times it.
    last: Vector<3>,
    last_image: Vector<3>,
    /// Where the next one starts, and A times that.
    from: Vector<3>,
    from_image: Vector<3>,
    gradient: Vector<3>,
    /// What turns forces into accelerations, in units of the load's.
    lightness: Vector<3>,
}

/// How a step went.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Largest and summed square of the accelerations that are left, in units of the load's.
    worst: f64,
    squares: f64,
    /// (s − y)ᵀA(s − y), and the same with D.
    by_a: f64,
    by_d: f64,
    /// (y − s)ᵀD(s − last): whether going on along the last change leads back.
    back: f64,
}

/// The iteration; see the head of this file.
pub(super) struct Proximal<'a> {
    problem: &'a Linear<'a>,
    /// D⁻¹.
    inverse: Vec<Matrix<3, 3>>,
    /// D in units of the diagonal blocks of A.
    larger: f64,
    watched: Vec<Watched>,
    touches: Vec<Touch>,
    nodes: Vec<Node>,
    step: Vec<Vector<3>>,
    /// A times the step.
    image: Vec<Vector<3>>,
}

impl<'a> Proximal<'a> {
    /// A problem with contacts whose d is given by `start`; `None` where a diagonal block of A has no inverse.
    pub(super) fn new(
        problem: &'a Linear<'a>,
        rows: &[Row],
        start: impl Fn(&Row) -> Vector<3>,
    ) -> Option<Self> {
        let matrix = problem.matrix;
        let inverse: Option<Vec<_>> =
            (0..matrix.len()).map(|p| problem.inverse(p, LARGER)).collect();
        let mut nodes = vec![Node::default(); matrix.len()];
        for (p, node) in nodes.iter_mut().enumerate() {
            for (c, i) in matrix.unknowns(p).enumerate() {
                node.gradient[c] = problem.balance[i];
                node.lightness[c] = 1.0 / (problem.unit * problem.masses[i]);
            }
        }
        let still = vec![Vector::zeros(); matrix.len()];
        let mut all = Self {
            problem,
            inverse: inverse?,
            larger: LARGER,
            watched: Vec::with_capacity(rows.len()),
            touches: Vec::new(),
            nodes,
            image: still.clone(),
            step: still,
        };
        for (k, row) in rows.iter().enumerate() {
            let d = start(row);
            let solved = row.status != ContactStatus::Open || d[0] < 0.0;
            let watched = Watched::new(row, matrix, d[0], solved);
            if solved {
                all.touches.push(Touch::new(k, row, &watched, d, &all.inverse));
            }
            all.watched.push(watched);
        }
        Some(all)
    }

    /// Steps until little is left of the balance, at most so many; the mean acceleration that is left over what may be.
    pub(super) fn solve(
        &mut self,
        rows: &[Row],
        start: impl Fn(&Row) -> Vector<3>,
        most: usize,
    ) -> f64 {
        let Linear { root, tolerance: [absolute, relative], matrix, .. } = *self.problem;
        // Going on farther than this overshoots.
        let most_momentum = (root - 1.0) / (root + 1.0);
        let patience = (PATIENCE * root).ceil() as usize;
        let unknowns = self.problem.balance.len() as f64;
        let (mut momentum, mut t) = (0.0f64, 1.0f64);
        let (mut tolerance, mut least, mut since) = (absolute, f64::INFINITY, 0);
        let mut left = f64::INFINITY;
        for k in 1..=most {
            self.descend(momentum);
            let watch = k % WATCH == 1;
            self.sweeps(|all| watch && all.watch(rows, &start));
            matrix.multiply(&self.step, &mut self.image);
            let progress = self.progress();
            let mean = (progress.squares / unknowns).sqrt();
            if k == 1 {
                tolerance = absolute.max(relative * mean);
            }
            left = mean / tolerance;
            let enough = left <= 1.0 && progress.worst <= WORST * tolerance;
            if enough && (watch || !self.watch(rows, &start)) {
                break;
            }
            if mean <= GAIN * least {
                (least, since) = (mean, k);
            } else if k - since >= patience || !mean.is_finite() {
                break;
            }
            let small = progress.by_a > progress.by_d;
            if small {
                self.enlarge();
            }
            if small || progress.back > 0.0 {
                (momentum, t) = (0.0, 1.0);
            } else {
                let next = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
                momentum = ((t - 1.0) / next).min(most_momentum);
                t = next;
            }
        }
        let mut settled = false;
        for _ in 0..LAST_SWEEPS {
            settled = self.sweep() <= self.problem.still;
            // Sweeps may have pushed others in.
            if settled && !self.watch(rows, &start) {
                break;
            }
        }
        if !settled {
            self.watch(rows, &start);
            self.sweep();
        }
        left
    }

    /// Writes the step, and the forces of the contacts.
    pub(super) fn finish(self, rows: &mut [Row], step: &mut [f64]) {
        self.problem.matrix.scatter(&self.step, step);
        for row in rows.iter_mut() {
            row.status = ContactStatus::Open;
            (row.planned, row.force, row.bound) = (Vector::zeros(), Vector::zeros(), 0.0);
        }
        for touch in self.touches.iter().filter(|touch| touch.force[0] > 0.0) {
            let row = &mut rows[touch.row];
            row.decide(touch.status, &touch.force);
            (row.planned, row.force) = (touch.force, touch.force);
            row.bound = touch.friction * touch.force[0];
        }
    }

    /// Along the last change and down, the contacts pushing as they did.
    fn descend(&mut self, momentum: f64) {
        let (inverse, image) = (&self.inverse, &self.image);
        let nodes = self.nodes.chunks_mut(CHUNK);
        let mut parts: Vec<_> = nodes.zip(self.step.chunks_mut(CHUNK)).collect();
        parallel::for_chunks(&mut parts, 1, |chunk, part| {
            for (nodes, steps) in part {
                for (i, (node, step)) in nodes.iter_mut().zip(steps.iter_mut()).enumerate() {
                    let p = chunk * CHUNK + i;
                    node.from = *step + (*step - node.last) * momentum;
                    node.from_image = image[p] + (image[p] - node.last_image) * momentum;
                    (node.last, node.last_image) = (*step, image[p]);
                    *step = node.from - inverse[p] * (node.from_image + node.gradient);
                }
            }
        });
        for touch in self.touches.iter().filter(|touch| touch.force[0] > 0.0) {
            touch.push(&touch.force, &self.inverse, &mut self.step);
        }
    }

    /// Sweeps until the contacts change little. `more` is asked after the first whether there are new ones.
    fn sweeps(&mut self, more: impl Fn(&mut Self) -> bool) {
        let mut first = self.sweep();
        if more(self) {
            first = f64::INFINITY;
        }
        let mut change = first;
        for _ in 1..SWEEPS {
            if change.is_finite() && change <= SETTLED * first {
                break;
            }
            change = self.sweep();
            first = if first.is_finite() { first } else { change / SETTLED };
        }
    }

    /// Solves contacts one after the other. The largest change of a displacement.
    fn sweep(&mut self) -> f64 {
        let mut largest = 0.0f64;
        for touch in &mut self.touches {
            let moved = sum(&touch.nodes, &touch.weights, &self.step);
            let d = touch.start + touch.frame.tr_mul(&moved);
            if touch.force[0] == 0.0 && d[0] >= 0.0 {
                continue;
            }
            let (force, status) = touch.alone(&(d - touch.own[0] * touch.force));
            let change = force - touch.force;
            (touch.force, touch.status) = (force, status);
            if change.amax() > 0.0 {
                largest = largest.max((touch.own[0] * change).amax());
                touch.push(&change, &self.inverse, &mut self.step);
            }
        }
        largest
    }

    /// Takes up contacts that would pierce. Whether there were any.
    fn watch(&mut self, rows: &[Row], start: &impl Fn(&Row) -> Vector<3>) -> bool {
        let before = self.touches.len();
        for (k, watched) in self.watched.iter_mut().enumerate().filter(|(_, w)| !w.solved) {
            let moved = sum(&watched.nodes, &watched.weights, &self.step);
            if watched.gap + watched.normal.dot(&moved) < 0.0 {
                watched.solved = true;
                let row = &rows[k];
                self.touches.push(Touch::new(k, row, watched, start(row), &self.inverse));
            }
        }
        self.touches.len() > before
    }

    /// Makes D larger.
    fn enlarge(&mut self) {
        self.larger *= MORE;
        self.inverse.iter_mut().for_each(|inverse| *inverse /= MORE);
        for touch in &mut self.touches {
            touch.yield_by(&self.inverse);
        }
    }

    fn progress(&self) -> Progress {
        let count = self.nodes.len();
        let parts = parallel::map(count.div_ceil(CHUNK), 1, |c| {
            self.progress_of(c * CHUNK..((c + 1) * CHUNK).min(count))
        });
        let mut all = Progress::default();
        for part in parts {
            all.worst = all.worst.max(part.worst);
            all.squares += part.squares;
            all.by_a += part.by_a;
            all.by_d += part.by_d;
            all.back += part.back;
        }
        all
    }

    fn progress_of(&self, range: Range<usize>) -> Progress {
        let mut all = Progress::default();
        for p in range {
            let (node, step) = (&self.nodes[p], &self.step[p]);
            let way = step - node.from;
            let by_d = self.problem.matrix.diagonal(p) * way * self.larger;
            let by_a = self.image[p] - node.from_image;
            // What is left of the balance: (A − D)(s − y).
            let left = (by_a - by_d).component_mul(&node.lightness);
            all.worst = all.worst.max(left.amax());
            all.squares += left.norm_squared();
            all.by_a += by_a.dot(&way);
            all.by_d += by_d.dot(&way);
            all.back -= by_d.dot(&(step - node.last));
        }
        all
    }
}

impl Linear<'_> {
    /// Steps that are enough if any are.
    pub(super) fn most_steps(&self) -> usize {
        (MOST * self.root).ceil() as usize
    }

    /// Of `larger` times the diagonal block of a node, where it can move.
    fn inverse(&self, p: usize, larger: f64) -> Option<Matrix<3, 3>> {
        let unknowns = self.matrix.unknowns(p);
        let mut own = *self.matrix.diagonal(p) * larger;
        for c in unknowns.len()..3 {
            own[(c, c)] = 1.0;
        }
        let mut inverse = own.try_inverse()?;
        for c in (0..3).filter(|c| *c >= unknowns.len() || self.fixed[unknowns.start + c]) {
            inverse.row_mut(c).fill(0.0);
            inverse.column_mut(c).fill(0.0);
        }
        Some(inverse)
    }
}

impl Watched {
    fn new(row: &Row, matrix: &Blocked, gap: f64, solved: bool) -> Self {
        let count = row.contact.count as usize;
        Self {
            nodes: std::array::from_fn(|k| {
                matrix.node_at(row.unknowns[if k < count { k } else { 0 }])
            }),
            weights: std::array::from_fn(|k| if k < count { row.contact.weights[k] } else { 0.0 }),
            normal: row.frame[0],
            gap,
            solved,
        }
    }
}

impl Touch {
    fn new(
        k: usize,
        row: &Row,
        watched: &Watched,
        start: Vector<3>,
        inverse: &[Matrix<3, 3>],
    ) -> Self {
        let open = row.status == ContactStatus::Open;
        let mut touch = Self {
            row: k,
            nodes: watched.nodes,
            weights: watched.weights,
            friction: row.contact.friction,
            frame: Matrix::<3, 3>::from_columns(&row.frame),
            start,
            force: if open || row.force[0] <= 0.0 { Vector::zeros() } else { row.force },
            status: row.status,
            own: [Matrix::zeros(); 2],
            sliding: None,
        };
        touch.yield_by(inverse);
        touch
    }

    /// Takes how it yields from D⁻¹.
    fn yield_by(&mut self, inverse: &[Matrix<3, 3>]) {
        let mut sum = Matrix::<3, 3>::zeros();
        for (p, weight) in self.nodes.iter().zip(&self.weights) {
            sum += inverse[*p as usize] * (weight * weight);
        }
        let own = self.frame.tr_mul(&(sum * self.frame));
        // Where it has none, sticking is left to the kernel, too.
        self.own = [own, own.try_inverse().unwrap_or_else(Matrix::zeros)];
        self.sliding = None;
    }

    /// Moves what a force pushes.
    fn push(&self, force: &Vector<3>, inverse: &[Matrix<3, 3>], step: &mut [Vector<3>]) {
        let world = self.frame * force;
        for (p, weight) in self.nodes.iter().zip(&self.weights).filter(|(_, w)| **w != 0.0) {
            step[*p as usize] += inverse[*p as usize] * world * *weight;
        }
    }

    /// Its force and what it does when d is b without it.
    fn alone(&mut self, b: &Vector<3>) -> (Vector<3>, ContactStatus) {
        if b[0] >= 0.0 {
            return (Vector::zeros(), ContactStatus::Open);
        }
        let stick = -(self.own[1] * b);
        let pull = stick[1] * stick[1] + stick[2] * stick[2];
        if stick[0] > 0.0 && pull <= (self.friction * stick[0]).powi(2) {
            return (stick, ContactStatus::Stick);
        }
        let (mu, own) = (self.friction, &self.own[0]);
        let sliding =
            self.sliding.get_or_insert_with(|| Box::new(LocalContact::new(Law::Coulomb, mu, own)));
        // What slid in the last sweep slides on.
        let on = sliding.slides_on(b, &self.force).filter(|force| force[0] > 0.0);
        (on.unwrap_or_else(|| sliding.solve(b, &self.force).r), ContactStatus::Slip)
    }
}

fn sum(nodes: &[u32; 4], weights: &[f64; 4], of: &[Vector<3>]) -> Vector<3> {
    let mut sum = of[nodes[0] as usize] * weights[0];
    for k in 1..4 {
        sum += of[nodes[k] as usize] * weights[k];
    }
    sum
}
