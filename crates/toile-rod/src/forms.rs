//! Mass, stiffness and forces of a shape, element by element.

use nalgebra::DMatrix;
use toile_num::{Matrix, Vector};

use crate::RodError;
use crate::chain::{Chain, Form, LOCAL, STATE, Transition, dense};
use crate::element::{Columns, Model, Node};
use crate::motion::point_rows;
use crate::rod::{Loads, Rod};
use crate::rotation::{Mat3, Vec3, cross_matrix};

/// Parts of the quadratic forms of one element.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// ρA ∫ ∂r ∂rᵀ.
    pub(crate) mass: Form,
    /// Second derivative of the potential of the loads, in (δθ, curvatures): rows 3 … 12.
    pub(crate) geometric: Form,
    pub(crate) transition: Transition,
    /// ∂θ/∂κ and ∂r/∂κ at the end.
    theta: Columns,
    j: Columns,
    /// Vector to the next joint.
    reach: Vec3,
    /// ∫ r over the element, from its joint.
    moment: Vec3,
    /// ∫ J.
    j_integral: Columns,
}

/// What a rod's forms weigh together: mass·M + stiffness·K + geometric·𝕊.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    pub(crate) mass: f64,
    pub(crate) elastic: f64,
    pub(crate) geometric: f64,
}

/// A shape of a rod with everything its forces and forms need.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) parts: Vec<Parts>,
    /// ∂(potential of the loads)/∂q.
    pub(crate) load_gradient: Vec<Vec3>,
    /// Potential of the loads, from the world's origin \[J\].
    pub(crate) load_energy: f64,
}

/// Loads beyond a joint: their sum, and ∫ (r − joint) ⊗ force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hung {
    pub(crate) force: Vec3,
    pub(crate) tensor: Mat3,
}

impl Hung {
    fn add(&mut self, other: Option<Self>) {
        if let Some(other) = other {
            self.force += other.force;
            self.tensor += other.tensor;
        }
    }
}

/// 3 × 3 part for one side of `Columns`.
fn side(columns: &Columns, side: usize) -> Mat3 {
    columns.fixed_columns::<3>(3 * side).into()
}

impl Shape {
    /// Samples the rod at q under dead loads. `second` asks for mass and geometric stiffness as well.
    pub(crate) fn new(rod: &Rod, q: &[Vec3], loads: &Loads, second: bool) -> Self {
        Self::held(rod, q, loads, &[], second)
    }

    /// The same with further dead forces at the joints \[N\], clamp first; empty for none.
    pub(crate) fn held(
        rod: &Rod,
        q: &[Vec3],
        loads: &Loads,
        at_joints: &[Vec3],
        second: bool,
    ) -> Self {
        let hung = |joint: usize| {
            let force = at_joints.get(joint).copied()?;
            Some(Hung { force, tensor: Mat3::zeros() })
        };
        let (mut out, _, joints) = Self::bearing(rod, q, loads, hung, second);
        for (force, joint) in at_joints.iter().zip(&joints).skip(1) {
            out.load_energy -= force.dot(joint);
        }
        out
    }

    /// The same with dead loads that turn with the joints which bear them, as the weight of branches does; their energy is not
    /// counted. Also returns all loads as the root bears them, and the joints.
    pub(crate) fn bearing(
        rod: &Rod,
        q: &[Vec3],
        loads: &Loads,
        at_joint: impl Fn(usize) -> Option<Hung>,
        second: bool,
    ) -> (Self, Hung, Vec<Vec3>) {
        let n = rod.lengths().len();
        let mut frames = Vec::with_capacity(n);
        let mut joints = Vec::with_capacity(n + 1);
        let (mut frame, mut r) = (rod.clamp().frame, rod.clamp().position);
        for e in 0..n {
            frames.push(frame);
            joints.push(r);
            let (next, step) = rod.arc(q, e).reach(&frame, rod.lengths()[e]);
            (frame, r) = (next, r + step);
        }
        joints.push(r);
        let p = loads.per_length;
        let mut gradient = vec![Vec3::zeros(); rod.blocks()];
        let mut energy = -loads.tip.dot(&r);
        let mut beyond = Hung { force: loads.tip, tensor: Mat3::zeros() };
        let mut parts: Vec<Parts> = Vec::with_capacity(n);
        for e in (0..n).rev() {
            let arc = rod.arc(q, e);
            beyond.add(at_joint(e + 1));
            let Hung { force, tensor } = &mut beyond;
            let part = element_parts(rod, &arc, &frames[e], force, tensor, &p, second);
            let couple = axial(tensor);
            for (s, block) in rod.blocks_of(e).iter().enumerate() {
                let Some(block) = block else { continue };
                gradient[*block] -= side(&part.j_integral, s).tr_mul(&p)
                    + side(&part.j, s).tr_mul(force)
                    + side(&part.theta, s).tr_mul(&couple);
            }
            energy -= p.dot(&(joints[e] * arc.length + part.moment));
            *tensor += part.reach * force.transpose() + part.moment * p.transpose();
            *force += p * arc.length;
            parts.push(part);
        }
        beyond.add(at_joint(0));
        parts.reverse();
        (Self { parts, load_gradient: gradient, load_energy: energy }, beyond, joints)
    }

    fn form(&self, rod: &Rod, e: usize, mix: Mix) -> Form {
        mix_form(rod, &self.parts[e], e, mix)
    }

    /// Factorises a mix in linear time.
    pub(crate) fn chain(&self, rod: &Rod, mix: Mix) -> Chain {
        self.chain_bearing(rod, mix, |_| None)
    }

    /// The same with the crowns of branches at the joints that bear them.
    pub(crate) fn chain_bearing(
        &self,
        rod: &Rod,
        mix: Mix,
        at_joint: impl Fn(usize) -> Option<Matrix<6, 6>>,
    ) -> Chain {
        let n = self.parts.len();
        let form = |e| self.form(rod, e, mix);
        Chain::bearing(rod.kind(), n, form, |e| self.parts[e].transition, at_joint)
    }

    /// A mix of its forms times a change of the unknowns.
    pub(crate) fn product(&self, rod: &Rod, mix: Mix, x: &[Vec3]) -> Vec<Vec3> {
        let first = usize::from(rod.model() == Model::SuperClothoid);
        let mut v = Vector::<LOCAL>::zeros();
        if first == 1 {
            v.fixed_rows_mut::<3>(6).copy_from(&x[0]);
        }
        // How each element is moved, clamp to tip; then what that asks of the unknowns, tip to clamp.
        let mut moved = Vec::with_capacity(self.parts.len());
        for (part, x) in self.parts.iter().zip(&x[first..]) {
            v.fixed_rows_mut::<3>(STATE).copy_from(x);
            moved.push(v);
            let next = part.transition * v;
            v.fixed_rows_mut::<STATE>(0).copy_from(&next);
        }
        let mut out = vec![Vec3::zeros(); x.len()];
        let mut beyond = Vector::<STATE>::zeros();
        for (e, v) in moved.iter().enumerate().rev() {
            let own = self.form(rod, e, mix) * v + self.parts[e].transition.transpose() * beyond;
            out[e + first] = own.fixed_rows::<3>(STATE).into();
            beyond = own.fixed_rows::<STATE>(0).into();
        }
        if first == 1 {
            out[0] = beyond.fixed_rows::<3>(6).into();
        }
        out
    }

    /// The mix as a full matrix.
    pub(crate) fn dense(&self, rod: &Rod, mix: Mix) -> DMatrix<f64> {
        let n = self.parts.len();
        dense(rod.model(), n, |e| self.form(rod, e, mix), |e| self.parts[e].transition)
    }
}

/// The form of one element in a mix.
pub(crate) fn mix_form(rod: &Rod, part: &Parts, e: usize, mix: Mix) -> Form {
    let mut form = part.mass * mix.mass + part.geometric * mix.geometric;
    let k = rod.section().stiffness() * (rod.lengths()[e] * mix.elastic);
    let gram = rod.model().gram();
    for a in 0..2 {
        for b in 0..2 {
            for c in 0..3 {
                form[(6 + 3 * a + c, 6 + 3 * b + c)] += k[c] * gram[a][b];
            }
        }
    }
    form
}

/// How the state of an element's second joint follows from its local vector.
pub(crate) fn transition(part: &Parts) -> Transition {
    part.transition
}

impl Parts {
    /// Mass and transition of sampled nodes, without loads.
    pub(crate) fn inertial(nodes: &[Node], end: &Node, density: f64) -> Self {
        let mass = mass_form(nodes.iter(), density);
        Self {
            mass,
            geometric: Form::zeros(),
            transition: transition_to(end),
            theta: end.theta,
            j: end.j,
            reach: end.r,
            moment: end.moment,
            j_integral: Columns::zeros(),
        }
    }
}

/// ρA ∫ (1, −[r]×, J)ᵀ (1, −[r]×, J), by its moments: a third of the products.
fn mass_form<'a>(nodes: impl Iterator<Item = &'a Node>, density: f64) -> Form {
    let (mut length, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
    let (mut j_sum, mut lever, mut own) =
        (Columns::zeros(), Columns::zeros(), Matrix::<6, 6>::zeros());
    for node in nodes {
        let w = density * node.weight;
        let weighed = node.j * w;
        length += w;
        first += node.r * w;
        second += node.r * (node.r * w).transpose();
        j_sum += weighed;
        lever += cross_matrix(&node.r) * weighed;
        own += node.j.tr_mul(&weighed);
    }
    let mut mass = Form::zeros();
    let arm = cross_matrix(&first);
    mass.fixed_view_mut::<3, 3>(0, 0).copy_from(&(Mat3::identity() * length));
    mass.fixed_view_mut::<3, 3>(0, 3).copy_from(&-arm);
    mass.fixed_view_mut::<3, 3>(3, 0).copy_from(&arm);
    // −[r]× [r]× = |r|² − r rᵀ.
    mass.fixed_view_mut::<3, 3>(3, 3).copy_from(&(Mat3::identity() * second.trace() - second));
    mass.fixed_view_mut::<3, 6>(0, 6).copy_from(&j_sum);
    mass.fixed_view_mut::<6, 3>(6, 0).copy_from(&j_sum.transpose());
    mass.fixed_view_mut::<3, 6>(3, 6).copy_from(&lever);
    mass.fixed_view_mut::<6, 3>(6, 3).copy_from(&lever.transpose());
    mass.fixed_view_mut::<6, 6>(6, 6).copy_from(&own);
    mass
}

fn transition_to(end: &Node) -> Transition {
    let mut transition = Transition::zeros();
    let identity = Mat3::identity();
    transition.fixed_view_mut::<3, 3>(0, 0).copy_from(&identity);
    transition.fixed_view_mut::<3, 3>(0, 3).copy_from(&-cross_matrix(&end.r));
    transition.fixed_view_mut::<3, 6>(0, 6).copy_from(&end.j);
    transition.fixed_view_mut::<3, 3>(3, 3).copy_from(&identity);
    transition.fixed_view_mut::<3, 6>(3, 6).copy_from(&end.theta);
    transition.fixed_view_mut::<3, 3>(6, STATE).copy_from(&identity);
    transition
}

/// ∂²(energy)/∂q² under dead loads, as a full matrix.
pub fn hessian(rod: &Rod, q: &[Vec3], loads: &Loads) -> Result<DMatrix<f64>, RodError> {
    rod.check_blocks(q)?;
    let shape = Shape::new(rod, q, loads, true);
    Ok(shape.dense(rod, Mix { mass: 0.0, elastic: 1.0, geometric: 1.0 }))
}

/// ρA ∫ JᵀJ, as a full matrix. Only semi-definite: a straight stretch has no inertia against twist.
pub fn mass_matrix(rod: &Rod, q: &[Vec3]) -> Result<DMatrix<f64>, RodError> {
    rod.check_blocks(q)?;
    let none = Loads { per_length: Vec3::zeros(), tip: Vec3::zeros() };
    let shape = Shape::new(rod, q, &none, true);
    Ok(shape.dense(rod, Mix { mass: 1.0, elastic: 0.0, geometric: 0.0 }))
}

/// ∫ ρ × f from ∫ ρ ⊗ f.
fn axial(t: &Mat3) -> Vec3 {
    Vec3::new(t[(1, 2)] - t[(2, 1)], t[(2, 0)] - t[(0, 2)], t[(0, 1)] - t[(1, 0)])
}

fn element_parts(
    rod: &Rod,
    arc: &crate::element::Arc,
    frame: &Mat3,
    force: &Vec3,
    tensor: &Mat3,
    p: &Vec3,
    second: bool,
) -> Parts {
    let (end_frame_r, total) = if second {
        let end = arc.end(frame, arc.length);
        (end.r, end.moment)
    } else {
        (Vec3::zeros(), Vec3::zeros())
    };
    let mut mass = Form::zeros();
    let mut geometric = Form::zeros();
    let mut j_integral = Columns::zeros();
    let mut cross = Columns::zeros();
    let mut own = Matrix::<6, 6>::zeros();
    let density = rod.section().linear_density;
    let end = arc.sample(frame, arc.length, |node| {
        j_integral += node.j * node.weight;
        if !second {
            return;
        }
        let rows = point_rows(&node.r, &node.j);
        mass += rows.transpose() * (rows * (density * node.weight));
        // Everything beyond σ: N = ∫ (r − r(σ)) ⊗ f, and f ↦ (N − tr N) d = ∫ (d × ρ) × f.
        let left = arc.length - node.s;
        let ahead = (total - node.moment) - node.r * left;
        let n = tensor + (end_frame_r - node.r) * force.transpose() + ahead * p.transpose();
        let a = n - Mat3::identity() * n.trace();
        let mut d = Columns::zeros();
        for s in 0..2 {
            let part = node.frame * (node.shape[s] * node.weight);
            d.fixed_columns_mut::<3>(3 * s).copy_from(&part);
        }
        let lever = a * d;
        cross += lever;
        own += node.theta.transpose() * lever;
    });
    let transition = transition_to(&end);
    if second {
        geometric.fixed_view_mut::<3, 6>(3, 6).copy_from(&-cross);
        geometric.fixed_view_mut::<6, 3>(6, 3).copy_from(&-cross.transpose());
        geometric.fixed_view_mut::<6, 6>(6, 6).copy_from(&-(own + own.transpose()));
    }
    Parts {
        mass,
        geometric,
        transition,
        theta: end.theta,
        j: end.j,
        reach: end.r,
        moment: end.moment,
        j_integral,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Model;
    use crate::rod::{Clamp, Section};
    use crate::statics::evaluate;

    fn rod(model: Model, n: usize) -> (Rod, Vec<Vec3>, Loads) {
        let section =
            Section { bending_stiffness: [1.0, 1.7], twisting_stiffness: 0.6, linear_density: 0.9 };
        let frame = crate::rotation::turn(&Vec3::new(0.3, 0.5, -0.2), 1.0);
        let clamp = Clamp { position: Vec3::new(0.1, 0.2, 0.3), frame };
        let lengths = (0..n).map(|i| 0.2 + 0.05 * (i % 3) as f64).collect();
        let rod = Rod::with_lengths(model, lengths, section, clamp).unwrap();
        let q = (0..rod.blocks())
            .map(|i| {
                Vec3::new((i as f64).sin() * 3.0, 2.0 - (i % 4) as f64, 1.0 + 0.7 * (i % 5) as f64)
            })
            .collect();
        let loads =
            Loads { per_length: Vec3::new(0.4, -0.3, -3.0), tip: Vec3::new(-0.7, 0.2, 1.1) };
        (rod, q, loads)
    }

    const HESSIAN: Mix = Mix { mass: 0.0, elastic: 1.0, geometric: 1.0 };

    #[test]
    fn gradient_and_hessian_are_derivatives_of_the_energy() {
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            let (rod, q, loads) = rod(model, 4);
            let here = evaluate(&rod, &q, &loads, true);
            let hessian = here.shape.dense(&rod, HESSIAN);
            let h = 1e-5;
            for c in 0..3 * rod.blocks() {
                let moved = |by: f64| {
                    let mut q = q.clone();
                    q[c / 3][c % 3] += by;
                    evaluate(&rod, &q, &loads, false)
                };
                let (ahead, behind) = (moved(h), moved(-h));
                let slope = (ahead.energy - behind.energy) / (2.0 * h);
                assert!((slope - here.gradient[c / 3][c % 3]).abs() < 1e-9, "{model:?} {c}");
                for r in 0..3 * rod.blocks() {
                    let bend =
                        (ahead.gradient[r / 3][r % 3] - behind.gradient[r / 3][r % 3]) / (2.0 * h);
                    assert!((bend - hessian[(r, c)]).abs() < 1e-8, "{model:?} {r} {c}");
                }
            }
        }
    }

    #[test]
    fn mass_is_the_integral_of_squared_jacobians() {
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            let (rod, q, loads) = rod(model, 3);
            let shape = Shape::new(&rod, &q, &loads, true);
            let mass = shape.dense(&rod, Mix { mass: 1.0, elastic: 0.0, geometric: 0.0 });
            // Gauss with two points on a thousand pieces: error about 1e-11.
            let m = 3 * rod.blocks();
            let mut sum = DMatrix::zeros(m, m);
            let (n, length) = (600, rod.length());
            let h = length / f64::from(n);
            for i in 0..n {
                for t in [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()] {
                    let (_, j, _) = rod.jacobian(&q, h * (f64::from(i) + t));
                    sum += j.tr_mul(&j) * (0.5 * h * rod.section().linear_density);
                }
            }
            // Kinks of J at joints are not aligned with the pieces for all lengths.
            assert!(
                (&mass - &sum).amax() < 1e-7 * mass.amax(),
                "{model:?} {}",
                (mass - sum).amax()
            );
        }
    }

    #[test]
    fn the_recursion_solves_the_dense_system() {
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            for n in [1, 2, 7, 64] {
                let (rod, q, loads) = rod(model, n);
                let shape = Shape::new(&rod, &q, &loads, true);
                for mix in [HESSIAN, Mix { mass: 1.0, elastic: 1e-4, geometric: 0.0 }] {
                    let full = shape.dense(&rod, mix);
                    let chain = shape.chain(&rod, mix);
                    let f: Vec<Vec3> = (0..rod.blocks())
                        .map(|i| Vec3::new(1.0, (i as f64).cos(), 0.3 * i as f64))
                        .collect();
                    let x = chain.solve(&f);
                    let flat = |v: &[Vec3]| {
                        nalgebra::DVector::from_iterator(
                            3 * v.len(),
                            v.iter().flat_map(|x| x.iter().copied()),
                        )
                    };
                    let product = flat(&shape.product(&rod, mix, &f));
                    let (x, f) = (flat(&x), flat(&f));
                    let full_product = &full * &f;
                    let error = (product - &full_product).norm() / full_product.norm();
                    assert!(error < 1e-12, "{model:?} {n}: product off by {error:e}");
                    let exact = full.clone().lu().solve(&f).unwrap();
                    let error = (&x - &exact).norm() / exact.norm();
                    assert!(error < 1e-9, "{model:?} {n}: {error:e}");
                    let negative =
                        full.symmetric_eigenvalues().iter().filter(|v| **v < 0.0).count();
                    assert_eq!(negative, chain.negative, "{model:?} {n}");
                }
            }
        }
    }

    /// The published figures of one helix, in the order (twist, κ₁, κ₂).
    #[test]
    fn one_helix_weighs_as_published() {
        let unit =
            Section { bending_stiffness: [1.0, 1.0], twisting_stiffness: 1.0, linear_density: 1.0 };
        let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
        let clamp = Clamp { position: Vec3::zeros(), frame };
        let rod = Rod::new(Model::SuperHelix, 1, 1.0, unit, clamp).unwrap();
        let loads = Loads::weight(&unit, Vec3::new(0.0, 0.0, -9.81));
        let shape = Shape::new(&rod, &[Vec3::new(-1.1, 1.9, 0.7)], &loads, true);
        let g = shape.load_gradient[0];
        let expected = Vec3::new(-1.0659863429181, -0.0811656219092, 0.5331296568391);
        assert!((g - expected).norm() < 1e-12, "{g}");
        let m = shape.dense(&rod, Mix { mass: 1.0, elastic: 0.0, geometric: 0.0 });
        for (i, j, value) in [
            (2, 2, 0.0129518716124),
            (2, 0, -0.0150728188554),
            (0, 0, 0.0322679527714),
            (1, 1, 0.0357547954603),
        ] {
            assert!((m[(i, j)] - value).abs() < 1e-12, "{m}");
        }
    }
}
