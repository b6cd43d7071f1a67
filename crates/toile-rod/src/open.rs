//! A step of fibres that waits for a surface which moves by laws of its own.
//!
//! What the surface does under impulses −r at the places where it meets fibres is not known in closed form, only how it moved under those
//! of the last trial, r₀: u₀, and about how it yields, C. So the kernel is asked for
//!
//! ```text
//! u = (W + C) r + b − u₀ − C r₀,
//! ```
//!
//! the surface is moved again, and so on. C decides how fast that converges, not to what: where r = r₀ obeys the law, the velocities are
//! those of both sides as they are, and what one gets the other gives.

use std::collections::HashMap;

use toile_cone::{Auto, DENSE_LIMIT, Operator, Problem, Settings, Solver, solver_named};

use crate::RodError;
use crate::account::{AssemblyReport, FibreContactKey, SurfacePart};
use crate::assembly::{Assembly, Prepared};
use crate::delassus::{Beside, Delassus};
use crate::friction::remembered;
use crate::rotation::{Mat3, Vec3};
use crate::supple::Factorised;
use crate::touch::{Pair, Side, Sites};

/// A place where a fibre may touch a surface within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// Which fibre.
    pub fibre: usize,
    /// The segment between its joints, that from the clamp being 0.
    pub segment: usize,
    /// How far along the segment, 0 to 1.
    pub along: f64,
    /// Which part of the surface.
    pub part: SurfacePart,
    /// Where \[m\].
    pub point: Vec3,
    /// Unit normal towards the fibre.
    pub normal: Vec3,
    /// Distance beyond what is to be kept, at the start of the step \[m\].
    pub gap: f64,
    /// Coefficient of friction.
    pub friction: f64,
}

impl Meeting {
    pub(crate) fn pair(&self) -> Pair {
        // A tip is its own: it may be over the same face as the joint before.
        let tip = u32::from(self.along >= 1.0);
        let fibre = (self.fibre as u32, self.segment as u32 + tip);
        Pair {
            key: FibreContactKey::Surface { fibre, part: self.part },
            point: self.point,
            normal: self.normal,
            gap: self.gap,
            slack: 0.0,
            friction: self.friction,
            parting: f64::INFINITY,
            velocity: Vec3::zeros(),
            first: Side { fibre: self.fibre, point: self.segment, weight: self.along, sign: 1.0 },
            second: None,
        }
    }
}

/// A step of an [`Assembly`] between its start and its end.
pub struct OpenStep {
    prepared: Vec<Prepared>,
    sites: Vec<Sites>,
    /// What drag leaves of the rates.
    drag: f64,
    /// Contacts with colliders and between fibres, then those with the surface.
    pairs: Vec<Pair>,
    /// Where the latter begin.
    first: usize,
    compliance: Vec<Mat3>,
    delassus: Option<Delassus>,
    /// Velocities with the present impulses, less what those of all contacts make of them.
    b: Vec<f64>,
    /// Impulses in the frames of the contacts.
    r: Vec<f64>,
    report: AssemblyReport,
}

impl Assembly {
    /// Begins a step that a surface takes part in.
    pub fn open(&self) -> Result<OpenStep, RodError> {
        let (prepared, mut sites) = self.prepared()?;
        let step = self.settings.step;
        let drag = 1.0 / (1.0 + step.dt * step.drag);
        if drag < 1.0 {
            for (site, velocities) in
                sites.iter_mut().zip(self.velocities_after(&prepared, &[], drag))
            {
                site.velocities = velocities;
            }
        }
        let pairs = self.find(&sites);
        Ok(OpenStep {
            prepared,
            sites,
            drag,
            first: pairs.len(),
            pairs,
            compliance: Vec::new(),
            delassus: None,
            b: Vec::new(),
            r: Vec::new(),
            report: AssemblyReport { converged: true, ..AssemblyReport::default() },
        })
    }

    /// Whether there was an impulse at that place in the last step.
    pub fn knows(&self, meeting: &Meeting) -> bool {
        self.forces.get(&meeting.pair().key).is_some_and(|f| *f != Vec3::zeros())
    }

    /// Ends a step: the fibres move with the impulses it has found.
    pub fn close(&mut self, step: OpenStep) -> Result<AssemblyReport, RodError> {
        let change = step.change(self);
        self.move_by(&step.prepared, &change)?;
        let (h, mut report) = (self.settings.step.dt, step.report);
        self.forces.clear();
        report.penetration = step.pairs.iter().map(|p| -p.gap).fold(0.0, f64::max);
        let status = match &step.delassus {
            Some(delassus) => {
                let mu: Vec<f64> = step.pairs.iter().map(|p| p.friction).collect();
                let problem = posed(delassus, &step.b, &mu)?;
                let mut u = vec![0.0; step.b.len()];
                problem.velocity(&step.r, &mut u);
                problem.status(&step.r, &u, report.residual, None)
            }
            None => Vec::new(),
        };
        for (c, (pair, status)) in step.pairs.iter().zip(status).enumerate() {
            let force = in_space(pair, &step.r[3 * c..3 * c + 3]) / h;
            self.forces.insert(pair.key, force);
            report.contacts.push(pair.contact(force, status));
        }
        report.contacts.sort_by_key(|c| c.key);
        Ok(report)
    }
}

impl OpenStep {
    /// Joints of a fibre at the start, clamp first, and the velocities they end with if nothing touches the fibre.
    pub fn joints(&self, fibre: usize) -> (&[Vec3], &[Vec3]) {
        (&self.sites[fibre].points, &self.sites[fibre].velocities)
    }

    /// Takes the places where fibres may touch the surface, and how these yield: the change of velocity at each (row after row) by an
    /// impulse at each, in space. Impulses that are known already are kept.
    pub fn meet(
        &mut self,
        assembly: &Assembly,
        meetings: &[Meeting],
        compliance: Vec<Mat3>,
    ) -> Result<(), RodError> {
        let (count, expected) = (compliance.len(), meetings.len() * meetings.len());
        if count != expected {
            return Err(RodError::Count { what: "compliances", found: count, expected });
        }
        // Empty before the first solution: then forces of the last step are a better guess than none.
        let found: HashMap<FibreContactKey, Vec3> =
            self.pairs.iter().zip(self.r.chunks(3)).map(|(p, r)| (p.key, in_space(p, r))).collect();
        self.pairs.truncate(self.first);
        self.pairs.extend(meetings.iter().map(Meeting::pair));
        self.compliance = compliance;
        self.assemble(assembly)?;
        self.r = vec![0.0; 3 * self.pairs.len()];
        let h = assembly.settings.step.dt;
        for (c, pair) in self.pairs.iter().enumerate() {
            let before = || {
                remembered(&assembly.forces, &pair.key, &self.pairs[..self.first]).map(|f| f * h)
            };
            if let Some(impulse) = found.get(&pair.key).copied().or_else(before) {
                let local = pair.frame().tr_mul(&impulse);
                self.r[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
            }
        }
        Ok(())
    }

    /// Takes another guess of how the places of [`OpenStep::meet`] yield; impulses stay.
    pub fn yields(&mut self, assembly: &Assembly, compliance: Vec<Mat3>) -> Result<(), RodError> {
        let (found, expected) = (compliance.len(), self.compliance.len());
        if found != expected {
            return Err(RodError::Count { what: "compliances", found, expected });
        }
        self.compliance = compliance;
        self.assemble(assembly)
    }

    fn assemble(&mut self, assembly: &Assembly) -> Result<(), RodError> {
        let chains: Vec<&Factorised> = self.prepared.iter().map(|p| &p.chain).collect();
        let beside = Beside { first: self.first, compliance: &self.compliance, drag: self.drag };
        self.delassus = if self.pairs.is_empty() {
            None
        } else {
            Some(Delassus::beside(&assembly.bodies, &chains, &self.pairs, 0.0, &beside)?)
        };
        Ok(())
    }

    /// Impulses on the fibres at the meetings, in space \[N·s\].
    pub fn impulses(&self) -> Vec<Vec3> {
        let all = self.pairs.iter().zip(self.r.chunks(3));
        all.skip(self.first).map(|(pair, r)| in_space(pair, r)).collect()
    }

    /// How far the present impulses are from the law of friction, given the velocities at which they left the surface: Alart and
    /// Curnier's residual over the largest impulse.
    pub fn judge(&mut self, assembly: &Assembly, velocities: &[Vec3]) -> Result<f64, RodError> {
        let (h, count) = (assembly.settings.step.dt, self.pairs.len());
        let Some(delassus) = &self.delassus else { return Ok(0.0) };
        let met = count - self.first;
        let impulses = self.impulses();
        self.b = vec![0.0; 3 * count];
        for (c, pair) in self.pairs.iter().enumerate() {
            let mut u = -pair.velocity;
            for side in pair.sides() {
                u += self.sites[side.fibre].velocity(side) * side.sign;
            }
            if let Some(m) = c.checked_sub(self.first) {
                u -= velocities[m];
                for (block, impulse) in self.compliance[m * met..].iter().zip(&impulses) {
                    u -= block * impulse;
                }
            }
            let mut local = delassus.frame(c).tr_mul(&u);
            local[0] += pair.closing(h);
            self.b[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
        }
        let mu: Vec<f64> = self.pairs.iter().map(|p| p.friction).collect();
        let problem = posed(delassus, &self.b, &mu)?;
        let mut u = vec![0.0; 3 * count];
        problem.velocity(&self.r, &mut u);
        self.report.residual = problem.residuals(&self.r, &u, None).alart_curnier;
        self.report.converged = self.report.residual <= assembly.settings.tolerance;
        Ok(self.report.residual)
    }

    /// Finds impulses that obey the law, the surface yielding as was said; [`OpenStep::judge`] comes first.
    pub fn solve(&mut self, assembly: &Assembly) -> Result<(), RodError> {
        let Some(delassus) = &self.delassus else { return Ok(()) };
        let mu: Vec<f64> = self.pairs.iter().map(|p| p.friction).collect();
        let problem = posed(delassus, &self.b, &mu)?;
        let settings = Settings {
            tolerance: 0.1 * assembly.settings.tolerance,
            max_iterations: assembly.settings.max_sweeps,
            ..Settings::default()
        };
        let unknown = || RodError::Solver { name: assembly.solver.into() };
        let solver = solver_named::<3>(assembly.solver).ok_or_else(unknown)?;
        let mut found = solver.solve(&problem, Some(&self.r), &settings, &|_, _| true);
        self.report.sweeps += found.iterations;
        if !found.converged() && 3 * self.pairs.len() <= DENSE_LIMIT {
            let few = Settings { max_iterations: 200, ..settings };
            let other = Auto.solve(&problem, Some(&found.r), &few, &|_, _| true);
            self.report.sweeps += other.iterations;
            if other.residuals.alart_curnier < found.residuals.alart_curnier {
                found = other;
            }
        }
        self.r = found.r;
        Ok(())
    }

    fn change(&self, assembly: &Assembly) -> Vec<Vec<Vec3>> {
        let Some(delassus) = &self.delassus else { return Vec::new() };
        let chains: Vec<&Factorised> = self.prepared.iter().map(|p| &p.chain).collect();
        delassus.pushed(&assembly.bodies, &chains, &self.sites, &self.r)
    }

    /// Velocities of all joints at the end of the step with the present impulses.
    pub fn velocities(&self, assembly: &Assembly) -> Vec<Vec<Vec3>> {
        assembly.velocities_after(&self.prepared, &self.change(assembly), self.drag)
    }

    /// Adds pairs of fibres that would pass through each other with the present impulses; how many. [`OpenStep::meet`] comes next.
    pub fn stop_passing(&mut self, assembly: &Assembly) -> usize {
        let change = self.change(assembly);
        let mut own: Vec<Pair> = self.pairs[..self.first].to_vec();
        let (_, passing) = assembly.stop_passing(&self.prepared, &self.sites, &change, &mut own);
        self.report.passing = passing;
        if passing > 0 {
            self.pairs.truncate(self.first);
            self.pairs = own;
            self.first = self.pairs.len();
            self.r.clear();
        }
        passing
    }
}

/// An impulse of a contact, from its frame.
fn in_space(pair: &Pair, r: &[f64]) -> Vec3 {
    pair.frame() * Vec3::from_column_slice(r)
}

fn posed<'a>(
    delassus: &'a Delassus,
    b: &'a [f64],
    mu: &'a [f64],
) -> Result<Problem<'a, 3>, RodError> {
    let operator: &dyn Operator<3> = &delassus.w;
    Problem::new(operator, b, mu).map_err(|_| RodError::NotFinite { what: "contact problem" })
}
