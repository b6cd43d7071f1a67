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

/// Inverse of a symmetric 3 × 3 block and the number of its negative eigenvalues; `None` if singular.
fn invert(block: &Mat3) -> Option<(Mat3, usize)> {
    // Elimination on the largest diagonal is enough for definite blocks, the usual case.
    if let Some(factor) = block.cholesky() {
        return Some((factor.inverse(), 0));
    }
    let negative = block.symmetric_eigenvalues().iter().filter(|v| **v < 0.0).count();
    block.try_inverse().map(|inverse| (inverse, negative))
}

impl Chain {
    /// Factorises the sum of `form(e)` over elements, tip to clamp.
    pub(crate) fn new(
        model: Model,
        elements: usize,
        mut form: impl FnMut(usize) -> Form,
        mut transition: impl FnMut(usize) -> Transition,
    ) -> Self {
        let mut links = Vec::with_capacity(elements);
        let mut beyond = Matrix::<STATE, STATE>::zeros();
        let (mut negative, mut singular) = (0, false);
        for e in (0..elements).rev() {
            let t = transition(e);
            let whole = form(e) + t.transpose() * (beyond * t);
            let block: Mat3 = whole.fixed_view::<3, 3>(STATE, STATE).into();
            let block = (block + block.transpose()) * 0.5;
            let (pivot, below) = invert(&block).unwrap_or_else(|| {
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
        let mut root = Mat3::zeros();
        if model == Model::SuperClothoid {
            let block: Mat3 = beyond.fixed_view::<3, 3>(6, 6).into();
            match invert(&((block + block.transpose()) * 0.5)) {
                Some((inverse, below)) => {
                    root = inverse;
                    negative += below;
                }
                None => singular = true,
            }
        }
        Self { model, links, root, negative, singular }
    }

    /// Whether the matrix is positive definite.
    pub(crate) fn is_positive(&self) -> bool {
        self.negative == 0 && !self.singular
    }

    /// Solves for a right-hand side given per block.
    pub(crate) fn solve(&self, f: &[Vec3]) -> Vec<Vec3> {
        let first = usize::from(self.model == Model::SuperClothoid);
        let mut local = vec![Vec3::zeros(); self.links.len()];
        let mut p = Vector::<STATE>::zeros();
        for (e, link) in self.links.iter().enumerate().rev() {
            let carried = link.transition.transpose() * p;
            let c = f[e + first] + carried.fixed_rows::<3>(STATE);
            local[e] = link.pivot * c;
            p = carried.fixed_rows::<STATE>(0) - link.coupling.transpose() * local[e];
        }
        let mut out = vec![Vec3::zeros(); f.len()];
        let mut state = Vector::<STATE>::zeros();
        if first == 1 {
            out[0] = self.root * (f[0] + p.fixed_rows::<3>(6));
            state.fixed_rows_mut::<3>(6).copy_from(&out[0]);
        }
        for (e, link) in self.links.iter().enumerate() {
            let x = local[e] - link.pivot * (link.coupling * state);
            out[e + first] = x;
            let mut v = Vector::<LOCAL>::zeros();
            v.fixed_rows_mut::<STATE>(0).copy_from(&state);
            v.fixed_rows_mut::<3>(STATE).copy_from(&x);
            state = link.transition * v;
        }
        out
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
