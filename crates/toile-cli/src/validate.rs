//! `toile validate`: the protocols, their tables, figures and verdicts.

use std::path::Path;
use std::time::Instant;

use toile::io::atomic_write;
use toile::validate::protocol::{
    BucklingSettings, CantileverSeries, CantileverSettings, CapstanSettings, CylinderSettings,
    InclineSettings, Outcome as Found, RodSettings, RotationSettings, StickSlipSettings, TableRow,
    bend_twist, buckling, cantilever, capstan, cylinder, frequencies, incline, lateral_buckling,
    rod_cantilever, rod_orders, rotation, stick_slip,
};
use toile::validate::shells::{
    Case, Settings as ShellSettings, ShellCaseError, end_moment, end_shear, hemisphere,
    scordelis_lo,
};

use crate::args::{
    BucklingArgs, CantileverArgs, CapstanArgs, CylinderArgs, Global, InclineArgs, Protocol,
    RodProtocolArgs, RotationArgs, ShellCase, ShellsArgs, StickSlipArgs,
};
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts};
use crate::{Failure, Outcome, show};

pub(crate) fn run(protocol: &Protocol, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    match protocol {
        Protocol::Cantilever(args) => {
            let settings = cantilever_settings(args);
            measured(&args.common.out, "cantilever", global, |told| cantilever(&settings, told))
        }
        Protocol::LateralBuckling(args) => {
            let settings = buckling_settings(args);
            let run = |told: &mut Told<'_>| lateral_buckling(&settings, told);
            measured(&args.common.out, "lateral_buckling", global, run)
        }
        Protocol::Rotation(args) => {
            let settings = rotation_settings(args);
            measured(&args.common.out, "rotation", global, |told| rotation(&settings, told))
        }
        Protocol::Shells(args) => shells(args, global),
        Protocol::Incline(args) => {
            let settings = incline_settings(args);
            measured(&args.common.out, "incline", global, |told| incline(&settings, told))
        }
        Protocol::Cylinder(args) => {
            let settings = cylinder_settings(args);
            measured(&args.common.out, "cylinder", global, |told| cylinder(&settings, told))
        }
        Protocol::Capstan(args) => {
            let settings = capstan_settings(args);
            measured(&args.common.out, "capstan", global, |told| capstan(&settings, told))
        }
        Protocol::StickSlip(args) => {
            let settings = stick_slip_settings(args);
            measured(&args.common.out, "stick_slip", global, |told| stick_slip(&settings, told))
        }
        Protocol::RodCantilever(args) => {
            let settings = rod_settings(args);
            measured(&args.out, "rod_cantilever", global, |told| rod_cantilever(&settings, told))
        }
        Protocol::RodOrders(args) => {
            let settings = rod_settings(args);
            measured(&args.out, "rod_orders", global, |told| rod_orders(&settings, told))
        }
        Protocol::Frequencies(args) => {
            let settings = rod_settings(args);
            measured(&args.out, "frequencies", global, |told| frequencies(&settings, told))
        }
        Protocol::Buckling(args) => {
            let settings = rod_settings(args);
            measured(&args.out, "buckling", global, |told| buckling(&settings, told))
        }
        Protocol::BendTwist(args) => {
            let settings = rod_settings(args);
            measured(&args.out, "bend_twist", global, |told| bend_twist(&settings, told))
        }
    }
}

type Told<'a> = toile::validate::protocol::Progress<'a>;

fn rod_settings(args: &RodProtocolArgs) -> RodSettings {
    let mut settings = if args.quick { RodSettings::quick() } else { RodSettings::default() };
    if let Some(elements) = &args.elements {
        settings.elements = elements.clone();
    }
    settings.tolerance = args.tolerance.unwrap_or(settings.tolerance);
    settings
}

fn cantilever_settings(args: &CantileverArgs) -> CantileverSettings {
    let mut settings = match &args.common.nu {
        _ if args.common.quick => CantileverSettings::quick(),
        Some(nu) => CantileverSettings::with_poisson(nu),
        None => CantileverSettings::default(),
    };
    if let Some(lengths) = &args.lengths {
        // One specimen per ν and length, in the proportions of the first one of that ν.
        let mut series: Vec<CantileverSeries> = Vec::new();
        for given in &settings.series {
            if series.iter().any(|s| s.strip.poisson == given.strip.poisson) {
                continue;
            }
            for &length in lengths {
                let mut scaled = given.clone();
                let factor = length / given.strip.length;
                scaled.strip.length = length;
                scaled.strip.width *= factor;
                scaled.strip.thickness *= factor;
                series.push(scaled);
            }
        }
        settings.series = series;
    }
    for series in &mut settings.series {
        if let Some(gammas) = &args.gammas {
            series.gammas = gammas.clone();
        }
        if let Some(resolutions) = &args.common.resolutions {
            series.resolutions = resolutions.clone();
        }
        if let Some(ratio) = args.w_over_l {
            series.strip.width = ratio * series.strip.length;
        }
        if let Some(ratio) = args.h_over_l {
            series.strip.thickness = ratio * series.strip.length;
        }
    }
    if let Some(models) = &args.common.models {
        settings.models = models.clone();
    }
    settings.tolerance = args.common.tolerance.unwrap_or(settings.tolerance);
    settings
}

fn buckling_settings(args: &BucklingArgs) -> BucklingSettings {
    let common = &args.common;
    let mut settings =
        if common.quick { BucklingSettings::quick() } else { BucklingSettings::default() };
    if let Some(widths) = &args.w_over_l {
        settings.widths = widths.clone();
    }
    if let Some(nu) = &common.nu {
        settings.poisson = nu.clone();
    }
    if let Some(models) = &common.models {
        settings.models = models.clone();
    }
    if let Some(resolutions) = &common.resolutions {
        settings.resolutions = resolutions.clone();
    }
    settings.h_over_l = args.h_over_l.unwrap_or(settings.h_over_l);
    settings.tolerance = common.tolerance.unwrap_or(settings.tolerance);
    settings
}

fn rotation_settings(args: &RotationArgs) -> RotationSettings {
    let mut settings =
        if args.common.quick { RotationSettings::quick() } else { RotationSettings::default() };
    if let Some(models) = &args.common.models {
        settings.models = models.clone();
    }
    if let Some(resolution) = args.common.resolutions.as_ref().and_then(|r| r.last()) {
        settings.resolution = *resolution;
    }
    if let Some(nu) = args.common.nu.as_ref().and_then(|n| n.last()) {
        settings.poisson = *nu;
    }
    settings.steps = args.steps.map_or(settings.steps, |n| n as usize);
    settings
}

fn incline_settings(args: &InclineArgs) -> InclineSettings {
    let mut settings =
        if args.common.quick { InclineSettings::quick() } else { InclineSettings::default() };
    settings.slope = args.slope_deg.map_or(settings.slope, f64::to_radians);
    if let Some(triangles) = &args.triangles {
        settings.triangles = triangles.clone();
    }
    if let Some(headings) = &args.headings_deg {
        settings.headings = headings.iter().map(|h| h.to_radians()).collect();
    }
    if let Some(speeds) = &args.common_speeds {
        settings.common_speeds = speeds.clone();
    }
    if let Some(ratios) = &args.mu_over_tan {
        settings.ratios = ratios.clone();
    }
    settings.sticking = args.seconds.unwrap_or(settings.sticking);
    settings.dt = args.common.dt.unwrap_or(settings.dt);
    settings.tolerance = args.common.tolerance.unwrap_or(settings.tolerance);
    settings
}

fn cylinder_settings(args: &CylinderArgs) -> CylinderSettings {
    let mut settings =
        if args.common.quick { CylinderSettings::quick() } else { CylinderSettings::default() };
    settings.radius = args.radius.unwrap_or(settings.radius);
    settings.length = args.length.unwrap_or(settings.length);
    settings.offset = args.offset.unwrap_or(settings.offset);
    if let Some(frictions) = &args.mu {
        settings.frictions = frictions.clone();
    }
    if let Some(resolutions) = &args.resolutions {
        settings.resolutions = resolutions.clone();
    }
    settings.dt = args.common.dt.unwrap_or(settings.dt);
    settings.tolerance = args.common.tolerance.unwrap_or(settings.tolerance);
    settings
}

fn capstan_settings(args: &CapstanArgs) -> CapstanSettings {
    let mut settings =
        if args.common.quick { CapstanSettings::quick() } else { CapstanSettings::default() };
    if let Some(frictions) = &args.mu {
        settings.frictions = frictions.clone();
    }
    if let Some(wraps) = &args.wraps_deg {
        settings.wraps = wraps.iter().map(|w| w.to_radians()).collect();
    }
    if let Some(contacts) = &args.contacts {
        settings.contacts = contacts.clone();
    }
    settings.dt = args.common.dt.unwrap_or(settings.dt);
    settings.tolerance = args.common.tolerance.unwrap_or(settings.tolerance);
    settings
}

fn stick_slip_settings(args: &StickSlipArgs) -> StickSlipSettings {
    let mut settings =
        if args.common.quick { StickSlipSettings::quick() } else { StickSlipSettings::default() };
    if let Some(frictions) = &args.mu {
        settings.frictions = frictions.clone();
    }
    if let Some(resolutions) = &args.resolutions {
        settings.resolutions = resolutions.clone();
    }
    if let Some(length) = args.length {
        settings.width *= length / settings.length;
        settings.length = length;
    }
    settings.dt = args.common.dt.unwrap_or(settings.dt);
    settings.tolerance = args.common.tolerance.unwrap_or(settings.tolerance);
    settings
}

/// Runs a protocol and writes `name.csv` with its figures.
fn measured<R: TableRow, E: std::error::Error>(
    out: &Path,
    name: &str,
    global: &Global,
    run: impl FnOnce(&mut Told<'_>) -> Result<Found<R>, E>,
) -> Result<Outcome, Failure> {
    make_folder(out)?;
    let begun = Instant::now();
    let mut share = Share::new(global.quiet || global.json);
    let found = run(&mut |fraction, what| share.tell(fraction, what));
    share.finish();
    let found = found?;
    let mut names = vec![format!("{name}.csv")];
    let table = found.csv();
    atomic_write(out.join(&names[0]), |w| w.write_all(table.as_bytes()))?;
    for figure in &found.figures {
        atomic_write(out.join(&figure.file), |w| figure.plot.write(w))?;
        names.push(figure.file.clone());
    }
    show::of_protocol(name, &found, begun.elapsed().as_secs_f64()).write(out, &names)?;
    names.push(show::REPORT.into());
    let verdict = found.verdict();
    if global.json {
        let line = Object::default()
            .with("protocol", name)
            .with("verdict", verdict.word())
            .with("worst", verdict.worst)
            .with("tolerance", verdict.tolerance)
            .with("at", verdict.at.as_str())
            .with("rows", found.rows.len())
            .with("seconds", begun.elapsed().as_secs_f64());
        json::print(&line.line());
    } else if !global.quiet {
        json::print(&format!(
            "{found}{}: {}\n{} rows in {:.1} s; written to {}: {}",
            name.replace('_', " "),
            // Rules are kept or broken; only tolerances have a worst deviation.
            if found.reports.is_empty() { verdict.word().into() } else { verdict.to_string() },
            found.rows.len(),
            begun.elapsed().as_secs_f64(),
            out.display(),
            names.join(", ")
        ));
    }
    Ok(if verdict.ok { Outcome::Good } else { Outcome::Doubtful })
}

type RunCase = fn(&ShellSettings) -> Result<Case, ShellCaseError>;

fn shells(args: &ShellsArgs, global: &Global) -> Result<Outcome, Failure> {
    make_folder(&args.out)?;
    let mut all_ok = true;
    let mut account = show::Account { title: "validate shells".into(), ..Default::default() };
    let mut names = Vec::new();
    for case in &args.cases {
        let (name, mut settings, run): (_, _, RunCase) = match case {
            ShellCase::EndShear => ("end_shear", ShellSettings::end_shear(), end_shear),
            ShellCase::EndMoment => ("end_moment", ShellSettings::end_moment(), end_moment),
            ShellCase::Hemisphere => ("hemisphere", ShellSettings::hemisphere(), hemisphere),
            ShellCase::ScordelisLo => ("scordelis_lo", ShellSettings::scordelis_lo(), scordelis_lo),
        };
        if let Some(resolutions) = &args.resolutions {
            settings.resolutions = resolutions.clone();
        }
        settings.tolerance = args.tolerance.unwrap_or(settings.tolerance);
        let begun = Instant::now();
        let found = run(&settings)?;
        show::of_case(&mut account, &found, begun.elapsed().as_secs_f64());
        names.push(format!("{name}.csv"));
        atomic_write(args.out.join(format!("{name}.csv")), |w| found.write_csv(w))?;
        for (kind, plot) in [("load", found.load_plot()), ("convergence", found.convergence_plot())]
        {
            atomic_write(args.out.join(format!("{name}_{kind}.svg")), |w| plot.write(w))?;
        }
        let verdict = found.verdict();
        all_ok &= verdict.ok;
        if global.json {
            let line = Object::default()
                .with("protocol", name)
                .with("verdict", verdict.word())
                .with("worst", verdict.worst)
                .with("tolerance", verdict.tolerance)
                .with("seconds", begun.elapsed().as_secs_f64());
            json::print(&line.line());
        } else if !global.quiet {
            let orders: Vec<String> = found.orders().iter().map(|o| format!("{o:.2}")).collect();
            json::print(&format!(
                "{}: {verdict}; order of convergence {}; {:.1} s",
                found.title,
                if orders.is_empty() { "unknown".into() } else { orders.join(", ") },
                begun.elapsed().as_secs_f64()
            ));
        }
    }
    account.write(&args.out, &names)?;
    if !(global.json || global.quiet) {
        json::print(&format!("written to {}", args.out.display()));
    }
    Ok(if all_ok { Outcome::Good } else { Outcome::Doubtful })
}
