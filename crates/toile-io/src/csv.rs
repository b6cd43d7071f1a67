//! Tables as comma-separated values (RFC 4180).

use crate::atomic::{WriteError, atomic_write, invalid_data};
use std::io::{self, Write};
use std::path::Path;

/// One entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A number, written with the fewest digits that read back to the same bits.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// Words, quoted where needed.
    Text(String),
}

impl From<f64> for Cell {
    fn from(v: f64) -> Self {
        Cell::Number(v)
    }
}

impl From<i64> for Cell {
    fn from(v: i64) -> Self {
        Cell::Integer(v)
    }
}

impl From<usize> for Cell {
    fn from(v: usize) -> Self {
        i64::try_from(v).map_or(Cell::Number(v as f64), Cell::Integer)
    }
}

impl From<&str> for Cell {
    fn from(v: &str) -> Self {
        Cell::Text(v.into())
    }
}

impl From<String> for Cell {
    fn from(v: String) -> Self {
        Cell::Text(v)
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// Writes a header line and one line per row. A row of another length than `columns` is an error.
pub fn csv_to(
    mut out: impl Write,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> io::Result<()> {
    let header: Vec<String> = columns.iter().map(|c| quoted(c)).collect();
    writeln!(out, "{}", header.join(","))?;
    for (number, row) in rows.into_iter().enumerate() {
        if row.len() != columns.len() {
            return Err(invalid_data(format!(
                "row {number} has {} cells for {} columns",
                row.len(),
                columns.len()
            )));
        }
        for (i, cell) in row.iter().enumerate() {
            if i > 0 {
                out.write_all(b",")?;
            }
            match cell {
                Cell::Number(v) => write!(out, "{v:?}")?,
                Cell::Integer(v) => write!(out, "{v}")?,
                Cell::Text(v) => out.write_all(quoted(v).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// [`csv_to`] a file, whole or not at all.
pub fn write_csv(
    path: impl AsRef<Path>,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> Result<(), WriteError> {
    atomic_write(path, |out| csv_to(out, columns, rows))
}
