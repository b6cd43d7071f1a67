//! Rods and hair: at rest, inverted, in motion.

use std::cell::RefCell;

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toile::io::Axes;
use toile::rod::{
    Assembly, FibreContact, FibreContactKey, RodCertificate, SettleSettings, StaticSettings,
    Station, SurfacePart,
};
use toile::{FibreProgress, Start};

use crate::scene::Scene;
use crate::watch::Watch;
use crate::{arrays, refused};

fn figures<'py>(py: Python<'py>, c: &RodCertificate) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("verdict", c.verdict())?;
    found.set_item("reason", &c.reason)?;
    found.set_item("residual", c.residual)?;
    found.set_item("residual_n", c.residual_n)?;
    found.set_item("stability", c.stability)?;
    found.set_item("stability_margin", c.margin)?;
    found.set_item("negative_modes", c.negative_modes)?;
    found.set_item("size", c.size)?;
    Ok(found)
}

/// Arclengths are equal; positions in the axes of the scene [m].
fn positions<'py>(
    py: Python<'py>,
    stations: &[Station],
    axes: Axes,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    arrays::rows(py, stations.iter().map(|s| axes.to_file(s.position.into())).collect())
}

/// Contacts in metres and newtons with z up.
fn contacts<'py>(py: Python<'py>, all: &[FibreContact]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |c: &FibreContact| {
        let found = PyDict::new(py);
        match c.key {
            FibreContactKey::Collider { fibre, point, collider } => {
                found.set_item("kind", "collider")?;
                found.set_item("ids", [fibre, point, collider].to_vec())?;
            }
            FibreContactKey::Fibres { first, second } => {
                found.set_item("kind", "fibres")?;
                found.set_item("ids", [first.0, first.1, second.0, second.1].to_vec())?;
            }
            FibreContactKey::Surface { fibre, part } => {
                let (SurfacePart::Vertex(n) | SurfacePart::Edge(n) | SurfacePart::Face(n)) = part;
                found.set_item("kind", "surface")?;
                found.set_item("ids", [fibre.0, fibre.1, n].to_vec())?;
            }
        }
        found.set_item("point", <[f64; 3]>::from(c.point))?;
        found.set_item("normal", <[f64; 3]>::from(c.normal))?;
        found.set_item("force", <[f64; 3]>::from(c.force))?;
        found.set_item("gap", c.gap)?;
        found.set_item("status", format!("{:?}", c.status).to_lowercase())?;
        Ok(found)
    };
    all.iter().map(one).collect()
}

/// What is known of one fibre: its shape and its judgement.
struct One {
    shape: toile::rod::Rod,
    q: Vec<toile::rod::Vec3>,
    natural: Vec<toile::rod::Vec3>,
    nodes: Option<toile::rod::DiscreteEquilibrium>,
    certificate: RodCertificate,
    axes: Axes,
}

/// Fibres of a scene at rest.
#[pyclass(frozen, module = "toile._native")]
pub(crate) struct Fibres {
    all: Vec<One>,
    contacts: Vec<FibreContact>,
    certificate: String,
    notes: Vec<String>,
}

/// What is done with drawn fibres that start inside colliders.
fn start(push_out: bool) -> Start {
    if push_out { Start::PushOut } else { Start::AsGiven }
}

/// Finds the equilibrium of every rod of a scene; on colliders and each other by letting them fall first.
#[pyfunction]
#[pyo3(signature = (scene, max_steps=None, drift=0.0, progress=None, push_out=false))]
pub(crate) fn drape_rods(
    py: Python<'_>,
    scene: &Scene,
    max_steps: Option<usize>,
    drift: f64,
    progress: Option<Py<PyAny>>,
    push_out: bool,
) -> PyResult<Fibres> {
    let scene = &scene.scene;
    if !toile::in_contact(scene) && !toile::has_drawn(scene) {
        let mut settings = StaticSettings::default();
        settings.max_steps = max_steps.unwrap_or(settings.max_steps);
        let found = py.detach(|| toile::drape_rods(scene, &settings)).map_err(refused)?;
        let certificate = toile::rods_certificate(&found).pretty();
        let one = |d: toile::RodDrape| One {
            natural: d.result.rod.rest(),
            shape: d.result.rod,
            q: d.result.equilibrium.q,
            nodes: d.nodes,
            certificate: d.result.equilibrium.certificate,
            axes: d.loaded.axes,
        };
        let all = found.into_iter().map(one).collect();
        return Ok(Fibres { all, contacts: Vec::new(), certificate, notes: Vec::new() });
    }
    let mut settings = SettleSettings::default();
    settings.max_steps = max_steps.unwrap_or(settings.max_steps);
    let mut watch = Watch::new(progress);
    let found = py.detach(|| {
        let watch = RefCell::new(&mut watch);
        let tell = |now: FibreProgress| told(&mut watch.borrow_mut(), now);
        toile::rest_rods(scene, start(push_out), &settings, drift, &tell)
    });
    watch.finish()?;
    let found = found.map_err(refused)?;
    let certificate = found.certificate().pretty();
    let rods = found.assembly.fibres.into_iter().zip(&found.settled.certificates);
    let axes = found.axes;
    let one = |(fibre, certificate): (toile::rod::Fibre, &RodCertificate)| One {
        natural: fibre.rod.rest(),
        shape: fibre.rod,
        q: fibre.state.q,
        nodes: None,
        certificate: certificate.clone(),
        axes,
    };
    let all = rods.map(one).collect();
    Ok(Fibres { all, contacts: found.settled.contacts, certificate, notes: found.notes })
}

/// Tells what is being done: `step` and `speed` of a fall, or the `part` that is done of what is named.
fn told(watch: &mut Watch, now: FibreProgress) -> bool {
    let named = |what: &str, part: f64, watch: &mut Watch| {
        watch.tell(|entries| {
            entries.set_item("doing", what)?;
            entries.set_item("part", part)
        })
    };
    let share = |done: usize, of: usize| done as f64 / of.max(1) as f64;
    match now {
        FibreProgress::Fitting { done, of } => named("fitting", share(done, of), watch),
        FibreProgress::Judging { done, of } => named("judging", share(done, of), watch),
        FibreProgress::Closing { part } => named("closing", part, watch),
        FibreProgress::Holding { part } => named("holding", part, watch),
        FibreProgress::Falling { steps, speed } => watch.tell(|entries| {
            entries.set_item("step", steps)?;
            entries.set_item("speed", speed)
        }),
        FibreProgress::Watching { part } => named("watching", part, watch),
    }
}

/// Finds the natural shapes of the drawn fibres of a scene, with the contacts that hold them.
#[pyfunction]
#[pyo3(signature = (scene, drift=1.0, progress=None, push_out=false))]
pub(crate) fn invert_rods(
    py: Python<'_>,
    scene: &Scene,
    drift: f64,
    progress: Option<Py<PyAny>>,
    push_out: bool,
) -> PyResult<Fibres> {
    let mut watch = Watch::new(progress);
    let found = py.detach(|| {
        let watch = RefCell::new(&mut watch);
        let tell = |now: FibreProgress| told(&mut watch.borrow_mut(), now);
        toile::invert_hair(&scene.scene, start(push_out), drift, &tell)
    });
    watch.finish()?;
    let found = found.map_err(refused)?;
    let certificate = found.certificate().pretty();
    let one = |f: toile::RodInversion| One {
        shape: f.fit.rod,
        q: f.fit.q,
        natural: f.result.natural,
        nodes: None,
        certificate: f.result.certificate,
        axes: f.drawn.axes,
    };
    let contacts = found.contact.map_or(Vec::new(), |c| c.found.contacts);
    let all = found.fibres.into_iter().map(one).collect();
    Ok(Fibres { all, contacts, certificate, notes: found.notes })
}

impl Fibres {
    fn one(&self, fibre: usize) -> PyResult<&One> {
        let count = self.all.len();
        let missing = || refused(format!("there is no fibre {fibre}; the result has {count}"));
        self.all.get(fibre).ok_or_else(missing)
    }
}

#[pymethods]
impl Fibres {
    /// Number of fibres.
    fn __len__(&self) -> usize {
        self.all.len()
    }

    /// What was unusual in the files, in words.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Points of a fibre at rest, at equal arclengths.
    fn positions<'py>(
        &self,
        py: Python<'py>,
        fibre: usize,
        stations: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (one, count) = (self.one(fibre)?, stations.max(2));
        let all = match &one.nodes {
            Some(nodes) => nodes.equal_stations(count),
            None => one.shape.equal_stations(&one.q, count),
        };
        positions(py, &all, one.axes)
    }

    /// Points of the natural shape of a fibre, at equal arclengths.
    fn rest_positions<'py>(
        &self,
        py: Python<'py>,
        fibre: usize,
        stations: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let one = self.one(fibre)?;
        positions(py, &one.shape.equal_stations(&one.natural, stations.max(2)), one.axes)
    }

    /// Curvatures k1, k2 and twist at the joints or elements of a fibre [1/m].
    fn curvatures<'py>(
        &self,
        py: Python<'py>,
        fibre: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.one(fibre)?.q.iter().map(|k| (*k).into()).collect())
    }

    /// Natural curvatures k1, k2 and twist of a fibre [1/m].
    fn natural<'py>(&self, py: Python<'py>, fibre: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.one(fibre)?.natural.iter().map(|k| (*k).into()).collect())
    }

    /// Residual, stability and verdict of a fibre.
    fn certificate<'py>(&self, py: Python<'py>, fibre: usize) -> PyResult<Bound<'py, PyDict>> {
        figures(py, &self.one(fibre)?.certificate)
    }

    /// Contacts: kind, ids, point, normal, force and status of each, in metres and newtons with z up.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        contacts(py, &self.contacts)
    }

    /// What certificate.json holds, to the byte.
    fn certificate_json(&self) -> String {
        self.certificate.clone()
    }
}

/// The fibres of a scene in motion.
#[pyclass(module = "toile._native")]
pub(crate) struct FibreSimulation {
    assembly: Assembly,
    axes: Axes,
    notes: Vec<String>,
    contacts: Vec<FibreContact>,
}

#[pymethods]
impl FibreSimulation {
    #[new]
    #[pyo3(signature = (scene, push_out=false))]
    fn new(py: Python<'_>, scene: &Scene, push_out: bool) -> PyResult<Self> {
        let made = py.detach(|| toile::rod_assembly(&scene.scene, start(push_out), &|_| true));
        let made = made.map_err(refused)?;
        let (assembly, _, notes) = made;
        Ok(Self { assembly, axes: scene.scene.own_axes(), notes, contacts: Vec::new() })
    }

    /// Number of fibres.
    fn __len__(&self) -> usize {
        self.assembly.fibres.len()
    }

    /// What was unusual in the files, in words.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.assembly.time
    }

    /// Takes one step, as long as the scene says; says how it went.
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = py.detach(|| self.assembly.step()).map_err(refused)?;
        let said = PyDict::new(py);
        said.set_item("sweeps", report.sweeps)?;
        said.set_item("contacts", report.contacts.len())?;
        said.set_item("converged", report.converged)?;
        said.set_item("law_error", report.residual)?;
        said.set_item("penetration", report.penetration)?;
        self.contacts = report.contacts;
        Ok(said)
    }

    /// Joints of a fibre, in the axes of the scene [m].
    fn positions<'py>(&self, py: Python<'py>, fibre: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let count = self.assembly.fibres.len();
        if fibre >= count {
            return Err(refused(format!("there is no fibre {fibre}; the scene has {count}")));
        }
        let points = self.assembly.points(fibre);
        arrays::rows(py, points.iter().map(|p| self.axes.to_file((*p).into())).collect())
    }

    /// Kinetic and potential energy [J].
    fn energies(&self) -> PyResult<(f64, f64)> {
        let [kinetic, elastic, weight] = self.assembly.energies().map_err(refused)?;
        Ok((kinetic, elastic + weight))
    }

    /// Contacts of the last step, in metres and newtons with z up.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        contacts(py, &self.contacts)
    }
}
