//! Forces of all contacts of a step under exact dry friction.

use std::collections::HashMap;

use toile_cone::{Auto, DENSE_LIMIT, Problem, Settings, Solver, solver_named};

use crate::RodError;
use crate::account::{AssemblyReport, FibreContactKey};
use crate::assembly::Assembly;
use crate::delassus::Delassus;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites};

impl Assembly {
    /// Impulses of the pairs in their frames; what was found is written into the report.
    pub(crate) fn contact_forces(
        &mut self,
        delassus: &Delassus,
        sites: &[Sites],
        pairs: &[Pair],
        report: &mut AssemblyReport,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Vec<f64>, RodError> {
        let h = self.settings.step.dt;
        let count = pairs.len();
        let mut b = vec![0.0; 3 * count];
        let mut start = vec![0.0; 3 * count];
        let mu: Vec<f64> = pairs.iter().map(|p| p.friction).collect();
        for (c, pair) in pairs.iter().enumerate() {
            let mut u = -pair.velocity;
            for side in pair.sides() {
                u += sites[side.fibre].velocity(side) * side.sign;
            }
            let mut local = delassus.frame(c).tr_mul(&u);
            local[0] += pair.closing(h);
            b[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
            if let Some(force) = remembered(&self.forces, &pair.key, pairs) {
                let local = delassus.frame(c).tr_mul(force) * h;
                start[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
            }
        }
        let failed = |_| RodError::NotFinite { what: "contact problem" };
        let problem = Problem::new(&delassus.w, &b, &mu).map_err(failed)?;
        let settings = Settings {
            tolerance: self.settings.tolerance,
            max_iterations: self.settings.max_sweeps,
            ..Settings::default()
        };
        let unknown = || RodError::Solver { name: self.solver.into() };
        let solver = solver_named::<3>(self.solver).ok_or_else(unknown)?;
        let mut found = solver.solve(&problem, Some(&start), &settings, &|_, _| go_on());
        // Where sweeps stall, the other ways of the kernel take over.
        if !found.converged() && 3 * count <= DENSE_LIMIT {
            let sweeps = found.iterations;
            let few = Settings { max_iterations: 200, ..settings };
            let other = Auto.solve(&problem, Some(&found.r), &few, &|_, _| go_on());
            if other.residuals.alart_curnier < found.residuals.alart_curnier {
                found = other;
            }
            found.iterations += sweeps;
        }
        if !found.converged() && !go_on() {
            return Err(RodError::Stopped);
        }
        report.contacts.clear();
        report.sweeps += found.iterations;
        report.residual = found.residuals.alart_curnier;
        report.converged = found.converged();
        report.penetration = pairs.iter().map(|p| -p.gap).fold(0.0, f64::max);
        self.forces.clear();
        for (c, pair) in pairs.iter().enumerate() {
            let local = Vec3::new(found.r[3 * c], found.r[3 * c + 1], found.r[3 * c + 2]);
            let force = delassus.frame(c) * local / h;
            self.forces.insert(pair.key, force);
            report.contacts.push(pair.contact(force, found.status[c]));
        }
        Ok(found.r)
    }
}

/// What is known of a contact from the last step; one that moved past a joint is known by its neighbour's name, unless that
/// neighbour is still among the `pairs` (sorted by key): forces must not be counted twice.
pub(crate) fn remembered<'a, T>(
    known: &'a HashMap<FibreContactKey, T>,
    key: &FibreContactKey,
    pairs: &[Pair],
) -> Option<&'a T> {
    if let Some(found) = known.get(key) {
        return Some(found);
    }
    let FibreContactKey::Fibres { first, second } = *key else { return None };
    let near = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1), (-1, 1), (1, -1)];
    near.iter().find_map(|(a, b)| {
        let first = (first.0, first.1.checked_add_signed(*a)?);
        let second = (second.0, second.1.checked_add_signed(*b)?);
        let name = FibreContactKey::Fibres { first, second };
        let found = known.get(&name)?;
        pairs.binary_search_by_key(&name, |p| p.key).is_err().then_some(found)
    })
}
