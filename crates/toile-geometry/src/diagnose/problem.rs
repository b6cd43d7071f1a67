//! One kind of problem with the elements that have it.

use std::fmt;

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The computation can run, but its result may not be what is wanted.
    Warning,
    /// No shell can be computed on this mesh.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// There is no vertex.
    NoVertices,
    /// There is no face.
    NoFaces,
    /// More elements than can be numbered.
    TooLarge,
    /// A coordinate is NaN or infinite.
    NonFinite,
    /// A face names a vertex that does not exist.
    IndexOutOfRange,
    /// A face names a vertex twice.
    RepeatedVertex,
    /// Faces with the same three vertices.
    DuplicateFace,
    /// A face has no area.
    ZeroArea,
    /// An edge with three faces or more.
    NonManifoldEdge,
    /// Neighbours whose normals point to opposite sides.
    InconsistentOrientation,
    /// Sheets that touch in one vertex only.
    NonManifoldVertex,
    /// A face much longer than high.
    Sliver,
    /// A vertex without faces.
    UnreferencedVertex,
    /// Boundary vertices in the same place: a seam that is not sewn.
    UnweldedSeam,
    /// The size suggests other units than metres.
    SuspiciousSize,
    /// Very long next to very short edges.
    UnevenEdges,
    /// Other vertices in the same place.
    CoincidentVertices,
    /// The mesh has several pieces.
    SeveralComponents,
    /// How many boundary loops the mesh has.
    BoundaryLoops,
}

/// Where a problem is. Numbers count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A vertex.
    Vertex(u32),
    /// A face.
    Face(u32),
    /// The edge between two vertices.
    Edge([u32; 2]),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vertex(v) => write!(f, "vertex {v}"),
            Self::Face(face) => write!(f, "face {face}"),
            Self::Edge([a, b]) => write!(f, "edge {a}–{b}"),
        }
    }
}

/// One kind of problem, with the first elements that have it. Displayed as one sentence and
/// its remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// How much it matters.
    pub severity: Severity,
    /// The first elements concerned, at most [`Problem::SHOWN`]; none for the whole mesh.
    pub elements: Vec<Element>,
    /// How many elements are concerned, 1 for the whole mesh (for loops and pieces, how many).
    pub count: usize,
    /// What is wrong, where and how much, without the final dot.
    pub message: String,
    /// What to do about it, without the final dot.
    pub remedy: String,
}

impl Problem {
    /// How many elements a problem names before it only counts.
    pub const SHOWN: usize = 5;

    /// A problem of the whole mesh.
    pub(super) fn whole(
        kind: ProblemKind,
        severity: Severity,
        message: String,
        remedy: String,
    ) -> Self {
        Self { kind, severity, elements: Vec::new(), count: 1, message, remedy }
    }

    /// The problem that some elements "have `what`", if there are any.
    pub(super) fn group(
        kind: ProblemKind,
        severity: Severity,
        elements: impl Iterator<Item = Element>,
        what: &str,
        remedy: &str,
    ) -> Option<Self> {
        let mut shown = Vec::new();
        let mut count = 0;
        for element in elements {
            if count < Self::SHOWN {
                shown.push(element);
            }
            count += 1;
        }
        let first = shown.first()?;
        let message = if count == 1 {
            format!("{first} has {what}")
        } else {
            let (noun, name): (_, fn(&Element) -> String) = match first {
                Element::Vertex(_) => ("vertices", number),
                Element::Face(_) => ("faces", number),
                Element::Edge(_) => ("edges", number),
            };
            let mut names = shown.iter().map(name).collect::<Vec<_>>().join(", ");
            if count > shown.len() {
                names += ", …";
            }
            format!("{count} {noun} have {what} ({names})")
        };
        Some(Self { kind, severity, elements: shown, count, message, remedy: remedy.into() })
    }
}

/// The element without its noun.
fn number(element: &Element) -> String {
    match element {
        Element::Vertex(i) | Element::Face(i) => i.to_string(),
        Element::Edge([a, b]) => format!("{a}–{b}"),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.severity, self.message, self.remedy)
    }
}
