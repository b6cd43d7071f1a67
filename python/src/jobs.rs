//! Job lists.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::refused;

/// The jobs of a list: command, arguments, retries, columns, and name, values (JSON), scene (TOML) and fingerprint of each.
#[pyfunction]
pub(crate) fn plan_jobs(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let list = py.detach(|| toile::io::plan_jobs(path)).map_err(refused)?;
    let found = PyDict::new(py);
    found.set_item("command", list.command.word())?;
    found.set_item("arguments", list.arguments)?;
    found.set_item("retries", list.retries)?;
    found.set_item("columns", list.columns)?;
    let jobs = list
        .jobs
        .into_iter()
        .map(|job| {
            let values: Vec<String> = job.values.iter().map(ToString::to_string).collect();
            (job.name, values, job.scene, job.fingerprint)
        })
        .collect::<Vec<_>>();
    found.set_item("jobs", jobs)?;
    Ok(found)
}
