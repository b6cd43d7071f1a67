//! What is wrong with a problem, said so that it can be mended.

/// A problem that cannot be posed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// A vector has the wrong length.
    #[error(
        "{what} has {found} numbers, {contacts} contacts of dimension {dimension} need {expected}; give one for each component"
    )]
    Length {
        /// Which vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length needed.
        expected: usize,
        /// Number of contacts.
        contacts: usize,
        /// Components of a contact.
        dimension: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what}[{index}] is {value}; give a finite number")]
    NotFinite {
        /// Which vector.
        what: &'static str,
        /// Where.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A coefficient of friction is negative.
    #[error("contact {contact} has friction {mu}; give zero or a positive number")]
    NegativeFriction {
        /// Which contact.
        contact: usize,
        /// Its μ.
        mu: f64,
    },
    /// W is not symmetric.
    #[error(
        "W[{row}][{column}] = {one:e} but W[{column}][{row}] = {other:e}, of largest entry {largest:e}; W = H M⁻¹ Hᵀ is symmetric"
    )]
    Asymmetric {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// Entry.
        one: f64,
        /// Its mirror.
        other: f64,
        /// Largest entry.
        largest: f64,
    },
    /// A diagonal entry of W is negative.
    #[error("W[{row}][{row}] = {value:e} is negative; W = H M⁻¹ Hᵀ has no negative eigenvalue")]
    NegativeDiagonal {
        /// Row.
        row: usize,
        /// Entry.
        value: f64,
    },
    /// A block names a contact or an unknown that does not exist.
    #[error("a block at row {row} names column {column} of {columns}; number them from 0")]
    NoSuchColumn {
        /// Row of the block.
        row: usize,
        /// Column it names.
        column: usize,
        /// Number of columns.
        columns: usize,
    },
}

pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), ProblemError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(ProblemError::NotFinite { what, index, value: values[index] }),
        None => Ok(()),
    }
}

pub(crate) fn check_length(
    what: &'static str,
    found: usize,
    expected: usize,
    contacts: usize,
    dimension: usize,
) -> Result<(), ProblemError> {
    if found == expected {
        return Ok(());
    }
    Err(ProblemError::Length { what, found, expected, contacts, dimension })
}
