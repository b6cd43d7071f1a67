//! What would have to change where a target cannot be held, in figures and in words.

use toile_geometry::Vec3;
use toile_num::words::{digits, length};
use toile_sim::{CERTIFIED_RESIDUAL, Certificate};

use crate::fabric::{Number, blame};
use crate::{Garment, Touching};

/// What keeps a target from being held where it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The cloth weighs more than cloth does.
    TooHeavy,
    /// The cloth resists bending less than cloth does.
    TooSoft,
    /// The weight of the cloth stretches it more than cloth stretches.
    TooStretchy,
    /// There is too little friction.
    TooSlippery,
    /// Contacts like these carry nothing, whatever the friction.
    CannotBeCarried,
    /// The cloth is as cloth is; the drawing asks for more than such cloth can hold.
    AsksTooMuch,
    /// Triangles too flat for forces to balance to the last digits.
    FlatTriangles,
    /// What was moved before anything was sought, out of a collider or onto it, or to spread faces, is farther than the result may be.
    MovedFar,
    /// Layers pass through each other.
    LayersCross,
}

impl Cause {
    /// Its name in certificates.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooHeavy => "too heavy",
            Self::TooSoft => "too soft",
            Self::TooStretchy => "too stretchy",
            Self::TooSlippery => "too slippery",
            Self::CannotBeCarried => "cannot be carried",
            Self::AsksTooMuch => "asks too much",
            Self::FlatTriangles => "flat triangles",
            Self::MovedFar => "moved far",
            Self::LayersCross => "layers cross",
        }
    }
}

impl From<Number> for Cause {
    fn from(number: Number) -> Self {
        match number {
            Number::Weight => Self::TooHeavy,
            Number::Bending => Self::TooSoft,
            Number::Stretch => Self::TooStretchy,
        }
    }
}

/// What keeps a target from being held, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// What is to blame; none where the target is held, or where that is not known.
    pub cause: Option<Cause>,
    /// Friction (the largest of the colliders, the others in proportion) that the balance of force and torque takes at least, where that is
    /// more than there is; infinite where no friction would do.
    pub least_friction: Option<f64>,
    /// Part of the weight that was carried within 1 % of the size from the target, forces inside their cones.
    pub weight_fraction: f64,
    /// Least part of the weight that was tried and not carried.
    pub weight_refused: Option<f64>,
    /// Factor on all stiffnesses with which the target would be held within 1 % as far as is known: one over the weight fraction, since only
    /// their ratio counts. Infinite when no part of the weight was carried.
    pub stiffness_factor: f64,
    /// Areal density (of the heaviest shell, or the one that is blamed, the others in proportion) with which the target would be held likewise \[kg/m²\].
    pub held_density: Option<f64>,
    /// Least factor on the stiffness against bending alone with which the target was held on the way from stiffer cloth; 1 where it was found that way,
    /// none where no such cloth was tried or held.
    pub bending_factor: Option<f64>,
    /// Friction (as above) with which the cloth as it is was held where it was drawn, to 3 %; none where that is more than 1, or was not tried.
    pub held_friction: Option<f64>,
    /// Where the forces balance but for the last digits: the flattest face of the rest shape (all shells numbered through) and its
    /// altitude \[m\].
    pub sliver: Option<(usize, f64)>,
}

/// The largest friction of the colliders.
pub(crate) fn friction_of(garment: &Garment) -> f64 {
    garment.colliders.iter().map(toile_contact::Collider::friction).fold(0.0, f64::max)
}

/// Whether the forces balance but for rounding.
pub(crate) fn rounding(c: &Certificate) -> bool {
    let inside = c.cone_gap.is_none_or(|g| g <= CERTIFIED_RESIDUAL);
    let stable = c.stability.is_some_and(|s| s > 0.0);
    !c.certified && inside && stable && c.residual > CERTIFIED_RESIDUAL && c.residual < 1e-5
}

/// Altitude over longest side below which a triangle is one to blame.
const FLAT: f64 = 0.1;

/// The flat face with the least altitude, and that; `None` where no face is flat.
pub(crate) fn flattest(garment: &Garment, rest: &[Vec3]) -> Option<(usize, f64)> {
    let mut base = 0;
    let mut altitudes = Vec::new();
    for shell in &garment.shells {
        altitudes.extend(shell.topology.faces().iter().map(|f| {
            let [a, b, c] = f.map(|v| rest[base + v as usize]);
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            let altitude = (b - a).cross(&(c - a)).norm() / longest;
            (altitude, altitude < FLAT * longest)
        }));
        base += shell.positions.len();
    }
    let flat = altitudes.into_iter().enumerate().filter(|(_, (_, flat))| *flat);
    flat.map(|(face, (altitude, _))| (face, altitude)).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// A part of something in words.
fn percent(part: f64) -> String {
    match 100.0 * part {
        p if p < 1.0 => format!("{p:.2} %"),
        p => format!("{p:.0} %"),
    }
}

/// What of the weight was carried, and what would carry all of it.
fn remedies(diagnosis: &Diagnosis, density: f64) -> String {
    let carried = diagnosis.weight_fraction;
    if carried > 0.0 {
        return format!(
            "{} of the weight was carried within 1 % of the size from the target: it would be held with {} kg/m² instead of {}, or with all stiffnesses {:.1} \
             times as large (where it asks too much: unheld_force in maps.ply)",
            percent(carried),
            digits(carried * density),
            digits(density),
            diagnosis.stiffness_factor
        );
    }
    let Some(refused) = diagnosis.weight_refused else {
        return "no part of the weight was carried within 1 % of the size from the target".into();
    };
    // Of the whole weight alone it is not known by how much it is too much.
    let much = match 1.0 / refused {
        factor if factor < 1.05 => "make it lighter or stiffer".into(),
        factor => format!(
            "it takes less than {} kg/m² instead of {}, or all stiffnesses more than {factor:.1} times as large",
            digits(refused * density),
            digits(density)
        ),
    };
    format!(
        "{} of the weight was not carried within 1 % of the size from the target, nor was any part found that is; {much} (where it asks too much: \
         unheld_force in maps.ply)",
        percent(refused),
    )
}

/// Says what would have to change, and what is to blame.
pub(crate) fn explain(
    c: &mut Certificate,
    diagnosis: &mut Diagnosis,
    garment: &Garment,
    touching: &Touching,
    size: f64,
) {
    let far = c.target_error_max.unwrap_or(0.0) > 0.01 * size;
    if c.certified && !far {
        return;
    }
    let mut words = Vec::new();
    let friction = friction_of(garment);
    match diagnosis.least_friction {
        Some(least) if least.is_infinite() => {
            diagnosis.cause = Some(Cause::CannotBeCarried);
            words.push(
                "no friction would let these contacts carry the weight: it tips or falls off; support it elsewhere or pin it".into(),
            );
        }
        Some(least) => {
            diagnosis.cause = Some(Cause::TooSlippery);
            words.push(format!(
                "too slippery: even a rigid garment would slide off; the friction must be at least {least:.3} instead of {friction:.3}"
            ));
        }
        None if diagnosis.sliver.is_none() && diagnosis.weight_fraction < 1.0 => {
            let (fabric, worst) = blame(garment, diagnosis.bending_factor.is_none());
            let remedies = remedies(diagnosis, fabric.density);
            diagnosis.held_density = (diagnosis.weight_fraction > 0.0)
                .then_some(diagnosis.weight_fraction * fabric.density);
            let slippery = diagnosis.held_friction.map(|held| {
                format!(
                    "too slippery: this cloth is held where it was drawn with a friction of {held:.3} instead of {friction:.3}"
                )
            });
            let sags = match worst {
                Some((number, _)) => format!("{}; {remedies}", fabric.fault(number)),
                None => format!(
                    "the drawing asks for more than such cloth can hold, which is as cloth is ({}); {remedies}",
                    fabric.numbers()
                ),
            };
            // What no cloth is comes first; what clothing is not only where nothing else is known to help.
            match (worst, slippery) {
                (Some((number, place)), slippery) if place > 1.0 || slippery.is_none() => {
                    diagnosis.cause = Some(number.into());
                    words.push(sags);
                    words.extend(slippery.map(|s| format!("as it is, {s}")));
                }
                (_, Some(slippery)) => {
                    diagnosis.cause = Some(Cause::TooSlippery);
                    words.push(slippery);
                    words.push(format!("with the friction there is, {sags}"));
                }
                (_, None) => {
                    diagnosis.cause = Some(Cause::AsksTooMuch);
                    words.push(sags);
                }
            }
        }
        None => {}
    }
    if let Some(factor) = diagnosis.bending_factor.filter(|f| *f > 1.0) {
        words.push(format!(
            "held exactly if it were {factor:.1} times as stiff against bending, stretching and weight as they are"
        ));
    }
    if let Some((face, altitude)) = diagnosis.sliver {
        diagnosis.cause = diagnosis.cause.or(Some(Cause::FlatTriangles));
        words.push(format!(
            "flat triangles keep forces from balancing to the last digits: face {face} is {} high; remesh it",
            length(altitude)
        ));
    }
    if far && touching.longest_move > 0.5 * c.target_error_max.unwrap_or(0.0) {
        diagnosis.cause = diagnosis.cause.or(Some(Cause::MovedFar));
        words.push(format!(
            "the target was drawn up to {} inside a collider, or off it; {} vertices were moved by up to {} before anything was sought",
            length(touching.deepest),
            touching.pushed_out + touching.drawn_in,
            length(touching.longest_move)
        ));
    }
    let evening = &touching.evening;
    if far && evening.longest_move > 0.5 * c.target_error_max.unwrap_or(0.0) {
        diagnosis.cause = diagnosis.cause.or(Some(Cause::MovedFar));
        words.push(format!(
            "{} faces of the target that lay upside down, flat on others or had no width were spread by moving vertices by up to {}; remesh \
             there to keep its shape",
            evening.spread(),
            length(evening.longest_move)
        ));
    }
    if far && c.certified {
        words.push(format!(
            "the nearest equilibrium that was found is {} away (see target_error in maps.ply)",
            length(c.target_error_max.unwrap_or(0.0))
        ));
    }
    if words.is_empty() {
        return;
    }
    // First what matters: where nothing is certified that is the cause, not the figures.
    let words = words.join("; ");
    c.reason = if c.certified {
        format!("{}; {words}", c.reason)
    } else {
        format!("{words}; {}", c.reason)
    };
}
