//! Accounts of rods and hair at rest.

use std::sync::Arc;

use toile::geometry::Vec3;
use toile::io::{Scene, load_colliders};
use toile::report::figures::Values;
use toile::report::page::Table;
use toile::report::picture::{ColourMap, Solid, tube};
use toile::report::plot::Plot;
use toile::report::stage::{Body, Field, Form, Layer, Stage, Touch};
use toile::rod::{Assembly, FibreContact};
use toile::{ContactInversion, RodDrape, RodInversion, RodRest};

use super::asked::of_scene;
use super::cloth::{bodies, contact_plots};
use super::{Account, judged};

/// Points per element of a rod that is shown.
const FINE: usize = 4;

/// Polylines one after the other.
#[derive(Default)]
pub(crate) struct Strands {
    starts: Vec<u32>,
    positions: Vec<Vec3>,
    values: Vec<f64>,
}

impl Strands {
    pub(crate) fn add(&mut self, points: impl IntoIterator<Item = Vec3>) {
        self.starts.push(self.positions.len() as u32);
        self.positions.extend(points);
    }

    pub(crate) fn rod(&mut self, rod: &toile::rod::Rod, q: &[Vec3]) {
        let count = FINE * rod.lengths().len() + 1;
        let stations = rod.equal_stations(q, count);
        self.values.extend(stations.iter().map(|s| {
            let k = rod.curvature(q, s.s);
            k.x.hypot(k.y)
        }));
        self.add(stations.iter().map(|s| s.position));
    }

    pub(crate) fn layer(self, name: &str, radius: f64) -> Layer {
        let fields = if self.values.len() == self.positions.len() && !self.values.is_empty() {
            vec![Field {
                name: "curvature",
                label: "curvature, 1/m",
                values: self.values,
                map: ColourMap::Amount,
            }]
        } else {
            Vec::new()
        };
        Layer {
            name: name.into(),
            form: Form::Strands { starts: Arc::new(self.starts), radius },
            positions: self.positions.iter().map(|p| (*p).into()).collect(),
            fields,
        }
    }
}

/// The account of a drape of rods, with the figures of its certificate.
pub(crate) fn of_fibre_drape(
    scene: &Scene,
    drapes: &[RodDrape],
    (certified, reason): (bool, &str),
    seconds: f64,
) -> Account {
    let [mut shape, mut natural] = [Strands::default(), Strands::default()];
    for drape in drapes {
        let (rod, found) = (&drape.result.rod, &drape.result.equilibrium);
        shape.rod(rod, &found.q);
        natural.rod(rod, &rod.rest());
    }
    let radius = drapes.iter().map(|d| d.loaded.radius).fold(0.0, f64::max);
    let all = || drapes.iter().map(|d| &d.result.equilibrium.certificate);
    let most = |f: fn(&toile::rod::RodCertificate) -> f64| all().map(f).reduce(f64::max);
    let row = |(i, d): (usize, &RodDrape)| {
        let e = &d.result.equilibrium;
        vec![
            i.to_string(),
            d.result.rod.lengths().len().to_string(),
            e.steps.to_string(),
            format!("{:.6e}", e.elastic_energy),
            format!("{:.6e}", e.load_energy),
            format!("{:.1e}", e.certificate.residual),
            e.certificate.verdict().into(),
        ]
    };
    Account {
        verdict: Some(judged(certified, reason)),
        values: Values {
            residual: most(|c| c.residual),
            residual_n: most(|c| c.residual_n),
            stability: all()
                .map(|c| c.stability)
                .try_fold(f64::INFINITY, |m, s| Some(m.min(s?)))
                .filter(|s| s.is_finite()),
            negative_modes: Some(all().map(|c| c.negative_modes).sum()),
            size: most(|c| c.size),
            ..Values::default()
        },
        stage: Stage {
            layers: vec![
                shape.layer("equilibrium", radius),
                natural.layer("natural shape", radius),
            ],
            ..Stage::default()
        },
        tables: vec![Table {
            title: "Rods".into(),
            header: [
                "rod",
                "elements",
                "steps",
                "elastic energy, J",
                "energy of weight, J",
                "residual",
                "verdict",
            ]
            .map(String::from)
            .into(),
            rows: drapes.iter().enumerate().map(row).collect(),
        }],
        timings: vec![("finding the equilibria".into(), seconds)],
        asked: of_scene(scene, &[]),
        ..Account::default()
    }
}

/// The account of rods that came to rest on colliders.
pub(crate) fn of_fibre_rest(
    scene: &Scene,
    rest: &RodRest,
    (certified, reason): (bool, &str),
    seconds: f64,
) -> Account {
    let settled = &rest.settled;
    let [mut shape, mut natural] = [Strands::default(), Strands::default()];
    for fibre in &rest.assembly.fibres {
        shape.rod(&fibre.rod, &fibre.state.q);
        natural.rod(&fibre.rod, &fibre.rod.rest());
    }
    let radius = rest.assembly.fibres.iter().map(|f| f.radius).fold(0.0, f64::max);
    let touches: Vec<Touch> = settled.contacts.iter().map(touch_of).collect();
    let layers = vec![shape.layer("equilibrium", radius), natural.layer("natural shape", radius)];
    let all = || settled.certificates.iter();
    let most = |f: fn(&toile::rod::RodCertificate) -> f64| all().map(f).reduce(f64::max);
    let stability = all().map(|c| c.stability).try_fold(f64::INFINITY, |m, s| Some(m.min(s?)));
    Account {
        verdict: Some(judged(certified, reason)),
        values: Values {
            residual: most(|c| c.residual),
            residual_n: most(|c| c.residual_n),
            cone_gap: Some(settled.cone_gap),
            cone_margin: Some(settled.cone_margin),
            penetration: Some(settled.penetration),
            contacts: Some(touches.len()),
            // Held by sticking contacts alone there is no figure, only a sign.
            stability: stability
                .filter(|s| s.is_finite() && (*s > 0.0 || settled.negative_modes > 0)),
            negative_modes: Some(settled.negative_modes),
            drift: rest.drift,
            size: most(|c| c.size),
            ..Values::default()
        },
        plots: contact_plots(&touches),
        stage: Stage {
            bodies: bodies(scene, &rest.assembly.colliders, 0.0, &layers),
            layers,
            touches,
        },
        timings: vec![("falling and coming to rest".into(), seconds)],
        asked: of_scene(scene, &[]),
        ..Account::default()
    }
}

/// All fibres as tubes, to be shown among other things.
pub(crate) fn tubes(assembly: &Assembly) -> Body {
    let mut all = Solid::default();
    // Thousands of fibres are seen as well with fewer sides.
    let sides = if assembly.fibres.len() > 200 { 3 } else { 8 };
    for (f, fibre) in assembly.fibres.iter().enumerate() {
        let points: Vec<[f64; 3]> = assembly.points(f).iter().map(|p| (*p).into()).collect();
        all.add(&tube(&points, fibre.radius, sides));
    }
    Body { name: "fibres".into(), positions: all.positions, faces: all.faces }
}

/// A contact of fibres.
pub(crate) fn touch_of(c: &FibreContact) -> Touch {
    Touch {
        point: c.point.into(),
        normal: c.normal.into(),
        force: c.force.into(),
        friction: c.friction,
        slips: c.status == toile::cone::Status::Slip,
    }
}

/// The account of an inversion of fibres.
pub(crate) fn of_fibre_inversion(
    scene: &Scene,
    found: &[RodInversion],
    contact: Option<&ContactInversion>,
    (certified, reason): (bool, &str),
    residual: f64,
    seconds: f64,
) -> Account {
    let [mut shape, mut natural, mut drawn] =
        [Strands::default(), Strands::default(), Strands::default()];
    for f in found {
        shape.rod(&f.fit.rod, &f.fit.q);
        natural.rod(&f.fit.rod, &f.result.natural);
        drawn.add(f.drawn.curve.points().iter().copied());
    }
    let radius = found.iter().map(|f| f.drawn.radius).fold(0.0, f64::max);
    let all = || found.iter().map(|f| &f.result.certificate);
    let stability = all().map(|c| c.stability).try_fold(f64::INFINITY, |m, s| Some(m.min(s?)));
    let alone = || all().map(|c| c.negative_modes).sum();
    // Held by sticking contacts alone there is no figure, only a sign.
    let negative_modes = contact.map_or_else(alone, |c| c.found.negative_modes);
    let most = |f: fn(&RodInversion) -> f64| found.iter().map(f).reduce(f64::max);
    let touches: Vec<Touch> =
        contact.iter().flat_map(|c| &c.found.contacts).map(touch_of).collect();
    let layers = vec![
        shape.layer("equilibrium", radius),
        drawn.layer("drawn", radius),
        natural.layer("natural shape", radius),
    ];
    let mut plots = contact_plots(&touches);
    if found.len() > 10 {
        let errors: Vec<f64> = found.iter().map(|f| 1e3 * f.fit.error_max).collect();
        let worst = errors.iter().copied().fold(1e-12, f64::max);
        plots.push(Plot::histogram(
            "Distance from the drawing",
            "of each fibre, mm",
            errors,
            (0.0, worst),
            24,
        ));
    }
    let colliders = load_colliders(scene).unwrap_or_default();
    Account {
        verdict: Some(judged(certified, reason)),
        values: Values {
            residual: Some(residual),
            residual_n: contact
                .map(|c| c.found.residual_n)
                .or_else(|| most(|f| f.result.certificate.residual_n)),
            cone_gap: contact.map(|c| c.found.cone_gap),
            cone_margin: contact.map(|c| c.found.cone_margin),
            penetration: contact.map(|c| c.found.penetration),
            contacts: contact.map(|c| c.found.contacts.len()),
            stability: stability.filter(|s| s.is_finite() && (*s > 0.0 || negative_modes > 0)),
            negative_modes: Some(negative_modes),
            drift: contact.and_then(|c| c.drift),
            target_error_max: most(|f| f.fit.error_max),
            size: most(|f| f.result.certificate.size),
            ..Values::default()
        },
        stage: Stage { bodies: bodies(scene, &colliders, 0.0, &layers), layers, touches },
        plots,
        timings: vec![("finding the natural shapes".into(), seconds)],
        asked: of_scene(scene, &[]),
        ..Account::default()
    }
}
