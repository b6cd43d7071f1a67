//! Equilibria computed by others: shooting and collocation of the Kirchhoff equations.

use std::path::PathBuf;

use serde_json::Value;
use toile_rod::{
    Clamp, Loads, Mat3, Model, NaturalCurvature, Rod, RodSpec, Section, StaticSettings, Vec3,
    equilibrium,
};

fn folder() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/reference/4_kirchhoff_rods");
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("skipped: {} is not there", root.display());
    None
}

fn vec3(v: &Value) -> Vec3 {
    Vec3::from_fn(|i, _| v[i].as_f64().unwrap())
}

struct Case {
    name: String,
    length: f64,
    section: Section,
    clamp: Clamp,
    natural: NaturalCurvature,
    gravity: Vec3,
    stations: Vec<(Vec3, Mat3)>,
}

fn cases() -> Vec<Case> {
    let Some(folder) = folder() else { return vec![] };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let v: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let i = &v["inputs"];
        let number = |key: &str| i[key].as_f64().unwrap();
        let poly = |key: &str| -> Vec<f64> {
            let list = i["natural_curvature_polynomials_in_s"][key].as_array().unwrap();
            list.iter().map(|c| c.as_f64().unwrap()).collect()
        };
        let rows = &i["clamp_frame_columns_d1_d2_d3"];
        let frame = Mat3::from_fn(|r, c| rows[r][c].as_f64().unwrap());
        let station = |s: &Value| {
            let frame = Mat3::from_columns(&[vec3(&s["d1"]), vec3(&s["d2"]), vec3(&s["d3"])]);
            (vec3(&s["r"]), frame)
        };
        Case {
            name: v["name"].as_str().unwrap().into(),
            length: number("length_m"),
            section: Section {
                bending_stiffness: [number("EI1_Nm2"), number("EI2_Nm2")],
                twisting_stiffness: number("GJ_Nm2"),
                linear_density: number("linear_density_kg_per_m"),
            },
            clamp: Clamp { position: vec3(&i["clamp_position_m"]), frame },
            natural: NaturalCurvature::polynomials(["k1", "k2", "k3_twist"].map(poly)),
            gravity: vec3(&i["gravity_m_per_s2"]),
            stations: v["stations"].as_array().unwrap().iter().map(station).collect(),
        }
    };
    files.into_iter().map(read).collect()
}

/// Largest errors of position over length and of the frames.
fn errors(case: &Case, model: Model, elements: usize) -> (f64, f64) {
    let rod = Rod::new(model, elements, case.length, case.section, case.clamp)
        .unwrap()
        .with_natural_curvature(&case.natural)
        .unwrap();
    let loads = Loads::weight(&case.section, case.gravity);
    let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
    assert!(
        found.certificate.certified,
        "{} {model:?} {elements}: {}",
        case.name, found.certificate.reason
    );
    let stations = rod.equal_stations(&found.q, case.stations.len());
    let mut worst = (0.0f64, 0.0f64);
    for (got, (r, frame)) in stations.iter().zip(&case.stations) {
        worst.0 = worst.0.max((got.position - r).norm() / case.length);
        worst.1 = worst.1.max((got.frame - frame).amax());
    }
    worst
}

#[test]
fn given_rods_are_met_at_the_fourth_order() {
    for case in cases() {
        // Errors at three resolutions: the last two must fall by 2⁴, as those of a Galerkin method do at the joints.
        let [coarse, middle, fine] = [40, 80, 160].map(|n| errors(&case, Model::SuperClothoid, n));
        assert!(coarse.0 < 1e-5 && fine.0 < 3e-8 && fine.1 < 2e-7, "{}: {fine:?}", case.name);
        for (a, b) in [(coarse.0, middle.0), (middle.0, fine.0), (middle.1, fine.1)] {
            let order = (a / b).log2();
            assert!((3.6..4.4).contains(&order), "{}: order {order}", case.name);
        }
    }
}

#[test]
fn super_helices_reach_them_at_the_second_order() {
    for case in cases() {
        let (coarse, fine) =
            (errors(&case, Model::SuperHelix, 40), errors(&case, Model::SuperHelix, 80));
        for (a, b) in [(coarse.0, fine.0), (coarse.1, fine.1)] {
            let order = (a / b).log2();
            assert!((1.8..2.2).contains(&order), "{}: order {order}", case.name);
        }
    }
}

#[test]
fn the_estimated_error_is_the_true_one() {
    for case in cases() {
        let spec = RodSpec {
            model: Model::SuperClothoid,
            length: case.length,
            section: case.section,
            clamp: case.clamp,
            natural: case.natural.clone(),
            planar: false,
        };
        let loads = Loads::weight(&case.section, case.gravity);
        let found = spec.equilibrium(40, &loads, 2e-7, &StaticSettings::default()).unwrap();
        assert!(found.equilibrium.certificate.certified);
        let stations = found.rod.equal_stations(&found.equilibrium.q, 21);
        let error = stations.iter().zip(&case.stations).map(|(got, (r, frame))| {
            ((got.position - r).norm() / case.length).max((got.frame - frame).amax())
        });
        let error = error.fold(0.0, f64::max);
        let estimate = found.error.unwrap();
        assert!(error < 3e-7, "{}: {error:e}", case.name);
        assert!(
            (0.3..3.0).contains(&(estimate / error)),
            "{}: {estimate:e} for {error:e}",
            case.name
        );
    }
}
