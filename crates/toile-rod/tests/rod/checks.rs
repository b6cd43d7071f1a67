//! Checks of the literature that stand for themselves: see the table in the book.

use toile_rod::{
    Clamp, ClampMotion, Curve, FitSettings, Loads, Mat3, Model, NaturalCurvature, Rod, RodState,
    Section, StaticSettings, StepSettings, Vec3, acceleration, equilibrium, fit, hessian,
    invert_fibre, least_energy_turn, mass_matrix, natural_curvature_at, stability_margin, step,
};

const UNIT: Section =
    Section { bending_stiffness: [1.0; 2], twisting_stiffness: 1.0, linear_density: 1.0 };
const MODELS: [Model; 2] = [Model::SuperHelix, Model::SuperClothoid];

fn along_x() -> Clamp {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    Clamp { position: Vec3::zeros(), frame }
}

fn upright() -> Clamp {
    Clamp { position: Vec3::zeros(), frame: Mat3::identity() }
}

/// A smooth curvature in a plane, read off at the middles of elements or at joints: tips of both models converge at the second
/// order to one place, and their energies to one value.
#[test]
fn sampled_curvatures_converge_at_the_second_order() {
    let kappa = |s: f64| Vec3::new(2.0 * (3.0 * s).sin() + 1.0, 0.0, 0.0);
    let sampled = |model, n: usize| {
        let rod = Rod::new(model, n, 1.0, UNIT, along_x()).unwrap();
        let at = |i: usize| match model {
            Model::SuperHelix => (i as f64 + 0.5) / n as f64,
            Model::SuperClothoid => i as f64 / n as f64,
        };
        let q: Vec<Vec3> = (0..rod.blocks()).map(|i| kappa(at(i))).collect();
        let energy: f64 = rod.elastic(&q).iter().zip(&q).map(|(k, q)| 0.5 * k.dot(q)).sum();
        (rod.stations(&q, &[1.0])[0].position, energy)
    };
    // The planar curve itself, by its angle.
    let angle = |s: f64| 2.0 / 3.0 * (1.0 - (3.0 * s).cos()) + s;
    let (mut tip, cells) = (Vec3::zeros(), 20_000);
    for i in 0..cells {
        let s = (f64::from(i) + 0.5) / f64::from(cells);
        // Bending about d₁ = y turns the tangent from x to −z.
        tip += Vec3::new(angle(s).cos(), 0.0, -angle(s).sin()) / f64::from(cells);
    }
    let energy = {
        let square = |s: f64| 0.5 * kappa(s).x.powi(2);
        (0..cells).map(|i| square((f64::from(i) + 0.5) / f64::from(cells))).sum::<f64>()
            / f64::from(cells)
    };
    for model in MODELS {
        let off = |n| {
            let (at, e) = sampled(model, n);
            ((at - tip).norm(), (e - energy).abs())
        };
        let (coarse, fine) = (off(20), off(40));
        let order = (coarse.0 / fine.0).log2();
        assert!((1.9..2.1).contains(&order), "{model:?}: {coarse:?} {fine:?}");
        assert!(fine.1 < 2e-3 && coarse.1 / fine.1 > 3.5, "{model:?}: {coarse:?} {fine:?}");
    }
}

/// A straight rod has no inertia against twist; the implicit step does not mind.
#[test]
fn a_straight_rod_has_no_inertia_against_twist() {
    for model in MODELS {
        let rod = Rod::new(model, 5, 1.0, UNIT, along_x()).unwrap();
        let q = vec![Vec3::zeros(); rod.blocks()];
        let mass = mass_matrix(&rod, &q).unwrap();
        for b in 0..rod.blocks() {
            assert!(mass.column(3 * b + 2).amax() < 1e-15 && mass[(3 * b, 3 * b)] > 1e-6);
        }
        let mut state = RodState::at_rest(q);
        state.rate[1] = Vec3::new(0.1, -0.2, 3.0);
        let gravity = Vec3::new(0.0, 0.0, -9.81);
        let still = ClampMotion::default();
        let a = acceleration(&rod, &state, &gravity, &still, &StepSettings::new(1e-3)).unwrap();
        assert!(a.iter().all(|k| k.iter().all(|x| x.is_finite())));
        assert!(a[0].x.abs() > 1.0, "{}", a[0]);
    }
}

/// For equal elements and K₀ = K₁ = K₂ the sufficient bound on stiffness, min K/ρA > −μ(𝕊)/ℓ, is the exact one; and a rod a little
/// beyond it on either side stands, or falls.
#[test]
fn the_sufficient_bound_is_exact_for_equal_elements() {
    let n = 6;
    let loads = Loads::weight(&UNIT, Vec3::new(0.0, 0.0, -1.0));
    let rod = Rod::new(Model::SuperHelix, n, 1.0, UNIT, along_x()).unwrap();
    let q: Vec<Vec3> = (0..n).map(|i| Vec3::new(0.9 * (i as f64).cos(), -1.2, 0.7)).collect();
    let edge = 1.0 / n as f64;
    let mut loading = hessian(&rod, &q, &loads).unwrap();
    for i in 0..3 * n {
        loading[(i, i)] -= edge;
    }
    let least = loading.symmetric_eigenvalues().min();
    let margin = stability_margin(&rod, &q, &loads).unwrap();
    assert!((margin - (1.0 + least / edge)).abs() < 1e-9, "{margin} {least}");
    // Upright, by dynamics: threshold 7.987 for four elements.
    for (gamma, stands) in [(7.987 * 0.97, true), (7.987 * 1.03, false)] {
        let gravity = Vec3::new(0.0, 0.0, -gamma);
        let mut rod = Rod::new(Model::SuperHelix, 4, 1.0, UNIT, upright()).unwrap();
        let mut state = RodState::at_rest(vec![Vec3::new(1e-4, 0.0, 0.0); 4]);
        let mut still = ClampMotion::default();
        let settings = StepSettings { damping: 0.02, ..StepSettings::new(1e-2) };
        for _ in 0..3000 {
            step(&mut rod, &mut state, &gravity, &mut still, &settings).unwrap();
        }
        let bent = state.q.iter().map(|k| k.norm()).fold(0.0, f64::max);
        assert_eq!(bent < 1e-4, stands, "{gamma}: {bent:e}");
    }
}

/// Two framings of one curve: the natural curve of an isotropic rod is the same, that of another is not, and the inversion says so.
/// Without weight the nature is the shape in both.
#[test]
fn natures_depend_on_the_frame_only_where_the_section_does() {
    let length = 2.0;
    let framed = |section: Section, turning: f64, n: usize| {
        let rod = Rod::new(Model::SuperClothoid, n, length, section, along_x()).unwrap();
        let q: Vec<Vec3> = (0..=n)
            .map(|i| {
                let theta = turning * length * i as f64 / n as f64;
                let (s, c) = theta.sin_cos();
                // A helix seen from a frame that turns about the tangent.
                let (k1, k2) = (0.8, 0.3);
                Vec3::new(c * k1 + s * k2, c * k2 - s * k1, 0.5 + turning)
            })
            .collect();
        (rod, q)
    };
    let tip = |section: Section, turning: f64, n: usize| {
        let (rod, q) = framed(section, turning, n);
        let loads = Loads::weight(&section, Vec3::new(0.0, 0.0, -0.4));
        let at = |i: usize| length * i as f64 / n as f64;
        let table =
            (0..=n).map(|i| (at(i), natural_curvature_at(&rod, &q, &loads, at(i)))).collect();
        let natural = rod.clone().with_natural_curvature(&NaturalCurvature::tabulated(table));
        let natural = natural.unwrap();
        // κ̄(L) = κ(L): nothing is bent at a free end.
        let end = natural_curvature_at(&rod, &q, &loads, length);
        assert!((end - q[n]).norm() < 1e-12);
        let unique = invert_fibre(&rod, &q, &loads).unwrap().unique;
        (natural.stations(&natural.rest(), &[length])[0].position, unique)
    };
    let round = Section { twisting_stiffness: 0.7, ..UNIT };
    let flat = Section { bending_stiffness: [1.0, 2.5], ..round };
    // What is left is of the second order in the elements, and goes with it.
    let apart = |n: usize| {
        let (a, b) = (tip(round, 0.0, n), tip(round, 1.5, n));
        assert!(a.1 && b.1);
        a.0 - b.0
    };
    let (coarse, fine) = (apart(60), apart(120));
    let left = (fine * 4.0 - coarse) / 3.0;
    assert!(fine.norm() < 2e-4 && left.norm() < 1e-6, "{:e} {:e}", fine.norm(), left.norm());
    let (a, b) = (tip(flat, 0.0, 120), tip(flat, 1.5, 120));
    assert!(!a.1 && (a.0 - b.0).norm() > 0.02, "{:e}", (a.0 - b.0).norm());
}

/// Curvatures seen from a frame that is turned by φ, which changes at a rate.
fn turned(k: Vec3, phi: f64, rate: f64) -> Vec3 {
    let (s, c) = phi.sin_cos();
    Vec3::new(k.x * c + k.y * s, k.y * c - k.x * s, k.z + rate)
}

/// Where a flat curl hangs, its section is turned about its centreline as the balance of moments about the tangent says: from the centreline
/// and the nature alone the frame is found again, whatever frame one starts from, at the second order.
#[test]
fn an_equilibrium_is_turned_as_the_frame_law_says() {
    let section = Section { bending_stiffness: [1.0, 2.5], twisting_stiffness: 0.7, ..UNIT };
    let natural = NaturalCurvature::polynomials([vec![2.0, 1.0], vec![-0.7], vec![1.5]]);
    let loads = Loads::weight(&section, Vec3::new(0.0, 0.0, -6.0));
    let rod = Rod::new(Model::SuperClothoid, 160, 1.0, section, along_x()).unwrap();
    let rod = rod.with_natural_curvature(&natural).unwrap();
    let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    let phi = |s: f64| 0.8 * (2.0 * s).sin() + 0.5 * s * s;
    let rate = |s: f64| 1.6 * (2.0 * s).cos() + s;
    let along = |s: f64| turned(rod.curvature(&found.q, s), phi(s), rate(s));
    let off = [100, 200].map(|pieces| {
        let framing = least_energy_turn(&section, 1.0, pieces, along, |s| natural.at(s)).unwrap();
        assert!(framing.converged, "{} steps", framing.steps);
        let away = |(i, t): (usize, &f64)| (t + phi(i as f64 / pieces as f64)).abs();
        framing.theta.iter().enumerate().map(away).fold(0.0, f64::max)
    });
    let order = (off[0] / off[1]).log2();
    assert!(off[1] < 3e-5 && (1.8..2.2).contains(&order), "{off:?}: {order}");
}

/// Round and straight by nature, a fibre follows the frame that does not twist; wound as a helix with another uniform nature, its turn is a pendulum:
/// ½ K₃ θ′² less the energy of bending is the same all along.
#[test]
fn the_frame_law_knows_bishops_frame_and_the_pendulum() {
    let bend = |s: f64| Vec3::new(2.0 + s, (3.0 * s).sin(), 1.3 * s.cos());
    let framing = least_energy_turn(&UNIT, 1.0, 400, bend, |_| Vec3::zeros()).unwrap();
    let twist = |i: usize| {
        let middle = (i as f64 + 0.5) / 400.0;
        (framing.theta[i + 1] - framing.theta[i]) * 400.0 + 1.3 * middle.cos()
    };
    let most = (0..400).map(|i| twist(i).abs()).fold(0.0, f64::max);
    assert!(framing.converged && most < 1e-5, "{most:e}");
    let (helix, nature) = (Vec3::new(3.0, 0.0, 1.0), Vec3::new(1.0, 2.0, 2.5));
    let n = 2000;
    let framing = least_energy_turn(&UNIT, 2.0, n, |_| helix, |_| nature).unwrap();
    let h = 2.0 / n as f64;
    let kept = |i: usize| {
        let rate = (framing.theta[i + 1] - framing.theta[i]) / h;
        let k = turned(helix, 0.5 * (framing.theta[i] + framing.theta[i + 1]), 0.0) - nature;
        (0.5 * rate * rate, 0.5 * (k.x * k.x + k.y * k.y))
    };
    let all: Vec<(f64, f64)> = (0..n).map(kept).collect();
    let level = |(kinetic, bent): &(f64, f64)| kinetic - bent;
    let spread = all.iter().map(|p| (level(p) - level(&all[0])).abs()).fold(0.0, f64::max);
    let swing = all.iter().map(|p| p.0).fold(0.0, f64::max);
    assert!(framing.converged && spread < 1e-4 * swing && swing > 0.5, "{spread:e} of {swing}");
    // At the tip nothing twists it.
    let tip = (framing.theta[n] - framing.theta[n - 1]) / h + helix.z - nature.z;
    assert!(tip.abs() < 5.0 * h, "{tip:e}");
}

/// Arcs of helices that are joined without kinks are found again by floating tangents: what is left is that of the drawing, whose tangents
/// beside a joint are those of a spline across it, and falls with the distance of its points.
#[test]
fn helices_are_fitted_by_themselves() {
    let rod = Rod::new(Model::SuperHelix, 5, 1.0, UNIT, along_x()).unwrap();
    let q: Vec<Vec3> = (0..5).map(|i| Vec3::new(1.0 + 0.4 * f64::from(i), -0.8, 0.6)).collect();
    let error = |points: usize| {
        let points: Vec<Vec3> = rod.equal_stations(&q, points).iter().map(|s| s.position).collect();
        let curve = Curve::new(&points).unwrap();
        let settings = FitSettings { elements: 5, model: Model::SuperHelix, noise: 0.0 };
        fit(&curve, UNIT, Some(Vec3::y()), &settings).unwrap().error_max
    };
    let (coarse, fine) = (error(501), error(2001));
    assert!(fine < 1e-5 && (3.5..4.5).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}
