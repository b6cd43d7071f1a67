//! One sparse system for inertia, elasticity and contact.

use std::collections::{BTreeMap, HashSet};

use toile_num::{Matrix, Vector};
use toile_solve::{Compliance, Ordering, SolveError};

use super::blocked::Blocked;
use super::layout::{Block, Layout};
use super::rows::Row;
use crate::{Model, SimError};

/// Stages a coupling stays in the pattern after its contact has gone: contacts come and go, and every
/// change of the pattern costs a new analysis.
const MEMORY: u32 = 20;

/// Vertices shared by contacts up to which they are eliminated last: their part of the factor is dense, and grows with their square. Beyond, forces
/// go through the whole factor.
const MOST_SHARED: usize = 500;

/// Whether contacts share more vertices than are eliminated last.
pub(crate) fn are_many(rows: &[Row]) -> bool {
    let shared = rows.iter().filter(|row| row.is_shared());
    let unknowns = shared.flat_map(|row| &row.unknowns[..row.contact.count as usize]);
    unknowns.collect::<HashSet<_>>().len() > MOST_SHARED
}

/// Which entries of the elastic matrix are factorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Full,
    /// Those between the nodes that the stiff part of a stencil joins; the others, bending across edges, act by way of these.
    /// The factor has a quarter of the entries.
    Core,
}

/// Matrix, pattern and factorisation, kept from step to step.
pub(crate) struct System {
    /// Layouts without couplings, and with those there are; by extent, each made when it is first wanted.
    plain: [Option<Layout>; 2],
    extended: [Option<Layout>; 2],
    extent: Extent,
    /// Pairs of nodes beyond the core, with the stage that last used them.
    couplings: BTreeMap<(u32, u32), u32>,
    /// Nodes that contacts share, with the stage that last did: eliminated last, so that what these contacts feel of each other
    /// stands at the end of the factor.
    shared: BTreeMap<u32, u32>,
    clock: u32,
    /// Node that begins at an unknown.
    node_at: Vec<u32>,
    /// Elastic Hessian.
    pub(crate) elastic: Vec<f64>,
    /// What is added to its diagonal; nothing at fixed unknowns.
    inertia: Vec<f64>,
    /// Whether core and full differ.
    reducible: bool,
    /// The matrix by rows of blocks, when it is first wanted.
    blocked: Option<Blocked>,
}

impl System {
    pub(crate) fn new(model: &Model) -> Result<Self, SimError> {
        let pattern = model.pattern();
        let mut node_at = vec![u32::MAX; model.len() + 1];
        for (node, &first) in model.first_unknowns().iter().enumerate() {
            node_at[first] = node as u32;
        }
        Ok(Self {
            elastic: vec![0.0; pattern.nnz()],
            inertia: vec![0.0; pattern.n],
            plain: [None, None],
            extended: [None, None],
            extent: Extent::Full,
            couplings: BTreeMap::new(),
            shared: BTreeMap::new(),
            clock: 0,
            node_at,
            reducible: model.core().adj.len() < model.graph().adj.len(),
            blocked: None,
        })
    }

    fn is_plain(&self) -> bool {
        self.couplings.is_empty() && self.shared.is_empty()
    }

    fn layout(&self) -> &Layout {
        let all = if self.is_plain() { &self.plain } else { &self.extended };
        all[self.extent as usize].as_ref().expect("assembled before")
    }

    fn layout_mut(&mut self) -> &mut Layout {
        let all = if self.is_plain() { &mut self.plain } else { &mut self.extended };
        all[self.extent as usize].as_mut().expect("assembled before")
    }

    /// Makes the layout for an extent unless it is there.
    fn lay_out(&mut self, model: &Model, extent: Extent) -> Result<(), SimError> {
        self.extent = extent;
        let kept = if extent == Extent::Core { model.core() } else { model.graph() };
        let more = self.couplings.keys().copied();
        let slot = extent as usize;
        if !self.is_plain() {
            if self.extended[slot].is_none() {
                let last: Vec<u32> = if self.condenses() {
                    self.shared.keys().copied().collect()
                } else {
                    Vec::new()
                };
                // The pattern lives for a few steps only: a quick order is the better one.
                self.extended[slot] = Some(Layout::over(model, kept, more, Ordering::Amd, &last)?);
            }
        } else if self.plain[slot].is_none() {
            self.plain[slot] = Some(match extent {
                Extent::Full => Layout::plain(model)?,
                Extent::Core => Layout::over(model, kept, more, Ordering::Auto, &[])?,
            });
        }
        Ok(())
    }

    /// Makes room for the couplings of these contacts. Call once per stage, before the values are set.
    pub(crate) fn prepare(&mut self, model: &Model, rows: &[Row]) {
        self.clock += 1;
        let mut new = false;
        for row in rows.iter().filter(|row| row.likely) {
            if row.is_shared() {
                for &i in &row.unknowns[..row.contact.count as usize] {
                    new |= self.shared.insert(self.node_at[i], self.clock).is_none();
                }
            }
            let count = row.contact.count as usize;
            for a in 0..count {
                for b in 0..a {
                    let (i, j) = (row.unknowns[a], row.unknowns[b]);
                    let pair = (self.node_at[i.max(j)], self.node_at[i.min(j)]);
                    let near = model.core().neighbours(pair.0 as usize);
                    if near.binary_search(&pair.1).is_err() {
                        new |= self.couplings.insert(pair, self.clock).is_none();
                    }
                }
            }
        }
        let clock = self.clock;
        let old = |last: &u32| clock - *last > MEMORY;
        if new {
            self.couplings.retain(|_, last| !old(last));
            self.shared.retain(|_, last| !old(last));
            self.extended = [None, None];
        } else if self.couplings.values().chain(self.shared.values()).all(old) {
            self.couplings.clear();
            self.shared.clear();
            self.extended = [None, None];
        }
    }

    /// Whether what contacts that share vertices feel of each other is worth to be written down.
    pub(crate) fn condenses(&self) -> bool {
        !self.shared.is_empty() && self.shared.len() <= MOST_SHARED
    }

    /// Whether what that many contacts feel of each other is better written down: iterations go through the matrix, or through the factor twice.
    pub(crate) fn writes_down(&self, contacts: usize) -> bool {
        self.condenses() && (3 * contacts).pow(2) <= 2 * self.layout().entries()
    }

    /// How the vertices that contacts share yield, in what was factorised last \[m/N\].
    pub(crate) fn compliance(&self) -> Result<Compliance, SolveError> {
        self.layout().compliance()
    }

    /// Takes in what each component of the forces of these contacts moves, three columns per contact.
    pub(crate) fn extend(&self, model: &Model, compliance: &mut Compliance, rows: &[&Row]) {
        let layout = self.layout();
        let size = compliance.size();
        let mut columns = vec![0.0; 3 * rows.len() * size];
        for (row, of_row) in rows.iter().zip(columns.chunks_exact_mut(3 * size)) {
            for (axis, column) in row.frame.iter().zip(of_row.chunks_exact_mut(size)) {
                for k in 0..row.contact.count as usize {
                    let i = row.unknowns[k];
                    for c in (0..3).filter(|c| !model.fixed()[i + c]) {
                        column[layout.place(i + c) - layout.tail] +=
                            row.contact.weights[k] * axis[c];
                    }
                }
            }
        }
        compliance.add(&columns);
    }

    /// Pairs of nodes beyond the elastic pattern, and how many stages ago each was used; a node with itself where contacts share it.
    pub(crate) fn couplings(&self) -> Vec<[u32; 3]> {
        let pairs = self.couplings.iter().map(|(&(a, b), last)| [a, b, self.clock - last]);
        pairs.chain(self.shared.iter().map(|(&a, last)| [a, a, self.clock - last])).collect()
    }

    /// Takes the couplings of another system of the same model: the order of elimination, and with it the
    /// last bits, depend on them. `false` if they do not fit.
    pub(crate) fn set_couplings(&mut self, model: &Model, couplings: &[[u32; 3]]) -> bool {
        let nodes = model.graph().len() as u32;
        if couplings.iter().any(|[a, b, _]| *a >= nodes || *b >= nodes) {
            return false;
        }
        self.clock = couplings.iter().map(|[.., age]| *age).max().unwrap_or(0);
        let last = |age: &u32| self.clock - age;
        let (own, pairs): (Vec<[u32; 3]>, Vec<[u32; 3]>) =
            couplings.iter().partition(|[a, b, _]| a == b);
        self.shared = own.iter().map(|[a, _, age]| (*a, last(age))).collect();
        self.couplings = pairs.iter().map(|[a, b, age]| ((*a, *b), last(age))).collect();
        self.extended = [None, None];
        true
    }

    /// A = elastic Hessian + inertia, given for each unknown. The core is enough where what it leaves out, in units of the
    /// inertia, is at most `slack`.
    ///
    /// Returns what is left out of A in these units.
    pub(crate) fn assemble(
        &mut self,
        model: &Model,
        inertia: impl Fn(usize) -> f64,
        slack: f64,
    ) -> Result<f64, SimError> {
        self.set_inertia(model, inertia);
        self.fill(model, slack)
    }

    /// Sets what is added to the diagonal of the elastic matrix.
    pub(crate) fn set_inertia(&mut self, model: &Model, inertia: impl Fn(usize) -> f64) {
        for (i, fixed) in model.fixed().iter().enumerate() {
            self.inertia[i] = if *fixed { 0.0 } else { inertia(i) };
        }
    }

    /// A by rows of blocks, of the Hessian and the inertia at hand.
    pub(super) fn blocked(&mut self, model: &Model) -> &Blocked {
        let blocked = self.blocked.get_or_insert_with(|| Blocked::new(model));
        blocked.fill(&self.elastic, &self.inertia);
        blocked
    }

    /// [`System::assemble`] with the Hessian and the inertia at hand, after [`System::prepare`].
    pub(crate) fn fill(&mut self, model: &Model, slack: f64) -> Result<f64, SimError> {
        if self.reducible && slack > 0.0 {
            self.lay_out(model, Extent::Core)?;
            let elastic = std::mem::take(&mut self.elastic);
            let inertia = std::mem::take(&mut self.inertia);
            let layout = self.layout_mut();
            layout.assemble(&elastic, &inertia);
            let mut left_out = 0.0f64;
            for (block, inertia) in layout.left_out.iter().zip(&inertia) {
                if *block > 0.0 && *inertia > 0.0 {
                    left_out = left_out.max(block / inertia);
                }
            }
            (self.elastic, self.inertia) = (elastic, inertia);
            if left_out <= slack {
                return Ok(left_out);
            }
        }
        self.lay_out(model, Extent::Full)?;
        let elastic = std::mem::take(&mut self.elastic);
        let inertia = std::mem::take(&mut self.inertia);
        self.layout_mut().assemble(&elastic, &inertia);
        (self.elastic, self.inertia) = (elastic, inertia);
        Ok(0.0)
    }

    /// Factorises A with stiffnesses added in the directions of contacts.
    pub(crate) fn factorize<'a>(
        &mut self,
        model: &Model,
        holds: impl Iterator<Item = (&'a Row, Matrix<3, 3>)>,
    ) -> Result<(), SolveError> {
        self.layout_mut().release();
        self.hold(model, holds);
        self.layout_mut().factorize()
    }

    /// Factorises, beside that, what was factorised last with more stiffness in the directions of contacts.
    pub(crate) fn brace<'a>(
        &mut self,
        model: &Model,
        holds: impl Iterator<Item = (&'a Row, Matrix<3, 3>)>,
    ) -> Result<(), SolveError> {
        let kept = self.layout().held.clone();
        self.hold(model, holds);
        let outcome = self.layout_mut().factorize_braced();
        self.layout_mut().held = kept;
        outcome
    }

    fn hold<'a>(&mut self, model: &Model, holds: impl Iterator<Item = (&'a Row, Matrix<3, 3>)>) {
        let fixed = model.fixed();
        let layout = self.layout_mut();
        for (row, stiffness) in holds {
            for a in 0..row.contact.count as usize {
                for b in 0..=a {
                    let (i, j) = (row.unknowns[a], row.unknowns[b]);
                    let mut k = stiffness * (row.contact.weights[a] * row.contact.weights[b]);
                    for r in 0..3 {
                        for c in 0..3 {
                            if fixed[i + r] || fixed[j + c] {
                                k[(r, c)] = 0.0;
                            }
                        }
                    }
                    layout.hold(i, j, &k);
                }
            }
        }
    }

    /// x ← A⁻¹x of the matrix that was braced last.
    pub(crate) fn solve_braced(&mut self, x: &mut [f64]) {
        self.layout_mut().solve_braced(x);
    }

    /// x ← A⁻¹x, of what was factorised last.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        self.layout_mut().solve(x);
    }

    /// y = A x.
    pub(crate) fn multiply(&mut self, x: &[f64], y: &mut [f64]) {
        self.layout_mut().multiply(x, y);
    }

    /// y = (elastic Hessian + inertia) x, with what the core leaves out.
    pub(crate) fn multiply_all(&self, model: &Model, x: &[f64], y: &mut [f64]) {
        model.pattern().multiply(&self.elastic, x, y);
        for i in 0..x.len() {
            y[i] += self.inertia[i] * x[i];
        }
    }

    /// Diagonal block of A at a vertex.
    pub(crate) fn diagonal(&self, unknown: usize) -> Matrix<3, 3> {
        let layout = self.layout();
        layout.block(unknown, unknown).map_or_else(Matrix::zeros, |block| layout.read(&block, true))
    }

    /// Blocks of A in the rows of one vertex, for sweeps over contacts.
    pub(crate) fn neighbourhood(&self, model: &Model, unknown: usize) -> Neighbourhood {
        let node = self.node_at[unknown] as usize;
        let layout = self.layout();
        let first = model.first_unknowns();
        let graph = model.graph();
        let vertices = graph.neighbours(node).iter().filter(|v| graph.sizes[**v as usize] == 3);
        let blocks = vertices.filter_map(|&v| layout.block(unknown, first[v as usize])).collect();
        Neighbourhood { blocks, own: layout.block(unknown, unknown) }
    }

    /// y += A·(unit columns of the vertex) e, over its neighbours and itself.
    pub(crate) fn spread(
        &self,
        around: &Neighbourhood,
        unknown: usize,
        e: &Vector<3>,
        y: &mut [f64],
    ) {
        let layout = self.layout();
        for block in &around.blocks {
            // The block holds A(vertex, other); its transpose acts on the other.
            let push = layout.read(block, false).transpose() * e;
            for c in 0..3 {
                y[block.other + c] += push[c];
            }
        }
        if let Some(own) = &around.own {
            let push = layout.read(own, true) * e;
            for c in 0..3 {
                y[unknown + c] += push[c];
            }
        }
    }
}

/// Where the blocks in the rows of a vertex are.
pub(crate) struct Neighbourhood {
    blocks: Vec<Block>,
    own: Option<Block>,
}

#[cfg(test)]
mod tests {
    use toile_contact::{Contact, ContactKey};
    use toile_energy::{Curvature, Membrane, ShellStiffness};
    use toile_geometry::measure::NormalRule;
    use toile_geometry::{Vec3, generate};

    use super::super::many::Many;
    use super::super::proximal::{LARGER, Linear, Proximal};
    use super::super::rows::dot;
    use super::*;
    use crate::{ModelBuilder, Shell, ShellMaterial};
    use toile_cone::Operator;

    /// A wavy sheet, pinned at a corner, whose bending weighs as much as its inertia.
    fn wavy() -> Model {
        let mesh = generate::sheet(6, 1.0);
        let wave = |p: &Vec3| p + Vec3::new(0.0, 0.02 * p.x, 0.1 * (7.0 * p.x + 3.0 * p.y).sin());
        let shell = Shell {
            positions: mesh.positions.iter().map(wave).collect(),
            topology: mesh.topology,
            rest_positions: mesh.positions,
            material: ShellMaterial::Koiter {
                stiffness: ShellStiffness::isotropic(1e6, 0.3, 2e-3),
                normals: NormalRule::Average,
                membrane: Membrane::StVenantKirchhoff,
                warp: Vec3::x(),
            },
            areal_density: 0.2,
            pins: vec![0],
            seams: Vec::new(),
            damping: 0.0,
        };
        let mut builder = ModelBuilder::new();
        shell.add_to(&mut builder, Vec3::new(0.0, 0.0, -9.81)).unwrap();
        builder.build().unwrap()
    }

    /// Two contacts of a vertex with a face each, which share vertices; the first hangs on the pinned corner.
    fn sharing(model: &Model, gap: f64) -> Vec<Row> {
        let contact = |vertices: [u32; 4], normal: Vec3| Contact {
            key: ContactKey::VertexFace { vertex: vertices[0], face: vertices[1] },
            vertices,
            weights: [1.0, -0.2, -0.3, -0.5],
            count: 4,
            normal: normal.normalize(),
            gap,
            velocity: Vec3::zeros(),
            friction: 0.3,
        };
        let contacts = [
            contact([20, 0, 1, 6], Vec3::new(0.1, 0.2, 1.0)),
            contact([21, 1, 7, 6], Vec3::new(-0.3, 0.1, 1.0)),
        ];
        let unknown = |v: u32| model.unknown(model.vertices()[v as usize]);
        let row = |c: &Contact| Row::new(*c, c.vertices.map(unknown), model.start(), 1.0);
        contacts.iter().map(row).collect()
    }

    #[test]
    fn the_core_is_stiffer_than_the_whole_by_what_it_leaves_out() {
        let model = wavy();
        let mut system = System::new(&model).unwrap();
        let n = model.len();
        model.hessian(model.start(), Curvature::Positive, &mut system.elastic);
        let x: Vec<f64> = (0..n).map(|i| (3.7 * i as f64).sin()).collect();
        let (mut core, mut all, mut full) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let rate = |i: usize| model.masses()[i] * 1e4;
        let left_out = system.assemble(&model, rate, f64::INFINITY).unwrap();
        assert_eq!(system.extent, Extent::Core);
        system.multiply(&x, &mut core);
        system.multiply_all(&model, &x, &mut all);
        // By the most that the dropped blocks may make of x, and at least by nothing.
        let more = dot(&x, &core) - dot(&x, &all);
        let largest = (0..n).map(|i| rate(i) * x[i] * x[i]).sum::<f64>() * left_out;
        assert!(more > 0.0 && more <= 2.0 * largest, "{more} {largest}");
        // Where that is too much, nothing is left out.
        assert_eq!(system.assemble(&model, rate, 0.9 * left_out).unwrap(), 0.0);
        assert_eq!(system.extent, Extent::Full);
        system.multiply(&x, &mut full);
        let size = all.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        for i in 0..n {
            assert!((full[i] - all[i]).abs() <= 1e-13 * size, "{} {}", full[i], all[i]);
        }
    }

    #[test]
    fn the_core_is_solved_as_it_multiplies() {
        let model = wavy();
        let mut system = System::new(&model).unwrap();
        model.hessian(model.start(), Curvature::Positive, &mut system.elastic);
        let rate = |i: usize| model.masses()[i] * 1e4;
        system.assemble(&model, rate, f64::INFINITY).unwrap();
        system.factorize(&model, std::iter::empty()).unwrap();
        let x: Vec<f64> = (0..model.len())
            .map(|i| if model.fixed()[i] { 0.0 } else { (2.3 * i as f64).cos() })
            .collect();
        let mut y = vec![0.0; x.len()];
        system.multiply(&x, &mut y);
        system.solve(&mut y);
        for i in 0..x.len() {
            assert!((x[i] - y[i]).abs() < 1e-9, "{} {}", x[i], y[i]);
        }
    }

    #[test]
    fn contacts_that_share_vertices_feel_each_other_as_the_cloth_lets_them() {
        let model = wavy();
        let mut rows = sharing(&model, 0.0);
        let mut system = System::new(&model).unwrap();
        assert!(!system.condenses());
        system.prepare(&model, &rows);
        assert!(system.condenses());
        model.hessian(model.start(), Curvature::Positive, &mut system.elastic);
        let rate = |i: usize| model.masses()[i] * 1e4;
        system.assemble(&model, rate, 0.0).unwrap();
        system.factorize(&model, std::iter::empty()).unwrap();
        let refs: Vec<&Row> = rows.iter().collect();
        let mut compliance = system.compliance().unwrap();
        system.extend(&model, &mut compliance, &refs);
        for c in 0..6 {
            let mut moved = vec![0.0; model.len()];
            let unit = Vector::<3>::from_fn(|k, _| f64::from(k == c % 3));
            rows[c / 3].scatter_free(&unit, 1.0, model.fixed(), &mut moved);
            system.solve(&mut moved);
            for r in 0..6 {
                let row = &rows[r / 3];
                let expected = row.local(&row.sum(&moved))[r % 3];
                let found = compliance.at(r, c);
                assert!(
                    (found - expected).abs() <= 1e-12 * compliance.at(0, 0),
                    "{found} {expected}"
                );
            }
        }
        // Forces that go through the whole factor find the same.
        let (diagonal, rho) = (compliance.at(0, 0), 0.3 * compliance.at(0, 0));
        let many = Many::new(&model, &mut system, rows.iter().collect());
        let forces = [0.3, -0.2, 0.5, 1.0, 0.1, -0.4];
        let (mut slides, mut back) = ([0.0; 6], [0.0; 6]);
        many.apply(&forces, &mut slides);
        for r in 0..6 {
            let expected: f64 = (0..6).map(|c| compliance.at(r, c) * forces[c]).sum();
            assert!((slides[r] - expected).abs() <= 1e-12 * diagonal, "{} {expected}", slides[r]);
            back[r] = slides[r] + rho * forces[r];
        }
        // Twice: braces are not left behind.
        for _ in 0..2 {
            let mut found = back;
            many.shifted(rho).unwrap().solve(&mut found);
            for (found, force) in found.iter().zip(&forces) {
                assert!((found - force).abs() <= 1e-11, "{found} {force}");
            }
        }
        drop(many);
        // They are let go when they have not been seen for long.
        rows.clear();
        for _ in 0..=MEMORY {
            system.prepare(&model, &rows);
        }
        assert!(!system.condenses() && system.couplings().is_empty());
    }

    #[test]
    fn steps_without_a_factorisation_end_where_the_kernel_does() {
        let model = wavy();
        let (n, rate) = (model.len(), 1e6);
        let mut rows = sharing(&model, -1e-3);
        let mut system = System::new(&model).unwrap();
        system.prepare(&model, &rows);
        model.hessian(model.start(), Curvature::Positive, &mut system.elastic);
        system.assemble(&model, |i| model.masses()[i] * rate, 0.0).unwrap();
        system.factorize(&model, std::iter::empty()).unwrap();
        let mut balance: Vec<f64> = (0..n).map(|i| 0.3 * (1.7 * i as f64).sin()).collect();
        model.clear_fixed(&mut balance);
        // A contact that would open, and takes no part.
        let mut far = rows[0].clone();
        far.allow(-1.0);
        rows.push(far);
        let still = vec![0.0; n];
        let start = |row: &Row| row.displacement(model.start().coordinates(), &still, 1e-3);
        // By the factor: what moves without the contacts, and how they yield.
        let mut free: Vec<f64> = balance.iter().map(|b| -b).collect();
        system.solve(&mut free);
        let mut w = nalgebra::DMatrix::zeros(6, 6);
        for c in 0..6 {
            let mut moved = vec![0.0; n];
            let unit = Vector::<3>::from_fn(|k, _| f64::from(k == c % 3));
            rows[c / 3].scatter_free(&unit, 1.0, model.fixed(), &mut moved);
            system.solve(&mut moved);
            for r in 0..6 {
                w[(r, c)] = rows[r / 3].local(&rows[r / 3].sum(&moved))[r % 3];
            }
        }
        let b: Vec<f64> = rows[..2]
            .iter()
            .flat_map(|row| {
                (start(row) + row.local(&row.sum(&free))).iter().copied().collect::<Vec<_>>()
            })
            .collect();
        let operator = toile_cone::DenseOperator::<3>::new(w).unwrap();
        let kernel = toile_cone::Problem::new(&operator, &b, &[0.3; 2]).unwrap();
        let settings = toile_cone::Settings { tolerance: 1e-12, ..Default::default() };
        let exact = toile_cone::Solver::solve(
            &toile_cone::GaussSeidel::default(),
            &kernel,
            None,
            &settings,
            &|_: usize, _: f64| true,
        );
        assert!(exact.converged() && exact.r[0] > 0.0 && exact.r[3] > 0.0, "{:?}", exact.r);
        // By steps.
        let masses: Vec<f64> = model.masses().iter().map(|m| m.max(1e-9)).collect();
        let matrix = system.blocked(&model);
        let problem = Linear {
            matrix,
            balance: &balance,
            coordinates: model.start().coordinates(),
            masses: &masses,
            fixed: model.fixed(),
            unit: 9.81,
            still: 1e-14,
            root: (LARGER * matrix.stiffness_over(|i| masses[i] * rate)).sqrt(),
            tolerance: [1e-9, 0.0],
        };
        let mut found = Proximal::new(&problem, &rows, start).unwrap();
        assert!(found.solve(&rows, start, problem.most_steps())[0] <= 1.0);
        let mut step = vec![0.0; n];
        found.finish(&mut rows, &mut step);
        let largest = exact.r.iter().fold(0.0f64, |a, r| a.max(r.abs()));
        // Stiffness, so many times inertia, is known in single precision, from some twenty blocks at each vertex.
        let known = 20.0 * f64::from(f32::EPSILON) * problem.root * problem.root;
        assert!(known < 1e-3, "{known}");
        for k in 0..6 {
            let (force, expected) = (rows[k / 3].force[k % 3], exact.r[k]);
            assert!((force - expected).abs() < known * largest, "{force} {expected}");
        }
        assert_eq!(rows[2].status, super::super::rows::ContactStatus::Open);
        // And what they move.
        for (row, force) in rows.iter().zip(exact.r.chunks(3)) {
            let force = Vector::<3>::from_column_slice(force);
            let mut moved = vec![0.0; n];
            row.scatter_free(&force, 1.0, model.fixed(), &mut moved);
            system.solve(&mut moved);
            free.iter_mut().zip(&moved).for_each(|(f, m)| *f += m);
        }
        let size = free.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        for i in 0..n {
            assert!((step[i] - free[i]).abs() < known * size, "{} {}", step[i], free[i]);
        }
    }
}
