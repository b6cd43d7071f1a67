//! Rest shapes of targets.

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toile::geometry::Vec3;
use toile::invert_settings;

use crate::scene::Scene;
use crate::watch::Watch;
use crate::{arrays, refused};

/// An inverted scene.
#[pyclass(frozen, module = "toile._native")]
pub(crate) struct Inversion {
    found: toile::SceneInversion,
}

/// Finds the rest shape for which the meshes of a scene are a stable equilibrium.
#[pyfunction]
#[pyo3(signature = (scene, max_steps=None, drift=1.0, naive_sag=true, progress=None))]
pub(crate) fn invert(
    py: Python<'_>,
    scene: &Scene,
    max_steps: Option<usize>,
    drift: f64,
    naive_sag: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Inversion> {
    let mut settings = invert_settings(&scene.scene);
    settings.max_steps = max_steps.unwrap_or(settings.max_steps);
    settings.drift_time = drift;
    settings.naive_sag = naive_sag;
    let mut watch = Watch::new(progress);
    let found = py.detach(|| {
        toile::invert(&scene.scene, &settings, |step| {
            watch.tell(|entries| {
                entries.set_item("step", step.steps)?;
                entries.set_item("phase", format!("{:?}", step.phase).to_lowercase())?;
                entries.set_item("load", step.load)?;
                entries.set_item("distance", step.distance)?;
                entries.set_item("outside", step.outside)
            })
        })
    });
    watch.finish()?;
    Ok(Inversion { found: found.map_err(refused)? })
}

impl Inversion {
    fn part<'py>(
        &self,
        py: Python<'py>,
        shell: usize,
        all: &[Vec3],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let count = self.found.shells.len();
        if shell >= count {
            return Err(refused(format!("there is no shell {shell}; the scene has {count}")));
        }
        arrays::rows(py, self.found.to_file(shell, &all[self.found.range(shell)]))
    }
}

#[pymethods]
impl Inversion {
    /// Number of shells.
    fn __len__(&self) -> usize {
        self.found.shells.len()
    }

    /// The rest shape of a shell, in the units and axes of the scene's files.
    fn rest_positions<'py>(
        &self,
        py: Python<'py>,
        shell: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.part(py, shell, &self.found.result.rest)
    }

    /// The equilibrium of a shell.
    fn positions<'py>(&self, py: Python<'py>, shell: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.part(py, shell, &self.found.result.equilibrium)
    }

    /// The target made as drawn and draped, if that was asked for.
    fn naive_positions<'py>(
        &self,
        py: Python<'py>,
        shell: usize,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let naive = self.found.result.naive.as_ref();
        naive.map(|naive| self.part(py, shell, naive)).transpose()
    }

    /// Triangles of a shell.
    fn faces<'py>(&self, py: Python<'py>, shell: usize) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let loaded = self.found.shells.get(shell);
        let loaded = loaded.ok_or_else(|| refused(format!("there is no shell {shell}")))?;
        arrays::rows(py, loaded.mesh.faces.clone())
    }

    /// Contacts: point, normal, force and friction of each, in metres and newtons with z up.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let result = &self.found.result;
        let one = |c: &toile::inverse::ContactResult| {
            let carriers = c.contact.carriers().filter(|(_, w)| *w > 0.0);
            let point =
                carriers.fold(Vec3::zeros(), |p, (v, w)| p + result.equilibrium[v as usize] * w);
            let found = PyDict::new(py);
            found.set_item("point", <[f64; 3]>::from(point))?;
            found.set_item("normal", <[f64; 3]>::from(c.contact.normal))?;
            found.set_item("force", <[f64; 3]>::from(c.force))?;
            found.set_item("friction", c.friction)?;
            Ok(found)
        };
        result.contacts.iter().map(one).collect()
    }

    /// What certificate.json holds, to the byte.
    fn certificate_json(&self) -> String {
        self.found.certificate().pretty()
    }
}
