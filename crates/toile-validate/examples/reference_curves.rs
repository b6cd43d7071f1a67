//! Draws the reference curves: heavy cantilever, stick-slip, lateral buckling, and the convergence of collocation.
//!
//! `cargo run -p toile-validate --example reference_curves -- DIR` writes four SVG files to DIR (default: the system's
//! temporary folder) and prints the triple point (0.3303, 0.3564) and the threshold 24.963 at w/L = 0.5, ν = 0.

use std::{error::Error, fs, path::PathBuf};
use toile_report::plot::{Axis, Band, Marker, Plot, Series, SlopeTriangle};
use toile_validate::verdict::Report;
use toile_validate::{elastica, lateral_buckling, plate};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    fs::create_dir_all(&folder)?;

    let gammas: Vec<f64> = (-16..=24).map(|i| 10f64.powf(f64::from(i) / 4.0)).collect();
    let curve: Vec<(f64, f64)> = elastica::heavy_cantilever_curve(&gammas)?
        .iter()
        .map(|c| (c.load.gamma, c.drop_over_reach))
        .collect();
    let published = [
        (0.01, 0.00125),
        (1.0, 0.12456),
        (10.0, 1.06680),
        (100.0, 5.88810),
        (1e4, 69.709),
        (1e6, 706.11),
    ];
    let mut report = Report::new("heavy cantilever", 1e-4);
    for &(gamma, ratio) in &published {
        report.push(
            format!("Γ = {gamma}"),
            ratio,
            elastica::heavy_cantilever(gamma)?.drop_over_reach,
        );
    }
    println!("{report}");
    let asymptote = |f: &dyn Fn(f64) -> f64, keep: &dyn Fn(f64) -> bool| {
        gammas.iter().filter(|g| keep(**g)).map(|&g| (g, f(g))).collect::<Vec<_>>()
    };
    let plot = Plot::new(
        "Heavy cantilever: drop over reach",
        Axis::log("Γ = ρ A g L³ / EI"),
        Axis::log("H/W"),
    )
    .with_band(Band::around("± 10 %", &curve, 0.1))
    .with(Series::line("elastica, collocation", curve))
    .with(Series::dashed("Γ/8", asymptote(&|g| g / 8.0, &|g| g < 1e3)))
    .with(Series::dashed("√(Γ/2) − 1", asymptote(&|g| (g / 2.0).sqrt() - 1.0, &|g| g > 8.0)))
    .with(Series::markers("Ly 2021", Marker::Circle, published.to_vec()))
    .with_verdict(report.verdict());
    plot.write(fs::File::create(folder.join("cantilever.svg"))?)?;

    let eps: Vec<f64> = (1..=66).map(|i| 0.005 * f64::from(i)).collect();
    let strips = elastica::stick_slip_curve(&eps)?;
    let triple = elastica::triple_point()?;
    println!("triple point ({:.4}, {:.4})", triple.shortening, triple.friction_needed);
    let slope = 2.0 / elastica::stick_slip::first_buckling_wavenumber();
    let plot = Plot::new(
        "Stick-slip: friction that holds the tip",
        Axis::linear("ε = δ/L"),
        Axis::linear("μ = Q/P"),
    )
    .with(Series::line(
        "elastica",
        strips.iter().map(|s| (s.shortening, s.friction_needed)).collect(),
    ))
    .with(Series::dashed("0.4451 √ε", eps.iter().map(|e| (*e, slope * e.sqrt())).collect()))
    .with(Series::markers(
        "triple point",
        Marker::Diamond,
        vec![(triple.shortening, triple.friction_needed)],
    ));
    plot.write(fs::File::create(folder.join("stick_slip.svg"))?)?;

    let mut plot = Plot::new(
        "Lateral buckling: thresholds of a heavy plate",
        Axis::linear("w/L"),
        Axis::linear("Γ* = ρ h g L³ / D"),
    );
    for (colour, nu, marker) in [(0, 0.0, Marker::Circle), (1, 0.35, Marker::Square)] {
        let widths: Vec<f64> = (1..=10).map(|i| 0.1 * f64::from(i)).collect();
        let mut points = Vec::new();
        for &w in &widths {
            points.push((w, plate::lateral_buckling_threshold(w, nu)?));
        }
        let fit = [0.0, 1.0].map(|w| (w, lateral_buckling::thesis_fit(w, nu)));
        plot = plot
            .with(
                Series::line_and_markers(format!("Ritz, ν = {nu}"), marker, points)
                    .coloured(colour),
            )
            .with(
                Series::dashed(format!("fit of Ly 2021, ν = {nu}"), fit.to_vec()).coloured(colour),
            )
            .with(
                Series::markers(
                    format!("rod limit, ν = {nu}"),
                    Marker::Cross,
                    vec![(0.0, lateral_buckling::rod_limit(nu))],
                )
                .coloured(colour),
            );
    }
    plot.write(fs::File::create(folder.join("lateral_buckling.svg"))?)?;
    println!("Γ*(0.5, 0) = {:.3}", plate::lateral_buckling_threshold(0.5, 0.0)?);

    let fine = plate::Resolution { bending_along: 34, ..plate::Resolution::default() };
    let exact = plate::lateral_buckling_threshold_at(0.3, 0.0, fine)?;
    let mut errors = Vec::new();
    for along in (4..=20).step_by(2) {
        let resolution = plate::Resolution { bending_along: along, ..fine };
        let value = plate::lateral_buckling_threshold_at(0.3, 0.0, resolution)?;
        errors.push((along as f64, (value / exact - 1.0).abs()));
    }
    let mut plot = Plot::new(
        "Ritz convergence, w/L = 0.3, ν = 0",
        Axis::log("polynomials along the length"),
        Axis::log("relative error"),
    );
    plot.slopes.extend(SlopeTriangle::below(&errors, -5.0));
    let plot = plot.with(Series::line_and_markers("error", Marker::Triangle, errors));
    plot.write(fs::File::create(folder.join("ritz_convergence.svg"))?)?;
    Ok(())
}
