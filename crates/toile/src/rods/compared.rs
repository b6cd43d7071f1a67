//! What a file says of the nature of drawn fibres against what was found.

use toile_io::Object;
use toile_num::words::length;
use toile_rod::{
    FibreInversion, Loads, RestComparison, RestPose, Rod, RodError, Vec3, compare_natures,
    equilibrium_near, shape_distance,
};

use super::drawn::RodInversion;

/// The nature of a file, and what comes of it.
#[derive(Clone, Debug)]
pub struct RestFound {
    /// What was read.
    pub pose: RestPose,
    /// How it agrees with the nature that was found, and how far the drawing is out of balance with it.
    pub compared: RestComparison,
    /// Root mean square and largest distance from the drawing to the equilibrium of that nature, without contact \[m\]; `None` where contacts
    /// have a part in it, or none was found.
    pub sag: Option<(f64, f64)>,
}

impl RestFound {
    /// Of a fibre that touches nothing.
    pub(super) fn alone(
        found: &FibreInversion,
        q: &[Vec3],
        pose: &RestPose,
        loads: &Loads,
    ) -> Result<Self, RodError> {
        let mut out = Self::held(&found.rod, &found.natural, pose, loads);
        let rod = found.rod.clone().with_rest(&pose.natural)?;
        let rests = equilibrium_near(&rod, q, loads)?;
        out.sag = rests.certificate.certified.then(|| shape_distance(&rod, q, &rests.q));
        Ok(out)
    }

    /// Of a fibre that contacts help to hold.
    pub(super) fn held(rod: &Rod, found: &[Vec3], pose: &RestPose, loads: &Loads) -> Self {
        let compared = compare_natures(rod, found, &pose.natural, loads);
        Self { pose: pose.clone(), compared, sag: None }
    }
}

/// The comparison over all fibres of a file with a rest: the worst, and root mean squares over fibres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestSummary {
    /// Fibres with a rest.
    pub fibres: usize,
    /// Largest force that is not balanced in the drawing with the natures of the file, over the weight of a joint.
    pub residual: f64,
    /// Fibres of which an equilibrium with the nature of the file was found.
    pub sagged: usize,
    /// Root mean square and largest distance from the drawing to these equilibria \[m\].
    pub sag: (f64, f64),
    /// Root mean square by which curvatures of the natures differ, and of those of the file \[1/m\].
    pub curvature: (f64, f64),
    /// Root mean square and largest distance between the natural shapes, roots on each other \[m\].
    pub position: (f64, f64),
    /// Largest part by which a drawing is longer or shorter than its rest.
    pub stretch: f64,
    /// Largest angle between the first directions of a drawing and its rest \[rad\].
    pub tilt: f64,
    /// Farthest that a fitted rest is from its points \[m\].
    pub fit_error: f64,
}

impl RestSummary {
    /// Over these fibres; `None` if no file says how they rest.
    pub fn of(fibres: &[RodInversion]) -> Option<Self> {
        let all: Vec<&RestFound> = fibres.iter().filter_map(|f| f.rest.as_ref()).collect();
        let count = all.len();
        if count == 0 {
            return None;
        }
        let most = |f: &dyn Fn(&RestFound) -> f64| all.iter().map(|r| f(r)).fold(0.0, f64::max);
        let mean = |f: &dyn Fn(&RestFound) -> f64| {
            (all.iter().map(|r| f(r).powi(2)).sum::<f64>() / count as f64).sqrt()
        };
        let sags: Vec<(f64, f64)> = all.iter().filter_map(|r| r.sag).collect();
        let squares = sags.iter().map(|s| s.0.powi(2)).sum::<f64>();
        Some(Self {
            fibres: count,
            residual: most(&|r| r.compared.residual),
            sagged: sags.len(),
            sag: (
                (squares / sags.len().max(1) as f64).sqrt(),
                sags.iter().map(|s| s.1).fold(0.0, f64::max),
            ),
            curvature: (mean(&|r| r.compared.curvature_rms), mean(&|r| r.compared.curvature_size)),
            position: (mean(&|r| r.compared.position_rms), most(&|r| r.compared.position_max)),
            stretch: most(&|r| r.pose.stretch.abs()),
            tilt: most(&|r| r.pose.tilt),
            fit_error: most(&|r| r.pose.error_max),
        })
    }

    /// In words.
    pub fn told(&self) -> String {
        let mut text = format!(
            "with the rest of the file up to {:.2e} of a joint's weight is not balanced in the drawing",
            self.residual
        );
        if self.sagged > 0 {
            let of = if self.sagged < self.fibres {
                format!(" ({} of {} fibres that find one)", self.sagged, self.fibres)
            } else {
                String::new()
            };
            text += &format!(
                "; its equilibrium without contact is {} away (root mean square; at most {}){of}",
                length(self.sag.0),
                length(self.sag.1)
            );
        }
        text += &format!(
            "\n  the rest found differs from it by {:.3} 1/m of curvature (the file's: {:.3} 1/m) and, roots on each other, by {} (root mean squares; at most {})",
            self.curvature.0,
            self.curvature.1,
            length(self.position.0),
            length(self.position.1)
        );
        if self.stretch > 1e-3 {
            text += &format!(
                "\n  lengths of drawing and rest differ by up to {:.2} %",
                100.0 * self.stretch
            );
        }
        if self.tilt > 0.05 {
            text += &format!(
                "\n  roots leave in directions up to {:.1}° apart: the clamp is that of the drawing",
                self.tilt.to_degrees()
            );
        }
        text
    }

    /// Adds the keys of `certificate.json`.
    pub fn written(&self, certificate: Object) -> Object {
        let some = (self.sagged > 0).then_some(self.sag);
        certificate
            .with("rest_fibres", self.fibres)
            .with("rest_residual", self.residual)
            .with("rest_sag_rms", some.map(|s| s.0))
            .with("rest_sag_max", some.map(|s| s.1))
            .with("rest_sag_fibres", self.sagged)
            .with("rest_curvature_rms", self.curvature.0)
            .with("rest_file_curvature_rms", self.curvature.1)
            .with("rest_position_rms", self.position.0)
            .with("rest_position_max", self.position.1)
            .with("rest_stretch", self.stretch)
            .with("rest_tilt", self.tilt)
            .with("rest_fit_error_max", self.fit_error)
    }
}
