//! Motion.

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toile::Start;
use toile::io::contact_words;
use toile::sim::dynamics::ContactStatus;

use crate::scene::Scene;
use crate::{arrays, refused};

/// A scene in motion.
#[pyclass(module = "toile._native")]
pub(crate) struct Simulation {
    inner: toile::Simulation,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, push_out=false))]
    fn new(py: Python<'_>, scene: &Scene, push_out: bool) -> PyResult<Self> {
        let start = if push_out { Start::PushOut } else { Start::AsGiven };
        let inner = py.detach(|| toile::Simulation::new(&scene.scene, start)).map_err(refused)?;
        Ok(Self { inner })
    }

    /// Number of shells.
    fn __len__(&self) -> usize {
        self.inner.shells.len()
    }

    /// What started inside something else, in words.
    #[getter]
    fn penetrations(&self) -> Vec<String> {
        self.inner.beginning.penetrations.clone()
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.inner.simulator.time()
    }

    /// Takes one step of `dt` [s]; says how it went.
    fn step<'py>(&mut self, py: Python<'py>, dt: f64) -> PyResult<Bound<'py, PyDict>> {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(refused(format!("the step is {dt} s; give a positive time")));
        }
        let report = py.detach(|| self.inner.simulator.step(dt)).map_err(refused)?;
        let said = PyDict::new(py);
        said.set_item("newton_steps", report.iterations)?;
        said.set_item("contacts", report.contacts)?;
        said.set_item("converged", report.converged)?;
        said.set_item("parts", report.substeps)?;
        said.set_item("stopped", report.stopped)?;
        said.set_item("law_error", report.law_error)?;
        Ok(said)
    }

    /// Positions of a shell, in the units and axes of the scene's files.
    fn positions<'py>(&self, py: Python<'py>, shell: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let count = self.inner.shells.len();
        if shell >= count {
            return Err(refused(format!("there is no shell {shell}; the scene has {count}")));
        }
        arrays::rows(py, self.inner.file_positions(shell))
    }

    /// Triangles of a shell.
    fn faces<'py>(&self, py: Python<'py>, shell: usize) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let loaded = self.inner.shells.get(shell);
        let loaded = loaded.ok_or_else(|| refused(format!("there is no shell {shell}")))?;
        arrays::rows(py, loaded.mesh.faces.clone())
    }

    /// Kinetic and potential energy [J].
    fn energies(&self) -> (f64, f64) {
        let energies = self.inner.simulator.energies();
        (energies.kinetic, energies.potential)
    }

    /// Contacts of the last step, in metres and newtons with z up.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |c: &toile::sim::dynamics::ContactForce| {
            let (kind, ids) = contact_words(&c.contact.key);
            let found = PyDict::new(py);
            found.set_item("kind", kind)?;
            found.set_item("ids", ids.to_vec())?;
            found.set_item("normal", <[f64; 3]>::from(c.contact.normal))?;
            found.set_item("force", <[f64; 3]>::from(c.force))?;
            found.set_item("velocity", <[f64; 3]>::from(c.velocity))?;
            let sticks = c.status == ContactStatus::Stick;
            found.set_item("status", if sticks { "stick" } else { "slip" })?;
            Ok(found)
        };
        self.inner.simulator.contact_forces().iter().map(one).collect()
    }
}
