//! Rods that move.

use std::time::Instant;

use toile_rod::{
    Clamp, ClampMotion, Mat3, Model, NaturalCurvature, Rod, RodState, Section, StepSettings, Vec3,
    acceleration, acceleration_dense, energies, frequencies, step, turn,
};

const UNIT: Section =
    Section { bending_stiffness: [1.0, 1.3], twisting_stiffness: 0.7, linear_density: 1.0 };

const MODELS: [Model; 2] = [Model::SuperHelix, Model::SuperClothoid];

fn along_x() -> Clamp {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    Clamp { position: Vec3::zeros(), frame }
}

fn wild(model: Model, n: usize) -> (Rod, RodState) {
    let rod = Rod::new(model, n, 1.0, UNIT, along_x()).unwrap();
    let value =
        |i: usize, a: f64| Vec3::new((a * i as f64).sin(), (1.3 * a * i as f64).cos(), 0.5) * 3.0;
    let q = (0..rod.blocks()).map(|i| value(i, 0.7)).collect();
    let rate = (0..rod.blocks()).map(|i| value(i, 1.1) * 2.0).collect();
    (rod, RodState { q, rate })
}

const SPINNING: ClampMotion = ClampMotion {
    velocity: Vec3::new(0.3, -0.2, 0.1),
    acceleration: Vec3::new(1.0, 2.0, -0.5),
    spin: Vec3::new(0.4, 2.0, -1.0),
    spin_rate: Vec3::new(-3.0, 0.2, 0.7),
};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

#[test]
fn the_recursion_takes_the_dense_step() {
    for model in MODELS {
        for n in [1, 4, 16, 64] {
            let (rod, state) = wild(model, n);
            for settings in [
                StepSettings::new(1e-3),
                StepSettings { theta: 0.5, damping: 1e-3, ..StepSettings::new(1e-2) },
            ] {
                let a = acceleration(&rod, &state, &DOWN, &SPINNING, &settings).unwrap();
                let b = acceleration_dense(&rod, &state, &DOWN, &SPINNING, &settings).unwrap();
                let difference: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).norm_squared()).sum();
                let size: f64 = b.iter().map(|b| b.norm_squared()).sum();
                let error = (difference / size).sqrt();
                assert!(error < 1e-10, "{model:?} {n}: {error:e}");
            }
        }
    }
}

#[test]
fn accelerations_are_those_of_the_points() {
    // Virtual work with q̈ = 0: Jᵀ(g − a*) must match differences in time of the positions.
    for model in MODELS {
        let (rod, state) = wild(model, 3);
        let h = 1e-4;
        let at = |t: f64, s: f64| {
            let mut moved = rod.clone();
            // The clamp at time t, to third order in its angles.
            let spin = SPINNING.spin * t + SPINNING.spin_rate * (0.5 * t * t);
            let frame = turn(&spin, 1.0) * rod.clamp().frame;
            let position = SPINNING.velocity * t + SPINNING.acceleration * (0.5 * t * t);
            moved.set_clamp(Clamp { position, frame });
            let q: Vec<Vec3> = state.q.iter().zip(&state.rate).map(|(q, v)| q + v * t).collect();
            moved.stations(&q, &[s])[0].position
        };
        // M q̈ = ∫ Jᵀ(g − a*) − K(q − q̄): with K's part taken out by a soft rod.
        let soft = Section {
            bending_stiffness: [1e-12; 2],
            twisting_stiffness: 1e-12,
            linear_density: 1.0,
        };
        let loose = Rod::new(model, 3, 1.0, soft, along_x()).unwrap();
        // So short that the first terms of the momentum are all of it.
        let (h_step, nu) = (1e-4, 1e9);
        let settings = StepSettings { damping: nu, ..StepSettings::new(h_step) };
        // (M + h (h + ν) K) q̈ + K(q + (h + ν) v) = loads; K-terms are 1e-3 and known.
        let a = acceleration(&loose, &state, &DOWN, &SPINNING, &settings).unwrap();
        let m = toile_rod::mass_matrix(&loose, &state.q).unwrap();
        let flat = |v: &[Vec3]| nalgebra::DVector::from_fn(3 * v.len(), |i, _| v[i / 3][i % 3]);
        let sum: Vec<Vec3> = (0..a.len())
            .map(|i| (a[i] * h_step + state.rate[i]) * (h_step + nu) + state.q[i])
            .collect();
        let loads = m * flat(&a) + flat(&loose.elastic(&sum));
        let mut expected = nalgebra::DVector::zeros(3 * a.len());
        let pieces = 300;
        for i in 0..pieces {
            for t in [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()] {
                let s = (f64::from(i) + t) / f64::from(pieces);
                let star = (at(h, s) - at(0.0, s) * 2.0 + at(-h, s)) / (h * h);
                let (_, j, _) = rod.jacobian(&state.q, s);
                expected += j.tr_mul(&(DOWN - star)) * (0.5 / f64::from(pieces));
            }
        }
        let error = (&loads - &expected).amax() / expected.amax();
        assert!(error < 1e-5, "{model:?}: {error:e}");
    }
}

#[test]
fn time_is_linear_and_the_dense_step_far_behind() {
    let settings = StepSettings::new(1e-3);
    let time = |n: usize, repeat: usize| {
        let (rod, state) = wild(Model::SuperClothoid, n);
        let run = || {
            let clock = Instant::now();
            for _ in 0..repeat {
                acceleration(&rod, &state, &DOWN, &SPINNING, &settings).unwrap();
            }
            clock.elapsed().as_secs_f64() / repeat as f64
        };
        (0..3).map(|_| run()).fold(f64::INFINITY, f64::min)
    };
    let (small, large) = (time(100, 20), time(10_000, 1));
    eprintln!("recursion: 100 elements {:.2e} s, 10 000 elements {large:.2e} s", small);
    // Linear is 100 times; a busy machine may make it look worse, but squares would be 10 000 times.
    assert!(large < 1000.0 * small, "{small:e} s at 100, {large:e} s at 10 000");
    let (rod, state) = wild(Model::SuperClothoid, 100);
    let clock = Instant::now();
    acceleration_dense(&rod, &state, &DOWN, &SPINNING, &settings).unwrap();
    let dense = clock.elapsed().as_secs_f64();
    eprintln!("dense: 100 elements {dense:.2e} s, {:.0} times as long", dense / small);
}

#[test]
fn a_plucked_beam_swings_at_its_frequency() {
    let rod = Rod::new(Model::SuperClothoid, 4, 1.0, UNIT, along_x()).unwrap();
    let none = toile_rod::Loads { per_length: Vec3::zeros(), tip: Vec3::zeros() };
    let omega = frequencies(&rod, &rod.rest(), &none, 1).unwrap()[0];
    // Nearly the first mode: a linear curvature.
    let q =
        (0..5).map(|i| Vec3::new(1e-4 * (1.0 - 0.25 * f64::from(i)).powi(2), 0.0, 0.0)).collect();
    let (mut moving, mut state) = (rod.clone(), RodState::at_rest(q));
    let settings = StepSettings { theta: 0.5, ..StepSettings::new(1e-4) };
    let tip = |rod: &Rod, q: &[Vec3]| rod.stations(q, &[1.0])[0].position.z;
    let (mut crossings, mut last) = (Vec::new(), tip(&moving, &state.q));
    let mut motion = ClampMotion::default();
    for i in 0..60_000 {
        step(&mut moving, &mut state, &Vec3::zeros(), &mut motion, &settings).unwrap();
        let now = tip(&moving, &state.q);
        if last * now < 0.0 {
            crossings.push(1e-4 * (f64::from(i) + last / (last - now)));
        }
        last = now;
        if crossings.len() > 6 {
            break;
        }
    }
    let half = (crossings[6] - crossings[0]) / 6.0;
    assert!(
        (std::f64::consts::PI / half / omega - 1.0).abs() < 0.02,
        "{} for {omega}",
        std::f64::consts::PI / half
    );
}

#[test]
fn energy_never_grows_with_the_damped_scheme() {
    for model in MODELS {
        let natural = NaturalCurvature::uniform(Vec3::new(4.0, 1.0, 3.0));
        let mut rod = Rod::new(model, 8, 1.0, UNIT, along_x())
            .unwrap()
            .with_natural_curvature(&natural)
            .unwrap();
        // At rest it stays.
        let mut still = RodState::at_rest(rod.rest());
        let mut fixed = ClampMotion::default();
        for _ in 0..50 {
            step(&mut rod, &mut still, &Vec3::zeros(), &mut fixed, &StepSettings::new(1e-2))
                .unwrap();
        }
        let away = still.q.iter().zip(rod.rest()).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(away < 1e-10, "{away:e}");
        // Plucked, its energy falls.
        let q = rod.rest().iter().map(|k| k * 1.1).collect();
        let mut state = RodState::at_rest(q);
        let total = |rod: &Rod, state: &RodState| {
            energies(rod, state, &Vec3::zeros(), &ClampMotion::default()).unwrap()[..2]
                .iter()
                .sum::<f64>()
        };
        let mut before = total(&rod, &state);
        let start = before;
        for _ in 0..500 {
            step(&mut rod, &mut state, &Vec3::zeros(), &mut fixed, &StepSettings::new(2e-3))
                .unwrap();
            let now = total(&rod, &state);
            assert!(now <= before * (1.0 + 1e-9), "{model:?}: {now:e} after {before:e}");
            before = now;
        }
        assert!(before < 0.8 * start);
    }
}

#[test]
fn a_spinning_clamp_finds_the_rods_of_the_rotating_frame() {
    // A straight rod along the axis' normal, spun: it stays straight, and the wrong Coriolis term would bend it.
    let mut rod = Rod::new(Model::SuperClothoid, 6, 1.0, UNIT, along_x()).unwrap();
    let mut state = RodState::at_rest(vec![Vec3::zeros(); 7]);
    let mut motion = ClampMotion { spin: Vec3::new(0.0, 0.0, 2.0), ..ClampMotion::default() };
    let settings = StepSettings { damping: 0.05, ..StepSettings::new(2e-3) };
    for _ in 0..1000 {
        step(&mut rod, &mut state, &Vec3::zeros(), &mut motion, &settings).unwrap();
    }
    let bent = state.q.iter().map(|k| k.norm()).fold(0.0, f64::max);
    assert!(bent < 1e-9, "{bent:e}");
    let angle = rod.clamp().frame[(1, 2)].atan2(rod.clamp().frame[(0, 2)]);
    assert!((angle - (4.0 - 2.0 * std::f64::consts::PI)).abs() < 1e-9, "{angle}");
}

#[test]
fn an_inverted_fibre_stays_for_ten_thousand_steps() {
    for (model, n) in MODELS.into_iter().flat_map(|m| [(m, 4), (m, 20)]) {
        let rod = Rod::new(model, n, 1.0, UNIT, along_x()).unwrap();
        let at = |i: usize| 4.0 * i as f64 / n as f64;
        let q: Vec<Vec3> = (0..rod.blocks()).map(|i| Vec3::new(1.0, 0.3 * at(i), -0.5)).collect();
        let gravity = Vec3::new(0.0, 0.0, -1.0);
        let loads = toile_rod::Loads::weight(&UNIT, gravity);
        let inverted = toile_rod::invert_fibre(&rod, &q, &loads).unwrap();
        assert!(inverted.certificate.certified);
        let (mut rod, mut state) = (inverted.rod, RodState::at_rest(q.clone()));
        let mut fixed = ClampMotion::default();
        for _ in 0..10_000 {
            step(&mut rod, &mut state, &gravity, &mut fixed, &StepSettings::new(1e-3)).unwrap();
        }
        let away = state.q.iter().zip(&q).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(away < 1e-9, "{model:?} {n}: {away:e}");
        // Pushed by a hundredth it comes back; made as drawn it goes.
        state.q.iter_mut().for_each(|k| *k *= 1.01);
        let damped = StepSettings { damping: 0.1, ..StepSettings::new(1e-2) };
        for _ in 0..3000 {
            step(&mut rod, &mut state, &gravity, &mut fixed, &damped).unwrap();
        }
        let away = state.q.iter().zip(&q).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(away < 1e-6, "{model:?} {n}: {away:e}");
        let (mut naive, mut sags) = (rod.with_rest(&q).unwrap(), RodState::at_rest(q.clone()));
        for _ in 0..300 {
            step(&mut naive, &mut sags, &gravity, &mut fixed, &damped).unwrap();
        }
        let gone = sags.q.iter().zip(&q).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(gone > 0.1, "{model:?} {n}: {gone:e}");
    }
}

/// Spun about the vertical, a rod comes to rest in the turning frame where weight, centrifugal force and bending balance.
#[test]
fn a_spinning_rod_finds_its_steady_state() {
    let spin = Vec3::new(0.0, 0.0, 3.0);
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    let clamp = Clamp { position: Vec3::new(0.3, 0.0, 0.0), frame };
    let gravity = Vec3::new(0.0, 0.0, -2.0);
    for model in MODELS {
        let rod = Rod::new(model, 4, 1.0, UNIT, clamp).unwrap();
        let mut moving = rod.clone();
        let mut state = RodState::at_rest(rod.rest());
        let settings = StepSettings { damping: 0.3, ..StepSettings::new(1e-2) };
        // The clamp goes round the axis, exactly.
        for i in 0..4000 {
            let round = turn(&spin, 1e-2 * f64::from(i));
            let position = round * clamp.position;
            moving.set_clamp(Clamp { position, frame: round * clamp.frame });
            let velocity = spin.cross(&position);
            let acceleration = spin.cross(&velocity);
            let mut motion = ClampMotion { velocity, acceleration, spin, spin_rate: Vec3::zeros() };
            step(&mut moving, &mut state, &gravity, &mut motion, &settings).unwrap();
        }
        let rate = state.rate.iter().map(|k| k.norm()).fold(0.0, f64::max);
        assert!(rate < 1e-6, "{model:?}: {rate:e}");
        // In the turning frame: virtual work of weight and centrifugal force, by quadrature on the rod at rest there.
        let mut forces = nalgebra::DVector::<f64>::zeros(3 * rod.blocks());
        let pieces = 400;
        for i in 0..pieces {
            let s = (f64::from(i) + 0.5) / f64::from(pieces);
            let (r, j, _) = rod.jacobian(&state.q, s);
            let out = Vec3::new(r.x, r.y, 0.0) * spin.norm_squared();
            forces += j.tr_mul(&(gravity + out)) / f64::from(pieces);
        }
        let held = rod.elastic(&state.q);
        for (b, k) in held.iter().enumerate() {
            for c in 0..3 {
                let off = k[c] - forces[3 * b + c];
                assert!(off.abs() < 2e-4 * forces.amax(), "{model:?} {b} {c}: {off:e}");
            }
        }
    }
}
