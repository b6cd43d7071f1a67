//! Between NumPy arrays and what the library takes.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::refused;

/// Rows of an (n, 3) array of floats.
pub(crate) fn points(array: &PyReadonlyArray2<'_, f64>, what: &str) -> PyResult<Vec<[f64; 3]>> {
    let view = array.as_array();
    if view.ncols() != 3 {
        return Err(refused(format!(
            "{what} has shape {:?}; give an array of shape (n, 3)",
            array.shape()
        )));
    }
    if let Some(row) = view.rows().into_iter().position(|r| r.iter().any(|v| !v.is_finite())) {
        return Err(refused(format!("{what}: row {row} is not finite")));
    }
    Ok(view.rows().into_iter().map(|r| [r[0], r[1], r[2]]).collect())
}

/// Rows of an (m, 3) array of vertex numbers below `count`.
pub(crate) fn faces(
    array: &PyReadonlyArray2<'_, i64>,
    count: usize,
    what: &str,
) -> PyResult<Vec<[u32; 3]>> {
    let view = array.as_array();
    if view.ncols() != 3 || view.nrows() == 0 {
        return Err(refused(format!(
            "{what} has shape {:?}; give triangles as an array of shape (m, 3)",
            array.shape()
        )));
    }
    let corner = |row: usize, v: i64| {
        u32::try_from(v).ok().filter(|v| (*v as usize) < count).ok_or_else(|| {
            refused(format!(
                "{what}: face {row} has vertex {v}, but there are {count}, counted from 0"
            ))
        })
    };
    view.rows()
        .into_iter()
        .enumerate()
        .map(|(i, r)| Ok([corner(i, r[0])?, corner(i, r[1])?, corner(i, r[2])?]))
        .collect()
}

/// An (n, 3) array that takes over the memory of its rows.
pub(crate) fn rows<'py, T: numpy::Element>(
    py: Python<'py>,
    rows: Vec<[T; 3]>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let n = rows.len();
    rows.into_flattened().into_pyarray(py).reshape([n, 3])
}

/// A one-dimensional array that takes over the memory of its numbers.
pub(crate) fn numbers<T: numpy::Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}
