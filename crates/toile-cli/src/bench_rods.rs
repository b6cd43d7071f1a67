//! `toile bench rods`: the step of one rod in linear time beside the dense one, and its fits to a curve.

use std::time::Instant;

use toile::rod::{
    Clamp, ClampMotion, Curve, FitSettings, Mat3, Model, Rod, RodState, Section, StepSettings,
    Vec3, acceleration, acceleration_dense, distances, fit_unmeasured,
};

use crate::args::BenchArgs;
use crate::bench::rounded;
use crate::json::{self, Object};
use crate::{Failure, Outcome};

/// Elements; the dense step is taken up to the first number.
const DENSE: usize = 100;
const ELEMENTS: [usize; 7] = [10, 32, DENSE, 316, 1000, 3162, 10_000];
/// Runs of which the fastest counts.
const RUNS: usize = 5;
/// Fits in a run.
const REPEATS: usize = 20;
/// Elements of the fits that are compared.
const FITTED: usize = 15;

const SECTION: Section =
    Section { bending_stiffness: [1.0, 1.3], twisting_stiffness: 0.7, linear_density: 1.0 };

/// A rod of a metre in full motion, on a clamp that turns.
fn moving(model: Model, n: usize) -> Result<(Rod, RodState, ClampMotion), Failure> {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    let clamp = Clamp { position: Vec3::zeros(), frame };
    let rod = Rod::new(model, n, 1.0, SECTION, clamp)?;
    let wave = |i: usize, a: f64| {
        let s = a * i as f64 / n as f64;
        Vec3::new(3.0 * s.sin(), 2.0 * (1.3 * s).cos(), 1.0 - s)
    };
    let blocks = rod.blocks();
    let state = RodState {
        q: (0..blocks).map(|i| wave(i, 7.0)).collect(),
        rate: (0..blocks).map(|i| wave(i, 11.0)).collect(),
    };
    let spin = Vec3::new(0.4, 2.0, -1.0);
    Ok((rod, state, ClampMotion { spin, ..ClampMotion::default() }))
}

/// What a call gives, and the least time of some calls \[s\].
fn timed<T, E>(repeat: usize, mut call: impl FnMut() -> Result<T, E>) -> Result<(T, f64), E> {
    let mut result = call()?;
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let clock = Instant::now();
        for _ in 0..repeat {
            result = call()?;
        }
        least = least.min(clock.elapsed().as_secs_f64() / repeat as f64);
    }
    Ok((result, least))
}

pub(crate) fn run(args: &BenchArgs) -> Result<Outcome, Failure> {
    let all = args.n.map_or(ELEMENTS.to_vec(), |n| vec![n as usize]);
    let (gravity, settings) = (Vec3::new(0.0, 0.0, -9.81), StepSettings::new(1e-3));
    for (model, name) in
        [(Model::SuperHelix, "super-helix"), (Model::SuperClothoid, "super-clothoid")]
    {
        for &n in &all {
            let (rod, state, motion) = moving(model, n)?;
            let (fast, seconds) = timed((1000 / n).max(1), || {
                acceleration(&rod, &state, &gravity, &motion, &settings)
            })?;
            let mut line = Object::default()
                .with("model", name)
                .with("elements", n)
                .with("us_per_step", rounded(1e6 * seconds))
                .with("us_per_element", rounded(1e6 * seconds / n as f64));
            if n <= DENSE {
                let (dense, slow) =
                    timed(1, || acceleration_dense(&rod, &state, &gravity, &motion, &settings))?;
                let off = fast.iter().zip(&dense).map(|(a, b)| (a - b).norm_squared()).sum::<f64>();
                let size = dense.iter().map(|a| a.norm_squared()).sum::<f64>();
                line = line
                    .with("us_dense", rounded(1e6 * slow))
                    .with("gain", rounded(slow / seconds))
                    .with("difference", (off / size).sqrt());
            }
            json::print(&line.line());
        }
    }
    // Floating tangents against least squares on the same curve.
    let point = |i: usize| {
        let t = i as f64 / 299.0;
        let (angle, r) = (14.0 * t, 0.02 * (1.0 + 0.5 * t));
        Vec3::new(r * angle.cos(), r * angle.sin(), -0.25 * t)
    };
    let curve = Curve::new(&(0..300).map(point).collect::<Vec<Vec3>>())?;
    let mut spent = Vec::new();
    for (model, name) in [
        (Model::SuperHelix, "helices by floating tangents"),
        (Model::SuperClothoid, "clothoids by least squares"),
    ] {
        let settings = FitSettings { elements: FITTED, model, noise: 0.0 };
        let ((rod, q), seconds) =
            timed(REPEATS, || fit_unmeasured(&curve, SECTION, None, &settings))?;
        // How far it is from the drawing is measured alike for both.
        let ((error, _), measuring) =
            timed(REPEATS, || Ok::<_, Failure>(distances(&curve, &rod, &q)))?;
        spent.push((seconds, seconds + measuring));
        let mut line = Object::default()
            .with("fit", name)
            .with("elements", FITTED)
            .with("ms", rounded(1e3 * seconds))
            .with("ms_with_measuring", rounded(1e3 * (seconds + measuring)))
            .with("error", error / curve.length());
        if let [tangents, squares] = spent[..] {
            line = line
                .with("floating_tangents_gain", rounded(squares.0 / tangents.0))
                .with("gain_with_measuring", rounded(squares.1 / tangents.1));
        }
        json::print(&line.line());
    }
    Ok(Outcome::Good)
}
