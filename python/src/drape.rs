//! Equilibria.

use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toile::io::contact_words;
use toile::{Start, scene_settings};

use crate::scene::Scene;
use crate::watch::Watch;
use crate::{arrays, refused};

/// A draped scene.
#[pyclass(frozen, module = "toile._native")]
pub(crate) struct Drape {
    drape: toile::Drape,
}

/// Finds a stable equilibrium.
#[pyfunction]
#[pyo3(signature = (scene, tolerance=None, max_steps=None, push_out=false, drift=0.0, progress=None))]
pub(crate) fn drape(
    py: Python<'_>,
    scene: &Scene,
    tolerance: Option<f64>,
    max_steps: Option<usize>,
    push_out: bool,
    drift: f64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Drape> {
    let mut settings = scene_settings(&scene.scene);
    settings.tolerance = tolerance.unwrap_or(settings.tolerance);
    settings.max_steps = max_steps.unwrap_or(settings.max_steps);
    if !(settings.tolerance > 0.0 && settings.tolerance.is_finite()) {
        return Err(refused(format!(
            "tolerance is {}; give a positive number",
            settings.tolerance
        )));
    }
    if !(drift >= 0.0 && drift.is_finite()) {
        return Err(refused(format!("drift is {drift}; give a time in seconds, 0 for none")));
    }
    let mut watch = Watch::new(progress);
    let found = py.detach(|| {
        let observe = |step: &toile::solve::Step| {
            watch.tell(|entries| {
                entries.set_item("step", step.step)?;
                entries.set_item("energy", step.energy)?;
                entries.set_item("residual", step.residual)
            })
        };
        let touches = !scene.scene.colliders.is_empty() || scene.scene.self_contact.is_some();
        if touches {
            let start = if push_out { Start::PushOut } else { Start::AsGiven };
            toile::drape_on(&scene.scene, &settings, start, drift, observe)
        } else {
            toile::drape(&scene.scene, &settings, observe)
        }
    });
    watch.finish()?;
    Ok(Drape { drape: found.map_err(refused)? })
}

impl Drape {
    fn shell(&self, shell: usize) -> PyResult<&toile::io::LoadedShell> {
        self.drape.shells.get(shell).ok_or_else(|| {
            refused(format!("there is no shell {shell}; the scene has {}", self.drape.shells.len()))
        })
    }
}

#[pymethods]
impl Drape {
    /// Number of shells.
    fn __len__(&self) -> usize {
        self.drape.shells.len()
    }

    /// Positions of a shell, in the units and axes of the scene's files.
    fn positions<'py>(&self, py: Python<'py>, shell: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.shell(shell)?;
        arrays::rows(py, self.drape.file_positions(shell))
    }

    /// Rest positions of a shell, in the units and axes of the scene's files.
    fn rest_positions<'py>(
        &self,
        py: Python<'py>,
        shell: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let loaded = self.shell(shell)?;
        let rest: Vec<[f64; 3]> = loaded.shell.rest_positions.iter().map(|p| (*p).into()).collect();
        let rest = loaded.axes.all_to_file(&rest);
        arrays::rows(py, loaded.spread(&rest, |v| loaded.mesh.positions[v]))
    }

    /// Triangles of a shell.
    fn faces<'py>(&self, py: Python<'py>, shell: usize) -> PyResult<Bound<'py, PyArray2<u32>>> {
        arrays::rows(py, self.shell(shell)?.mesh.faces.clone())
    }

    /// Stretch, bending [1/m], stress [N/m] and residual [N] at the vertices of a shell.
    fn fields<'py>(&self, py: Python<'py>, shell: usize) -> PyResult<Bound<'py, PyDict>> {
        let loaded = self.shell(shell)?;
        let mut all = self.drape.fields();
        let fields = all.swap_remove(shell);
        let found = PyDict::new(py);
        // Vertices of the mesh of which nothing is left have nothing to tell.
        let spread = |values: &[f64]| arrays::numbers(py, loaded.spread(values, |_| 0.0));
        found.set_item("stretch", spread(&fields.stretch))?;
        found.set_item("bending", spread(&fields.bending))?;
        found.set_item("stress", spread(&self.drape.tensions(shell)))?;
        found.set_item("residual", spread(&fields.residual))?;
        Ok(found)
    }

    /// Contacts at rest: kind, point, normal and force of each, in metres and newtons with z up.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (model, state) = (&self.drape.model, &self.drape.result.state);
        let vertices = model.vertices();
        let one = |c: &toile::sim::StaticContact| {
            let (kind, ids) = contact_words(&c.contact.key);
            let mut point = [0.0; 3];
            for (v, weight) in c.contact.carriers().filter(|(_, weight)| *weight > 0.0) {
                let p = model.position(state, vertices[v as usize]);
                (0..3).for_each(|k| point[k] += weight * p[k]);
            }
            let found = PyDict::new(py);
            found.set_item("kind", kind)?;
            found.set_item("ids", ids.to_vec())?;
            found.set_item("point", point)?;
            found.set_item("normal", <[f64; 3]>::from(c.contact.normal))?;
            found.set_item("force", <[f64; 3]>::from(c.force))?;
            found.set_item("friction", c.contact.friction)?;
            Ok(found)
        };
        self.drape.contacts.iter().map(one).collect()
    }

    /// What certificate.json holds, to the byte.
    fn certificate_json(&self) -> String {
        self.drape.certificate().pretty()
    }

    /// Residual after each Newton step.
    fn history<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::numbers(py, self.drape.result.history.iter().map(|s| s.residual).collect())
    }

    /// Pulls dL/dx of every shell back to (rest, supports, parameters) of every shell.
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        dl_dx: Vec<PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = dl_dx
            .iter()
            .enumerate()
            .map(|(i, a)| arrays::points(a, &format!("dL/dx of shell {i}")))
            .collect::<PyResult<Vec<_>>>()?;
        let found = py.detach(|| self.drape.vjp(&rows)).map_err(refused)?;
        found
            .into_iter()
            .map(|shell| {
                let one = PyDict::new(py);
                one.set_item("rest_positions", arrays::rows(py, shell.rest)?)?;
                one.set_item("supports", arrays::rows(py, shell.supports)?)?;
                let parameters = PyDict::new(py);
                for (name, values) in shell.parameters {
                    if let [value] = values[..] {
                        parameters.set_item(name, value)?;
                    } else {
                        parameters.set_item(name, arrays::numbers(py, values))?;
                    }
                }
                one.set_item("parameters", parameters)?;
                Ok(one)
            })
            .collect()
    }
}
