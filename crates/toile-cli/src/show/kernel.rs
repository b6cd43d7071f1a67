//! The account of `toile friction`.

use toile::cone::{Solution, Status, Stop};
use toile::io::FrictionProblem;
use toile::report::page::{Table, Verdict};
use toile::report::plot::{Axis, Plot, Series};

use super::Account;

/// Problems whose convergence is drawn.
const MOST_CURVES: usize = 6;

pub(crate) fn of_friction(
    problems: &[FrictionProblem],
    found: &[Solution],
    solver: &str,
    tolerance: f64,
    seconds: f64,
) -> Account {
    let good = found.iter().filter(|s| s.converged()).count();
    let mut convergence =
        Plot::new("Convergence", Axis::linear("iteration"), Axis::log("Alart–Curnier residual"));
    let drawn = problems.iter().zip(found).filter(|(_, s)| s.history.len() > 1);
    for (problem, solution) in drawn.take(MOST_CURVES) {
        let points = solution.history.iter().map(|m| (m.iteration as f64, m.residual)).collect();
        convergence = convergence.with(Series::line(format!("problem {}", problem.id), points));
    }
    let mut plots = if convergence.series.is_empty() { Vec::new() } else { vec![convergence] };
    let mut used = Vec::new();
    for (problem, solution) in problems.iter().zip(found) {
        for (i, r) in solution.r.chunks_exact(problem.dimension).enumerate() {
            let across = r[1..].iter().map(|t| t * t).sum::<f64>().sqrt();
            let mu = problem.mu.get(i).copied().unwrap_or(0.0);
            if r[0] > 0.0 && mu > 0.0 {
                used.push(across / (mu * r[0]));
            }
        }
    }
    if !used.is_empty() {
        plots.push(Plot::histogram(
            "Use of the friction cones",
            "‖r_T‖ / (μ r_N); slips at 1",
            used,
            (0.0, 1.05),
            21,
        ));
    }
    let row = |(problem, s): (&FrictionProblem, &Solution)| {
        let count = |status| s.status.iter().filter(|t| **t == status).count().to_string();
        vec![
            problem.id.to_string(),
            problem.contacts().to_string(),
            count(Status::TakeOff),
            count(Status::Stick),
            count(Status::Slip),
            format!("{:.1e}", s.residuals.alart_curnier),
            format!("{:.1e}", s.residuals.de_saxce),
            s.iterations.to_string(),
            ended(s.stop).into(),
        ]
    };
    let header = [
        "problem",
        "contacts",
        "off",
        "stick",
        "slip",
        "Alart–Curnier",
        "De Saxcé",
        "iterations",
        "end",
    ];
    Account {
        verdict: Some(Verdict {
            ok: good == found.len(),
            word: if good == found.len() { "solved" } else { "not all solved" }.into(),
            reason: format!(
                "{good} of {} problems meet the law within {tolerance:.0e} of the largest force.",
                found.len()
            ),
        }),
        plots,
        tables: vec![Table {
            title: "Problems".into(),
            header: header.map(String::from).into(),
            rows: problems.iter().zip(found).map(row).collect(),
        }],
        timings: vec![(format!("solver {solver}"), seconds)],
        asked: vec![
            ("problems".into(), problems.len().to_string()),
            ("solver".into(), solver.into()),
            ("tolerance".into(), format!("{tolerance:.0e}")),
        ],
        ..Account::default()
    }
}

/// Why a solver stopped.
pub(crate) fn ended(stop: Stop) -> &'static str {
    match stop {
        Stop::Converged => "within the tolerance",
        Stop::MaxIterations => "no more iterations were allowed",
        Stop::Stalled => "nothing improves any more",
        Stop::Unbounded => "forces grow without end",
        Stop::Cancelled => "stopped on request",
        Stop::Unsupported => "this solver cannot work with such a W",
    }
}
