//! Accounts of `toile validate`.

use toile::report::page::{Table, Verdict};
use toile::validate::protocol::{Outcome, TableRow};
use toile::validate::shells::Case;
use toile::validate::verdict::Verdict as Judged;

use super::Account;

fn verdict(of: &Judged) -> Verdict {
    Verdict { ok: of.ok, word: of.word().into(), reason: of.to_string() }
}

/// The account of a protocol: its curves, its comparisons and its table.
pub(crate) fn of_protocol<R: TableRow>(name: &str, found: &Outcome<R>, seconds: f64) -> Account {
    let mut tables: Vec<Table> = Vec::new();
    for report in &found.reports {
        let row = |r: &toile::validate::verdict::Row| {
            let off = r.deviation();
            vec![
                r.at.clone(),
                format!("{:.6}", r.expected),
                format!("{:.6}", r.measured),
                format!("{:.3} %", 100.0 * off),
                if off <= report.tolerance { "" } else { "KO" }.into(),
            ]
        };
        tables.push(Table {
            title: format!("{}: {}", report.title, report.verdict()),
            header: ["at", "expected", "measured", "off by", ""].map(String::from).into(),
            rows: report.rows.iter().map(row).collect(),
        });
    }
    if !found.checks.is_empty() {
        tables.push(Table {
            title: "Rules".into(),
            header: ["", "rule", "figures"].map(String::from).into(),
            rows: found
                .checks
                .iter()
                .map(|c| {
                    vec![if c.ok { "OK" } else { "KO" }.into(), c.title.clone(), c.detail.clone()]
                })
                .collect(),
        });
    }
    tables.push(Table {
        title: "Everything that was measured".into(),
        header: R::HEADER.iter().map(|h| (*h).into()).collect(),
        rows: found.rows.iter().map(TableRow::cells).collect(),
    });
    let judged = found.verdict();
    let mut told = verdict(&judged);
    if found.reports.is_empty() {
        // Rules are kept or broken; only tolerances have a worst deviation.
        told.reason =
            if judged.ok { "every rule is kept".into() } else { format!("broken: {}", judged.at) };
    }
    Account {
        title: format!("validate {}", name.replace('_', "-")),
        verdict: Some(told),
        plots: found.figures.iter().map(|f| f.plot.clone()).collect(),
        tables,
        notes: found.notes.clone(),
        timings: vec![("the whole protocol".into(), seconds)],
        ..Account::default()
    }
}

/// Adds a case of the shell protocol to an account.
pub(crate) fn of_case(account: &mut Account, found: &Case, seconds: f64) {
    account.plots.extend([found.load_plot(), found.convergence_plot()]);
    account.timings.push((found.title.clone(), seconds));
    let row = |run: &toile::validate::shells::Run| {
        let (worst, load) = found.worst(run);
        vec![
            run.resolution.to_string(),
            run.unknowns.to_string(),
            format!("{:.4} %", 100.0 * worst),
            format!("{load:.2}"),
        ]
    };
    account.tables.push(Table {
        title: format!("{}: {}", found.title, found.verdict()),
        header: ["cells", "unknowns", "worst deviation", "at part of the load"]
            .map(String::from)
            .into(),
        rows: found.runs.iter().map(row).collect(),
    });
    let new = verdict(&found.verdict());
    match &mut account.verdict {
        // A failure is shown before any success.
        Some(old) if !old.ok => {}
        old => *old = Some(new),
    }
}
