//! Motions that are faster than a step: they stay finite, and gain no energy.

use toile_rod::{
    Assembly, AssemblySettings, Clamp, ClampMotion, Fibre, Loads, Mat3, Model, NaturalCurvature,
    Rod, RodState, Section, StepSettings, Vec3, energies, invert_fibre, step,
};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// Strands of 4 to 24 cm that leave a head to all sides and curl, most of them much too soft for that.
fn drawn(count: usize) -> Vec<(Rod, Vec<Vec3>)> {
    let soft = Section {
        bending_stiffness: [8.0e-9; 2],
        twisting_stiffness: 6.4e-9,
        linear_density: 6.5e-6,
    };
    let mut seed = 12345u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / (1u64 << 31) as f64
    };
    let strand = |_| {
        let mut direction = || Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5);
        let d3 = direction().normalize();
        let d1 = d3.cross(&direction()).normalize();
        let frame = Mat3::from_columns(&[d1, d3.cross(&d1), d3]);
        let length = 0.04 + 0.2 * random();
        let (bend, twist) = (5.0 + 20.0 * random(), 16.0 * random() - 8.0);
        let clamp = Clamp { position: d3 * 0.1, frame };
        let rod = Rod::new(Model::SuperClothoid, 20, length, soft, clamp).unwrap();
        let at = |i: usize| {
            let angle = twist * length * i as f64 / 20.0;
            // A breath beside the drawing: balances that would not last are left.
            let aside = Vec3::new((i as f64).sin(), (1.7 * i as f64).cos(), 0.3) * 1e-6;
            Vec3::new(angle.cos(), angle.sin(), 0.0) * bend + aside
        };
        let q: Vec<Vec3> = (0..rod.blocks()).map(at).collect();
        (rod, q)
    };
    (0..count).map(strand).collect()
}

/// With natures that hold them where they are drawn, and as drawn: sections turn over at once, bends and twists buckle in less than a step. Without
/// damping that flung them about at thousands of metres a second, elements turning a million times; no energy may come from nowhere.
#[test]
fn soft_strands_gain_no_energy() {
    let dt = 2e-3;
    let settings = AssemblySettings {
        step: StepSettings::new(dt),
        gravity: DOWN,
        fibre_friction: None,
        tolerance: 1e-8,
        max_sweeps: 10,
    };
    for naive in [false, true] {
        let mut fastest = 0.0f64;
        for (f, (rod, q)) in drawn(24).into_iter().enumerate() {
            let weight = rod.section().linear_density * 9.81 * rod.length().powi(2);
            let rod = if naive {
                rod.with_rest(&q).unwrap()
            } else {
                invert_fibre(&rod, &q, &Loads::weight(rod.section(), DOWN)).unwrap().rod
            };
            let (state, motion) = (RodState::at_rest(q), ClampMotion::default());
            let fibre = Fibre { rod, state, motion, radius: 1e-4 };
            let mut scene = Assembly::new(vec![fibre], vec![], settings.clone()).unwrap();
            let start: f64 = scene.energies().unwrap().iter().sum();
            for i in 0..500 {
                scene.step().unwrap();
                let now: f64 = scene.energies().unwrap().iter().sum();
                let gained = (now - start) / weight;
                assert!(gained < 0.02, "{naive} {f} step {i}: {gained:e} of its weight");
            }
            fastest = fastest.max(scene.speed());
        }
        // Still swinging.
        assert!(fastest > 0.05 && fastest < 3.0, "{fastest} m/s");
    }
}

/// The trapezoidal rule throws motions without inertia from side to side: what turned with the sections and was not seen by the step made that grow
/// wherever a curl was less bent than its nature.
#[test]
fn a_plucked_curl_stays_finite_with_the_trapezoidal_rule() {
    let unit =
        Section { bending_stiffness: [1.0, 1.3], twisting_stiffness: 0.7, linear_density: 1.0 };
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    let clamp = Clamp { position: Vec3::zeros(), frame };
    for model in [Model::SuperHelix, Model::SuperClothoid] {
        let natural = NaturalCurvature::uniform(Vec3::new(4.0, 1.0, 3.0));
        let rod = Rod::new(model, 8, 1.0, unit, clamp).unwrap();
        let mut rod = rod.with_natural_curvature(&natural).unwrap();
        let q = rod.rest().iter().map(|k| k * 1.1).collect();
        let (mut state, mut still) = (RodState::at_rest(q), ClampMotion::default());
        let settings = StepSettings { theta: 0.5, ..StepSettings::new(2e-3) };
        let total = |rod: &Rod, state: &RodState| {
            let parts = energies(rod, state, &Vec3::zeros(), &ClampMotion::default()).unwrap();
            parts[0] + parts[1]
        };
        let start = total(&rod, &state);
        let mut most = 0.0f64;
        for _ in 0..20_000 {
            step(&mut rod, &mut state, &Vec3::zeros(), &mut still, &settings).unwrap();
            most = most.max(total(&rod, &state));
        }
        assert!(most < 1.05 * start, "{model:?}: {most:e} after {start:e}");
    }
}
