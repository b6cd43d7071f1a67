//! The native half of the Python package `toile`: arrays in, arrays out, the interpreter free while something is solved.
//!
//! The other half, in `package/toile`, gives scenes their shape; everything here takes a checked [`scene::Scene`].

mod arrays;
mod drape;
mod friction;
mod invert;
mod jobs;
mod rods;
mod scene;
mod simulate;
mod validate;
mod watch;

use pyo3::prelude::*;

pyo3::create_exception!(
    toile._native,
    ToileError,
    pyo3::exceptions::PyValueError,
    "What is wrong with the input, where, and what to do."
);

/// An error of the library as a Python exception with the same words.
pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    ToileError::new_err(error.to_string())
}

/// Sets the number of threads, once and before any other work; False if they were already set.
#[pyfunction]
fn set_threads(threads: usize) -> bool {
    toile::set_threads(threads)
}

/// The JSON schema of scenes, as text.
#[pyfunction]
fn scene_schema() -> String {
    toile::io::scene_schema().to_string()
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::ToileError;
    #[pymodule_export]
    use super::drape::{Drape, drape};
    #[pymodule_export]
    use super::friction::{FrictionSolution, solve_friction};
    #[pymodule_export]
    use super::invert::{Inversion, invert};
    #[pymodule_export]
    use super::jobs::plan_jobs;
    #[pymodule_export]
    use super::rods::{FibreSimulation, Fibres, drape_rods, invert_rods};
    #[pymodule_export]
    use super::scene::{Scene, load_scene, parse_scene};
    #[pymodule_export]
    use super::simulate::Simulation;
    #[pymodule_export]
    use super::validate::validate;
    #[pymodule_export]
    use super::{scene_schema, set_threads};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
