//! Bodies with dry friction against their closed forms, each a few rows of H and M.

use std::fs;
use std::path::Path;

use nalgebra::{DMatrix, DVector};
use serde_json::Value;
use toile_cone::{Auto, DenseOperator, Problem, Settings, Solver, Status};

const G: f64 = 9.81;

/// Velocity after a step without contacts `v_free`, corrected by the contact forces.
fn step<const D: usize>(
    h: &DMatrix<f64>,
    mass: &DMatrix<f64>,
    v_free: &DVector<f64>,
    mu: &[f64],
) -> (DVector<f64>, Vec<Status>) {
    let operator = DenseOperator::<D>::from_mass(h, mass).unwrap();
    let b = h * v_free;
    let problem = Problem::new(&operator, b.as_slice(), mu).unwrap();
    let settings = Settings { tolerance: 1e-12, ..Settings::default() };
    let found = Auto.solve(&problem, None, &settings, &|_, _| true);
    assert!(found.converged(), "{:?}", found.residuals);
    let push = h.transpose() * DVector::from_column_slice(&found.r);
    (v_free + mass.clone().cholesky().unwrap().solve(&push), found.status)
}

fn vector(values: &[f64]) -> DVector<f64> {
    DVector::from_column_slice(values)
}

fn rows(columns: usize, values: &[f64]) -> DMatrix<f64> {
    DMatrix::from_row_slice(values.len() / columns, columns, values)
}

fn masses(values: &[f64]) -> DMatrix<f64> {
    DMatrix::from_diagonal(&vector(values))
}

/// A case of the file.
struct Case<'a>(&'a Value);

impl Case<'_> {
    fn input(&self, key: &str) -> f64 {
        self.0["inputs"][key].as_f64().unwrap_or_else(|| panic!("no input {key}"))
    }
    fn output(&self, key: &str) -> f64 {
        self.0["outputs"][key].as_f64().unwrap_or_else(|| panic!("no output {key}"))
    }
    fn flag(&self, key: &str) -> bool {
        self.0["outputs"][key].as_bool().unwrap()
    }
    fn has(&self, key: &str) -> bool {
        !self.0["outputs"][key].is_null()
    }
}

fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(error <= tolerance * expected.abs().max(1.0), "{what}: {found} instead of {expected}");
}

/// One step of a block of 1 kg along a slope, positive downhill.
fn slide(mu: f64, slope: f64, v: f64, dt: f64) -> (f64, Status) {
    let free = vector(&[-dt * G * slope.cos(), v + dt * G * slope.sin()]);
    let one = DMatrix::identity(2, 2);
    let (v, status) = step::<2>(&one, &one, &free, &[mu]);
    (v[1], status[0])
}

fn sliding_steps(mu: f64, slope: f64, mut v: f64, dt: f64) -> (usize, f64) {
    let (mut steps, mut x) = (0, 0.0);
    loop {
        let (next, status) = slide(mu, slope, v, dt);
        v = next;
        x += dt * v;
        if status == Status::Stick {
            assert!(v.abs() < 1e-15, "{v}");
            return (steps, x);
        }
        steps += 1;
        assert!(steps < 10_000);
    }
}

fn block_on_incline(case: &Case<'_>) {
    let (mu, slope) = (case.input("mu"), case.input("slope_deg").to_radians());
    let (v, status) = slide(mu, slope, 0.0, 0.01);
    close("acceleration", v / 0.01, case.output("acceleration_from_rest"), 1e-10);
    assert_eq!(status == Status::Slip, case.flag("slides_from_rest"));
    if case.has("h") {
        let (dt, v0) = (case.output("h"), case.output("v0_downhill"));
        let (steps, x) = sliding_steps(mu, slope, v0, dt);
        assert_eq!(steps, case.output("moreau_steps_before_stick") as usize);
        let expected = case.output("moreau_stopping_distance_x_plus_eq_x_plus_h_vplus");
        close("stopping distance", x, expected, 1e-10);
    }
}

fn block_launched_uphill(case: &Case<'_>) {
    let (mu, slope) = (case.input("mu"), case.input("slope_deg").to_radians());
    let v0 = case.input("v0_uphill");
    let (v, _) = slide(mu, slope, -v0, 1e-3);
    close("time up", v0 / ((v + v0) / 1e-3), case.output("time_up"), 1e-10);
    let (_, status) = slide(mu, slope, 0.0, 1e-3);
    assert_eq!(status == Status::Slip, case.flag("slides_back"));
}

fn across_the_slope(case: &Case<'_>) {
    let (mu, slope) = (case.input("mu"), case.input("slope_deg").to_radians());
    let list = |key: &str| -> Vec<f64> {
        case.0["outputs"][key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let (times, vx, vy) = (list("t"), list("vx"), list("vy"));
    let (one, dt) = (DMatrix::identity(3, 3), 2e-3);
    let mut v = vector(&[0.0, case.input("v0_horizontal"), 0.0]);
    let mut done = 0;
    for k in 1..times.len() {
        let until = (times[k] / dt).round() as usize;
        for _ in done..until {
            let pull = vector(&[-dt * G * slope.cos(), 0.0, dt * G * slope.sin()]);
            v = step::<3>(&one, &one, &(v + pull), &[mu]).0;
        }
        done = until;
        // First order in the step.
        close("v across", v[1], vx[k], 2e-3);
        close("v downhill", v[2], vy[k], 2e-3);
    }
}

fn two_blocks(case: &Case<'_>) {
    let (top, bottom, pull) = (case.input("m_top"), case.input("m_bottom"), case.input("F"));
    let mu = [case.input("mu_between"), case.input("mu_ground")];
    // Unknowns: x and z of the top, x and z of the bottom.
    let h = rows(4, &[0., 1., 0., -1., 1., 0., -1., 0., 0., 0., 0., 1., 0., 0., 1., 0.]);
    let free = vector(&[0.0, -G, pull / bottom, -G]);
    let (a, _) = step::<2>(&h, &masses(&[top, top, bottom, bottom]), &free, &mu);
    close("top", a[0], case.output("a_top"), 1e-9);
    close("bottom", a[2], case.output("a_bottom"), 1e-9);
}

/// Contact of a wheel: normal z, tangent x − R ω; unknowns x, z, ω; the mass is 1.
fn wheel(inertia: f64, radius: f64) -> (DMatrix<f64>, DMatrix<f64>) {
    let h = rows(3, &[0.0, 1.0, 0.0, 1.0, 0.0, -radius]);
    (h, masses(&[1.0, 1.0, inertia * radius * radius]))
}

fn sliding_to_rolling(case: &Case<'_>) {
    let radius = case.input("R");
    let (h, mass) = wheel(case.input("I_over_mR2"), radius);
    let dt = case.output("slip_time") / 1000.5; // sticks in the step after the 1000th
    let mut v = vector(&[case.input("v0"), 0.0, 0.0]);
    let mut sliding = 0;
    for _ in 0..1100 {
        let (next, status) =
            step::<2>(&h, &mass, &(v - vector(&[0.0, dt * G, 0.0])), &[case.input("mu")]);
        v = next;
        sliding += usize::from(status[0] == Status::Slip);
    }
    assert_eq!(sliding, 1000);
    close("speed", v[0], case.output("final_speed"), 1e-9);
    close("spin", v[2], case.output("final_spin"), 1e-9);
}

fn round_body(case: &Case<'_>) {
    let (h, mass) = wheel(case.input("I_over_mR2"), 1.0);
    let slope = case.input("slope_deg").to_radians();
    let free = vector(&[G * slope.sin(), -G * slope.cos(), 0.0]);
    let (a, status) = step::<2>(&h, &mass, &free, &[case.input("mu")]);
    close("acceleration", a[0], case.output("acceleration"), 1e-10);
    close("spin", a[2], case.output("angular_acceleration_times_R"), 1e-10);
    assert_eq!(status[0] == Status::Stick, case.flag("rolls"));
}

/// Normal and tangent rows of a planar body at `arm` from its centre; unknowns x, y, ω.
fn planar(normal: [f64; 2], arm: [f64; 2]) -> [f64; 6] {
    let tangent = [normal[1], -normal[0]];
    let turn = |d: [f64; 2]| d[1] * arm[0] - d[0] * arm[1];
    [normal[0], normal[1], turn(normal), tangent[0], tangent[1], turn(tangent)]
}

fn ladder(case: &Case<'_>) {
    let threshold = case.output("min_angle_from_floor_deg");
    for (angle, holds) in [(threshold + 0.1, true), (threshold - 0.1, false)] {
        let (sin, cos) = angle.to_radians().sin_cos();
        let foot = planar([0.0, 1.0], [0.5 * cos, -0.5 * sin]);
        let head = planar([1.0, 0.0], [-0.5 * cos, 0.5 * sin]);
        let h = rows(3, &[foot, head].concat());
        let mass = masses(&[1.0, 1.0, 1.0 / 12.0]);
        let mu = [case.input("mu_floor"), case.input("mu_wall")];
        let (a, _) = step::<2>(&h, &mass, &vector(&[0.0, -G, 0.0]), &mu);
        assert_eq!(a.amax() < 1e-9, holds, "{angle}: {a}");
    }
}

fn groove(case: &Case<'_>) {
    let (sin, cos) = case.input("half_opening_angle_deg").to_radians().sin_cos();
    // Unknowns: along, sideways, up; each wall with its normal, the length, and up the wall.
    let wall = |side: f64| [0.0, side * cos, sin, 1.0, 0.0, 0.0, 0.0, -side * sin, cos];
    let h = rows(3, &[wall(1.0), wall(-1.0)].concat());
    let threshold = case.output("threshold_slope_deg");
    for (slope, holds) in [(threshold - 0.05, true), (threshold + 0.05, false)] {
        let slope = f64::to_radians(slope);
        let free = vector(&[G * slope.sin(), 0.0, -G * slope.cos()]);
        let (a, _) = step::<3>(&h, &DMatrix::identity(3, 3), &free, &[case.input("mu"); 2]);
        assert_eq!(a.amax() < 1e-9, holds, "{slope}: {a}");
    }
}

fn box_tips_or_slips(case: &Case<'_>) {
    let (base, height, mu) = (case.input("base"), case.input("height"), case.input("mu"));
    let mut h = Vec::new();
    for side in [-0.5, 0.5] {
        h.extend(planar([0.0, 1.0], [side * base, -0.5 * height]));
    }
    let mass = masses(&[1.0, 1.0, (base * base + height * height) / 12.0]);
    let first = case.output("slip_angle_deg").min(case.output("tip_angle_deg"));
    for (slope, holds) in [(first - 0.05, true), (first + 0.05, false)] {
        let slope = f64::to_radians(slope);
        let free = vector(&[G * slope.sin(), -G * slope.cos(), 0.0]);
        let (a, _) = step::<2>(&rows(3, &h), &mass, &free, &[mu; 2]);
        assert_eq!(a.amax() < 1e-9, holds, "{slope}: {a}");
        if !holds {
            let tips = case.0["outputs"]["first"] == "tip";
            assert_eq!(a[2].abs() > 1e-9, tips, "{a}");
        }
    }
}

fn stopping(case: &Case<'_>) {
    let (steps, x) = sliding_steps(case.input("mu"), 0.0, case.input("v0"), case.input("h"));
    assert_eq!(steps, case.output("moreau_sliding_steps") as usize);
    close("distance", x, case.output("moreau_distance"), 1e-10);
}

fn impact(case: &Case<'_>) {
    let free = vector(&[-case.input("v_normal_in"), case.input("v_tangential_in")]);
    let one = DMatrix::identity(2, 2);
    let (v, status) = step::<2>(&one, &one, &free, &[case.input("mu")]);
    close("tangential", v[1], case.output("v_tangential_out"), 1e-12);
    assert_eq!(status[0] == Status::Stick, case.flag("sticks"));
}

#[test]
fn small_bodies_follow_their_closed_forms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/7_friction");
    let path = root.join("closed_forms_give.json");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("skipped: no closed forms at {}", path.display());
        return;
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    let mut checked = 0;
    for value in file["cases"].as_array().unwrap() {
        let check: fn(&Case<'_>) = match value["name"].as_str().unwrap() {
            "block_on_incline" => block_on_incline,
            "block_launched_uphill" => block_launched_uphill,
            "across_the_slope_isotropic_coulomb" => across_the_slope,
            "two_block_stack_bottom_pulled" => two_blocks,
            "sliding_to_rolling" => sliding_to_rolling,
            "round_body_on_incline" => round_body,
            "ladder_floor_wall" => ladder,
            "bar_in_inclined_V_groove" => groove,
            "box_tip_or_slip_on_incline" => box_tips_or_slips,
            "block_stopping_on_plane" => stopping,
            "particle_oblique_inelastic_impact" => impact,
            // Ropes and springs are bodies of many points: they belong to motion.
            _ => continue,
        };
        eprintln!("{} {}", value["name"], value["inputs"]);
        check(&Case(value));
        checked += 1;
    }
    assert!(checked >= 20, "{checked}");
}
