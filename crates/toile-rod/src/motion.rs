//! Motion of a rod: semi-implicit steps, in a time linear in its elements.
//!
//! M(q) q̈ + K (q − q̄) + ν K q̇ = ∫ Jᵀ (f − ρA a*), with a* the acceleration of a point while q̈ = 0 (velocities squared and the motion
//! of the clamp). Elasticity and its damping are implicit, everything else is taken at the start of the step:
//!
//! ```text
//! (M + (θ² h² + ν h) K) q̈ = ∫ Jᵀ (f − ρA a*) − K (q − q̄ + (θ h + ν) q̇),   q̇⁺ = q̇ + h q̈,   q⁺ = q + h (θ q̇⁺ + (1 − θ) q̇)
//! ```
//!
//! Reference: Bertails-Descoubes 2017, §§2.3–2.4; the recursion here keeps elasticity implicit and serves both elements.

use toile_num::{Matrix, Vector};

use crate::RodError;
use crate::chain::{Chain, LOCAL, STATE};
use crate::earlier::Earlier;
use crate::element::Node;
use crate::forms::{Mix, Parts, mix_form, transition};
use crate::panel::{FEW, FEW_RULE, NODES, RULE, Rule};
use crate::rod::{Clamp, Rod};
use crate::rotation::{Mat3, Vec3, cross_matrix};
use crate::statics::elastic_energy;
use crate::turning::Turning;

/// Generalised force on (δr, δθ) of an element's first joint and its curvatures.
pub(crate) type Local = Vector<LOCAL>;

/// Curvatures and their rates.
#[derive(Clone, Debug, PartialEq)]
pub struct RodState {
    /// q \[1/m\].
    pub q: Vec<Vec3>,
    /// q̇ \[1/(m·s)\].
    pub rate: Vec<Vec3>,
}

impl RodState {
    /// At rest in a shape.
    pub fn at_rest(q: Vec<Vec3>) -> Self {
        let rate = vec![Vec3::zeros(); q.len()];
        Self { q, rate }
    }
}

/// How the clamp moves at an instant, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClampMotion {
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Acceleration \[m/s²\].
    pub acceleration: Vec3,
    /// Angular velocity \[rad/s\].
    pub spin: Vec3,
    /// Angular acceleration \[rad/s²\].
    pub spin_rate: Vec3,
}

impl ClampMotion {
    /// Where a clamp is after a time, at constant accelerations.
    pub fn advanced(&self, clamp: &Clamp, dt: f64) -> Clamp {
        let turned = (self.spin + self.spin_rate * (0.5 * dt)) * dt;
        Clamp {
            position: clamp.position + (self.velocity + self.acceleration * (0.5 * dt)) * dt,
            frame: crate::rotation::straightened(
                &(crate::rotation::turn(&turned, 1.0) * clamp.frame),
            ),
        }
    }

    /// The motion after a time.
    pub fn after(&self, dt: f64) -> Self {
        Self {
            velocity: self.velocity + self.acceleration * dt,
            spin: self.spin + self.spin_rate * dt,
            ..*self
        }
    }
}

/// How a step is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSettings {
    /// h \[s\].
    pub dt: f64,
    /// θ from ½ (keeps energy) to 1 (damps it; never grows).
    pub theta: f64,
    /// ν \[s\]: internal damping ν K (Kelvin–Voigt).
    pub damping: f64,
    /// Drag of the surroundings per mass \[1/s\].
    pub drag: f64,
}

impl StepSettings {
    /// The damped scheme without further damping.
    pub fn new(dt: f64) -> Self {
        Self { dt, theta: 1.0, damping: 0.0, drag: 0.0 }
    }
}

/// A rod at an instant with what a step needs.
#[derive(Clone, Debug)]
pub(crate) struct Moving {
    pub(crate) parts: Vec<Parts>,
    /// ∫ (f − ρA a*) per element.
    pub(crate) loads: Vec<Local>,
}

impl Moving {
    /// Ready for a step, in which `turning` resists turns of sections about their tangents.
    pub(crate) fn new(
        rod: &Rod,
        state: &RodState,
        gravity: &Vec3,
        motion: &ClampMotion,
        turning: &Turning,
    ) -> Self {
        Self::traced(rod, state, gravity, motion, Some(turning), |_, _, _| {})
    }

    /// The same; `joint` is told where every joint is and how it moves while q̈ = 0, the clamp being 0.
    pub(crate) fn traced(
        rod: &Rod,
        state: &RodState,
        gravity: &Vec3,
        motion: &ClampMotion,
        resists: Option<&Turning>,
        mut joint: impl FnMut(usize, Clamp, ClampMotion),
    ) -> Self {
        let n = rod.lengths().len();
        let natural = if resists.is_some() { rod.rest() } else { Vec::new() };
        let density = rod.section().linear_density;
        let clamp = rod.clamp();
        let mut frame = clamp.frame;
        let (mut spin, mut turning, mut pull) =
            (motion.spin, motion.spin_rate, motion.acceleration);
        let (mut position, mut velocity) = (clamp.position, motion.velocity);
        joint(0, *clamp, *motion);
        let mut parts = Vec::with_capacity(n);
        let mut loads = Vec::with_capacity(n);
        let mut nodes: Vec<Node> = Vec::new();
        let mut earlier = resists.and_then(|r| Earlier::of(rod, state, motion, r.before));
        for e in 0..n {
            let arc = rod.arc(&state.q, e);
            let (rates, rate) = rates_of(rod, state, e);
            nodes.clear();
            let end = arc.sample(&frame, arc.length, |node| nodes.push(*node));
            let pulled = Pulled { spin, rate: rates, gravity, density };
            let mut here = (turning, pull);
            let mut load: Local = if arc.is_gentle(arc.length) {
                nodes.chunks(FEW).map(|panel| pulled.panel(&FEW_RULE, panel, &mut here)).sum()
            } else {
                nodes.chunks(NODES).map(|panel| pulled.panel(&RULE, panel, &mut here)).sum()
            };
            if let (Some(earlier), Some(resists)) = (&mut earlier, resists) {
                load = Local::zeros();
                for (node, before) in nodes.iter().zip(earlier.velocities(e, &arc, &nodes, rates)) {
                    let now = velocity - motion.velocity + spin.cross(&node.r) + node.j * rate;
                    let a = motion.acceleration + (now - before) / resists.dt;
                    let f = (gravity - a) * (density * node.weight);
                    load += local_load(&node.r, &node.j, &f);
                }
            }
            let (turn_here, pull_here) = here;
            let mut part = Parts::inertial(&nodes, &end, density);
            if let Some(resists) = resists {
                let both = |b: Option<usize>| {
                    b.map_or((Vec3::zeros(), Vec3::zeros()), |b| (state.q[b], natural[b]))
                };
                let curvatures = rod.blocks_of(e).map(both);
                if let Some((form, force)) = resists.of(rod, curvatures, &nodes, &spin, &rate) {
                    part.mass += form;
                    load += force;
                }
            }
            parts.push(part);
            loads.push(load);
            position += end.r;
            velocity += spin.cross(&end.r) + end.j * rate;
            spin += end.theta * rate;
            (turning, pull) = (turn_here, pull_here);
            frame = end.frame;
            let now = ClampMotion { velocity, acceleration: pull, spin, spin_rate: turning };
            joint(e + 1, Clamp { position, frame }, now);
        }
        Self { parts, loads }
    }

    /// Factorises M + elastic·K.
    pub(crate) fn chain(&self, rod: &Rod, elastic: f64) -> Chain {
        self.chain_bearing(rod, elastic, |_| None)
    }

    /// The same with the crowns of branches at the joints that bear them.
    pub(crate) fn chain_bearing(
        &self,
        rod: &Rod,
        elastic: f64,
        at_joint: impl Fn(usize) -> Option<Matrix<6, 6>>,
    ) -> Chain {
        let mix = Mix { mass: 1.0, elastic, geometric: 0.0 };
        let form = |e| mix_form(rod, &self.parts[e], e, mix);
        let n = self.parts.len();
        Chain::bearing(rod.kind(), n, form, |e| transition(&self.parts[e]), at_joint)
    }

    /// The same as a full matrix.
    fn dense(&self, rod: &Rod, elastic: f64) -> nalgebra::DMatrix<f64> {
        let mix = Mix { mass: 1.0, elastic, geometric: 0.0 };
        let n = self.parts.len();
        crate::chain::dense(
            rod.model(),
            n,
            |e| mix_form(rod, &self.parts[e], e, mix),
            |e| transition(&self.parts[e]),
        )
    }

    /// Jᵀ of forces given per element: generalised forces per block, tip to clamp. `at_joint` is the wrench (force, moment) of
    /// the branches a joint bears; that of all loads about the root is returned as well.
    pub(crate) fn projected(
        &self,
        rod: &Rod,
        loads: &[Local],
        at_joint: impl Fn(usize) -> Option<Vector<6>>,
    ) -> (Vec<Vec3>, Vector<6>) {
        let mut out = vec![Vec3::zeros(); rod.blocks()];
        let mut p = Vector::<STATE>::zeros();
        let add = |p: &mut Vector<STATE>, joint: usize| {
            if let Some(wrench) = at_joint(joint) {
                let mut motion = p.fixed_rows_mut::<6>(0);
                motion += wrench;
            }
        };
        for e in (0..self.parts.len()).rev() {
            add(&mut p, e + 1);
            let whole = loads[e] + transition(&self.parts[e]).transpose() * p;
            let [left, right] = rod.blocks_of(e);
            if let Some(right) = right {
                out[right] += Vec3::from(whole.fixed_rows::<3>(STATE));
            }
            p = whole.fixed_rows::<STATE>(0).into();
            // The curvature at the start belongs to the joint before, where it is the end's.
            if e == 0
                && let Some(left) = left
            {
                out[left] += Vec3::from(p.fixed_rows::<3>(6));
            }
        }
        add(&mut p, 0);
        (out, p.fixed_rows::<6>(0).into())
    }
}

/// How an element moves while q̈ = 0.
struct Pulled<'a> {
    /// Angular velocity of its first joint.
    spin: Vec3,
    /// κ̇ at its start and its end.
    rate: [Vec3; 2],
    gravity: &'a Vec3,
    density: f64,
}

impl Pulled<'_> {
    /// Load on a panel: weight less inertia. `here` is how fast the frame turns ever faster, and the acceleration, at its start and then at its end.
    fn panel<const N: usize>(
        &self,
        rule: &Rule<N>,
        panel: &[Node],
        here: &mut (Vec3, Vec3),
    ) -> Local {
        let h = panel[0].weight / rule.weight[0];
        let [left, right] = self.rate;
        // α*′ = ω × R κ̇, then a*′ = α* × d₃ + ω × (ω × d₃), both from the start of the panel.
        let mut omega = [Vec3::zeros(); N];
        let mut first = [Vec3::zeros(); N];
        for (i, node) in panel.iter().enumerate() {
            let turned = node.theta.fixed_columns::<3>(0) * left;
            omega[i] = self.spin + turned + node.theta.fixed_columns::<3>(3) * right;
            let k_rate = left * node.shape[0] + right * node.shape[1];
            first[i] = omega[i].cross(&(node.frame * k_rate)) * h;
        }
        let mut second = [Vec3::zeros(); N];
        for (i, node) in panel.iter().enumerate() {
            let mut alpha = here.0;
            for j in 0..N {
                alpha += first[j] * rule.until[i][j];
            }
            let d3: Vec3 = node.frame.column(2).into();
            second[i] = (alpha.cross(&d3) + omega[i].cross(&omega[i].cross(&d3))) * h;
        }
        let mut load = Local::zeros();
        for (i, node) in panel.iter().enumerate() {
            let mut a = here.1;
            for j in 0..N {
                a += second[j] * rule.until[i][j];
            }
            let f = (self.gravity - a) * (self.density * node.weight);
            load += local_load(&node.r, &node.j, &f);
        }
        for j in 0..N {
            here.0 += first[j] * rule.weight[j];
            here.1 += second[j] * rule.weight[j];
        }
        load
    }
}

/// A force f at r from the joint, where curvatures move the point by j.
pub(crate) fn local_load(r: &Vec3, j: &crate::element::Columns, f: &Vec3) -> Local {
    let mut load = Local::zeros();
    load.fixed_rows_mut::<3>(0).copy_from(f);
    load.fixed_rows_mut::<3>(3).copy_from(&r.cross(f));
    load.fixed_rows_mut::<6>(6).copy_from(&j.tr_mul(f));
    load
}

/// Right-hand side of a step without contact.
pub(crate) fn right_hand_side(
    rod: &Rod,
    state: &RodState,
    moving: &Moving,
    ahead: f64,
) -> Vec<Vec3> {
    let (loads, _) = moving.projected(rod, &moving.loads, |_| None);
    with_elasticity(rod, state, &loads, ahead)
}

/// Loads less the elastic forces a little ahead.
pub(crate) fn with_elasticity(
    rod: &Rod,
    state: &RodState,
    loads: &[Vec3],
    ahead: f64,
) -> Vec<Vec3> {
    let predicted: Vec<Vec3> =
        state.q.iter().zip(&state.rate).map(|(q, v)| q + v * ahead).collect();
    let elastic = rod.elastic(&predicted);
    loads.iter().zip(&elastic).zip(rod.rest_moment()).map(|((load, k), b)| load - k + b).collect()
}

pub(crate) fn check(rod: &Rod, state: &RodState, settings: &StepSettings) -> Result<(), RodError> {
    rod.check_blocks(&state.q)?;
    rod.check_blocks(&state.rate)?;
    if !(settings.dt > 0.0 && settings.dt.is_finite()) {
        return Err(RodError::NotPositive { what: "time step", value: settings.dt });
    }
    Ok(())
}

pub(crate) fn advance(state: &mut RodState, acceleration: &[Vec3], settings: &StepSettings) {
    let (h, theta) = (settings.dt, settings.theta);
    let drag = 1.0 / (1.0 + h * settings.drag);
    for ((q, v), a) in state.q.iter_mut().zip(&mut state.rate).zip(acceleration) {
        let before = *v;
        *v = (*v + a * h) * drag;
        *q += (*v * theta + before * (1.0 - theta)) * h;
    }
}

/// Accelerations q̈ of one step by the recursion, in linear time.
pub fn acceleration(
    rod: &Rod,
    state: &RodState,
    gravity: &Vec3,
    motion: &ClampMotion,
    settings: &StepSettings,
) -> Result<Vec<Vec3>, RodError> {
    check(rod, state, settings)?;
    let turning = Turning::of_step(settings, motion);
    let moving = Moving::new(rod, state, gravity, motion, &turning);
    let (h, theta, nu) = (settings.dt, settings.theta, settings.damping);
    let chain = moving.chain(rod, theta * theta * h * h + nu * h);
    Ok(chain.solve(&right_hand_side(rod, state, &moving, theta * h + nu)))
}

/// The same by the full matrix: for comparison.
pub fn acceleration_dense(
    rod: &Rod,
    state: &RodState,
    gravity: &Vec3,
    motion: &ClampMotion,
    settings: &StepSettings,
) -> Result<Vec<Vec3>, RodError> {
    check(rod, state, settings)?;
    let turning = Turning::of_step(settings, motion);
    let moving = Moving::new(rod, state, gravity, motion, &turning);
    let (h, theta, nu) = (settings.dt, settings.theta, settings.damping);
    let matrix = moving.dense(rod, theta * theta * h * h + nu * h);
    let f = right_hand_side(rod, state, &moving, theta * h + nu);
    let f = nalgebra::DVector::from_fn(3 * f.len(), |i, _| f[i / 3][i % 3]);
    let factor = matrix.cholesky().ok_or(RodError::NotFinite { what: "mass matrix" })?;
    let x = factor.solve(&f);
    Ok((0..rod.blocks()).map(|b| Vec3::new(x[3 * b], x[3 * b + 1], x[3 * b + 2])).collect())
}

/// Takes one step; the rod's clamp is moved as well.
pub fn step(
    rod: &mut Rod,
    state: &mut RodState,
    gravity: &Vec3,
    motion: &mut ClampMotion,
    settings: &StepSettings,
) -> Result<(), RodError> {
    let a = acceleration(rod, state, gravity, motion, settings)?;
    advance(state, &a, settings);
    rod.check_blocks(&state.q)?;
    rod.set_clamp(motion.advanced(rod.clamp(), settings.dt));
    *motion = motion.after(settings.dt);
    Ok(())
}

/// Kinetic and elastic energy and the potential of the weight from the origin \[J\].
pub fn energies(
    rod: &Rod,
    state: &RodState,
    gravity: &Vec3,
    motion: &ClampMotion,
) -> Result<[f64; 3], RodError> {
    energies_after(rod, state, gravity, motion, None)
}

/// The same after a step that was so long: of a rod that turned far in it with the momentum that the next step goes on with.
pub(crate) fn energies_after(
    rod: &Rod,
    state: &RodState,
    gravity: &Vec3,
    motion: &ClampMotion,
    dt: Option<f64>,
) -> Result<[f64; 3], RodError> {
    rod.check_blocks(&state.q)?;
    rod.check_blocks(&state.rate)?;
    let (mut frame, mut r) = (rod.clamp().frame, rod.clamp().position);
    let (mut spin, mut velocity) = (motion.spin, motion.velocity);
    let density = rod.section().linear_density;
    let (mut kinetic, mut weight) = (0.0, 0.0);
    let mut earlier = dt.and_then(|dt| Earlier::of(rod, state, motion, dt));
    let mut nodes: Vec<Node> = Vec::new();
    for e in 0..rod.lengths().len() {
        let arc = rod.arc(&state.q, e);
        let (rates, rate) = rates_of(rod, state, e);
        nodes.clear();
        let end = arc.sample(&frame, arc.length, |node| nodes.push(*node));
        let before = earlier.as_mut().map(|b| b.velocities(e, &arc, &nodes, rates));
        for (i, node) in nodes.iter().enumerate() {
            let u = match &before {
                Some(before) => motion.velocity + before[i],
                None => velocity + spin.cross(&node.r) + node.j * rate,
            };
            kinetic += 0.5 * density * node.weight * u.norm_squared();
            weight -= density * node.weight * gravity.dot(&(r + node.r));
        }
        velocity += spin.cross(&end.r) + end.j * rate;
        spin += end.theta * rate;
        (frame, r) = (end.frame, r + end.r);
    }
    Ok([kinetic, elastic_energy(rod, &state.q, &rod.elastic(&state.q)), weight])
}

/// Rates of the curvatures at both ends of an element, and together.
fn rates_of(rod: &Rod, state: &RodState, e: usize) -> ([Vec3; 2], Vector<6>) {
    let [left, right] = rod.blocks_of(e).map(|b| b.map_or(Vec3::zeros(), |b| state.rate[b]));
    let mut rate = Vector::<6>::zeros();
    rate.fixed_rows_mut::<3>(0).copy_from(&left);
    rate.fixed_rows_mut::<3>(3).copy_from(&right);
    ([left, right], rate)
}

/// \[1, −\[r\]×, J\]: how the state of a joint and the curvatures of its element move a point.
pub(crate) fn point_rows(r: &Vec3, j: &crate::element::Columns) -> Matrix<3, LOCAL> {
    let mut rows = Matrix::<3, LOCAL>::zeros();
    rows.fixed_view_mut::<3, 3>(0, 0).copy_from(&Mat3::identity());
    rows.fixed_view_mut::<3, 3>(0, 3).copy_from(&-cross_matrix(r));
    rows.fixed_view_mut::<3, 6>(0, 6).copy_from(j);
    rows
}
