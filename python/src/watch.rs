//! Progress to Python, and Ctrl-C from it.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Sees every step of a solver: lets Python look at its signals and tells the callback.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    /// What Python raised; raised again when the solver has come home.
    raised: Option<PyErr>,
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, raised: None }
    }

    /// Tells of a step; `false` ends the solve. `entries` fills the dictionary the callback is given.
    pub(crate) fn tell(
        &mut self,
        entries: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
    ) -> bool {
        if self.raised.is_some() {
            return false;
        }
        let told = Python::attach(|py| -> PyResult<bool> {
            py.check_signals()?;
            let Some(callback) = &self.callback else { return Ok(true) };
            let step = PyDict::new(py);
            entries(&step)?;
            // Only False ends it: a callback that returns nothing goes on.
            let answer = callback.bind(py).call1((step,))?;
            Ok(!answer.is_instance_of::<pyo3::types::PyBool>() || answer.is_truthy()?)
        });
        told.unwrap_or_else(|error| {
            self.raised = Some(error);
            false
        })
    }

    /// Raises what was raised meanwhile.
    pub(crate) fn finish(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}
