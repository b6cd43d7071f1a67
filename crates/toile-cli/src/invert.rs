//! `toile invert`.

use std::path::Path;
use std::time::Instant;

use toile::inverse::reference::ReferenceSettings;
use toile::inverse::{InverseSettings, InverseStep, Phase};
use toile::io::{Scene, load_scene};
use toile::{SceneInversion, invert_settings};

use crate::args::{Global, InvertArgs};
use crate::drape::make_folder;
use crate::invert_files::write_all;
use crate::progress::{Share, catch_interrupts};
use crate::{Failure, Outcome, json, rod, rod_invert};

pub(crate) fn run(args: &InvertArgs, global: &Global) -> Result<Outcome, Failure> {
    let scene = load_scene(&args.scene)?;
    if rod::has_rods(&scene) {
        return rod_invert::invert(&scene, &args.out, global);
    }
    let mut settings = invert_settings(&scene);
    if let Some(most) = args.max_steps {
        settings.max_steps = most as usize;
    }
    if args.no_drift {
        settings.drift_time = 0.0;
    }
    let published = args.method.published(args.flat_start);
    let found = invert_to(&scene, &args.out, &settings, published.as_ref(), args.minutes, global)?;
    let certified = found.result.certificate.certified;
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

/// Inverts a scene, writes everything into `out` and says so.
pub(crate) fn invert_to(
    scene: &Scene,
    out: &Path,
    settings: &InverseSettings,
    published: Option<&ReferenceSettings>,
    minutes: f64,
    global: &Global,
) -> Result<SceneInversion, Failure> {
    catch_interrupts();
    make_folder(out)?;
    let clock = Instant::now();
    let mut progress = Share::new(global.quiet || global.json);
    let in_time = || clock.elapsed().as_secs_f64() < 60.0 * minutes;
    let mut tell = |step: &InverseStep| progress.tell(share(step), &words(step)) && in_time();
    let found = match published {
        None => toile::invert(scene, settings, &mut tell),
        Some(published) => toile::invert_by_reference(scene, settings, published, &mut tell),
    };
    progress.finish();
    let found = found?;
    let names = write_all(out, scene, &found)?;
    if global.json {
        json::print(&found.certificate().pretty());
    } else if global.quiet {
        if !found.result.certificate.certified {
            json::tell(&format!("not certified: {}", found.result.certificate.reason));
        }
    } else {
        json::print(&summary(&found, clock.elapsed().as_secs_f64()));
        json::print(&format!("written to {}: {}", out.display(), names.join(", ")));
    }
    Ok(found)
}

fn share(step: &InverseStep) -> f64 {
    match step.phase {
        Phase::Weight => 0.6 * step.load,
        Phase::Match | Phase::Drape => 0.6,
        Phase::Settle => 0.6 + 0.2 * step.load,
        Phase::Naive => 0.98,
        Phase::Drift => 0.8 + 0.15 * step.load,
    }
}

fn words(step: &InverseStep) -> String {
    let away = 1e3 * step.distance;
    match step.phase {
        Phase::Weight => format!(
            "step {:3}: {:3.0} % of the weight, forces balance to {:.1e} of a vertex's weight",
            step.steps,
            100.0 * step.load,
            step.distance
        ),
        Phase::Match => format!(
            "step {:3}: full weight, {away:.2e} mm from the target, {} forces outside",
            step.steps, step.outside
        ),
        Phase::Drape => "draping".into(),
        Phase::Settle => {
            format!("no rest shape holds it; letting it go: {:.1e} m/s", step.distance)
        }
        Phase::Naive => "draping the target as its own rest shape, for comparison".into(),
        Phase::Drift => format!("simulating: moved by {away:.2e} mm"),
    }
}

/// What was inverted, how it went and the certificate, for people.
pub(crate) fn summary(found: &SceneInversion, seconds: f64) -> String {
    let (result, c) = (&found.result, &found.result.certificate);
    let mut lines = Vec::new();
    for (i, loaded) in found.shells.iter().enumerate() {
        let shell = &loaded.shell;
        lines.push(format!(
            "shell {i} ({}): {} vertices, {} faces, {} pinned",
            loaded.name,
            shell.topology.vertex_count(),
            shell.topology.face_count(),
            shell.pins.len()
        ));
        lines.extend(loaded.notes.iter().map(|note| format!("  note: {note}")));
    }
    let touching = &result.touching;
    let sewing = &touching.sewing;
    if sewing.open > 0 {
        lines.push(format!(
            "{} of {} stitches were open, by {:.3} mm at most: closed by moving vertices {:.3} mm at most",
            sewing.open,
            sewing.stitches,
            1e3 * sewing.widest,
            1e3 * sewing.longest_move
        ));
    }
    if !touching.contacts.is_empty() {
        lines.push(format!("{} vertices touch colliders", touching.contacts.len()));
        if touching.pushed_out + touching.drawn_in > 0 {
            lines.push(format!(
                "  {} of them were too close and {} hovered; they were moved to the contact distance, by {:.3} mm at most",
                touching.pushed_out,
                touching.drawn_in,
                1e3 * touching.longest_move
            ));
        }
    }
    let steps = result.history.last().map_or(0, |s| s.steps);
    lines.push(format!("{steps} steps, {seconds:.2} s"));
    lines.push(format!("{}: {}", c.verdict(), c.reason));
    let mut figure = |name: &str, text: String| lines.push(format!("  {name:<12} {text}"));
    figure("residual", format!("{:.2e} of a vertex's weight ({:.2e} N)", c.residual, c.residual_n));
    if let (Some(gap), Some(margin)) = (c.cone_gap, c.cone_margin) {
        figure("cone gap", format!("{gap:.2e} of the largest contact force"));
        figure("cone margin", format!("{:.1} % of the friction is to spare", 100.0 * margin));
    }
    if let Some(depth) = c.penetration {
        figure("penetration", format!("{:.3} mm", 1e3 * depth));
    }
    if let Some(stability) = c.stability {
        figure("stability", format!("{stability:.4e} 1/s²"));
    }
    if let Some(drift) = c.drift {
        figure(
            "drift",
            format!(
                "{drift:.2e} of the size ({:.2e} mm) in a simulated second",
                1e3 * drift * c.size
            ),
        );
    }
    if let (Some(most), Some(rms)) = (c.target_error_max, c.target_error_rms) {
        figure(
            "target error",
            format!(
                "{:.3e} mm at most, {:.3e} mm in the mean ({:.1e} of the size)",
                1e3 * most,
                1e3 * rms,
                most / c.size
            ),
        );
    }
    figure("size", format!("{:.4} m", c.size));
    if let Some(sag) = result.naive_sag {
        figure("naive sag", format!("{:.1} mm if it were made as drawn", 1e3 * sag));
    }
    lines.join("\n")
}
