//! What can go wrong when a mesh is read, said so that it can be mended.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where in a file something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, counted from 1.
    Line(usize),
    /// A byte of a binary file, counted from 0.
    Byte(usize),
    /// A part with a name, such as `accessors[3]` of a glTF file.
    Part(String),
    /// The file as a whole.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
            Place::Part(part) => write!(f, ", {part}"),
            Place::Whole => Ok(()),
        }
    }
}

/// A mesh file that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file could not be opened or read at all.
    #[error("cannot read {}: {source}; {remedy}", path.display())]
    Unreadable {
        /// The file as it was asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it.
        remedy: String,
    },
    /// The content breaks its format or goes beyond what is supported.
    #[error("{file}{place}: {what}; {remedy}")]
    Invalid {
        /// Name of the file, `input` for data in memory.
        file: String,
        /// Where in the file.
        place: Place,
        /// What is wrong, with the numbers involved.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

impl MeshError {
    /// An error in data whose file name is not known yet; see [`MeshError::in_file`].
    pub(crate) fn invalid(
        place: Place,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> MeshError {
        MeshError::Invalid { file: "input".into(), place, what: what.into(), remedy: remedy.into() }
    }

    /// Names the file the data came from.
    pub(crate) fn in_file(self, path: &Path) -> MeshError {
        match self {
            MeshError::Invalid { place, what, remedy, .. } => {
                MeshError::Invalid { file: path.display().to_string(), place, what, remedy }
            }
            other => other,
        }
    }
}

/// Text of the input for a message: printable and short, whatever the bytes were.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 32;
    let cut = &bytes[..bytes.len().min(4 * LONGEST)];
    let text = String::from_utf8_lossy(cut);
    let mut short: String =
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(LONGEST).collect();
    if cut.len() < bytes.len() || text.chars().count() > LONGEST {
        short.push('…');
    }
    short
}
