//! Quadratic problems on a chain of elements, solved in a time linear in their number.
//!
//! A change of the unknowns moves joint i by z = (δr, δθ). Every quadratic form of a rod (mass, elastic and geometric
//! stiffness) is a sum over elements of forms in v = (z at its first joint, curvature at its start, curvature at its end),
//! and the joints follow each other linearly: the next (z, curvature) is T v. Going from the tip to the clamp,
//! the end curvature of each element is eliminated and what is left is a form of the state of its first joint. That is
//! the block factorisation of the full, dense matrix in another order, so the signs of its pivots count
//! negative eigenvalues.
//!
//! Reference: Featherstone 1983; Bertails 2009 for the super-helix; here with implicit stiffness and joint unknowns.

use nalgebra::DMatrix;
use toile_num::{Matrix, Vector};

use crate::element::Model;
use crate::motion::ClampMotion;
use crate::rotation::{Mat3, Vec3};

/// z (6) and the curvature at the first joint (3).
pub(crate) const STATE: usize = 9;
/// The state and the curvature at the end (3).
pub(crate) const LOCAL: usize = 12;

/// Form of one element.
pub(crate) type Form = Matrix<LOCAL, LOCAL>;
/// State of the next joint from the local vector.
pub(crate) type Transition = Matrix<STATE, LOCAL>;

/// A factorised chain.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    model: Model,
    links: Vec<Link>,
    root: Mat3,
    /// Coupling of the root's curvature to its motion, where the root moves.
    root_coupling: Matrix<3, 6>,
    /// What is left of the form in the motion of the root: what a branch asks of the joint that bears it.
    crown: Matrix<6, 6>,
    /// Negative eigenvalues of the whole matrix.
    pub(crate) negative: usize,
    /// Whether a pivot was singular.
    pub(crate) singular: bool,
}

#[derive(Clone, Debug)]
struct Link {
    /// Inverse of the pivot block.
    pivot: Mat3,
    /// Coupling of the end curvature to the state.
    coupling: Matrix<3, STATE>,
    transition: Transition,
}

impl Link {
    /// How the next state follows this one, and the covariance that the end curvature adds to it.
    fn spread(&self) -> (Matrix<STATE, STATE>, Matrix<STATE, STATE>) {
        let end: Matrix<STATE, 3> = self.transition.fixed_columns::<3>(STATE).into();
        let driven = end * self.pivot;
        let spread = self.transition.fixed_columns::<STATE>(0) - driven * self.coupling;
        (spread, driven * end.transpose())
    }
}

/// Inverse of a symmetric 3 × 3 block and the number of its negative eigenvalues; `None` if singular. Of a planar rod only the
/// first curvature is free.
fn invert(block: &Mat3, planar: bool) -> Option<(Mat3, usize)> {
    if planar {
        let own = block[(0, 0)];
        let mut inverse = Mat3::zeros();
        inverse[(0, 0)] = 1.0 / own;
        return (own != 0.0).then_some((inverse, usize::from(own < 0.0)));
    }
    // Elimination on the largest diagonal is enough for definite blocks, the usual case.
    if let Some(factor) = block.cholesky() {
        return Some((factor.inverse(), 0));
    }
    let negative = block.symmetric_eigenvalues().iter().filter(|v| **v < 0.0).count();
    block.try_inverse().map(|inverse| (inverse, negative))
}

impl Chain {
    /// Factorises the sum of `form(e)` over elements and of forms in the motions (δr, δθ) of joints (the crowns of the branches
    /// they bear), tip to clamp.
    pub(crate) fn bearing(
        (model, planar): (Model, bool),
        elements: usize,
        mut form: impl FnMut(usize) -> Form,
        mut transition: impl FnMut(usize) -> Transition,
        at_joint: impl Fn(usize) -> Option<Matrix<6, 6>>,
    ) -> Self {
        let add = |beyond: &mut Matrix<STATE, STATE>, joint: usize| {
            if let Some(crown) = at_joint(joint) {
                let mut motion = beyond.fixed_view_mut::<6, 6>(0, 0);
                motion += crown;
            }
        };
        let mut links = Vec::with_capacity(elements);
        let mut beyond = Matrix::<STATE, STATE>::zeros();
        let (mut negative, mut singular) = (0, false);
        for e in (0..elements).rev() {
            add(&mut beyond, e + 1);
            let t = transition(e);
            let whole = form(e) + t.transpose() * (beyond * t);
            let block: Mat3 = whole.fixed_view::<3, 3>(STATE, STATE).into();
            let block = (block + block.transpose()) * 0.5;
            let (pivot, below) = invert(&block, planar).unwrap_or_else(|| {
                singular = true;
                (Mat3::zeros(), 0)
            });
            negative += below;
            let coupling: Matrix<3, STATE> = whole.fixed_view::<3, STATE>(STATE, 0).into();
            beyond =
                whole.fixed_view::<STATE, STATE>(0, 0) - coupling.transpose() * (pivot * coupling);
            links.push(Link { pivot, coupling, transition: t });
        }
        links.reverse();
        add(&mut beyond, 0);
        let mut root = Mat3::zeros();
        if model == Model::SuperClothoid {
            let block: Mat3 = beyond.fixed_view::<3, 3>(6, 6).into();
            match invert(&((block + block.transpose()) * 0.5), planar) {
                Some((inverse, below)) => {
                    root = inverse;
                    negative += below;
                }
                None => singular = true,
            }
        }
        let root_coupling: Matrix<3, 6> = beyond.fixed_view::<3, 6>(6, 0).into();
        let crown =
            beyond.fixed_view::<6, 6>(0, 0) - root_coupling.transpose() * (root * root_coupling);
        Self { model, links, root, root_coupling, crown, negative, singular }
    }

    /// Unknown vectors.
    pub(crate) fn blocks(&self) -> usize {
        self.links.len() + usize::from(self.model == Model::SuperClothoid)
    }

    /// The form of the root's motion when everything beyond follows.
    pub(crate) fn crown(&self) -> Matrix<6, 6> {
        self.crown
    }

    /// Solves for a right-hand side given per block.
    pub(crate) fn solve(&self, f: &[Vec3]) -> Vec<Vec3> {
        let inward = self.inward(f, |_| None);
        self.outward(inward, &Vector::zeros(), |_, _| {})
    }

    /// First half of a solution, tip to clamp; `at_joint` is what branches hand to the joints that bear them.
    pub(crate) fn inward(
        &self,
        f: &[Vec3],
        at_joint: impl Fn(usize) -> Option<Vector<6>>,
    ) -> Inward {
        let first = usize::from(self.model == Model::SuperClothoid);
        let mut local = vec![Vec3::zeros(); self.links.len()];
        let mut p = Vector::<STATE>::zeros();
        let add = |p: &mut Vector<STATE>, joint: usize| {
            if let Some(handed) = at_joint(joint) {
                let mut motion = p.fixed_rows_mut::<6>(0);
                motion += handed;
            }
        };
        for (e, link) in self.links.iter().enumerate().rev() {
            add(&mut p, e + 1);
            let carried = link.transition.transpose() * p;
            let c = f[e + first] + carried.fixed_rows::<3>(STATE);
            local[e] = link.pivot * c;
            p = carried.fixed_rows::<STATE>(0) - link.coupling.transpose() * local[e];
        }
        add(&mut p, 0);
        let root =
            if first == 1 { self.root * (f[0] + p.fixed_rows::<3>(6)) } else { Vec3::zeros() };
        let handed = p.fixed_rows::<6>(0) - self.root_coupling.transpose() * root;
        Inward { local, root, handed }
    }

    /// Way from each joint to the next \[m\].
    pub(crate) fn reaches(&self) -> impl Iterator<Item = Vec3> + '_ {
        // The transition turns about the first joint: δr of the next is δr − [reach]× δθ.
        self.links.iter().map(|link| {
            let t = &link.transition;
            Vec3::new(t[(1, 5)], t[(2, 3)], t[(0, 4)])
        })
    }

    /// Velocities of the joints, clamp first, at given rates of the unknowns.
    pub(crate) fn joint_velocities(&self, rates: &[Vec3], motion: &ClampMotion) -> Vec<Vec3> {
        let mut root = Vector::<6>::zeros();
        root.fixed_rows_mut::<3>(0).copy_from(&motion.velocity);
        root.fixed_rows_mut::<3>(3).copy_from(&motion.spin);
        let mut out = Vec::with_capacity(self.links.len() + 1);
        self.joint_motions(rates, &root, |z| out.push(z.fixed_rows::<3>(0).into()));
        out
    }

    /// Tells velocity and spin of every joint, clamp first, at given rates of the unknowns and motion of the root.
    pub(crate) fn joint_motions(
        &self,
        rates: &[Vec3],
        root: &Vector<6>,
        mut each: impl FnMut(Vector<6>),
    ) {
        let first = usize::from(self.model == Model::SuperClothoid);
        let mut v = Vector::<LOCAL>::zeros();
        v.fixed_rows_mut::<6>(0).copy_from(root);
        if first == 1 {
            v.fixed_rows_mut::<3>(6).copy_from(&rates[0]);
        }
        each(*root);
        for (e, link) in self.links.iter().enumerate() {
            v.fixed_rows_mut::<3>(STATE).copy_from(&rates[e + first]);
            let next = link.transition * v;
            v.fixed_rows_mut::<STATE>(0).copy_from(&next);
            each(next.fixed_rows::<6>(0).into());
        }
    }

    /// Changes of the unknowns by forces at the joints \[N\], clamp first: the matrix solved for Jᵀ f.
    pub(crate) fn solve_joint_forces(&self, forces: &[Vec3]) -> Vec<Vec3> {
        let mut local = vec![Vec3::zeros(); self.links.len()];
        let mut p = Vector::<STATE>::zeros();
        for (e, link) in self.links.iter().enumerate().rev() {
            let mut at_end = p.fixed_rows_mut::<3>(0);
            at_end += forces[e + 1];
            let carried = link.transition.transpose() * p;
            local[e] = link.pivot * carried.fixed_rows::<3>(STATE);
            p = carried.fixed_rows::<STATE>(0) - link.coupling.transpose() * local[e];
        }
        let root = self.root * p.fixed_rows::<3>(6);
        let inward = Inward { local, root, handed: Vector::zeros() };
        self.outward(inward, &Vector::zeros(), |_, _| {})
    }

    /// J A⁻¹ Jᵀ at pairs of joints: how far a force at one moves the other.
    ///
    /// x = (z, curvature) of the next joint is F x + G c with c independent of all that lies before, so A⁻¹ spreads from
    /// the clamp as a covariance does: C ← F C Fᵀ + G G̃ᵀ, and columns of earlier joints as S ← F S. That takes a time linear in
    /// elements × joints asked for, where a solve for each column would take it many times over.
    pub(crate) fn compliance(&self, joints: &[usize]) -> Compliance {
        let count = joints.len();
        let mut blocks = vec![Mat3::zeros(); count * count];
        let mut columns: Vec<Matrix<STATE, 3>> = Vec::with_capacity(count);
        let mut own = Matrix::<STATE, STATE>::zeros();
        own.fixed_view_mut::<3, 3>(6, 6).copy_from(&self.root);
        let mut next = usize::from(joints.first() == Some(&0));
        // The clamp does not move.
        columns.resize(next, Matrix::zeros());
        for (e, link) in self.links.iter().enumerate() {
            if next == count {
                break;
            }
            let (spread, own_part) = link.spread();
            own = spread * own * spread.transpose() + own_part;
            for column in &mut columns {
                *column = spread * *column;
            }
            if joints[next] == e + 1 {
                for (k, column) in columns.iter().enumerate() {
                    let block: Mat3 = column.fixed_rows::<3>(0).into();
                    blocks[next * count + k] = block;
                    blocks[k * count + next] = block.transpose();
                }
                let here: Mat3 = own.fixed_view::<3, 3>(0, 0).into();
                blocks[next * count + next] = (here + here.transpose()) * 0.5;
                columns.push(own.fixed_columns::<3>(0).into());
                next += 1;
            }
        }
        Compliance { joints: joints.to_vec(), blocks }
    }

    /// How the state of the root follows its motion, and the covariance that its own curvature adds.
    pub(crate) fn root_spread(&self) -> (Matrix<STATE, 6>, Matrix<STATE, STATE>) {
        let mut follows = Matrix::<STATE, 6>::zeros();
        follows.fixed_view_mut::<6, 6>(0, 0).copy_from(&Matrix::identity());
        follows.fixed_view_mut::<3, 6>(6, 0).copy_from(&-(self.root * self.root_coupling));
        let mut own = Matrix::<STATE, STATE>::zeros();
        own.fixed_view_mut::<3, 3>(6, 6).copy_from(&self.root);
        (follows, own)
    }

    /// The same from each joint to the next.
    pub(crate) fn spreads(
        &self,
    ) -> impl Iterator<Item = (Matrix<STATE, STATE>, Matrix<STATE, STATE>)> + '_ {
        self.links.iter().map(Link::spread)
    }

    /// From what each element wants by itself to the unknowns, clamp to tip, with the root moved by `motion`; `each` is told how
    /// every joint moves, the root being 0.
    pub(crate) fn outward(
        &self,
        inward: Inward,
        motion: &Vector<6>,
        mut each: impl FnMut(usize, Vector<6>),
    ) -> Vec<Vec3> {
        let first = usize::from(self.model == Model::SuperClothoid);
        let mut out = vec![Vec3::zeros(); inward.local.len() + first];
        let mut state = Vector::<STATE>::zeros();
        state.fixed_rows_mut::<6>(0).copy_from(motion);
        if first == 1 {
            out[0] = inward.root - self.root * (self.root_coupling * motion);
            state.fixed_rows_mut::<3>(6).copy_from(&out[0]);
        }
        each(0, *motion);
        for (e, link) in self.links.iter().enumerate() {
            let x = inward.local[e] - link.pivot * (link.coupling * state);
            out[e + first] = x;
            let mut v = Vector::<LOCAL>::zeros();
            v.fixed_rows_mut::<STATE>(0).copy_from(&state);
            v.fixed_rows_mut::<3>(STATE).copy_from(&x);
            state = link.transition * v;
            each(e + 1, state.fixed_rows::<6>(0).into());
        }
        out
    }
}

/// A solution on its way from the tip to the clamp.
#[derive(Clone, Debug)]
pub(crate) struct Inward {
    /// What each element would do if its first joint stood still.
    local: Vec<Vec3>,
    root: Vec3,
    /// What is handed on to what bears the root.
    pub(crate) handed: Vector<6>,
}

/// J A⁻¹ Jᵀ of a fibre, in blocks of 3 × 3 between joints.
#[derive(Clone, Debug)]
pub(crate) struct Compliance {
    joints: Vec<usize>,
    blocks: Vec<Mat3>,
}

impl Compliance {
    /// Of joints by their numbers, ascending, with the blocks row after row.
    pub(crate) fn new(joints: Vec<usize>, blocks: Vec<Mat3>) -> Self {
        Self { joints, blocks }
    }

    /// Place of a joint among those asked for.
    pub(crate) fn place(&self, joint: usize) -> Option<usize> {
        self.joints.binary_search(&joint).ok()
    }

    /// The block between the joints at two places.
    pub(crate) fn block(&self, a: usize, b: usize) -> &Mat3 {
        &self.blocks[a * self.joints.len() + b]
    }
}

/// The same matrix in full, for comparison and for small rods.
pub(crate) fn dense(
    model: Model,
    elements: usize,
    mut form: impl FnMut(usize) -> Form,
    mut transition: impl FnMut(usize) -> Transition,
) -> DMatrix<f64> {
    let first = usize::from(model == Model::SuperClothoid);
    let m = 3 * (elements + first);
    let mut out = DMatrix::zeros(m, m);
    let mut local = DMatrix::<f64>::zeros(LOCAL, m);
    if first == 1 {
        local.fixed_view_mut::<3, 3>(6, 0).copy_from(&Mat3::identity());
    }
    for e in 0..elements {
        let at = 3 * (e + first);
        local.fixed_rows_mut::<3>(STATE).fill(0.0);
        local.fixed_view_mut::<3, 3>(STATE, at).copy_from(&Mat3::identity());
        // Later unknowns do not move this element.
        let used = at + 3;
        let part = local.columns(0, used).into_owned();
        let weighed = form(e) * &part;
        let mut corner = out.view_mut((0, 0), (used, used));
        corner.gemm_tr(1.0, &part, &weighed, 1.0);
        let next = transition(e) * &part;
        local.view_mut((0, 0), (STATE, used)).copy_from(&next);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::{Mix, Shape};
    use crate::rod::{Clamp, Loads, Rod, Section};

    /// J A⁻¹ Jᵀ by the full matrix, and by the spread of A⁻¹ along the chain.
    #[test]
    fn forces_at_joints_move_joints_as_the_full_matrix_says() {
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            let section = Section {
                bending_stiffness: [1.0, 1.7],
                twisting_stiffness: 0.6,
                linear_density: 0.9,
            };
            let frame = crate::rotation::turn(&Vec3::new(0.3, 0.5, -0.2), 1.0);
            let clamp = Clamp { position: Vec3::zeros(), frame };
            let rod = Rod::new(model, 6, 1.3, section, clamp).unwrap();
            let bend = |i: usize| Vec3::new((i as f64).sin() * 3.0, 2.0 - i as f64, 1.0);
            let q: Vec<Vec3> = (0..rod.blocks()).map(bend).collect();
            let shape = Shape::new(&rod, &q, &Loads::weight(&section, Vec3::zeros()), true);
            let mix = Mix { mass: 1.0, elastic: 1e-2, geometric: 0.0 };
            let (chain, full) = (shape.chain(&rod, mix), shape.dense(&rod, mix));
            let inverse = full.try_inverse().unwrap();
            let joints = [0, 1, 3, 4, 6];
            let soft = chain.compliance(&joints);
            let jacobian = |joint: usize| rod.jacobian(&q, 1.3 * joint as f64 / 6.0).1;
            for (a, &i) in joints.iter().enumerate() {
                for (b, &k) in joints.iter().enumerate() {
                    let exact = jacobian(i) * &inverse * jacobian(k).transpose();
                    let error = (soft.block(a, b) - exact).amax();
                    assert!(error < 1e-10 * inverse.amax(), "{model:?} {i} {k}: {error:e}");
                }
            }
            // The same forces through one solve.
            let push = |i: usize| Vec3::new(0.3, i as f64, -1.0);
            let forces: Vec<Vec3> = (0..=6).map(push).collect();
            let mut general = nalgebra::DVector::zeros(3 * rod.blocks());
            for i in 1..=6 {
                general += jacobian(i).transpose() * forces[i];
            }
            let exact = &inverse * &general;
            let found = chain.solve_joint_forces(&forces);
            for b in 0..rod.blocks() {
                for c in 0..3 {
                    assert!((found[b][c] - exact[3 * b + c]).abs() < 1e-9 * exact.amax());
                }
            }
        }
    }
}
