//! Rods and hair.

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toile::rod::{RodCertificate, StaticSettings, Station};

use crate::scene::Scene;
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
    axes: toile::io::Axes,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    arrays::rows(py, stations.iter().map(|s| axes.to_file(s.position.into())).collect())
}

/// A rod at rest.
#[pyclass(frozen, module = "toile._native")]
pub(crate) struct RodDrape {
    drape: toile::RodDrape,
}

/// Finds the equilibrium of every rod of a scene.
#[pyfunction]
pub(crate) fn drape_rods(py: Python<'_>, scene: &Scene) -> PyResult<Vec<RodDrape>> {
    let found = py.detach(|| toile::drape_rods(&scene.scene, &StaticSettings::default()));
    Ok(found.map_err(refused)?.into_iter().map(|drape| RodDrape { drape }).collect())
}

#[pymethods]
impl RodDrape {
    /// Points at equal arclengths.
    #[pyo3(signature = (stations=21))]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        stations: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        positions(py, &self.drape.stations(stations.max(2)), self.drape.loaded.axes)
    }

    /// Residual, stability and verdict.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        figures(py, &self.drape.result.equilibrium.certificate)
    }

    /// Curvatures k1, k2 and twist at the joints or elements [1/m].
    #[getter]
    fn curvatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.drape.result.equilibrium.q.iter().map(|k| (*k).into()).collect())
    }
}

/// The nature behind a drawn fibre.
#[pyclass(frozen, module = "toile._native")]
pub(crate) struct RodInversion {
    found: toile::RodInversion,
}

/// Finds the natural shapes of the drawn fibres of a scene, without contact.
#[pyfunction]
pub(crate) fn invert_rods(py: Python<'_>, scene: &Scene) -> PyResult<Vec<RodInversion>> {
    if !scene.scene.colliders.is_empty() || scene.scene.self_contact.is_some() {
        let help =
            "`toile invert` on the command line does; here leave out colliders and self_contact";
        return Err(refused(format!("fibres in contact are not inverted from Python yet; {help}")));
    }
    let (found, _) = py.detach(|| toile::invert_rods(&scene.scene)).map_err(refused)?;
    Ok(found.into_iter().map(|found| RodInversion { found }).collect())
}

#[pymethods]
impl RodInversion {
    /// Points of the shape that rests as drawn, at equal arclengths.
    #[pyo3(signature = (stations=21))]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        stations: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let fit = &self.found.fit;
        let all = fit.rod.equal_stations(&fit.q, stations.max(2));
        positions(py, &all, self.found.drawn.axes)
    }

    /// Points of the natural shape, at equal arclengths.
    #[pyo3(signature = (stations=21))]
    fn rest_positions<'py>(
        &self,
        py: Python<'py>,
        stations: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let all = self.found.fit.rod.equal_stations(&self.found.result.natural, stations.max(2));
        positions(py, &all, self.found.drawn.axes)
    }

    /// Natural curvatures k1, k2 and twist [1/m].
    #[getter]
    fn natural<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::rows(py, self.found.result.natural.iter().map(|k| (*k).into()).collect())
    }

    /// Residual, stability and verdict.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        figures(py, &self.found.result.certificate)
    }
}
