//! Contacts of cloth and fibres held where they are, and Newton's method between them.
//!
//! With δx of the cloth, δq of the fibres and forces λ at the contacts, whose points move by C δx + H δq,
//!
//! ```text
//! A δx = Cᵀ δλ − g,    B δq = Hᵀ δλ − f,    C δx + H δq = −gone.
//! ```
//!
//! A cloth that nothing holds but its contacts has a singular A, so it is braced there: with A + Cᵀ R C in its place and μ = δλ + R C δx,
//! S = C (A + Cᵀ R C)⁻¹ Cᵀ and W = H B⁻¹ Hᵀ,
//!
//! ```text
//! (S + W − W R S) μ = C(…)⁻¹g + H B⁻¹f − gone − W R C(…)⁻¹g.
//! ```
//!
//! Whether the forces it ends with are such as friction can give is for others to see: steps from standstill let slide what has to.

use std::collections::HashMap;

use nalgebra::{DMatrix, DVector};
use toile_energy::Curvature;
use toile_geometry::Vec3;
use toile_rod::{Assembly, FibreContact, Grips, Standing};
use toile_solve::{Ldlt, SolveError, SymmetricPattern};

use super::{Coupling, Place};
use crate::certificate::{CERTIFIED_RESIDUAL, force_unit, residual_n};
use crate::dynamics::{ContactForce, ContactSource, Simulator};
use crate::{Model, SimError, State};

/// What holds cloth and fibres that stand still.
#[derive(Clone, Debug)]
pub(crate) struct Stay {
    /// Contacts of the fibres, those with the cloth last.
    pub(crate) grips: Grips,
    /// The latter.
    pub(crate) places: Vec<Place>,
    /// Contacts of the cloth with colliders and itself.
    pub(crate) own: Vec<ContactForce>,
    /// Part of the friction that contacts were found with: they are judged by all of it.
    pub(crate) caution: f64,
    /// Which of all contacts, those of the fibres first, have no friction and are held along their normals only.
    slides: Vec<bool>,
}

/// A direction in which a contact is held.
struct Row {
    contact: usize,
    way: Vec3,
}

/// Steps of Newton's method at most: where it ends at all ten are enough.
const NEWTON: usize = 16;
/// Longest step of a vertex, over the size of the cloth.
const LONGEST: f64 = 0.02;
/// Stiffness of what braces the cloth, in units of the mean stiffness of a vertex.
const BRACE: f64 = 1e-2;
/// What is added to how contacts yield, over the largest: those that hold the same thing then share it.
const SHARED: f64 = 1e-10;
/// Residual that is small enough, and one that will do where rounding leaves no smaller one.
const ENOUGH: f64 = 0.01 * CERTIFIED_RESIDUAL;
const GOOD: f64 = 0.5 * CERTIFIED_RESIDUAL;
/// Rows of contacts up to which they are held.
const MOST_ROWS: usize = 1500;

impl Stay {
    /// The law of a contact, its force on its first side, and whether that presses or pulls \[N\].
    fn force(&self, contact: usize) -> Force {
        let (force, (normal, mu)) = match contact.checked_sub(self.grips.len()) {
            None => (self.grips.forces[contact], self.grips.law(contact)),
            Some(i) => {
                let own = &self.own[i];
                (own.force, (own.contact.normal, own.contact.friction))
            }
        };
        let along = force.dot(&normal);
        let across = force - normal * along;
        Force { force, normal, friction: mu / self.caution, along, across }
    }

    /// All contacts with their forces.
    pub(crate) fn forces(&self) -> impl Iterator<Item = Force> + '_ {
        (0..self.grips.len() + self.own.len()).map(|c| self.force(c))
    }

    /// First unknowns of the vertices of the cloth that carry a contact, with weights: negative where the cloth is its second side.
    fn carriers(&self, model: &Model, contact: usize) -> Vec<(usize, f64)> {
        let unknown = |v: u32| model.unknown(model.vertices()[v as usize]);
        let place = |p: &Place| p.carriers.map(|(v, w)| (unknown(v), -w)).to_vec();
        match contact.checked_sub(self.grips.len()) {
            Some(i) => self.own[i].contact.carriers().map(|(v, w)| (unknown(v), w)).collect(),
            None => contact.checked_sub(self.grips.own).map_or(Vec::new(), |i| {
                let mut out = place(&self.places[i]);
                out.retain(|(_, w)| *w != 0.0);
                out
            }),
        }
    }

    /// What is left of the balance of the cloth \[N\].
    fn left(&self, model: &Model, state: &State) -> Vec<f64> {
        let mut left = vec![0.0; model.len()];
        model.gradient(state, &mut left);
        for c in 0..self.slides.len() {
            let force = self.force(c).force;
            for (i, w) in self.carriers(model, c) {
                (0..3).for_each(|k| left[i + k] -= w * force[k]);
            }
        }
        left
    }

    /// What is left of the balance: relative, and \[N\].
    pub(crate) fn balance(&self, model: &Model, state: &State, standing: &Standing) -> [f64; 2] {
        let newtons = residual_n(model, &self.left(model, state));
        let unit = force_unit(model);
        [(newtons / unit).max(standing.residual), newtons.max(standing.residual_n)]
    }

    /// Contacts of one vertex that is simply fixed.
    fn fixed(&self, model: &Model) -> Vec<bool> {
        let mut used: HashMap<usize, usize> = HashMap::new();
        for c in self.grips.len()..self.slides.len() {
            self.carriers(model, c).iter().for_each(|(i, _)| *used.entry(*i).or_default() += 1);
        }
        let one = |c: usize| match self.carriers(model, c)[..] {
            [(i, _)] => c >= self.grips.len() && !self.slides[c] && used[&i] == 1,
            _ => false,
        };
        (0..self.slides.len()).map(one).collect()
    }

    fn set(&mut self, contact: usize, force: Vec3) {
        match contact.checked_sub(self.grips.len()) {
            None => self.grips.forces[contact] = force,
            Some(i) => self.own[i].force = force,
        }
    }
}

/// A contact's force in parts.
pub(crate) struct Force {
    pub(crate) force: Vec3,
    normal: Vec3,
    pub(crate) friction: f64,
    /// What presses \[N\].
    pub(crate) along: f64,
    /// What friction gives \[N\].
    pub(crate) across: Vec3,
}

impl Force {
    /// How far it is outside its cone \[N\].
    pub(crate) fn outside(&self) -> f64 {
        (self.across.norm() - self.friction * self.along).max(-self.along).max(0.0)
    }
}

impl Coupling {
    /// What holds them after a step.
    pub(crate) fn stay<S: ContactSource>(
        &self,
        cloth: &Simulator<S>,
        fibres: &Assembly,
        contacts: &[FibreContact],
        caution: f64,
    ) -> Stay {
        let meetings: Vec<_> =
            self.last.iter().map(|(place, force)| (place.meeting, *force)).collect();
        let grips = fibres.grips(contacts, &meetings);
        let own = cloth.contact_forces().to_vec();
        let places = self.last.iter().map(|(place, _)| *place).collect();
        let mut stay = Stay { grips, places, own, caution, slides: Vec::new() };
        stay.slides =
            (0..stay.grips.len() + stay.own.len()).map(|c| stay.force_friction(c) == 0.0).collect();
        stay
    }

    /// Newton's method with the contacts held. Where it ends cloth and fibres are moved and what holds them is returned; otherwise
    /// nothing is changed.
    pub(crate) fn hold<S: ContactSource>(
        cloth: &mut Simulator<S>,
        fibres: &mut Assembly,
        mut stay: Stay,
    ) -> Result<Option<Stay>, SimError> {
        if stay.slides.is_empty() || 3 * stay.slides.len() > MOST_ROWS {
            return Ok(None);
        }
        let before = fibres.clone();
        let mut state = cloth.state().clone();
        let model = cloth.model();
        let mut ldlt = Ldlt::new(model.pattern().clone())?;
        if between(model, cloth.state(), &mut state, fibres, &mut stay, &mut ldlt)? {
            cloth.set_state(&state);
            return Ok(Some(stay));
        }
        *fibres = before;
        Ok(None)
    }
}

impl Stay {
    fn force_friction(&self, contact: usize) -> f64 {
        match contact.checked_sub(self.grips.len()) {
            None => self.grips.law(contact).1,
            Some(i) => self.own[i].contact.friction,
        }
    }
}

/// The equilibrium with these contacts held; whether it was found.
fn between(
    model: &Model,
    start: &State,
    state: &mut State,
    fibres: &mut Assembly,
    stay: &mut Stay,
    ldlt: &mut Ldlt,
) -> Result<bool, SimError> {
    let size = model.size(start).max(1e-9);
    let mut best = f64::INFINITY;
    for _ in 0..NEWTON {
        let standing = fibres.standing(&stay.grips, 0.0)?;
        let fixed_here = stay.fixed(model);
        let mut left = stay.left(model, state);
        let mut fixed = model.fixed().to_vec();
        for c in (0..fixed_here.len()).filter(|c| fixed_here[*c]) {
            let i = stay.carriers(model, c)[0].0;
            // What is left at a fixed vertex is what holds it.
            let more = Vec3::from_column_slice(&left[i..i + 3]);
            stay.set(c, stay.force(c).force + more);
            left[i..i + 3].fill(0.0);
            fixed[i..i + 3].fill(true);
        }
        let residual = (residual_n(model, &left) / force_unit(model)).max(standing.residual);
        if !residual.is_finite() {
            return Ok(false);
        }
        if residual <= ENOUGH {
            return Ok(true);
        }
        if residual <= GOOD && residual >= best {
            return Ok(true);
        }
        best = best.min(residual);
        for (i, fixed) in fixed.iter().enumerate() {
            if *fixed {
                left[i] = 0.0;
            }
        }
        let mut held = Holding::new(model, state, stay, &fixed_here, fixed);
        if !held.factorise(ldlt)? {
            return Ok(false);
        }
        let gone = held.gone(start, state);
        let Some(step) = held.step(ldlt, &left, &gone, &standing) else { return Ok(false) };
        let far = model.vertices().iter().map(|v| {
            let i = model.unknown(*v);
            Vec3::from_column_slice(&step.way[i..i + 3]).norm()
        });
        let part = (LONGEST * size / far.fold(0.0, f64::max)).min(1.0);
        let (rows, count) = (held.rows, stay.slides.len());
        let mut changes = vec![Vec3::zeros(); count];
        for (row, force) in rows.iter().zip(&step.forces) {
            changes[row.contact] += row.way * *force;
        }
        let of_fibres = &changes[..stay.grips.len()];
        if !fibres.give_way(&mut stay.grips, &standing, of_fibres, part)? {
            return Ok(false);
        }
        for (own, change) in stay.own.iter_mut().zip(&changes[stay.grips.len()..]) {
            own.force += change * part;
        }
        let mut moved = state.clone();
        state.advanced_into(&step.way, part, &mut moved);
        *state = moved;
    }
    Ok(false)
}

/// A cloth braced where its contacts are held, and these.
struct Holding<'a> {
    model: &'a Model,
    values: Vec<f64>,
    fixed: Vec<bool>,
    rows: Vec<Row>,
    /// Unknowns of the cloth in each row, with the part of each.
    parts: Vec<Vec<(usize, f64)>>,
    /// What braces each row \[N/m\].
    braces: Vec<f64>,
}

/// A step of Newton's method.
struct NewtonStep {
    way: Vec<f64>,
    /// Changes of the forces in the rows \[N\].
    forces: Vec<f64>,
}

impl<'a> Holding<'a> {
    fn new(
        model: &'a Model,
        state: &State,
        stay: &Stay,
        fixed_here: &[bool],
        fixed: Vec<bool>,
    ) -> Self {
        let pattern = model.pattern();
        let mut values = vec![0.0; pattern.nnz()];
        model.hessian(state, Curvature::Exact, &mut values);
        let stiff = |node: &u32| values[pattern.col_ptr[model.unknown(*node)]].abs();
        let mean = model.vertices().iter().map(stiff).sum::<f64>() / model.vertex_count() as f64;
        let mut rows = Vec::new();
        for c in (0..fixed_here.len()).filter(|c| !fixed_here[*c]) {
            if stay.slides[c] {
                rows.push(Row { contact: c, way: stay.force(c).normal });
            } else {
                rows.extend((0..3).map(|k| Row { contact: c, way: Vec3::ith(k, 1.0) }));
            }
        }
        let mut parts: Vec<Vec<(usize, f64)>> = Vec::with_capacity(rows.len());
        for row in &rows {
            let carriers = stay.carriers(model, row.contact);
            let all =
                carriers.iter().flat_map(|(i, w)| (0..3).map(move |k| (i + k, w * row.way[k])));
            parts.push(all.filter(|(i, w)| *w != 0.0 && !fixed[*i]).collect());
        }
        // Bracing is of use where it is part of the pattern, as between vertices of one face.
        let fits = |part: &Vec<(usize, f64)>| {
            let within = |i: usize, j: usize| entry(pattern, i.max(j), i.min(j)).is_some();
            part.iter().all(|(i, _)| part.iter().all(|(j, _)| within(*i, *j)))
        };
        let brace = |part: &Vec<(usize, f64)>| if fits(part) { BRACE * mean } else { 0.0 };
        let braces: Vec<f64> = parts.iter().map(brace).collect();
        for column in 0..pattern.n {
            for k in pattern.col_ptr[column]..pattern.col_ptr[column + 1] {
                let row = pattern.row_idx[k];
                if fixed[row] || fixed[column] {
                    values[k] = f64::from(u8::from(row == column));
                }
            }
        }
        for (part, brace) in parts.iter().zip(&braces).filter(|(_, b)| **b > 0.0) {
            for (i, w) in part {
                for (j, u) in part.iter().filter(|(j, _)| j <= i) {
                    if let Some(k) = entry(pattern, *i, *j) {
                        values[k] += brace * w * u;
                    }
                }
            }
        }
        Self { model, values, fixed, rows, parts, braces }
    }

    /// Factorises the matrix; `false` where that fails.
    fn factorise(&mut self, ldlt: &mut Ldlt) -> Result<bool, SimError> {
        match ldlt.factorize(&self.values, None) {
            Ok(_) => Ok(true),
            Err(SolveError::ZeroPivot { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// How far the cloth has gone in each row.
    fn gone(&self, start: &State, now: &State) -> Vec<f64> {
        let one =
            |part: &Vec<(usize, f64)>| part.iter().map(|(i, w)| w * now.minus(start, *i)).sum();
        self.parts.iter().map(one).collect()
    }

    fn step(
        &self,
        ldlt: &mut Ldlt,
        left: &[f64],
        gone: &[f64],
        standing: &Standing,
    ) -> Option<NewtonStep> {
        let (n, count) = (self.model.len(), self.rows.len());
        let along = |x: &[f64], r: usize| self.parts[r].iter().map(|(i, w)| x[*i] * w).sum::<f64>();
        let mut by_left = left.to_vec();
        ldlt.apply_inverse(&mut by_left);
        let mut s = DMatrix::zeros(count, count);
        let mut x = vec![0.0; n];
        for c in 0..count {
            x.fill(0.0);
            self.parts[c].iter().for_each(|(i, w)| x[*i] += w);
            ldlt.apply_inverse(&mut x);
            (0..count).for_each(|r| s[(r, c)] = along(&x, r));
        }
        let fibres = standing.ways.len();
        let w = DMatrix::from_fn(count, count, |r, c| {
            let (a, b) = (&self.rows[r], &self.rows[c]);
            if a.contact >= fibres || b.contact >= fibres {
                return 0.0;
            }
            let block = standing.compliance.fixed_view::<3, 3>(3 * a.contact, 3 * b.contact);
            a.way.dot(&(block * b.way))
        });
        let c_0 = DVector::from_fn(count, |r, _| along(&by_left, r));
        let braces = DVector::from_column_slice(&self.braces);
        let way = |r: usize| {
            let Row { contact, way } = &self.rows[r];
            standing.ways.get(*contact).map_or(0.0, |free| free.dot(way))
        };
        let right = DVector::from_fn(count, |r, _| way(r) + c_0[r] - gone[r])
            - &w * braces.component_mul(&c_0);
        let mut braced = s.clone();
        for (r, brace) in self.braces.iter().enumerate() {
            braced.row_mut(r).scale_mut(*brace);
        }
        let mut matrix = &s + &w - &w * braced;
        let lift = SHARED * (s.diagonal() + w.diagonal()).amax();
        (0..count).for_each(|r| matrix[(r, r)] += lift);
        let mu = matrix.lu().solve(&right)?;
        let gone_on = &s * &mu - &c_0;
        let forces: Vec<f64> = (0..count).map(|r| mu[r] - self.braces[r] * gone_on[r]).collect();
        // δx = (…)⁻¹ (Cᵀ μ − g).
        x.fill(0.0);
        for (part, mu) in self.parts.iter().zip(&mu) {
            part.iter().for_each(|(i, w)| x[*i] += w * mu);
        }
        for (x, left) in x.iter_mut().zip(left) {
            *x -= left;
        }
        ldlt.apply_inverse(&mut x);
        for (x, fixed) in x.iter_mut().zip(&self.fixed) {
            if *fixed {
                *x = 0.0;
            }
        }
        let finite = x.iter().chain(&forces).all(|v| v.is_finite());
        finite.then_some(NewtonStep { way: x, forces })
    }
}

/// Place of an entry in a pattern of lower triangles.
fn entry(pattern: &SymmetricPattern, row: usize, column: usize) -> Option<usize> {
    let range = pattern.col_ptr[column]..pattern.col_ptr[column + 1];
    pattern.row_idx[range.clone()].binary_search(&row).ok().map(|k| range.start + k)
}
