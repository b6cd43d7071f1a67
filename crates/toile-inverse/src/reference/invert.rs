//! The published algorithm in the place of the fast one: same input, same judgement.

use super::{Forces, Optimiser, Pass, ReferenceSettings, reference};
use crate::design::{JUDGE, NEAR, extent};
use crate::judge::{distances, judge, made_as_drawn};
use crate::settle::Carrying;
use crate::touch::prepare;
use crate::{
    ContactResult, Diagnosis, Garment, InverseError, InverseSettings, InverseStep, Inversion, Phase,
};

impl ReferenceSettings {
    /// The published algorithm with another optimiser of step one.
    pub fn with_optimiser(optimiser: Optimiser) -> Self {
        Self { optimiser, ..Self::default() }
    }

    /// The published algorithm with other demands on forces.
    pub fn with_forces(forces: Forces) -> Self {
        Self { forces, ..Self::default() }
    }
}

/// [`crate::invert`] by the published algorithm.
///
/// `observe` sees every iteration and ends the search by returning `false`; what was reached by then is judged all the same.
pub fn invert_by_reference(
    garment: &Garment,
    settings: &InverseSettings,
    published: &ReferenceSettings,
    mut observe: impl FnMut(&InverseStep) -> bool,
) -> Result<Inversion, InverseError> {
    let target = garment.target();
    let size = extent(&target);
    let mut touched = target.clone();
    let touching = prepare(&mut touched, garment, settings, size)?;
    let published = ReferenceSettings { cone_part: settings.cone_part, ..*published };
    let mut history: Vec<InverseStep> = Vec::new();
    let mut steps = 0;
    let mut go_on = true;
    let count = target.len().max(1) as f64;
    let found = reference(garment, &touched, &touching.contacts, &published, |pass: &Pass| {
        steps += 1;
        let rms = (2.0 * pass.distance / count).sqrt();
        // The way goes from the first λ to none: as a part of the schedule.
        let first = published.lambda.max(f64::MIN_POSITIVE);
        let load = if pass.lambda > 0.0 {
            (first / pass.lambda).log2() / (first / published.least_lambda).log2().max(1.0)
        } else {
            1.0
        };
        let step = InverseStep {
            steps,
            load: load.clamp(0.0, 1.0),
            distance: rms,
            rms,
            outside: 0,
            phase: Phase::Match,
            until: NEAR,
        };
        if steps % 50 == 1 {
            history.push(step);
        }
        go_on = observe(&step);
        go_on
    })?;
    let held: Vec<Carrying> = touching
        .contacts
        .iter()
        .map(|c| Carrying::vertex(c.vertex, c.collider, c.normal))
        .collect();
    let mut watch = |phase, load, distance| {
        let (rms, until) = (distance, JUDGE);
        observe(&InverseStep { steps, load, distance, rms, outside: 0, phase, until })
    };
    let judged = judge(
        garment,
        settings,
        &target,
        &found.rest,
        &found.shape,
        held.clone(),
        true,
        &mut watch,
    )?;
    let (mut naive, mut naive_sag) = (None, None);
    if settings.naive_sag && go_on && watch(Phase::Naive, 0.0, 0.0) {
        let mut seen = || watch(Phase::Naive, 0.0, 0.0);
        if let Some(fallen) = made_as_drawn(garment, &touched, &held, &mut seen)? {
            naive_sag = Some(distances(&fallen, &touched).0);
            naive = Some(fallen);
        }
    }
    let contacts = judged
        .contacts
        .iter()
        .map(|c| ContactResult {
            contact: c.contact,
            friction: c.cone(garment).friction,
            force: c.force,
        })
        .collect();
    let near = judged.certificate.target_error_max.unwrap_or(0.0) <= 0.01 * size;
    let carried = if judged.certificate.certified && near { 1.0 } else { 0.0 };
    Ok(Inversion {
        touched,
        touching,
        rest: found.rest,
        equilibrium: judged.equilibrium,
        residual: judged.residual,
        contacts,
        certificate: judged.certificate,
        naive_sag,
        naive,
        diagnosis: Diagnosis {
            weight_fraction: carried,
            stiffness_factor: if carried > 0.0 { 1.0 } else { f64::INFINITY },
            ..Diagnosis::default()
        },
        settled: false,
        history,
        interrupted: !go_on,
        unheld: None,
        crossing: judged.crossing,
    })
}
