//! Inverse statics of fibres in contact: natural shapes and contact forces for which an assembly rests as it is.
//!
//! Equilibrium, K (q − q̄) + ∂E_load/∂q = Hᵀ r with every r in its cone, leaves the forces open: r = 0 always has an answer. Of all
//! of them the one is taken whose natural shape is nearest to a wish q̄⁰, in the energy it would store:
//!
//! ```text
//! min ½ rᵀ W r + bᵀ r,  r ∈ ∏ K_μ,    W = H K⁻¹ Hᵀ + γ,    b = −H K⁻¹ (∂E_load/∂q + K (q − q̄⁰)),    q̄ = q + K⁻¹ (∂E_load/∂q − Hᵀ r)
//! ```
//!
//! Strictly convex, so the answer is unique; the conic kernel solves it without the De Saxcé shift, and all contacts stick.
//! Reference: Derouet-Jourdan, Bertails-Descoubes, Daviet and Thollot 2013; Bertails-Descoubes 2017, §4.3.

use toile_cone::{Auto, GaussSeidel, Law, Problem, Settings, Solver, Status};

use crate::RodError;
use crate::assembly::{Assembly, Delassus, FibreContact, Sites, contact_frame, sites_at_rest};
use crate::certificate::residual_n;
use crate::forms::Shape;
use crate::rod::Loads;
use crate::rotation::{Mat3, Vec3};

/// γ over the mean diagonal of W: makes the problem strictly convex and moves forces in the ninth digit.
const REGULARISATION: f64 = 1e-9;

/// Gap over radius up to which two things touch.
const CLOSED: f64 = 0.02;

/// The wish for natural shapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Prior {
    /// The given shape itself: forces carry as much of the load as they can.
    Shape,
    /// Straight fibres.
    Straight,
    /// Any curvatures, per fibre.
    Given(Vec<Vec<Vec3>>),
}

/// What was found.
#[derive(Clone, Debug)]
pub struct AssemblyInversion {
    /// Natural curvatures per fibre.
    pub natural: Vec<Vec<Vec3>>,
    /// Contacts with their forces \[N\].
    pub contacts: Vec<FibreContact>,
    /// Largest distance of a force from its cone, over the largest force.
    pub cone_gap: f64,
    /// Least 1 − ‖r_T‖/(μ r_N) over loaded contacts; 1 without any.
    pub cone_margin: f64,
    /// Residual of the optimality conditions, relative.
    pub residual: f64,
    /// Deepest gap below zero \[m\].
    pub penetration: f64,
    /// Largest force that is not balanced on a fibre \[N\], as in [`crate::RodCertificate`].
    pub residual_n: f64,
}

impl Assembly {
    /// Finds natural curvatures and sticking contact forces for the present shape of all fibres, at rest.
    ///
    /// Only pairs closer than a fiftieth of a radius beyond contact carry forces: through a wider gap nothing is held.
    pub fn invert(&self, prior: &Prior) -> Result<AssemblyInversion, RodError> {
        let sites: Vec<Sites> = self.fibres.iter().map(sites_at_rest).collect();
        let mut pairs = self.find(&sites);
        pairs.retain(|pair| {
            let thin = pair
                .sides
                .iter()
                .map(|s| self.fibres[s.fibre].radius)
                .fold(f64::INFINITY, f64::min);
            pair.gap <= CLOSED * thin
        });
        let frames: Vec<Mat3> = pairs.iter().map(|p| contact_frame(&p.normal)).collect();
        // ∂E_load/∂q + K (q − q̄⁰), and K⁻¹ of it.
        let mut forces = Vec::with_capacity(self.fibres.len());
        let mut by_load = Vec::with_capacity(self.fibres.len());
        for (f, fibre) in self.fibres.iter().enumerate() {
            let (rod, q) = (&fibre.rod, &fibre.state.q);
            let loads = Loads::weight(rod.section(), self.settings.gravity);
            let gradient = Shape::new(rod, q, &loads, false).load_gradient;
            let wish: Vec<Vec3> = match prior {
                Prior::Shape => q.clone(),
                Prior::Straight => vec![Vec3::zeros(); q.len()],
                Prior::Given(all) => {
                    let found = all.get(f).ok_or(RodError::Count {
                        what: "priors",
                        found: all.len(),
                        expected: self.fibres.len(),
                    })?;
                    rod.check_blocks(found)?;
                    found.clone()
                }
            };
            let load = rod.solve_elastic(&gradient);
            forces.push(
                q.iter().zip(&wish).zip(&load).map(|((q, w), l)| q - w + l).collect::<Vec<_>>(),
            );
            by_load.push(load);
        }
        let solve = |f: usize, row: &[Vec3]| self.fibres[f].rod.solve_elastic(row);
        let delassus = Delassus::new(&self.fibres, &pairs, &frames, REGULARISATION, solve)?;
        let count = pairs.len();
        // b = −H K⁻¹ (…) from the answers, which are K⁻¹ Hᵀ.
        let mut b = vec![0.0; 3 * count];
        for (f, list) in delassus.touched.iter().enumerate() {
            let rod = &self.fibres[f].rod;
            let moment = rod.elastic(&forces[f]);
            for (answer, (c, _)) in delassus.answers[f].iter().zip(list) {
                for d in 0..3 {
                    b[3 * c + d] -=
                        answer[d].iter().zip(&moment).map(|(a, m)| a.dot(m)).sum::<f64>();
                }
            }
        }
        let failed = |_| RodError::NotFinite { what: "contact problem" };
        let mut natural: Vec<Vec<Vec3>> = self
            .fibres
            .iter()
            .zip(&by_load)
            .map(|(f, load)| f.state.q.iter().zip(load).map(|(q, l)| q + l).collect())
            .collect();
        let mut out = AssemblyInversion {
            natural: Vec::new(),
            contacts: Vec::new(),
            cone_gap: 0.0,
            cone_margin: 1.0,
            residual: 0.0,
            penetration: pairs.iter().map(|p| -p.gap).fold(0.0, f64::max),
            residual_n: 0.0,
        };
        if count == 0 {
            out.natural = natural;
            return Ok(out);
        }
        let mu: Vec<f64> = pairs.iter().map(|p| p.friction).collect();
        let problem =
            Problem::new(&delassus.w, &b, &mu).map_err(failed)?.with_law(Law::SecondOrderCone);
        let settings = Settings { tolerance: 1e-10, max_iterations: 2000, ..Settings::default() };
        let mut found = GaussSeidel::default().solve(&problem, None, &settings, &|_, _| true);
        if !found.converged() {
            let other = Auto.solve(&problem, Some(&found.r), &settings, &|_, _| true);
            if other.residuals.alart_curnier < found.residuals.alart_curnier {
                found = other;
            }
        }
        out.residual = found.residuals.alart_curnier;
        for (f, list) in delassus.touched.iter().enumerate() {
            for (answer, (c, _)) in delassus.answers[f].iter().zip(list) {
                for d in 0..3 {
                    let r = found.r[3 * c + d];
                    for (x, a) in natural[f].iter_mut().zip(&answer[d]) {
                        *x -= a * r;
                    }
                }
            }
        }
        // Balance of every fibre with the forces that were found.
        for (f, fibre) in self.fibres.iter().enumerate() {
            let mut change: Vec<Vec3> =
                fibre.state.q.iter().zip(&natural[f]).map(|(q, bar)| q - bar).collect();
            for (answer, (c, _)) in delassus.answers[f].iter().zip(&delassus.touched[f]) {
                for d in 0..3 {
                    for (x, a) in change.iter_mut().zip(&answer[d]) {
                        *x -= a * found.r[3 * c + d];
                    }
                }
            }
            for (x, l) in change.iter_mut().zip(&by_load[f]) {
                *x += l;
            }
            let left = residual_n(&fibre.rod, &fibre.rod.elastic(&change));
            out.residual_n = out.residual_n.max(left);
        }
        let largest =
            found.r.chunks(3).map(|r| Vec3::from_column_slice(r).norm()).fold(0.0, f64::max);
        for (c, pair) in pairs.iter().enumerate() {
            let r = Vec3::from_column_slice(&found.r[3 * c..3 * c + 3]);
            let (n, t) = (r[0], (r[1] * r[1] + r[2] * r[2]).sqrt());
            let outside = (t - pair.friction * n).max(-n).max(0.0);
            if largest > 0.0 {
                out.cone_gap = out.cone_gap.max(outside / largest);
                if n > 1e-9 * largest && pair.friction > 0.0 {
                    out.cone_margin = out.cone_margin.min(1.0 - t / (pair.friction * n));
                }
            }
            out.contacts.push(FibreContact {
                key: pair.key,
                point: pair.point,
                normal: pair.normal,
                force: frames[c] * r,
                gap: pair.gap,
                status: if r.norm() > 0.0 { Status::Stick } else { Status::TakeOff },
            });
        }
        out.natural = natural;
        Ok(out)
    }

    /// The same assembly with other natures, at rest in its present shape.
    pub fn with_natures(&self, natural: &[Vec<Vec3>]) -> Result<Self, RodError> {
        let mut out = self.clone();
        if natural.len() != out.fibres.len() {
            let (found, expected) = (natural.len(), out.fibres.len());
            return Err(RodError::Count { what: "natures", found, expected });
        }
        for (fibre, q_bar) in out.fibres.iter_mut().zip(natural) {
            fibre.rod = fibre.rod.clone().with_rest(q_bar)?;
            fibre.state.rate.fill(Vec3::zeros());
        }
        Ok(out)
    }

    /// Moves a copy for a while and returns how far any of its points went, over the size of the whole.
    pub fn drift(&self, seconds: f64) -> Result<f64, RodError> {
        let start: Vec<Vec<Vec3>> = (0..self.fibres.len()).map(|f| self.points(f)).collect();
        let mut moving = self.clone();
        let steps = (seconds / self.settings.step.dt).ceil().max(1.0) as usize;
        let mut most = 0.0f64;
        for _ in 0..steps {
            moving.step()?;
        }
        let (mut low, mut high) = (start[0][0], start[0][0]);
        for (f, before) in start.iter().enumerate() {
            for (a, b) in before.iter().zip(moving.points(f)) {
                most = most.max((a - b).norm());
                low = low.inf(a);
                high = high.sup(a);
            }
        }
        Ok(most / (high - low).norm().max(1e-300))
    }
}
