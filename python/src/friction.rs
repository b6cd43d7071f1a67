//! The conic kernel alone.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use toile::cone::{Law, Settings, Solution, sensitivity};
use toile::io::{FrictionMatrix, FrictionProblem};

use crate::watch::Watch;
use crate::{arrays, refused};

/// Forces and velocities of a friction problem.
#[pyclass(frozen, module = "toile._native")]
pub(crate) struct FrictionSolution {
    problem: FrictionProblem,
    solution: Solution,
}

/// Solves u = W r + b under Coulomb's law, components of a contact normal first.
#[pyfunction]
#[pyo3(signature = (w, b, mu, dimension=3, solver="auto", tolerance=1e-8, max_iterations=2000, progress=None))]
pub(crate) fn solve_friction(
    py: Python<'_>,
    w: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray1<'_, f64>,
    mu: PyReadonlyArray1<'_, f64>,
    dimension: usize,
    solver: &str,
    tolerance: f64,
    max_iterations: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<FrictionSolution> {
    let w = w.as_array();
    if w.nrows() != w.ncols() {
        return Err(refused(format!("W has shape {:?}; it must be square", w.shape())));
    }
    let problem = FrictionProblem {
        id: String::new(),
        dimension,
        law: Law::Coulomb,
        mu: mu.as_array().to_vec(),
        w: FrictionMatrix::Dense(w.iter().copied().collect()),
        b: b.as_array().to_vec(),
    };
    let settings = Settings { tolerance, max_iterations, ..Settings::default() };
    let watch = std::sync::Mutex::new(Watch::new(progress));
    let solution = py.detach(|| {
        let told = |iteration: usize, residual: f64| {
            watch.lock().is_ok_and(|mut watch| {
                watch.tell(|entries| {
                    entries.set_item("iteration", iteration)?;
                    entries.set_item("residual", residual)
                })
            })
        };
        toile::solve_friction(&problem, solver, &settings, &told)
    });
    if let Ok(watch) = watch.into_inner() {
        watch.finish()?;
    }
    Ok(FrictionSolution { solution: solution.map_err(refused)?, problem })
}

#[pymethods]
impl FrictionSolution {
    /// Forces.
    #[getter]
    fn r<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::numbers(py, self.solution.r.clone())
    }

    /// Velocities u = W r + b.
    #[getter]
    fn u<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        arrays::numbers(py, self.solution.u.clone())
    }

    /// One letter per contact: O open, T sticking, S slipping.
    #[getter]
    fn status(&self) -> String {
        self.solution.status.iter().map(|s| s.letter()).collect()
    }

    /// Whether the tolerance was met.
    #[getter]
    fn converged(&self) -> bool {
        self.solution.converged()
    }

    /// Iterations done.
    #[getter]
    fn iterations(&self) -> usize {
        self.solution.iterations
    }

    /// Relative Alart–Curnier residual.
    #[getter]
    fn residual(&self) -> f64 {
        self.solution.residuals.alart_curnier
    }

    /// Pulls dL/dr and dL/du back to (W, b, mu).
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        dl_dr: PyReadonlyArray1<'py, f64>,
        dl_du: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)>
    {
        let (dr, du) = (dl_dr.as_array().to_vec(), dl_du.as_array().to_vec());
        let p = &self.problem;
        let FrictionMatrix::Dense(w) = &p.w else {
            return Err(refused("derivatives need all of W; pose the problem with a matrix"));
        };
        let found = py.detach(|| match p.dimension {
            2 => sensitivity::<2>(w, &p.mu, &self.solution, &dr, &du),
            6 => sensitivity::<6>(w, &p.mu, &self.solution, &dr, &du),
            _ => sensitivity::<3>(w, &p.mu, &self.solution, &dr, &du),
        });
        let found = found.map_err(refused)?;
        let n = p.b.len();
        let w = arrays::numbers(py, found.w).reshape([n, n])?;
        Ok((w, arrays::numbers(py, found.b), arrays::numbers(py, found.mu)))
    }
}
