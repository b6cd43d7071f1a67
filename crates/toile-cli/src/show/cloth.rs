//! Accounts of cloth at rest: `drape` and `invert`.

use std::sync::Arc;

use toile::contact::{Bounds, Collider};
use toile::geometry::Vec3;
use toile::inverse::{Cause, InverseStep, Phase};
use toile::io::{LoadedShell, Scene, SceneError, load_colliders, load_shells};
use toile::report::figures::Values;
use toile::report::picture::ColourMap;
use toile::report::plot::{Axis, Plot, Series};
use toile::report::stage::{Body, Field, Form, Layer, Stage, Touch};
use toile::sim::Certificate;
use toile::{Drape, SceneInversion};

use super::asked::{kind, of_scene};
use super::{Account, REST, judged, parts};

/// All shells of a scene as one surface.
pub(crate) struct Surfaces {
    faces: Arc<Vec<[u32; 3]>>,
}

impl Surfaces {
    pub(crate) fn new(shells: &[LoadedShell]) -> Self {
        let mut faces = Vec::new();
        let mut base = 0;
        for loaded in shells {
            // Faces of the shell all run the same way round, those of the file need not.
            faces.extend(loaded.shell.topology.faces().iter().map(|f| f.map(|v| base + v)));
            base += loaded.shell.topology.vertex_count() as u32;
        }
        Self { faces: Arc::new(faces) }
    }

    pub(crate) fn layer(&self, name: &str, positions: &[Vec3], fields: Vec<Field>) -> Layer {
        Layer {
            name: name.into(),
            form: Form::Surface(self.faces.clone()),
            positions: positions.iter().map(|p| (*p).into()).collect(),
            fields,
        }
    }
}

/// The colliders of a scene at a time, as surfaces; of those without end, the part around the layers.
pub(crate) fn bodies(
    scene: &Scene,
    colliders: &[Collider],
    time: f64,
    layers: &[Layer],
) -> Vec<Body> {
    let all = layers.iter().flat_map(|l| &l.positions).map(|p| Vec3::from(*p));
    let points: Vec<Vec3> = all.filter(|p| p.iter().all(|c| c.is_finite())).collect();
    let region = Bounds::around(&points);
    let names = scene.colliders.iter().map(kind);
    let one = |(name, collider): (String, &Collider)| {
        let surface = collider.at(time).surface(&region);
        Body {
            name,
            positions: surface.positions.iter().map(|p| (*p).into()).collect(),
            faces: surface.faces,
        }
    };
    names.zip(colliders).map(one).collect()
}

/// Distance that contacts of a scene keep \[m\].
fn contact_distance(scene: &Scene, colliders: &[Collider]) -> Option<f64> {
    let own = scene.self_contact.map(|s| s.thickness.unwrap_or(Collider::DEFAULT_GAP));
    colliders.iter().map(Collider::gap).chain(own).reduce(f64::max)
}

pub(crate) fn values(c: &Certificate, contacts: usize, contact_distance: Option<f64>) -> Values {
    Values {
        residual: Some(c.residual),
        residual_n: Some(c.residual_n),
        cone_gap: c.cone_gap,
        cone_margin: c.cone_margin,
        penetration: c.penetration,
        contact_distance,
        stability: c.stability,
        negative_modes: c.negative_modes,
        drift: c.drift,
        target_error_max: c.target_error_max,
        target_error_rms: c.target_error_rms,
        naive_sag: None,
        size: Some(c.size),
        contacts: c.cone_gap.map(|_| contacts),
        cause: None,
    }
}

/// What the material does: stretch, bending, tension.
pub(crate) fn strain_fields(stretch: Vec<f64>, bending: Vec<f64>, stress: Vec<f64>) -> Vec<Field> {
    vec![
        Field {
            name: "stretch",
            label: "largest stretch minus one",
            values: stretch,
            map: ColourMap::Balance,
        },
        Field {
            name: "bending",
            label: "change of curvature since rest, 1/m",
            values: bending,
            map: ColourMap::Amount,
        },
        Field {
            name: "stress",
            label: "largest tension in the cloth, N/m",
            values: stress,
            map: ColourMap::Amount,
        },
    ]
}

/// What is left of the balance of forces.
fn residual_field(values: Vec<f64>) -> Field {
    Field { name: "residual", label: "force left over, N", values, map: ColourMap::Amount }
}

/// Share of the friction used and force of contact at each vertex.
pub(crate) fn contact_fields(
    vertices: usize,
    contacts: impl Iterator<Item = (Vec<(u32, f64)>, Touch)>,
) -> Vec<Field> {
    let (mut force, mut used) = (vec![0.0; vertices], vec![0.0f64; vertices]);
    for (carriers, touch) in contacts {
        let size = touch.force.iter().map(|f| f * f).sum::<f64>().sqrt();
        for (v, weight) in carriers {
            force[v as usize] += weight.abs() * size;
            used[v as usize] = used[v as usize].max(touch.used());
        }
    }
    vec![
        Field {
            name: "contact force",
            label: "contact force, N",
            values: force,
            map: ColourMap::Amount,
        },
        Field {
            name: "friction used",
            label: "part of the friction that is used; slips at 1",
            values: used,
            map: ColourMap::Amount,
        },
    ]
}

/// How forces and friction are spread over the contacts.
pub(crate) fn contact_plots(touches: &[Touch]) -> Vec<Plot> {
    if touches.is_empty() {
        return Vec::new();
    }
    let sizes: Vec<f64> = touches.iter().map(|t| t.parts()[0]).collect();
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let used = touches.iter().map(Touch::used);
    vec![
        Plot::histogram("Contact forces", "normal force, N", sizes, (0.0, most), 24),
        Plot::histogram(
            "Use of the friction cones",
            "‖r_T‖ / (μ r_N); slips at 1",
            used,
            (0.0, 1.05),
            21,
        ),
    ]
}

/// Place of a contact on its first side.
fn place(carriers: impl Iterator<Item = (u32, f64)>, at: impl Fn(u32) -> Vec3) -> Vec3 {
    // Between layers the first side carries positive weights.
    carriers.filter(|(_, w)| *w > 0.0).fold(Vec3::zeros(), |p, (v, w)| p + at(v) * w)
}

/// The account of `drape`.
pub(crate) fn of_drape(scene: &Scene, drape: &Drape) -> Account {
    let (result, c) = (&drape.result, &drape.result.certificate);
    let surfaces = Surfaces::new(&drape.shells);
    let positions: Vec<Vec3> = (0..drape.shells.len()).flat_map(|i| drape.positions(i)).collect();
    let joined = |f: fn(&LoadedShell) -> &Vec<Vec3>| -> Vec<Vec3> {
        drape.shells.iter().flat_map(f).copied().collect()
    };
    let (start, rest) = (joined(|s| &s.shell.positions), joined(|s| &s.shell.rest_positions));
    let all = drape.fields();
    let gather = |f: fn(&toile::Fields) -> &Vec<f64>| all.iter().flat_map(f).copied().collect();
    let stress = (0..drape.shells.len()).flat_map(|i| drape.tensions(i)).collect();
    let mut fields = strain_fields(gather(|f| &f.stretch), gather(|f| &f.bending), stress);
    fields.push(residual_field(gather(|f| &f.residual)));
    let touch = |k: &toile::sim::StaticContact| Touch {
        point: place(k.contact.carriers(), |v| positions[v as usize]).into(),
        normal: k.contact.normal.into(),
        force: k.force.into(),
        friction: k.contact.friction,
        slips: false,
    };
    let touches: Vec<Touch> = drape.contacts.iter().map(touch).collect();
    if !touches.is_empty() {
        let carriers = drape.contacts.iter().map(|k| k.contact.carriers().collect());
        fields.extend(contact_fields(positions.len(), carriers.zip(touches.iter().copied())));
    }
    let mut layers = vec![surfaces.layer("equilibrium", &positions, fields)];
    if start != rest {
        layers.push(surfaces.layer("start", &start, Vec::new()));
    }
    layers.push(surfaces.layer(REST, &rest, Vec::new()));
    // They were read before.
    let colliders = load_colliders(scene).unwrap_or_default();
    let mut plots = newton_plots(&result.history);
    plots.extend(contact_plots(&touches));
    let t = &result.timings;
    Account {
        verdict: Some(judged(c.certified, &c.reason)),
        values: values(c, touches.len(), contact_distance(scene, &colliders)),
        stage: Stage { bodies: bodies(scene, &colliders, 0.0, &layers), layers, touches },
        plots,
        timings: parts(
            t.total.as_secs_f64(),
            &[
                ("symbolic analysis", t.analysis.as_secs_f64()),
                ("assembly", t.assembly.as_secs_f64()),
                ("factorisation", t.factorisation.as_secs_f64()),
                ("triangular solves", t.solve.as_secs_f64()),
                ("energies and gradients", t.evaluation.as_secs_f64()),
            ],
        ),
        asked: of_scene(scene, &drape.shells),
        notes: drape.shells.iter().flat_map(|s| s.notes.clone()).collect(),
        ..Account::default()
    }
}

/// Convergence of Newton's method.
pub(crate) fn newton_plots(history: &[toile::solve::Step]) -> Vec<Plot> {
    if history.is_empty() {
        return Vec::new();
    }
    let points = |f: fn(&toile::solve::Step) -> f64| -> Vec<(f64, f64)> {
        history.iter().enumerate().map(|(i, s)| (i as f64, f(s))).collect()
    };
    vec![
        Plot::new(
            "Convergence",
            Axis::linear("Newton step"),
            Axis::log("residual / weight of a vertex"),
        )
        .with(Series::line("residual", points(|s| s.residual)))
        .with(Series::dashed("certified below", vec![(0.0, 1e-8), (history.len() as f64, 1e-8)])),
        Plot::new("Energy", Axis::linear("Newton step"), Axis::linear("potential energy, J"))
            .with(Series::line("", points(|s| s.energy))),
    ]
}

/// The account of `invert`.
pub(crate) fn of_inversion(scene: &Scene, found: &SceneInversion) -> Account {
    let (result, c) = (&found.result, &found.result.certificate);
    let surfaces = Surfaces::new(&found.shells);
    let target: Vec<Vec3> =
        found.shells.iter().flat_map(|s| s.shell.positions.iter().copied()).collect();
    let all: Vec<toile::Fields> = (0..found.shells.len()).map(|i| found.fields(i)).collect();
    let gather = |f: fn(&toile::Fields) -> &Vec<f64>| all.iter().flat_map(f).copied().collect();
    let stress = (0..found.shells.len()).flat_map(|i| found.tensions(i)).collect();
    let mut fields = strain_fields(gather(|f| &f.stretch), gather(|f| &f.bending), stress);
    fields.push(residual_field(gather(|f| &f.residual)));
    let distance = |p: &[Vec3]| p.iter().zip(&target).map(|(p, t)| (p - t).norm()).collect();
    let away = |values: Vec<f64>| Field {
        name: "distance",
        label: "distance from the target, m",
        values,
        map: ColourMap::Amount,
    };
    fields.push(away(distance(&result.equilibrium)));
    let touch = |k: &toile::inverse::ContactResult| Touch {
        point: place(k.contact.carriers(), |v| result.equilibrium[v as usize]).into(),
        normal: k.contact.normal.into(),
        force: k.force.into(),
        friction: k.friction,
        slips: false,
    };
    let touches: Vec<Touch> = result.contacts.iter().map(touch).collect();
    if !touches.is_empty() {
        let carriers = result.contacts.iter().map(|k| k.contact.carriers().collect());
        fields.extend(contact_fields(target.len(), carriers.zip(touches.iter().copied())));
    }
    if let Some(unheld) = &result.unheld {
        fields.push(Field {
            name: "unheld force",
            label: "force that no rest shape was found to hold, N",
            values: unheld.clone(),
            map: ColourMap::Amount,
        });
    }
    let mut layers = vec![
        surfaces.layer("equilibrium", &result.equilibrium, fields),
        surfaces.layer("target", &target, Vec::new()),
        surfaces.layer(REST, &result.rest, Vec::new()),
    ];
    if let Some(naive) = &result.naive {
        layers.push(surfaces.layer("made as drawn", naive, vec![away(distance(naive))]));
    }
    let colliders = load_colliders(scene).unwrap_or_default();
    let mut plots = search_plots(&result.history);
    plots.extend(contact_plots(&touches));
    let mut values = values(c, touches.len(), contact_distance(scene, &colliders));
    values.naive_sag = result.naive_sag;
    values.cause = result.diagnosis.cause.map(Cause::name);
    Account {
        verdict: Some(judged(c.certified, &c.reason)),
        values,
        stage: Stage { bodies: bodies(scene, &colliders, 0.0, &layers), layers, touches },
        plots,
        asked: of_scene(scene, &found.shells),
        notes: found
            .shells
            .iter()
            .flat_map(|s| s.notes.clone())
            .chain(found.body_notes.clone())
            .chain(crate::invert::what_was_done(result))
            .collect(),
        ..Account::default()
    }
}

/// What a drape starts from.
pub(crate) fn start_stage(scene: &Scene) -> Result<Stage, SceneError> {
    let shells = load_shells(scene)?;
    let start: Vec<Vec3> = shells.iter().flat_map(|s| s.shell.positions.iter().copied()).collect();
    let layers = vec![Surfaces::new(&shells).layer("start", &start, Vec::new())];
    let bodies = bodies(scene, &load_colliders(scene)?, 0.0, &layers);
    Ok(Stage { layers, bodies, touches: Vec::new() })
}

/// What a search starts from: the target of a scene, as its own rest shape, on what it lies on.
pub(crate) fn target_stage(scene: &Scene) -> Result<Stage, SceneError> {
    let shells = load_shells(scene)?;
    let target: Vec<Vec3> = shells.iter().flat_map(|s| s.shell.positions.iter().copied()).collect();
    // At first the target is its own rest shape.
    let surfaces = Surfaces::new(&shells);
    let layers = Vec::from([REST, "target"].map(|name| surfaces.layer(name, &target, Vec::new())));
    let bodies = bodies(scene, &load_colliders(scene)?, 0.0, &layers);
    Ok(Stage { layers, bodies, touches: Vec::new() })
}

/// How the search for a rest shape went.
pub(crate) fn search_plots(history: &[InverseStep]) -> Vec<Plot> {
    let of = |phases: &[Phase]| -> Vec<&InverseStep> {
        history.iter().filter(|s| phases.contains(&s.phase)).collect()
    };
    let points = |steps: &[&InverseStep], f: fn(&InverseStep) -> f64| -> Vec<(f64, f64)> {
        steps.iter().enumerate().map(|(i, s)| (i as f64, f(s))).collect()
    };
    let mut out = Vec::new();
    let rising = of(&[Phase::Weight]);
    if !rising.is_empty() {
        let (x, y) = (Axis::linear("step"), Axis::log("forces left / weight of a vertex"));
        out.push(
            Plot::new("Balance at the target", x, y)
                .with(Series::line("", points(&rising, |s| s.distance))),
        );
        out.push(
            Plot::new("Weight that is carried", Axis::linear("step"), Axis::linear("part"))
                .with(Series::line("", points(&rising, |s| s.load))),
        );
    }
    let near = of(&[Phase::Match]);
    if !near.is_empty() {
        out.push(
            Plot::new("Way to the target", Axis::linear("step"), Axis::log("distance, m"))
                .with(Series::line("largest", points(&near, |s| s.distance)))
                .with(Series::line("root mean square", points(&near, |s| s.rms))),
        );
    }
    let settling = of(&[Phase::Settle]);
    if !settling.is_empty() {
        out.push(
            Plot::new("Coming to rest", Axis::linear("step"), Axis::log("largest speed, m/s"))
                .with(Series::line("", points(&settling, |s| s.distance))),
        );
    }
    out
}
