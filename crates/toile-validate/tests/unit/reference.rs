//! Reference tables that may lie beside the workspace; tests that need them say so and pass when they are absent.

use std::path::PathBuf;

/// A numeric table with named columns; cells that are not numbers become NaN.
pub(crate) struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    /// Reads `file` below the reference folder, or says that it is absent.
    pub(crate) fn read(file: &str) -> Option<Self> {
        let path: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "../../../shared/reference", file].iter().collect();
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: reference table {file} is not here");
            return None;
        };
        let mut lines = text.lines();
        let names = lines.next()?.split(',').map(str::to_owned).collect();
        let rows: Vec<Vec<f64>> = lines
            .map(|line| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect())
            .collect();
        assert!(!rows.is_empty(), "{file} is empty");
        Some(Self { names, rows })
    }

    /// The column called `name`.
    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        let at =
            self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[at]).collect()
    }
}

/// Fails when `value` differs from `expected` by more than `tolerance` of it.
#[track_caller]
pub(crate) fn assert_relative(value: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (value - expected).abs();
    assert!(
        error <= tolerance * expected.abs(),
        "{what}: {value:e} for {expected:e}, off by {:.1e}",
        error / expected.abs()
    );
}
