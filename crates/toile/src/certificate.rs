//! Certificates as flat objects with the keys of the contract. No times: the same scene gives the same bytes.

use toile_io::Object;
use toile_sim::Certificate;

use crate::{Drape, SceneInversion};

/// The keys of the contract: figures in SI units, `null` where one does not apply, verdict and reason.
pub fn certificate_figures(c: &Certificate) -> Object {
    Object::default()
        .with("verdict", c.verdict())
        .with("reason", c.reason.as_str())
        .with("residual", c.residual)
        .with("residual_n", c.residual_n)
        .with("cone_gap", c.cone_gap)
        .with("cone_margin", c.cone_margin)
        .with("penetration", c.penetration)
        .with("stability", c.stability)
        .with("drift", c.drift)
        .with("target_error_max", c.target_error_max)
        .with("target_error_rms", c.target_error_rms)
        .with("size", c.size)
}

impl Drape {
    /// The certificate with the keys of the contract, and how the result was found: `certificate.json`.
    pub fn certificate(&self) -> Object {
        let (result, c) = (&self.result, &self.result.certificate);
        certificate_figures(c)
            .with("negative_modes", c.negative_modes)
            .with("energy", result.energy)
            .with("stop", format!("{:?}", result.stop))
            .with("steps", result.history.len())
            .with("factorisations", result.factorisations)
            .with("escapes", result.escapes)
            .with("contacts", self.contacts.len())
            .with("vertices", self.model.vertex_count())
            .with("unknowns", self.model.len())
    }
}

impl SceneInversion {
    /// What was done to the meshes to compute with them, in words.
    fn mended(&self) -> Option<String> {
        let words: Vec<String> = self.shells.iter().flat_map(|s| s.mended.words()).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// The certificate with the keys of the contract, and how the result was found: `certificate.json`.
    pub fn certificate(&self) -> Object {
        let (result, c) = (&self.result, &self.result.certificate);
        let (touching, diagnosis) = (&result.touching, &result.diagnosis);
        certificate_figures(c)
            .with("naive_sag", result.naive_sag)
            .with("negative_modes", c.negative_modes)
            .with("contacts", result.contacts.len())
            .with("settled", result.settled)
            .with("pushed_out", touching.pushed_out)
            .with("drawn_in", touching.drawn_in)
            .with("longest_contact_move", touching.longest_move)
            .with("contact_tolerance", touching.tolerance.largest())
            .with("layer_tolerance", touching.tolerance.of_layers())
            .with("layers_crossing", result.crossing.count)
            .with("layers_crossing_depth", result.crossing.deepest)
            .with(
                "crossings_parted",
                touching.parting.crossings.saturating_sub(touching.parting.left),
            )
            .with("longest_parting_move", touching.parting.longest_move)
            .with("spread_faces", touching.evening.spread())
            .with("longest_spread_move", touching.evening.longest_move)
            .with("stitches", touching.sewing.stitches)
            .with("open_stitches", touching.sewing.open)
            .with("widest_stitch", touching.sewing.widest)
            .with("mended", self.mended())
            .with("cause", diagnosis.cause.map(toile_inverse::Cause::name))
            .with("least_friction", finite(diagnosis.least_friction))
            .with("held_friction", diagnosis.held_friction)
            .with("weight_fraction", diagnosis.weight_fraction)
            .with("weight_refused", diagnosis.weight_refused)
            .with("stiffness_factor", finite(Some(diagnosis.stiffness_factor)))
            .with("held_density", diagnosis.held_density)
            .with("bending_factor", diagnosis.bending_factor)
            .with("steps", result.history.last().map_or(0, |s| s.steps))
            .with("vertices", result.rest.len())
    }
}

/// JSON has no infinity.
fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}
