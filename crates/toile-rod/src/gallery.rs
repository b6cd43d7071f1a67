//! Scenes of fibres for benches and tests.

use toile_contact::{Collider, Shape};

use crate::RodError;
use crate::assembly::{Assembly, AssemblySettings, Fibre};
use crate::element::Model;
use crate::motion::{ClampMotion, RodState, StepSettings};
use crate::rod::{Clamp, NaturalCurvature, Rod, Section};
use crate::rotation::{Mat3, Vec3, turn};

/// Radius of the head \[m\].
const HEAD: f64 = 0.1;

/// Curly hair on a head of 10 cm: `count` strands (wisps of 2 mm) of 20 cm and 20 elements on its upper part, at first straight and standing off it, so
/// that none touch; friction 0.3 with the head and among them, steps of a millisecond.
pub fn hair_on_a_head(count: usize) -> Result<Assembly, RodError> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let section =
        Section { bending_stiffness: [1e-7; 2], twisting_stiffness: 7e-8, linear_density: 2e-5 };
    let natural = NaturalCurvature::uniform(Vec3::new(12.0, 0.0, 4.0));
    let strand = |i: usize| {
        // Evenly, by the golden angle.
        let z = 1.0 - 0.9 * (i as f64 + 0.5) / count as f64;
        let (rho, angle) = ((1.0 - z * z).sqrt(), golden * i as f64);
        let normal = Vec3::new(rho * angle.cos(), rho * angle.sin(), z);
        let d1 = normal.cross(&Vec3::new(0.3, 0.2, 0.9)).normalize();
        let frame =
            Mat3::from_columns(&[d1, normal.cross(&d1), normal]) * turn(&Vec3::z(), i as f64);
        let clamp = Clamp { position: normal * (HEAD + 2e-3), frame };
        let rod = Rod::new(Model::SuperClothoid, 20, 0.2, section, clamp)?
            .with_natural_curvature(&natural)?;
        let state = RodState::at_rest(vec![Vec3::zeros(); rod.blocks()]);
        Ok(Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 })
    };
    let head = head(0.3)?;
    let settings = AssemblySettings {
        step: StepSettings { damping: 2e-3, drag: 2.0, ..StepSettings::new(1e-3) },
        gravity: Vec3::new(0.0, 0.0, -9.81),
        fibre_friction: Some(0.3),
        tolerance: 1e-6,
        max_sweeps: 500,
    };
    Assembly::new((0..count).map(strand).collect::<Result<_, _>>()?, vec![head], settings)
}

/// Lets hair fall for half a second in coarse steps with much drag, then takes its motion away: strands lie on the head and on
/// each other, without being at rest.
pub fn let_fall(scene: &mut Assembly) -> Result<(), RodError> {
    let (step, tolerance) = (scene.settings.step, scene.settings.tolerance);
    scene.settings.step = StepSettings { dt: 4e-3, drag: 10.0, ..step };
    scene.settings.tolerance = 1e-4;
    for _ in 0..120 {
        scene.step()?;
    }
    for fibre in &mut scene.fibres {
        fibre.state.rate.fill(Vec3::zeros());
    }
    (scene.settings.step, scene.settings.tolerance) = (step, tolerance);
    Ok(())
}

/// Curly hair drawn on a head, strands lying on each other and on the head: [`hair_on_a_head`] after [`let_fall`]. It is at rest
/// nowhere, as a drawing is not, but every contact is one. Strands are straight by nature and ten times as stiff as those that
/// fell, so that each can hold what is asked of it.
pub fn drawn_hair(count: usize) -> Result<Assembly, RodError> {
    let mut scene = hair_on_a_head(count)?;
    let_fall(&mut scene)?;
    // A drawing has no material: what holds it is stiffer than what fell.
    let stiff =
        Section { bending_stiffness: [1e-6; 2], twisting_stiffness: 7e-7, linear_density: 2e-5 };
    for fibre in &mut scene.fibres {
        let old = &fibre.rod;
        fibre.rod = Rod::with_lengths(old.model(), old.lengths().to_vec(), stiff, *old.clamp())?;
    }
    scene.forces.clear();
    scene.time = 0.0;
    scene.close_gaps(0.05 * scene.fibres.iter().map(|f| f.radius).fold(f64::INFINITY, f64::min))?;
    Ok(scene)
}

fn head(friction: f64) -> Result<Collider, RodError> {
    let failed = |_| RodError::NotFinite { what: "head" };
    let sphere = Shape::sphere(Vec3::zeros(), HEAD).map_err(failed)?;
    Collider::fixed(sphere).with_friction(friction).and_then(|c| c.with_gap(5e-4)).map_err(failed)
}
