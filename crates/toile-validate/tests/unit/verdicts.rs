use std::io;
use toile_validate::verdict::{Csv, Report, Verdict, cell};

fn report(values: &[(f64, f64)]) -> Report {
    let mut report = Report::new("lengths", 0.01);
    for (i, &(expected, measured)) in values.iter().enumerate() {
        report.push(format!("row {i}"), expected, measured);
    }
    report
}

#[test]
fn one_failing_row_makes_the_whole_ko() {
    let good = report(&[(1.0, 1.005), (200.0, 199.5)]).verdict();
    assert!(good.ok && good.at == "row 0" && (good.worst - 0.005).abs() < 1e-12, "{good}");
    let bad = report(&[(1.0, 1.0), (200.0, 203.0), (1.0, 1.0)]).verdict();
    assert!(!bad.ok && bad.at == "row 1" && bad.word() == "KO", "{bad}");
}

#[test]
fn nothing_and_nan_are_never_ok() {
    assert!(!report(&[]).verdict().ok);
    for values in [(1.0, f64::NAN), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        let verdict = report(&[(1.0, 1.0), values]).verdict();
        assert!(!verdict.ok && verdict.at == "row 1", "{verdict}");
    }
    assert!(!Verdict::all(&[]).ok);
}

#[test]
fn joint_verdict_shows_the_failure() {
    let (good, bad) = (report(&[(1.0, 1.0099)]).verdict(), report(&[(1.0, 1.5)]).verdict());
    let both = Verdict::all(&[good.clone(), bad.clone(), good.clone()]);
    assert!(!both.ok && both.worst == bad.worst);
    assert!(Verdict::all(&[good.clone(), good]).ok);
}

#[test]
fn table_marks_what_failed() {
    let text = report(&[(1.0, 1.0), (1.0, 1.5)]).to_string();
    let marked: Vec<&str> = text.lines().filter(|line| line.ends_with("KO")).collect();
    assert!(marked.len() == 1 && marked[0].contains("row 1"), "{text}");
    assert!(text.ends_with("KO: worst 50.000 % of 1 % allowed, at row 1"), "{text}");
}

#[test]
fn small_figures_stay_readable() {
    let verdict = Verdict { ok: true, worst: 6.4e-11, tolerance: 1e-6, at: "row 1".into() };
    assert_eq!(verdict.to_string(), "OK: worst 6.4e-9 % of 0.0001 % allowed, at row 1");
}

#[test]
fn csv_keeps_numbers_and_quotes_text() {
    let mut csv = Csv::new(Vec::new(), &["gamma", "model"]).unwrap();
    csv.row(&[cell(0.1 + 0.2), "koiter, \"tan\"".into()]).unwrap();
    csv.row(&[cell(1e-12), String::new()]).unwrap();
    assert_eq!(csv.row(&["1"]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let text = String::from_utf8(csv.finish().unwrap()).unwrap();
    assert_eq!(text, "gamma,model\n0.30000000000000004,\"koiter, \"\"tan\"\"\"\n1e-12,\n");
}
