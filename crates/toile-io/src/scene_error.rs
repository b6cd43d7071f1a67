//! What is wrong with a scene, with the line it stands on.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// One problem of a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, `scene` for text in memory.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Length of the marked part in characters, at least 1.
    pub width: usize,
    /// The line itself, shortened if it is very long.
    pub text: String,
    /// Where the mark begins in `text`, in characters.
    mark: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Longest line that is shown whole, and what is shown of longer ones before the mark.
const WIDEST: usize = 120;
const BEFORE: usize = 40;

impl Diagnostic {
    /// A problem at the bytes `span` of `source`.
    pub(crate) fn new(
        file: &str,
        source: &str,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let floor = |i: usize| source.floor_char_boundary(i.min(source.len()));
        let start = floor(span.start);
        let end = floor(span.end.max(start));
        let line_start = source[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |i| start + i);
        let line = source[..start].bytes().filter(|&b| b == b'\n').count() + 1;
        let column = source[line_start..start].chars().count() + 1;
        let marked = source[start..end.min(line_end).max(start)].trim_end();
        let whole = source[line_start..line_end].trim_end();
        let long = whole.chars().count() > WIDEST;
        let skipped = if long { (column - 1).saturating_sub(BEFORE) } else { 0 };
        let text: String = whole
            .chars()
            .skip(skipped)
            .take(WIDEST)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let mark = column - 1 - skipped;
        let room = text.chars().count().saturating_sub(mark).max(1);
        Diagnostic {
            file: file.into(),
            line,
            column,
            width: marked.chars().count().clamp(1, room),
            text,
            mark,
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        writeln!(f, "{number} | {}", self.text)?;
        write!(f, "{margin} | {}{}", " ".repeat(self.mark), "^".repeat(self.width))?;
        if !self.help.is_empty() {
            write!(f, "\n{margin} = {}", self.help)?;
        }
        Ok(())
    }
}

fn joined(problems: &[Diagnostic]) -> String {
    let texts: Vec<String> = problems.iter().map(Diagnostic::to_string).collect();
    texts.join("\n\n")
}

/// A scene that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The file could not be opened or read.
    #[error("cannot read the scene {}: {what}; {remedy}", path.display())]
    Unreadable {
        /// The file as it was asked for.
        path: PathBuf,
        /// What went wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// The content is wrong; every problem found, in the order of the file.
    #[error("{}", joined(problems))]
    Invalid {
        /// The problems, at least one.
        problems: Vec<Diagnostic>,
    },
}

impl SceneError {
    pub(crate) fn one(problem: Diagnostic) -> SceneError {
        SceneError::Invalid { problems: vec![problem] }
    }

    /// The problems with their places; empty when the file could not be read at all.
    pub fn problems(&self) -> &[Diagnostic] {
        match self {
            SceneError::Unreadable { .. } => &[],
            SceneError::Invalid { problems } => problems,
        }
    }
}
