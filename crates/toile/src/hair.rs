//! Fibres of a scene together: drawn ones inverted with their contacts, and the judgement of the whole.

use std::fmt::Write;

use toile_io::{Object, Scene, scene_gravity};
use toile_num::words::length;
use toile_rod::RodCertificate;

use crate::rods::SAG_TIME;
use crate::{
    ContactInversion, FibreProgress, RestSummary, RodDrape, RodInversion, RodRest, RodSceneError,
    Start, fit_drawn, invert_alone, invert_contacts,
};

/// Drift over the size that is still rest.
const MOST_DRIFT: f64 = 1e-4;

/// The drawn fibres of a scene with their natures, and what holds them where they touch something.
#[derive(Clone, Debug)]
pub struct HairInversion {
    /// One for each drawn fibre, in the order of the scene.
    pub fibres: Vec<RodInversion>,
    /// Contacts and how they hold, in a scene with colliders or `self_contact`.
    pub contact: Option<ContactInversion>,
    /// How long a result with contacts was simulated \[s\].
    pub watched: f64,
    /// What was unusual in the files.
    pub notes: Vec<String>,
}

/// Whether fibres of a scene may touch something.
pub fn in_contact(scene: &Scene) -> bool {
    !scene.colliders.is_empty() || scene.self_contact.is_some()
}

/// Finds the natures of the drawn fibres of a scene; where they may touch something also the forces that hold them, and how far they move in
/// a simulation of `seconds`, unless `watch` ends it.
///
/// Same scene, same bits, whatever the number of threads.
pub fn invert_hair(
    scene: &Scene,
    start: Start,
    seconds: f64,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<HairInversion, RodSceneError> {
    let (fits, mut notes) = fit_drawn(scene, start, watch)?;
    let (fibres, contact) = if in_contact(scene) {
        let (fibres, contact) = invert_contacts(scene, fits, seconds, watch)?;
        (fibres, Some(contact))
    } else {
        (invert_alone(fits, scene_gravity(scene), watch)?, None)
    };
    notes.extend(contact.iter().flat_map(|c| c.notes.iter().cloned()));
    Ok(HairInversion { fibres, contact, watched: seconds, notes })
}

impl HairInversion {
    /// Largest residual of a fibre, with the contacts' share.
    pub fn residual(&self) -> f64 {
        self.most(|f| f.result.certificate.residual)
    }

    /// Whether every fibre rests as drawn, with forces inside their cones, and was seen to stay.
    pub fn is_certified(&self) -> bool {
        let stays = |c: &ContactInversion| c.drift.is_some_and(|d| d <= MOST_DRIFT);
        let held = self.contact.as_ref().is_none_or(|c| c.found.cone_gap <= 1e-8 && stays(c));
        !self.fibres.is_empty()
            && self.fibres.iter().all(|f| f.result.certificate.certified && !is_missed(f))
            && held
    }

    /// The verdict in words.
    pub fn reason(&self) -> String {
        let mut text = String::new();
        if let Some(contact) = &self.contact {
            let c = &contact.found;
            let _ = write!(
                text,
                "{} contacts carry what they can, all sticking (margin {:.3}); ",
                c.contacts.len(),
                c.cone_margin
            );
        }
        let bad: Vec<&RodInversion> =
            self.fibres.iter().filter(|f| !f.result.certificate.certified).collect();
        if let Some(first) = bad.first() {
            let _ = write!(
                text,
                "{} of {} fibre(s) cannot be held, first {}: {}",
                bad.len(),
                self.fibres.len(),
                first.drawn.name,
                first.result.certificate.reason
            );
            let stiffening = bad.iter().map(|f| f.result.stiffening).fold(0.0, f64::max);
            if stiffening >= 1.0 {
                let _ = write!(
                    text,
                    "; make fibres more than {stiffening:.3} times as stiff, or as much lighter, and all hold; how they hang as they are `toile drape` shows"
                );
            }
        } else {
            let worst = self.residual();
            let _ = write!(
                text,
                "forces balance to {worst:.1e} of a joint's weight; every small motion is resisted"
            );
            let alone = self.contact.as_ref().map_or(0, |c| c.found.alone_negative_modes);
            if alone > 0 {
                let falling =
                    self.fibres.iter().filter(|f| f.result.certificate.negative_modes > 0).count();
                let _ = write!(
                    text,
                    " ({falling} fibre(s) would fall alone, in {alone} way(s): contacts that stick hold them)"
                );
            }
        }
        if let Some(contact) = &self.contact {
            contact_reason(&mut text, contact, self.watched, bad.is_empty());
        }
        let missed: Vec<&RodInversion> = self.fibres.iter().filter(|f| is_missed(f)).collect();
        if let Some(first) = missed.first() {
            let _ = write!(
                text,
                "; but {} fibre(s) are not what was drawn, first {}: off by {} of {}; a strand that turns back on itself needs more elements, or \
                 more points at the turn",
                missed.len(),
                first.drawn.name,
                length(first.fit.error_max),
                length(first.fit.rod.length())
            );
        }
        text
    }

    /// The certificate with the keys of the contract, the worst figure of all fibres each: `certificate.json`.
    pub fn certificate(&self) -> Object {
        let all = || self.fibres.iter().map(|f| &f.result.certificate);
        let contact = self.contact.as_ref();
        let squares = self.fibres.iter().map(|f| f.fit.error_rms.powi(2)).sum::<f64>();
        let told = Object::default()
            .with("verdict", verdict_word(self.is_certified()))
            .with("reason", self.reason())
            .with("residual", self.residual())
            .with("residual_n", self.most(|f| f.result.certificate.residual_n))
            .with("cone_gap", contact.map(|c| c.found.cone_gap))
            .with("cone_margin", contact.map(|c| c.found.cone_margin))
            .with("penetration", contact.map(|c| c.found.penetration))
            .with("stability", self.stability())
            .with("drift", contact.and_then(|c| c.drift))
            .with("target_error_max", self.most(|f| f.fit.error_max))
            .with("target_error_rms", (squares / self.fibres.len() as f64).sqrt())
            .with("size", self.most(|f| f.result.certificate.size))
            .with("negative_modes", self.negative_modes())
            .with("stability_margin", all().map(|c| c.margin).fold(f64::INFINITY, f64::min))
            .with("stiffening", self.most(|f| f.result.stiffening))
            .with("unique", self.fibres.iter().all(|f| f.result.unique))
            .with("contacts", contact.map_or(0, |c| c.found.contacts.len()))
            .with("optimality", contact.map(|c| c.found.residual))
            .with("naive_sag", contact.and_then(|c| c.naive_sag))
            .with("gap_closed", contact.map(|c| c.closing.gap))
            .with("overlap_opened", contact.map(|c| c.closing.overlap))
            .with("not_held", all().filter(|c| !c.certified).count())
            .with("fibres", self.fibres.len());
        match RestSummary::of(&self.fibres) {
            Some(rest) => rest.written(told).with("rest_sag", contact.and_then(|c| c.rest_sag)),
            None => told,
        }
    }

    /// Ways to fall that nothing stops, contacts that stick included.
    pub fn negative_modes(&self) -> usize {
        let alone = || self.fibres.iter().map(|f| f.result.certificate.negative_modes).sum();
        self.contact.as_ref().map_or_else(alone, |c| c.found.negative_modes)
    }

    /// Least stability of a fibre with the forces on it as dead loads, which contacts that stick only raise \[1/s²\]. `None` where one
    /// is not known, or where contacts hold what would fall alone: then there is a sign and no figure.
    pub fn stability(&self) -> Option<f64> {
        let all = self.fibres.iter().map(|f| f.result.certificate.stability);
        let least = all.into_iter().try_fold(f64::INFINITY, |m, s| Some(m.min(s?)))?;
        (least > 0.0 || self.negative_modes() > 0).then_some(least)
    }

    fn most(&self, f: fn(&RodInversion) -> f64) -> f64 {
        self.fibres.iter().map(f).fold(0.0, f64::max)
    }
}

/// Part of its length by which a fibre may miss what was drawn.
const MISSED: f64 = 0.1;

fn is_missed(fibre: &RodInversion) -> bool {
    // Not a number is missed.
    fibre.fit.error_max.is_nan() || fibre.fit.error_max > MISSED * fibre.fit.rod.length()
}

fn verdict_word(certified: bool) -> &'static str {
    if certified { "certified" } else { "not certified" }
}

fn contact_reason(text: &mut String, contact: &ContactInversion, watched: f64, held: bool) {
    let c = &contact.found;
    if c.cone_gap > 1e-8 {
        let _ = write!(text, "; but a force leaves its cone by {:.1e}", c.cone_gap);
    }
    match contact.drift {
        Some(drift) if drift > MOST_DRIFT => {
            let _ = write!(
                text,
                "; but simulated for {watched} s it moves by {drift:.1e} of its size where {MOST_DRIFT:.0e} is asked \
                 (deepest overlap left in the drawing {})",
                length(c.penetration)
            );
        }
        Some(drift) => {
            let _ = write!(text, "; simulated for {watched} s it moves by {drift:.1e} of its size");
        }
        None if !held => text.push_str("; it was not simulated, since it would fall"),
        None => text.push_str("; but whether it stays was not watched to the end"),
    }
    if let Some(sag) = contact.naive_sag {
        let _ =
            write!(text, " (made as drawn it would go {sag:.1e} in {} s)", SAG_TIME.min(watched));
    }
    let closing = &contact.closing;
    if closing.moved > 0.0 {
        let _ = write!(
            text,
            "; gaps of up to {} were closed and overlaps of up to {} opened by moving joints up to {}",
            length(closing.gap),
            length(closing.overlap),
            length(closing.moved)
        );
    }
}

/// Whether all rods are proven to rest, and the reason of the worst.
pub fn rods_verdict(drapes: &[RodDrape]) -> (bool, String) {
    let of = |i: usize| &drapes[i].result.equilibrium.certificate;
    let bad = (0..drapes.len()).find(|&i| !of(i).certified);
    let loosest = || (0..drapes.len()).max_by(|&a, &b| of(a).residual.total_cmp(&of(b).residual));
    let reason = match bad.or_else(loosest) {
        None => "there is no rod".into(),
        Some(i) if drapes.len() > 1 => format!("rod {i}: {}", of(i).reason),
        Some(i) => of(i).reason.clone(),
    };
    (bad.is_none() && !drapes.is_empty(), reason)
}

/// The certificate of rods that touch nothing with the keys of the contract, the worst figure of all rods each: `certificate.json`.
pub fn rods_certificate(drapes: &[RodDrape]) -> Object {
    let all = || drapes.iter().map(|d| &d.result.equilibrium.certificate);
    let most = |f: fn(&RodCertificate) -> f64| all().map(f).fold(0.0, f64::max);
    let stability = all().map(|c| c.stability).try_fold(f64::INFINITY, |m, s| Some(m.min(s?)));
    let margin = all().map(|c| c.margin).fold(f64::INFINITY, f64::min);
    let found = |f: fn(&RodDrape) -> f64| drapes.iter().map(f).sum::<f64>();
    let error = drapes.iter().map(|d| d.result.error).try_fold(0.0f64, |m, e| Some(m.max(e?)));
    let count = |f: fn(&RodDrape) -> usize| drapes.iter().map(f).sum::<usize>();
    let (certified, reason) = rods_verdict(drapes);
    let none: Option<f64> = None;
    Object::default()
        .with("verdict", verdict_word(certified))
        .with("reason", reason)
        .with("residual", most(|c| c.residual))
        .with("residual_n", most(|c| c.residual_n))
        .with("cone_gap", none)
        .with("cone_margin", none)
        .with("penetration", none)
        .with("stability", stability)
        .with("drift", none)
        .with("target_error_max", none)
        .with("target_error_rms", none)
        .with("size", most(|c| c.size))
        .with("negative_modes", all().map(|c| c.negative_modes).sum::<usize>())
        .with("stability_margin", margin)
        .with("elastic_energy", found(|d| d.result.equilibrium.elastic_energy))
        .with("gravity_energy", found(|d| d.result.equilibrium.load_energy))
        .with("discretisation_error", error)
        .with("steps", count(|d| d.result.equilibrium.steps))
        .with("escapes", count(|d| d.result.equilibrium.escapes))
        .with("rods", drapes.len())
        .with("elements", count(|d| d.result.rod.lengths().len()))
}

impl RodRest {
    /// Whether the rods are proven to rest, and why.
    pub fn verdict(&self) -> (bool, String) {
        let reason = &self.settled.reason;
        match self.drift {
            Some(drift) if drift > MOST_DRIFT => (
                false,
                format!("{reason}; but in the simulated time it moves by {drift:.1e} of its size"),
            ),
            Some(drift) => (
                self.settled.certified,
                format!("{reason}; in the simulated time it moves by {drift:.1e} of its size"),
            ),
            None => (self.settled.certified, reason.clone()),
        }
    }

    /// The certificate with the keys of the contract, the worst figure of all rods each: `certificate.json`.
    pub fn certificate(&self) -> Object {
        let settled = &self.settled;
        let all = || settled.certificates.iter();
        let most = |f: fn(&RodCertificate) -> f64| all().map(f).fold(0.0, f64::max);
        let stability = all().map(|c| c.stability).try_fold(f64::INFINITY, |m, s| Some(m.min(s?)));
        // Held by sticking contacts alone: there is no figure, only a sign.
        let stability = stability.filter(|s| *s > 0.0 || settled.negative_modes > 0);
        let (certified, reason) = self.verdict();
        let none: Option<f64> = None;
        Object::default()
            .with("verdict", verdict_word(certified))
            .with("reason", reason)
            .with("residual", most(|c| c.residual))
            .with("residual_n", most(|c| c.residual_n))
            .with("cone_gap", settled.cone_gap)
            .with("cone_margin", settled.cone_margin)
            .with("penetration", settled.penetration)
            .with("stability", stability)
            .with("drift", self.drift)
            .with("target_error_max", none)
            .with("target_error_rms", none)
            .with("size", most(|c| c.size))
            .with("negative_modes", settled.negative_modes)
            .with("contacts", settled.contacts.len())
            .with("steps", settled.steps)
            .with("newton_steps", settled.newton)
            .with("escapes", settled.escapes)
            .with("rods", self.names.len())
    }
}
