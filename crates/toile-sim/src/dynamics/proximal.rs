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

use toile_num::{Matrix, Vector, parallel};

use super::blocked::Blocked;
use super::rows::{Row, at};
use super::touches::Touches;

/// How much larger than its diagonal blocks A is taken to be at first, and by how much more where it turns out larger.
pub(super) const LARGER: f64 = 1.8;
const MORE: f64 = 1.2;

/// Sweeps over the contacts in a step at most, and part of the first change of a displacement at which they end.
const SWEEPS: usize = 3;
const SETTLED: f64 = 0.1;

/// Sweeps after the last step at most. So few contacts that have not settled then are solved together, with those that they pushed others into, to so
/// much of the largest force.
const LAST_SWEEPS: usize = 60;
const TOGETHER: usize = 400;
const ROUNDS: usize = 3;
const AGREED: f64 = 1e-8;

/// Steps after which contacts that do not push are looked at again.
const WATCH: usize = 5;

/// Largest acceleration that may be left, in units of the mean one that is allowed: contacts that say nearly the same thing exchange their
/// loads slowly, and nothing depends on it.
const WORST: f64 = 100.0;

/// In so many steps, in units of √(stiffness/inertia), at least this part of what is left has to go; in fewer where little is left.
const PATIENCE: f64 = 2.5;
const LESS_PATIENCE: f64 = 1.0;
/// That unit where inertia rules, and contacts that share vertices take longer than the cloth.
const LEAST_ROOT: f64 = 15.0;
const GAIN: f64 = 0.7;

/// Part of what the first step left that is little: elasticity is linearised, which leaves more. (Contacts that say nearly the same thing exchange their
/// loads slowly; a factorisation is no faster at that.)
pub(super) const NEARLY: f64 = 5e-3;

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
    /// Where the vertices are \[m\].
    pub(super) coordinates: &'a [f64],
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

/// What is known of a node between two steps.
#[derive(Clone, Copy)]
struct Node {
    /// A block of A and, where the node can move, the inverse of that of D.
    own: Matrix<3, 3>,
    inverse: Matrix<3, 3>,
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
    /// D in units of the diagonal blocks of A.
    larger: f64,
    touches: Touches,
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
        let nodes = (0..matrix.len()).map(|p| problem.node(p)).collect::<Option<Vec<_>>>()?;
        let inverse: Vec<_> = nodes.iter().map(|node| node.inverse).collect();
        let position = |i: usize| at(problem.coordinates, i);
        let touches = Touches::new(rows, &inverse, |i| matrix.node_at(i), position, &start);
        let step = vec![Vector::zeros(); nodes.len()];
        Some(Self { problem, larger: LARGER, touches, nodes, image: step.clone(), step })
    }

    /// Steps until little is left of the balance, at most so many; the mean acceleration that is left over what may be, and over that after the
    /// first step.
    pub(super) fn solve(
        &mut self,
        rows: &[Row],
        start: impl Fn(&Row) -> Vector<3>,
        most: usize,
    ) -> [f64; 2] {
        let Linear { root, tolerance: [absolute, relative], .. } = *self.problem;
        // Going on farther than this overshoots.
        let most_momentum = (root - 1.0) / (root + 1.0);
        // Contacts that exchange their loads may wander for a hundred steps, and leap at the end.
        let unit = root.max(LEAST_ROOT);
        let patience = |part: f64| if part <= NEARLY { LESS_PATIENCE } else { PATIENCE } * unit;
        let unknowns = self.problem.balance.len() as f64;
        let (mut momentum, mut t) = (0.0f64, 1.0f64);
        let (mut tolerance, mut least, mut since) = (absolute, f64::INFINITY, 0);
        let (mut first, mut left) = (1.0, [f64::INFINITY; 2]);
        for k in 1..=most {
            self.descend(momentum);
            let watch = k % WATCH == 1;
            self.sweeps(|touches| watch && touches.watch(rows, &start));
            let progress = self.progress();
            let mean = (progress.squares / unknowns).sqrt();
            if k == 1 {
                first = mean;
                tolerance = absolute.max(relative * mean);
            }
            left = [mean / tolerance, mean / first];
            let enough = left[0] <= 1.0 && progress.worst <= WORST * tolerance;
            if enough && (watch || !self.touches.watch(rows, &start)) {
                break;
            }
            if mean <= GAIN * least {
                (least, since) = (mean, k);
            } else if (k - since) as f64 >= patience(left[1]) || !mean.is_finite() {
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
        self.touches.be_exact();
        let mut settled = false;
        for _ in 0..LAST_SWEEPS {
            settled = self.touches.sweep() <= self.problem.still;
            // Sweeps may have pushed others in.
            if settled && !self.touches.watch(rows, &start) {
                break;
            }
        }
        let few = self.touches.len() <= TOGETHER;
        for _ in 0..(if few && !settled && self.problem.still.is_finite() { ROUNDS } else { 0 }) {
            self.touches.agree(AGREED);
            settled = !self.touches.watch(rows, &start);
            if settled {
                break;
            }
        }
        if !settled {
            self.touches.watch(rows, &start);
            self.touches.sweep();
        }
        self.touches.end(&mut self.step);
        left
    }

    /// Writes the step, and the forces of the contacts.
    pub(super) fn finish(self, rows: &mut [Row], step: &mut [f64]) {
        self.problem.matrix.scatter(&self.step, step);
        self.touches.finish(rows);
    }

    /// Along the last change and down, the contacts pushing as they did.
    fn descend(&mut self, momentum: f64) {
        let image = &self.image;
        let nodes = self.nodes.chunks_mut(CHUNK);
        let mut parts: Vec<_> = nodes.zip(self.step.chunks_mut(CHUNK)).collect();
        parallel::for_chunks(&mut parts, 1, |chunk, part| {
            for (nodes, steps) in part {
                for (i, (node, step)) in nodes.iter_mut().zip(steps.iter_mut()).enumerate() {
                    let p = chunk * CHUNK + i;
                    node.from = *step + (*step - node.last) * momentum;
                    node.from_image = image[p] + (image[p] - node.last_image) * momentum;
                    (node.last, node.last_image) = (*step, image[p]);
                    *step = node.from - node.inverse * (node.from_image + node.gradient);
                }
            }
        });
        self.touches.begin(&self.step);
    }

    /// Sweeps until the contacts change little. `more` is asked after the first whether there are new ones.
    fn sweeps(&mut self, more: impl Fn(&mut Touches) -> bool) {
        let mut first = self.touches.sweep();
        if more(&mut self.touches) {
            first = f64::INFINITY;
        }
        let mut change = first;
        for _ in 1..SWEEPS {
            if change.is_finite() && change <= SETTLED * first {
                break;
            }
            change = self.touches.sweep();
            first = if first.is_finite() { first } else { change / SETTLED };
        }
        self.touches.end(&mut self.step);
    }

    /// Makes D larger.
    fn enlarge(&mut self) {
        self.larger *= MORE;
        self.nodes.iter_mut().for_each(|node| node.inverse /= MORE);
        self.touches.enlarge(MORE);
    }

    /// Multiplies the step with A and tells how it went.
    fn progress(&mut self) -> Progress {
        let (matrix, step, nodes, larger) =
            (self.problem.matrix, &self.step, &self.nodes, self.larger);
        let chunks = self.image.chunks_mut(CHUNK);
        let mut parts: Vec<_> = chunks.map(|image| (image, Progress::default())).collect();
        parallel::for_chunks(&mut parts, 1, |chunk, part| {
            for (image, progress) in part {
                matrix.product(chunk * CHUNK, step, image);
                for (i, image) in image.iter().enumerate() {
                    let p = chunk * CHUNK + i;
                    progress.add(&nodes[p], larger, &step[p], image);
                }
            }
        });
        let mut all = Progress::default();
        for (_, part) in parts {
            all.worst = all.worst.max(part.worst);
            all.squares += part.squares;
            all.by_a += part.by_a;
            all.by_d += part.by_d;
            all.back += part.back;
        }
        all
    }
}

impl Progress {
    /// Counts a node in, whose step has that image.
    fn add(&mut self, node: &Node, larger: f64, step: &Vector<3>, image: &Vector<3>) {
        let way = step - node.from;
        let by_d = node.own * way * larger;
        let by_a = image - node.from_image;
        // What is left of the balance: (A − D)(s − y).
        let left = (by_a - by_d).component_mul(&node.lightness);
        self.worst = self.worst.max(left.amax());
        self.squares += left.norm_squared();
        self.by_a += by_a.dot(&way);
        self.by_d += by_d.dot(&way);
        self.back -= by_d.dot(&(step - node.last));
    }
}

impl Linear<'_> {
    /// Steps that are enough if any are.
    pub(super) fn most_steps(&self) -> usize {
        (MOST * self.root.max(LEAST_ROOT)).ceil() as usize
    }

    /// A node before the first step; `None` where its block has no inverse.
    fn node(&self, p: usize) -> Option<Node> {
        let unknowns = self.matrix.unknowns(p);
        let own = *self.matrix.diagonal(p);
        let mut inverse = own * LARGER;
        for c in unknowns.len()..3 {
            inverse[(c, c)] = 1.0;
        }
        let mut inverse = inverse.try_inverse()?;
        for c in (0..3).filter(|c| *c >= unknowns.len() || self.fixed[unknowns.start + c]) {
            inverse.row_mut(c).fill(0.0);
            inverse.column_mut(c).fill(0.0);
        }
        let (mut gradient, mut lightness) = (Vector::zeros(), Vector::zeros());
        for (c, i) in unknowns.enumerate() {
            gradient[c] = self.balance[i];
            lightness[c] = 1.0 / (self.unit * self.masses[i]);
        }
        let [last, last_image, from, from_image] = [Vector::zeros(); 4];
        Some(Node { own, inverse, last, last_image, from, from_image, gradient, lightness })
    }
}
