//! Contacts that push, in parts of space that are swept at the same time.
//!
//! A sweep solves contacts one after the other, each with what those before it have done. Contacts of two parts have no vertex in common, so
//! their sweeps may go on beside each other; the few that lie across a border follow. What the parts are depends on the contacts alone, so results
//! are the same for any number of threads.

use std::ops::Range;

use toile_cone::{
    Admm, AlignedContact, BlockSparseOperator, Contact as LocalContact, Law, Operator, Problem,
    Settings, Solution, Solver, Status,
};
use toile_num::{Matrix, Vector, parallel};

use super::rows::{ContactStatus, Row};

/// Halvings of space: eight parts keep a few threads busy, and few contacts lie across their borders.
const HALVINGS: usize = 3;

/// Precision with which sliding contacts are solved, on the way and at the end.
const ROUGHLY: f64 = 1e-3;
const EXACTLY: f64 = 1e-13;

/// Contacts below which one part is enough.
const FEW: usize = 400;

/// Alternations by which contacts are solved together at most.
const ALTERNATIONS: usize = 400;

/// A contact, to be asked whether it would pierce.
struct Watched {
    /// Among the nodes that can be touched, and its weights there.
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
    /// Among the nodes of its part, or among all where it is across a border.
    nodes: [u32; 4],
    weights: [f64; 4],
    friction: f64,
    /// Columns are the normal and two tangents, those of its law.
    frame: Matrix<3, 3>,
    /// d before the step.
    start: Vector<3>,
    force: Vector<3>,
    status: ContactStatus,
    own: Own,
}

/// How a contact yields in D.
enum Own {
    Definite(AlignedContact),
    /// Where its vertices cannot move freely.
    Other(Box<LocalContact<3>>),
}

impl Own {
    fn apply(&self, force: &Vector<3>) -> Vector<3> {
        match self {
            Self::Definite(contact) => contact.apply(force),
            Self::Other(contact) => contact.matrix() * force,
        }
    }

    /// The force and what the contact does when d is b without it, from a guess.
    fn solve(
        &mut self,
        b: &Vector<3>,
        guess: &Vector<3>,
        precision: f64,
    ) -> (Vector<3>, ContactStatus) {
        match self {
            Self::Definite(contact) => {
                let (force, status) = contact.solve(b, precision);
                (force, named(status))
            }
            Self::Other(_) if b[0] >= 0.0 => (Vector::zeros(), ContactStatus::Open),
            Self::Other(contact) => (contact.solve(b, guess).r, ContactStatus::Slip),
        }
    }
}

fn named(status: Status) -> ContactStatus {
    match status {
        Status::TakeOff => ContactStatus::Open,
        Status::Stick => ContactStatus::Stick,
        Status::Slip => ContactStatus::Slip,
    }
}

/// A node that can be touched.
#[derive(Clone, Copy)]
struct Touched {
    step: Vector<3>,
    /// D⁻¹.
    inverse: Matrix<3, 3>,
}

/// All contacts of a problem; see the head of this file.
pub(super) struct Touches {
    watched: Vec<Watched>,
    /// Which node of the matrix each is, those of a part together.
    places: Vec<u32>,
    nodes: Vec<Touched>,
    /// The nodes of each part.
    ranges: Vec<Range<usize>>,
    /// Contacts within each part.
    parts: Vec<Vec<Touch>>,
    /// Contacts across borders.
    across: Vec<Touch>,
    precision: f64,
}

impl Touches {
    /// Contacts of the given rows: `node_at` says which node of the matrix begins at an unknown, `position` where that is, and `start` what d is.
    pub(super) fn new(
        rows: &[Row],
        inverse: &[Matrix<3, 3>],
        node_at: impl Fn(usize) -> u32,
        position: impl Fn(usize) -> Vector<3>,
        start: &impl Fn(&Row) -> Vector<3>,
    ) -> Self {
        let mut places = Vec::new();
        let mut at = vec![Vector::zeros(); inverse.len()];
        let mut seen = vec![false; inverse.len()];
        for row in rows {
            for &unknown in &row.unknowns[..row.contact.count as usize] {
                let p = node_at(unknown) as usize;
                if !std::mem::replace(&mut seen[p], true) {
                    places.push(p as u32);
                    at[p] = position(unknown);
                }
            }
        }
        places.sort_unstable();
        let halvings = if rows.len() < FEW { 0 } else { HALVINGS };
        let mut ranges = Vec::new();
        halve(&mut places, 0, halvings, &at, &mut ranges);
        let mut number = vec![0; inverse.len()];
        for (k, p) in places.iter().enumerate() {
            number[*p as usize] = k as u32;
        }
        let touched = |p: &u32| Touched { step: Vector::zeros(), inverse: inverse[*p as usize] };
        let mut all = Self {
            watched: Vec::with_capacity(rows.len()),
            nodes: places.iter().map(touched).collect(),
            parts: ranges.iter().map(|_| Vec::new()).collect(),
            across: Vec::new(),
            precision: ROUGHLY,
            places,
            ranges,
        };
        for (k, row) in rows.iter().enumerate() {
            let d = start(row);
            let solved = row.status != ContactStatus::Open || d[0] < 0.0;
            all.watched.push(Watched::new(row, |i| number[node_at(i) as usize], d[0], solved));
            if solved {
                all.take_up(k, row, d);
            }
        }
        all
    }

    /// Adds a contact to those that are solved for.
    fn take_up(&mut self, k: usize, row: &Row, start: Vector<3>) {
        let watched = &self.watched[k];
        let mut touch = Touch::new(k, row, watched, start, &self.nodes);
        let part = self.ranges.partition_point(|range| range.end <= watched.nodes[0] as usize);
        let range = &self.ranges[part];
        if watched.nodes.iter().all(|p| range.contains(&(*p as usize))) {
            touch.nodes = touch.nodes.map(|p| p - range.start as u32);
            self.parts[part].push(touch);
        } else {
            self.across.push(touch);
        }
    }

    /// Takes steps without contacts, and lets the contacts push as they did.
    pub(super) fn begin(&mut self, steps: &[Vector<3>]) {
        let places = &self.places;
        in_parts(&mut self.nodes, &self.ranges, &mut self.parts, |range, nodes, touches| {
            for (node, p) in nodes.iter_mut().zip(&places[range]) {
                node.step = steps[*p as usize];
            }
            for touch in touches.iter().filter(|touch| touch.force[0] > 0.0) {
                touch.push(&touch.force, nodes);
            }
            0.0
        });
        for touch in self.across.iter().filter(|touch| touch.force[0] > 0.0) {
            touch.push(&touch.force, &mut self.nodes);
        }
    }

    /// Solves contacts one after the other. The largest change of a displacement.
    pub(super) fn sweep(&mut self) -> f64 {
        let precision = self.precision;
        let within =
            in_parts(&mut self.nodes, &self.ranges, &mut self.parts, |_, nodes, touches| {
                sweep(touches, nodes, precision)
            });
        within.max(sweep(&mut self.across, &mut self.nodes, precision))
    }

    /// How many contacts are solved for.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(Vec::len).sum::<usize>() + self.across.len()
    }

    /// Solves contacts to the last digits from now on.
    pub(super) fn be_exact(&mut self) {
        self.precision = EXACTLY;
    }

    /// Solves all contacts together, their error over the largest force below `tolerance` if that can be: those that say the same thing come to agree
    /// slowly when they are asked one after the other. Kept if it is better than what there was.
    pub(super) fn agree(&mut self, tolerance: f64) {
        let ranges = self.ranges.iter().map(|range| range.start as u32).chain([0]);
        let lists = self.parts.iter_mut().chain([&mut self.across]);
        let mut all: Vec<(&mut Touch, u32)> = Vec::new();
        for (list, first) in lists.zip(ranges) {
            all.extend(list.iter_mut().map(|touch| (touch, first)));
        }
        let Some(found) = together(&all, &self.nodes, tolerance) else { return };
        for (k, (touch, first)) in all.iter_mut().enumerate() {
            let force = Vector::<3>::from_column_slice(&found.r[3 * k..][..3]);
            let change = force - touch.force;
            (touch.force, touch.status) = (force, named(found.status[k]));
            touch.push(&change, &mut self.nodes[*first as usize..]);
        }
    }

    /// Takes up contacts that would pierce. Whether there were any.
    pub(super) fn watch(&mut self, rows: &[Row], start: &impl Fn(&Row) -> Vector<3>) -> bool {
        let (watched, nodes) = (&self.watched, &self.nodes);
        let pierces = |k: usize| {
            let w = &watched[k];
            !w.solved && w.gap + w.normal.dot(&moved(&w.nodes, &w.weights, nodes)) < 0.0
        };
        let new = parallel::map(rows.len().div_ceil(GRAIN), 1, |c| {
            let chunk = c * GRAIN..((c + 1) * GRAIN).min(rows.len());
            chunk.filter(|k| pierces(*k)).collect::<Vec<_>>()
        });
        for &k in new.iter().flatten() {
            self.watched[k].solved = true;
            self.take_up(k, &rows[k], start(&rows[k]));
        }
        new.iter().any(|chunk| !chunk.is_empty())
    }

    /// Makes D larger by a factor.
    pub(super) fn enlarge(&mut self, factor: f64) {
        for node in &mut self.nodes {
            node.inverse /= factor;
        }
        for touch in self.parts.iter_mut().flatten().chain(&mut self.across) {
            match &mut touch.own {
                Own::Definite(contact) => contact.scale(1.0 / factor),
                Own::Other(contact) => {
                    let smaller = contact.matrix() / factor;
                    **contact = LocalContact::new(Law::Coulomb, touch.friction, &smaller);
                }
            }
        }
    }

    /// Writes the steps of the nodes that can be touched.
    pub(super) fn end(&self, steps: &mut [Vector<3>]) {
        for (p, node) in self.places.iter().zip(&self.nodes) {
            steps[*p as usize] = node.step;
        }
    }

    /// Writes the forces of the contacts.
    pub(super) fn finish(&self, rows: &mut [Row]) {
        for row in rows.iter_mut() {
            row.status = ContactStatus::Open;
            (row.planned, row.force, row.bound) = (Vector::zeros(), Vector::zeros(), 0.0);
        }
        let touches = self.parts.iter().flatten().chain(&self.across);
        for touch in touches.filter(|touch| touch.force[0] > 0.0) {
            let row = &mut rows[touch.row];
            let force = row.local(&(touch.frame * touch.force));
            row.decide(touch.status, &force);
            (row.planned, row.force) = (force, force);
            row.bound = touch.friction * force[0];
        }
    }
}

/// Contacts to a task when they are only watched.
const GRAIN: usize = 2048;

/// Sorts places into parts of equal number by cutting space across its longest side, so many times.
fn halve(
    places: &mut [u32],
    start: usize,
    times: usize,
    at: &[Vector<3>],
    ranges: &mut Vec<Range<usize>>,
) {
    if times == 0 || places.len() < 2 {
        ranges.push(start..start + places.len());
        return;
    }
    let mut low = Vector::<3>::repeat(f64::INFINITY);
    let mut high = -low;
    for p in places.iter() {
        (low, high) = (low.inf(&at[*p as usize]), high.sup(&at[*p as usize]));
    }
    let axis = (high - low).imax();
    let half = places.len() / 2;
    places.select_nth_unstable_by(half, |p, q| {
        at[*p as usize][axis].total_cmp(&at[*q as usize][axis]).then(p.cmp(q))
    });
    let (left, right) = places.split_at_mut(half);
    halve(left, start, times - 1, at, ranges);
    halve(right, start + half, times - 1, at, ranges);
}

/// Calls `work` with the nodes and contacts of each part, and which nodes they are. The largest of what it returns.
fn in_parts(
    nodes: &mut [Touched],
    ranges: &[Range<usize>],
    parts: &mut [Vec<Touch>],
    work: impl Fn(Range<usize>, &mut [Touched], &mut [Touch]) -> f64 + Sync,
) -> f64 {
    let mut rest = nodes;
    let mut tasks = Vec::with_capacity(ranges.len());
    for (range, touches) in ranges.iter().zip(parts) {
        let (own, others) = rest.split_at_mut(range.len());
        rest = others;
        tasks.push((range.clone(), own, touches, 0.0f64));
    }
    parallel::for_chunks(&mut tasks, 1, |_, task| {
        for (range, nodes, touches, largest) in task {
            *largest = work(range.clone(), nodes, touches);
        }
    });
    tasks.iter().map(|task| task.3).fold(0.0, f64::max)
}

/// Solves contacts one after the other. The largest change of a displacement.
fn sweep(touches: &mut [Touch], nodes: &mut [Touched], precision: f64) -> f64 {
    let mut largest = 0.0f64;
    for touch in touches {
        let d = touch.start + touch.frame.tr_mul(&moved(&touch.nodes, &touch.weights, nodes));
        if touch.force[0] == 0.0 && d[0] >= 0.0 {
            continue;
        }
        let without = d - touch.own.apply(&touch.force);
        let (force, status) = touch.own.solve(&without, &touch.force, precision);
        let change = force - touch.force;
        (touch.force, touch.status) = (force, status);
        if change.amax() > 0.0 {
            largest = largest.max(touch.own.apply(&change).amax());
            touch.push(&change, nodes);
        }
    }
    largest
}

/// Forces of contacts, given with the first of the nodes they are numbered among, that obey the law better than those they have.
fn together(all: &[(&mut Touch, u32)], nodes: &[Touched], tolerance: f64) -> Option<Solution> {
    let mut at: Vec<Vec<(usize, f64)>> = vec![Vec::new(); nodes.len()];
    for (k, (touch, first)) in all.iter().enumerate() {
        for (p, weight) in touch.nodes.iter().zip(&touch.weights).filter(|(_, w)| **w != 0.0) {
            at[(p + first) as usize].push((k, *weight));
        }
    }
    let mut rows: Vec<Vec<(u32, Matrix<3, 3>)>> = vec![Vec::new(); all.len()];
    for (list, node) in at.iter().zip(nodes) {
        for &(i, wi) in list {
            for &(j, wj) in list {
                let block = all[i].0.frame.tr_mul(&(node.inverse * all[j].0.frame)) * (wi * wj);
                match rows[i].iter_mut().find(|(column, _)| *column == j as u32) {
                    Some((_, sum)) => *sum += block,
                    None => rows[i].push((j as u32, block)),
                }
            }
        }
    }
    rows.iter_mut().for_each(|row| row.sort_unstable_by_key(|(column, _)| *column));
    let operator = BlockSparseOperator::<3>::from_rows(rows).ok()?;
    let start: Vec<f64> = all.iter().flat_map(|(t, _)| t.force.iter().copied()).collect();
    let mut b = vec![0.0; start.len()];
    operator.apply(&start, &mut b);
    let mut u = Vec::with_capacity(start.len());
    for (touch, first) in all {
        let moved = moved(&touch.nodes, &touch.weights, &nodes[*first as usize..]);
        u.extend_from_slice((touch.start + touch.frame.tr_mul(&moved)).as_slice());
    }
    b.iter_mut().zip(&u).for_each(|(b, u)| *b = u - *b);
    let friction: Vec<f64> = all.iter().map(|(touch, _)| touch.friction).collect();
    let problem = Problem::roughly(&operator, &b, &friction).ok()?;
    let before = problem.residuals(&start, &u, None).alart_curnier;
    // Contacts that say the same thing leave Newton steps nothing to go by, and sweeps have had their turn.
    let settings =
        Settings { tolerance, max_iterations: ALTERNATIONS, force_floor: None, polish: false };
    let found = Admm::default().solve(&problem, Some(&start), &settings, &|_, _| true);
    (found.residuals.alart_curnier < before).then_some(found)
}

impl Watched {
    fn new(row: &Row, node: impl Fn(usize) -> u32, gap: f64, solved: bool) -> Self {
        let count = row.contact.count as usize;
        Self {
            nodes: std::array::from_fn(|k| node(row.unknowns[if k < count { k } else { 0 }])),
            weights: std::array::from_fn(|k| if k < count { row.contact.weights[k] } else { 0.0 }),
            normal: row.frame[0],
            gap,
            solved,
        }
    }
}

impl Touch {
    fn new(k: usize, row: &Row, watched: &Watched, start: Vector<3>, nodes: &[Touched]) -> Self {
        let mut sum = Matrix::<3, 3>::zeros();
        for (p, weight) in watched.nodes.iter().zip(&watched.weights) {
            sum += nodes[*p as usize].inverse * (weight * weight);
        }
        let friction = row.contact.friction;
        let mut frame = Matrix::<3, 3>::from_columns(&row.frame);
        let yields = frame.tr_mul(&(sum * frame));
        let open = row.status == ContactStatus::Open || row.force[0] <= 0.0;
        let mut force = if open { Vector::zeros() } else { row.force };
        let mut start = start;
        let own = if let Some((contact, [cos, sin])) = AlignedContact::new(friction, &yields) {
            let turn = Matrix::<3, 3>::new(1.0, 0.0, 0.0, 0.0, cos, -sin, 0.0, sin, cos);
            (frame, start, force) = (frame * turn, turn.tr_mul(&start), turn.tr_mul(&force));
            Own::Definite(contact)
        } else {
            Own::Other(Box::new(LocalContact::new(Law::Coulomb, friction, &yields)))
        };
        let (nodes, weights, status) = (watched.nodes, watched.weights, row.status);
        Self { row: k, nodes, weights, friction, frame, start, force, status, own }
    }

    /// Moves what a force pushes.
    fn push(&self, force: &Vector<3>, nodes: &mut [Touched]) {
        let world = self.frame * force;
        for (p, weight) in self.nodes.iter().zip(&self.weights).filter(|(_, w)| **w != 0.0) {
            let node = &mut nodes[*p as usize];
            node.step += node.inverse * world * *weight;
        }
    }
}

/// How a contact moves.
fn moved(nodes: &[u32; 4], weights: &[f64; 4], of: &[Touched]) -> Vector<3> {
    let mut sum = of[nodes[0] as usize].step * weights[0];
    for k in 1..4 {
        sum += of[nodes[k] as usize].step * weights[k];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::rows::at;
    use super::*;
    use crate::State;
    use toile_contact::{Contact, ContactKey};

    /// A row of points, most too close to the next: chains of contacts through all parts and across their borders.
    #[test]
    fn parts_swept_beside_each_other_obey_the_law_together() {
        let count = 2 * FEW;
        let place = |p: usize| Vector::<3>::new(0.01 * p as f64, 0.0, 0.0);
        let all: Vec<f64> =
            (0..=count).flat_map(|p| <[f64; 3]>::from(place(p).into_owned())).collect();
        let state = State::new(all);
        let contact = |p: usize| Contact {
            key: ContactKey::VertexFace { vertex: p as u32, face: 0 },
            vertices: [p as u32 + 1, p as u32, 0, 0],
            weights: [1.0, -1.0, 0.0, 0.0],
            count: 2,
            normal: Vector::<3>::x(),
            gap: if p.is_multiple_of(7) { 1.0 } else { -1e-4 },
            velocity: Vector::zeros(),
            friction: 0.4,
        };
        let row = |p: usize| Row::new(contact(p), [3 * p + 3, 3 * p, 0, 0], &state, 1.0);
        let mut rows: Vec<Row> = (0..count).map(row).collect();
        let inverse: Vec<_> = (0..=count)
            .map(|p| {
                let turn = 0.3 * (p as f64).sin();
                Matrix::<3, 3>::new(2.0, turn, 0.0, turn, 1.0, 0.1, 0.0, 0.1, 1.5)
            })
            .collect();
        // What moves without contacts: sideways, and now and then towards the next.
        let free =
            |p: usize| 1e-4 * Vector::<3>::new((1.9 * p as f64).sin(), 0.5, -0.8 * (p % 5) as f64);
        let steps: Vec<_> = (0..=count).map(free).collect();
        let still = vec![0.0; 3 * (count + 1)];
        let start = |row: &Row| row.displacement(state.coordinates(), &still, 1e-3);
        let position = |i: usize| at(state.coordinates(), i);
        let mut touches = Touches::new(&rows, &inverse, |i| (i / 3) as u32, position, &start);
        assert_eq!(touches.ranges.len(), 1 << HALVINGS);
        touches.begin(&steps);
        touches.be_exact();
        let mut sweeps = 0;
        while touches.sweep() > 1e-17 || touches.watch(&rows, &start) {
            sweeps += 1;
            assert!(sweeps < 10_000);
        }
        assert!(!touches.across.is_empty() && touches.parts.iter().all(|part| !part.is_empty()));
        let mut moved = steps.clone();
        touches.end(&mut moved);
        touches.finish(&mut rows);
        // Every point is where the forces on it push it, and every contact obeys the law there.
        let mut pushed = steps;
        for (p, row) in rows.iter().enumerate() {
            let force = row.world(&row.force);
            pushed[p + 1] += inverse[p + 1] * force;
            pushed[p] -= inverse[p] * force;
        }
        let flat: Vec<f64> = moved.iter().flat_map(|s| [s[0], s[1], s[2]]).collect();
        for (p, (found, expected)) in moved.iter().zip(&pushed).enumerate() {
            assert!((found - expected).amax() < 1e-17, "{p}: {found} {expected}");
        }
        let (mut slipping, mut open) = (0, 0);
        for row in &rows {
            let d = start(row) + row.local(&row.sum(&flat));
            assert!(row.law_error(&d) < 1e-14, "{d} {}", row.force);
            slipping += usize::from(row.status == ContactStatus::Slip);
            open += usize::from(row.status == ContactStatus::Open);
        }
        assert!(slipping > 10 && open > 10 && slipping + open < count, "{slipping} {open}");
    }

    /// Points of three faces on a ball, far more than say different things: sweeps crawl, together they agree at once.
    #[test]
    fn contacts_that_say_the_same_thing_agree_when_they_are_solved_together() {
        let at_node = |p: usize| {
            let (x, y) = (0.02 * (p / 2) as f64, 0.03 * (p % 2) as f64 + 0.004 * p as f64);
            Vector::<3>::new(x, y, (0.01 - x * x - y * y).sqrt())
        };
        let count = 5;
        let all: Vec<f64> =
            (0..count).flat_map(|p| <[f64; 3]>::from(at_node(p).into_owned())).collect();
        let state = State::new(all);
        let mut rows = Vec::new();
        for face in 0..3 {
            for (i, j) in (0..5).flat_map(|i| (0..5 - i).map(move |j| (i, j))) {
                let (a, b) = (0.25 * f64::from(i), 0.25 * f64::from(j));
                let weights = [a, b, 1.0 - a - b, 0.0];
                let nodes = [face, face + 1, face + 2];
                let place =
                    (0..3).fold(Vector::<3>::zeros(), |x, k| x + at_node(nodes[k]) * weights[k]);
                let contact = Contact {
                    key: ContactKey::FaceCollider {
                        face: face as u32,
                        collider: 0,
                        feature: i * 5 + j,
                    },
                    vertices: [nodes[0] as u32, nodes[1] as u32, nodes[2] as u32, 0],
                    weights,
                    count: 3,
                    normal: place.normalize(),
                    gap: -1e-5,
                    velocity: Vector::<3>::new(0.3, -0.1, 0.0),
                    friction: 0.3,
                };
                let unknowns = [3 * nodes[0], 3 * nodes[1], 3 * nodes[2], 0];
                rows.push(Row::new(contact, unknowns, &state, 1.0));
            }
        }
        let inverse: Vec<_> = (0..count)
            .map(|p| {
                let turn = 0.3 * (p as f64).sin();
                Matrix::<3, 3>::new(2.0, turn, 0.0, turn, 1.0, 0.1, 0.0, 0.1, 1.5)
            })
            .collect();
        let steps: Vec<_> = (0..count)
            .map(|p| 1e-4 * Vector::<3>::new(0.5, (2.0 * p as f64).sin(), -1.0))
            .collect();
        let still = vec![0.0; 3 * count];
        let start = |row: &Row| row.displacement(state.coordinates(), &still, 1e-3);
        let position = |i: usize| at(state.coordinates(), i);
        let mut touches = Touches::new(&rows, &inverse, |i| (i / 3) as u32, position, &start);
        touches.begin(&steps);
        touches.be_exact();
        let worst = |touches: &Touches, rows: &mut [Row]| {
            let mut moved = steps.clone();
            touches.end(&mut moved);
            touches.finish(rows);
            let mut pushed = steps.clone();
            for row in rows.iter() {
                for k in 0..3 {
                    let node = row.unknowns[k] / 3;
                    pushed[node] += inverse[node] * row.world(&row.force) * row.contact.weights[k];
                }
            }
            for (found, expected) in moved.iter().zip(&pushed) {
                assert!((found - expected).amax() < 1e-15, "{found} {expected}");
            }
            let flat: Vec<f64> = moved.iter().flat_map(|s| [s[0], s[1], s[2]]).collect();
            let largest = rows.iter().map(|r| r.force.norm()).fold(0.0, f64::max);
            let errors = rows.iter().map(|r| r.law_error(&(start(r) + r.local(&r.sum(&flat)))));
            errors.fold(0.0, f64::max) / largest
        };
        for _ in 0..60 {
            touches.sweep();
        }
        let swept = worst(&touches, &mut rows);
        touches.agree(1e-10);
        let agreed = worst(&touches, &mut rows);
        assert!(swept > 1e-4 && agreed < 1e-7, "{swept:e} {agreed:e}");
    }
}
