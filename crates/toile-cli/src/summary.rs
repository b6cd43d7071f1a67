//! The result in a few lines for people.

use std::fmt::Write;
use std::path::Path;

use toile::Drape;
use toile::report::figures::{digits, length};
use toile::solve::{NewtonSettings, Stop};

/// What was draped, how it went, the certificate, and where the files are.
pub(crate) fn text(
    drape: &Drape,
    settings: &NewtonSettings,
    out: &Path,
    names: &[String],
) -> String {
    let (result, certificate) = (&drape.result, &drape.result.certificate);
    let mut text = String::new();
    for (i, loaded) in drape.shells.iter().enumerate() {
        let shell = &loaded.shell;
        let _ = writeln!(
            text,
            "shell {i} ({}): {} vertices, {} faces, {} held",
            loaded.name,
            shell.topology.vertex_count(),
            shell.topology.face_count(),
            shell.pins.len()
        );
        for note in &loaded.notes {
            let _ = writeln!(text, "  note: {note}");
        }
    }
    let _ = writeln!(
        text,
        "{} steps, {} factorisations, {:.2} s; energy {:.9e} J",
        result.history.len(),
        result.factorisations,
        result.timings.total.as_secs_f64(),
        result.energy
    );
    let _ = writeln!(text, "{}: {}", certificate.verdict(), certificate.reason);
    if !certificate.certified {
        let advice = advice(result.stop, settings);
        if !advice.is_empty() {
            let _ = writeln!(text, "  {advice}");
        }
    }
    let _ = writeln!(
        text,
        "  residual   {:.2e} of a vertex's weight ({:.2e} N)",
        certificate.residual, certificate.residual_n
    );
    if let Some(stability) = certificate.stability {
        let _ = writeln!(text, "  stability  {} 1/s²", digits(stability));
    }
    if let (Some(gap), Some(margin)) = (certificate.cone_gap, certificate.cone_margin) {
        let count = drape.contacts.len();
        let _ =
            writeln!(text, "  cone_gap   {} of the largest of {count} contact forces", digits(gap));
        let _ = writeln!(text, "  cone_margin {margin:.4}: how far from slipping, 0 to 1");
    }
    if let Some(depth) = certificate.penetration {
        let _ = writeln!(text, "  penetration {}", length(depth));
    }
    if let Some(drift) = certificate.drift {
        let _ = writeln!(
            text,
            "  drift      {drift:.2e} of the size ({})",
            length(drift * certificate.size)
        );
    }
    let _ = writeln!(text, "  size       {}", length(certificate.size));
    let _ = write!(text, "written to {}: {}", out.display(), names.join(", "));
    text
}

/// What to try, by the reason for which the search ended.
fn advice(stop: Stop, settings: &NewtonSettings) -> String {
    match stop {
        Stop::StepLimit => format!(
            "the search ended after {} steps; allow more with --max-steps, or drape the result further: \
             it is the start shape of the next run with `mesh = \"equilibrium.obj\"` and the old mesh as `rest`",
            settings.max_steps
        ),
        Stop::Stagnation => {
            "rounding leaves no better step: look for slivers and very uneven edges with \
                             `toile check`, or accept a larger --tolerance"
                .into()
        }
        Stop::NotFinite => {
            "the start shape has a collapsed or folded face: look at it with `toile check`".into()
        }
        Stop::Interrupted => "the best shape so far was written".into(),
        Stop::Minimum if settings.tolerance > toile::sim::CERTIFIED_RESIDUAL => format!(
            "--tolerance {:e} is looser than the {:e} a certificate asks for",
            settings.tolerance,
            toile::sim::CERTIFIED_RESIDUAL
        ),
        Stop::Minimum | Stop::Degenerate => String::new(),
    }
}

/// Names of files, numbered ones of a kind as the first and the last.
pub(crate) fn listed(names: &[String]) -> String {
    let kind = |name: &str| -> Option<(String, String)> {
        let (stem, ending) = name.rsplit_once('.')?;
        let (word, number) = stem.rsplit_once('_')?;
        number.bytes().all(|b| b.is_ascii_digit()).then(|| (word.into(), ending.into()))
    };
    let mut shown: Vec<String> = Vec::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    for name in names {
        let Some(own) = kind(name) else {
            shown.push(name.clone());
            continue;
        };
        if seen.contains(&own) {
            continue;
        }
        let same: Vec<&String> = names.iter().filter(|n| kind(n).as_ref() == Some(&own)).collect();
        match (same.len(), same.last()) {
            (4.., Some(last)) => shown.push(format!("{name} … {last}")),
            _ => shown.extend(same.into_iter().cloned()),
        }
        seen.push(own);
    }
    shown.join(", ")
}

/// Whether fibres, alone or with cloth, are certified to rest, and where the files are.
pub(crate) fn verdict(certified: bool, reason: &str, out: &Path, names: &[String]) -> String {
    let said = if certified { "certified" } else { "not certified" };
    format!("  {said}: {reason}\nwritten to {}: {}", out.display(), listed(names))
}
