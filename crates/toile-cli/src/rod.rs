//! Rods in `toile drape`.

use std::fmt::Write;
use std::path::Path;

use toile::io::{Scene, atomic_write, write_stations};
use toile::rod::StaticSettings;
use toile::{RodDrape, drape_rods};

use crate::args::{DrapeArgs, Global};
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::{Failure, Outcome, show};

/// Stations of a table when none are asked for.
pub(crate) const STATIONS: u32 = 21;

/// Whether a scene is about rods.
pub(crate) fn has_rods(scene: &Scene) -> bool {
    !scene.rods.is_empty() || !scene.hair.is_empty()
}

/// Drapes the rods of a scene, writes everything and says so.
pub(crate) fn drape(scene: &Scene, args: &DrapeArgs, global: &Global) -> Result<Outcome, Failure> {
    make_folder(&args.out)?;
    if !scene.colliders.is_empty() || scene.self_contact.is_some() {
        return crate::rod_rest::drape(scene, args, global);
    }
    let mut settings = StaticSettings::default();
    if let Some(steps) = args.solver.max_steps {
        settings.max_steps = steps as usize;
    }
    let clock = std::time::Instant::now();
    let drapes = drape_rods(scene, &settings)?;
    let seconds = clock.elapsed().as_secs_f64();
    let stations = args.stations.unwrap_or(STATIONS) as usize;
    let mut names = Vec::new();
    for (i, drape) in drapes.iter().enumerate() {
        let name = format!("rod_{i}.csv");
        let rows = drape.stations(stations);
        write_stations(args.out.join(&name), &rows, &drape.loaded.axes)?;
        names.push(name);
    }
    let certificate = certificate(&drapes);
    atomic_write(args.out.join("certificate.json"), |w| writeln!(w, "{}", certificate.pretty()))?;
    names.push("certificate.json".into());
    let certified = drapes.iter().all(|d| d.result.equilibrium.certificate.certified);
    let judged = (certified, worst_reason(&drapes));
    show::of_fibre_drape(scene, &drapes, (judged.0, &judged.1), seconds)
        .about("drape", scene)
        .write(&args.out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&certificate.pretty());
    } else if !global.quiet {
        json::print(&summary(&drapes, &args.out, &names));
    } else if !certified {
        json::tell(&format!("not certified: {}", worst_reason(&drapes)));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

fn worst_reason(drapes: &[RodDrape]) -> String {
    let prefix = |i: usize| if drapes.len() > 1 { format!("rod {i}: ") } else { String::new() };
    let bad = drapes.iter().position(|d| !d.result.equilibrium.certificate.certified);
    let worst = bad.unwrap_or_else(|| {
        let residual = |i: &usize| drapes[*i].result.equilibrium.certificate.residual;
        (0..drapes.len()).max_by(|a, b| residual(a).total_cmp(&residual(b))).unwrap_or(0)
    });
    drapes.get(worst).map_or("there is no rod".into(), |d| {
        format!("{}{}", prefix(worst), d.result.equilibrium.certificate.reason)
    })
}

/// The certificate with the keys of the contract: the worst figure of all rods each.
fn certificate(drapes: &[RodDrape]) -> Object {
    let all = || drapes.iter().map(|d| &d.result.equilibrium.certificate);
    let most = |f: fn(&toile::rod::RodCertificate) -> f64| all().map(f).fold(0.0, f64::max);
    let certified = !drapes.is_empty() && all().all(|c| c.certified);
    let stability = all().map(|c| c.stability).try_fold(f64::INFINITY, |m, s| Some(m.min(s?)));
    let margin = all().map(|c| c.margin).fold(f64::INFINITY, f64::min);
    let found = |f: fn(&RodDrape) -> f64| drapes.iter().map(f).sum::<f64>();
    let error = drapes.iter().map(|d| d.result.error).try_fold(0.0f64, |m, e| Some(m.max(e?)));
    let count = |f: fn(&RodDrape) -> usize| drapes.iter().map(f).sum::<usize>();
    let none: Option<f64> = None;
    Object::default()
        .with("verdict", if certified { "certified" } else { "not certified" })
        .with("reason", worst_reason(drapes))
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

fn summary(drapes: &[RodDrape], out: &Path, names: &[String]) -> String {
    let mut text = String::new();
    for (i, drape) in drapes.iter().enumerate().take(20) {
        let result = &drape.result;
        let c = &result.equilibrium.certificate;
        let _ = writeln!(
            text,
            "rod {i}: {} elements ({} asked), {} steps; {}",
            result.rod.lengths().len(),
            drape.loaded.elements,
            result.equilibrium.steps,
            match result.error {
                Some(error) => format!("accurate to {error:.1e}"),
                None => "elements kept as given".into(),
            }
        );
        let _ = writeln!(text, "  {}: {}", c.verdict(), c.reason);
        let _ = writeln!(
            text,
            "  residual   {:.2e} of a joint's weight ({:.2e} N)",
            c.residual, c.residual_n
        );
        if let Some(stability) = c.stability {
            let margin = c.margin;
            let _ = writeln!(
                text,
                "  stability  {stability:.4e} 1/s²; {margin:.3} of the elastic stiffness is left"
            );
        }
    }
    if drapes.len() > 20 {
        let _ = writeln!(text, "… and {} more", drapes.len() - 20);
    }
    let _ = write!(text, "written to {}: {}", out.display(), names.join(", "));
    text
}
