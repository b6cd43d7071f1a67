//! `toile validate`: tables with their columns, and an exit code by verdict.

use std::fs;

use crate::common::{Folder, code, said, toile};

#[test]
fn a_cantilever_is_measured_where_it_is_asked_for() {
    let folder = Folder::new();
    let args = "validate cantilever --out d --nu 0 --gammas 1,10 --models koiter-tan --resolutions 12,16 \
                --lengths 0.5 --tolerance 0.03";
    let output = toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = fs::read_to_string(folder.0.join("d/cantilever.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "gamma,h_over_w,nu,model,resolution");
    assert_eq!(lines.len(), 5, "{table}");
    assert!(lines[1..].iter().all(|l| l.contains("koiter-tan")), "{table}");
    assert!(fs::read_dir(folder.0.join("d")).unwrap().count() > 1, "no figure");
}

#[test]
fn thresholds_of_buckling_have_their_table() {
    let folder = Folder::new();
    let args = "validate lateral-buckling --out d --nu 0.35 --w-over-l 0.5 --models koiter-sin \
                --resolutions 8,12 --tolerance 0.1 --json";
    let output = toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = fs::read_to_string(folder.0.join("d/lateral_buckling.csv")).unwrap();
    assert!(table.starts_with("w_over_l,nu,gamma_c,model,resolution\n"), "{table}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["verdict"], "OK");
}

#[test]
fn sheets_on_a_slope_have_their_table_and_their_verdict() {
    let folder = Folder::new();
    let args = "validate incline --out d --triangles 2 --headings-deg 30 --common-speeds 0,10 \
                --mu-over-tan 1.05,0.95 --seconds 0.5 --json";
    let output = toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = fs::read_to_string(folder.0.join("d/incline.csv")).unwrap();
    let header = "triangles,heading_deg,common_speed,mu_over_tan,largest_creep,acceleration,\
                  exact_acceleration,leans,verdict\n2,30,0,1.05,0,";
    // Gravity leans, or the plane does.
    assert!(table.starts_with(header) && table.lines().count() == 9, "{table}");
    assert!(folder.0.join("d/incline.svg").exists());
    let bad = toile(&folder, &["validate", "incline", "--out", "d", "--triangles", "3"]);
    assert!(code(&bad) == 2 && said(&bad).contains("even"), "{}", said(&bad));
}

#[test]
fn cloth_over_a_cylinder_has_its_table_and_its_verdict() {
    let folder = Folder::new();
    let args = "validate cylinder --out d --quick --json";
    let output = toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = fs::read_to_string(folder.0.join("d/cylinder.csv")).unwrap();
    assert!(table.starts_with("resolution,mu,speed,travel,phase\n"), "{table}");
    assert!(folder.0.join("d/cylinder.svg").exists());
    let bad = toile(&folder, &["validate", "cylinder", "--out", "d", "--offset", "3"]);
    assert!(code(&bad) == 2 && said(&bad).contains("shorter side"), "{}", said(&bad));
}

#[test]
fn belts_have_their_table_and_their_verdict() {
    let folder = Folder::new();
    let run = |args: &str| toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    let output =
        run("validate capstan --out d --quick --mu 0.2 --wraps-deg 90 --contacts 6 --json");
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = fs::read_to_string(folder.0.join("d/capstan.csv")).unwrap();
    let header = "mu,wrap,contacts,tension_ratio,of_points,exp_mu_wrap,drum\n0.2,";
    assert!(table.starts_with(header) && table.lines().count() == 3, "{table}");
    assert!(folder.0.join("d/capstan.svg").exists());
    let bad = run("validate capstan --out d --contacts 3");
    assert!(code(&bad) == 2 && said(&bad).contains("contacts"), "{}", said(&bad));
}

#[test]
fn pushed_strips_have_their_table_and_their_verdict() {
    let folder = Folder::new();
    let run = |args: &str| toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    let output = run("validate stick-slip --out d --quick --mu 0.1 --resolutions 16 --json");
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = fs::read_to_string(folder.0.join("d/stick_slip.csv")).unwrap();
    let header = "mu,resolution,eps_y,mu_elastica,off_by,force_error\n0.1,16,0.04";
    assert!(table.starts_with(header) && table.lines().count() == 2, "{table}");
    assert!(folder.0.join("d/stick_slip.svg").exists());
    let bad = run("validate stick-slip --out d --mu 0.5");
    assert!(code(&bad) == 2 && said(&bad).contains("lies down"), "{}", said(&bad));
}

#[test]
fn the_verdict_follows_the_tolerance() {
    let folder = Folder::new();
    for (tolerance, status) in [("0.5", 0), ("1e-9", 1)] {
        let args = ["validate", "shells", "--cases", "scordelis-lo", "--resolutions", "4,8"];
        let output =
            toile(&folder, &[&args[..], &["--out", "d", "--tolerance", tolerance]].concat());
        assert_eq!(code(&output), status, "{}", said(&output));
    }
    let bad = toile(&folder, &["validate", "cantilever", "--out", "d", "--models", "koiter"]);
    assert_eq!(code(&bad), 2);
    assert!(said(&bad).contains("koiter-average"), "{}", said(&bad));
    let bad = toile(&folder, &["validate", "cantilever", "--out", "d", "--gammas", "-1"]);
    assert_eq!(code(&bad), 2, "{}", said(&bad));
}
