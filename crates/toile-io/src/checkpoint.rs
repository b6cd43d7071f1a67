//! Checkpoints of simulations, exact to the bit.
//!
//! Text, in sections that begin with their name and their length:
//!
//! ```text
//! toile checkpoint 3           and pushed-out where the run began so
//! step 40
//! state NOW unknowns 75        one line each: time, coordinates, their rounding, velocities
//! state BEFORE unknowns 75     only where the integrator looks back
//! contacts 12                  one line each: kind, numbers, status, force
//! couplings 7                  one line each: two nodes, stages since they touched
//! end 9f86d081884c7d65         checksum of everything above
//! ```
//!
//! Numbers are the sixteen hexadecimal digits of their bits: what is read is what was written.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use toile_contact::ContactKey;
use toile_sim::dynamics::{Checkpoint, ContactStatus, Snapshot};

use crate::atomic::{WriteError, atomic_write};

/// First line of the files this version writes and reads.
const TITLE: &str = "toile checkpoint";
const VERSION: u32 = 3;

/// A checkpoint that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file could not be opened or read at all.
    #[error("cannot read {}: {source}; start from the beginning instead", path.display())]
    Unreadable {
        /// The file as it was asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another version of the format.
    #[error(
        "{file}: written in version {found} of the format, this program reads {VERSION}; \
         start from the beginning instead"
    )]
    Version {
        /// Name of the file, `input` for data in memory.
        file: String,
        /// Its version.
        found: u32,
    },
    /// Not a checkpoint, cut short, or changed since it was written.
    #[error("{file}, line {line}: {what}; start from the beginning instead")]
    Damaged {
        /// Name of the file, `input` for data in memory.
        file: String,
        /// Where, counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl CheckpointError {
    pub(crate) fn in_file(self, path: &Path) -> Self {
        let file = path.display().to_string();
        match self {
            Self::Version { found, .. } => Self::Version { file, found },
            Self::Damaged { line, what, .. } => Self::Damaged { file, line, what },
            other => other,
        }
    }
}

/// Kind and numbers of a contact, as in checkpoints and contact logs; numbers it does not have are 0.
pub fn contact_words(key: &ContactKey) -> (&'static str, [u32; 3]) {
    match *key {
        ContactKey::VertexCollider { vertex, collider } => {
            ("vertex-collider", [vertex, collider, 0])
        }
        ContactKey::FaceCollider { face, collider, feature } => {
            ("face-collider", [face, collider, feature])
        }
        ContactKey::EdgeCollider { edge, collider, feature } => {
            ("edge-collider", [edge, collider, feature])
        }
        ContactKey::VertexFace { vertex, face } => ("vertex-face", [vertex, face, 0]),
        ContactKey::EdgeEdge { first, second } => ("edge-edge", [first, second, 0]),
    }
}

pub(crate) fn contact_key(kind: &str, [a, b, c]: [u32; 3]) -> Option<ContactKey> {
    Some(match kind {
        "vertex-collider" => ContactKey::VertexCollider { vertex: a, collider: b },
        "face-collider" => ContactKey::FaceCollider { face: a, collider: b, feature: c },
        "edge-collider" => ContactKey::EdgeCollider { edge: a, collider: b, feature: c },
        "vertex-face" => ContactKey::VertexFace { vertex: a, face: b },
        "edge-edge" => ContactKey::EdgeEdge { first: a, second: b },
        _ => return None,
    })
}

const STATUSES: [(&str, ContactStatus); 3] =
    [("open", ContactStatus::Open), ("stick", ContactStatus::Stick), ("slip", ContactStatus::Slip)];

/// After the version, where what began inside something was pushed out first: what is accepted of the start depends on that.
const PUSHED_OUT: &str = "pushed-out";

/// Writes where a simulation is after `step` steps, whole or not at all, and whether what began inside something was `pushed_out` first.
pub fn write_checkpoint(
    path: impl AsRef<Path>,
    step: usize,
    pushed_out: bool,
    checkpoint: &Checkpoint,
) -> Result<(), WriteError> {
    let text = text_of(step, pushed_out, checkpoint);
    atomic_write(path, |w| w.write_all(text.as_bytes()))
}

/// Whether the run that wrote a checkpoint began with what was inside something pushed out: it goes on to the same bits only from there.
///
/// What is no checkpoint was not; [`read_checkpoint`] says what is wrong with it.
pub fn began_pushed_out(path: impl AsRef<Path>) -> bool {
    let mut title = String::new();
    let file = fs::File::open(path);
    // A file of bytes without lines is no reason to read all of it.
    let read = file.and_then(|f| BufReader::new(f.take(100)).read_line(&mut title));
    read.is_ok() && title.starts_with(TITLE) && title.trim_end().ends_with(PUSHED_OUT)
}

/// Reads what [`write_checkpoint`] wrote: the number of steps and the checkpoint.
pub fn read_checkpoint(path: impl AsRef<Path>) -> Result<(usize, Checkpoint), CheckpointError> {
    let path = path.as_ref();
    let bytes = fs::read(path)
        .map_err(|source| CheckpointError::Unreadable { path: path.to_path_buf(), source })?;
    parse_checkpoint(&bytes).map_err(|e| e.in_file(path))
}

/// What a checkpoint file holds.
pub fn checkpoint_text(step: usize, checkpoint: &Checkpoint) -> String {
    text_of(step, false, checkpoint)
}

fn text_of(step: usize, pushed_out: bool, checkpoint: &Checkpoint) -> String {
    let began = if pushed_out { format!(" {PUSHED_OUT}") } else { String::new() };
    let mut text = format!("{TITLE} {VERSION}{began}\nstep {step}\n");
    let states = [("NOW", Some(&checkpoint.now)), ("BEFORE", checkpoint.before.as_ref())];
    for (name, state) in states {
        let Some(state) = state else { continue };
        line(&mut text, format_args!("state {name} unknowns {}", state.high.len()));
        for values in [&[state.time][..], &state.high, &state.low, &state.velocity] {
            push_bits(&mut text, values);
            text.push('\n');
        }
    }
    line(&mut text, format_args!("contacts {}", checkpoint.held.len()));
    for (key, force, status) in &checkpoint.held {
        let (kind, [a, b, c]) = contact_words(key);
        let word = STATUSES.iter().find(|(_, s)| s == status).map_or("open", |(word, _)| word);
        let _ = write!(text, "{kind} {a} {b} {c} {word} ");
        push_bits(&mut text, force);
        text.push('\n');
    }
    line(&mut text, format_args!("couplings {}", checkpoint.couplings.len()));
    for [a, b, age] in &checkpoint.couplings {
        line(&mut text, format_args!("{a} {b} {age}"));
    }
    let sum = checksum(text.as_bytes());
    line(&mut text, format_args!("end {sum:016x}"));
    text
}

/// Text never refuses a line.
pub(crate) fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{words}");
}

pub(crate) fn push_bits(text: &mut String, values: &[f64]) {
    for v in values {
        let _ = write!(text, "{:016x}", v.to_bits());
    }
}

/// Fowler–Noll–Vo's 64 bits (variant 1a): enough against accidents.
pub fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Reads a checkpoint from memory.
pub fn parse_checkpoint(bytes: &[u8]) -> Result<(usize, Checkpoint), CheckpointError> {
    let mut lines = Lines::new(bytes)?;
    let title = lines.next()?;
    let Some(version) = title.strip_prefix(TITLE).and_then(|v| v.trim().split(' ').next()) else {
        return Err(lines.damaged("this is not a checkpoint"));
    };
    match version.parse::<u32>() {
        Ok(VERSION) => {}
        Ok(found) => return Err(CheckpointError::Version { file: "input".into(), found }),
        Err(_) => return Err(lines.damaged("the version of the format is not a number")),
    }
    let step = lines.section("step")?;
    let now = lines.state("NOW")?.ok_or_else(|| lines.damaged("`state NOW` is missing"))?;
    let before = lines.state("BEFORE")?;
    if before.as_ref().is_some_and(|b| b.high.len() != now.high.len()) {
        return Err(lines.damaged("the two states differ in size"));
    }
    let count = lines.section("contacts")?;
    let mut held = Vec::new();
    for _ in 0..count {
        held.push(lines.contact()?);
    }
    let count = lines.section("couplings")?;
    let mut couplings = Vec::new();
    for _ in 0..count {
        couplings.push(lines.coupling()?);
    }
    lines.end(bytes)?;
    Ok((step, Checkpoint { now, before, held, couplings }))
}

fn damaged(line: usize, what: impl Into<String>) -> CheckpointError {
    CheckpointError::Damaged { file: "input".into(), line, what: what.into() }
}

/// Lines one after the other.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// Where the next one begins.
    at: usize,
    /// Number of the last one, counted from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        let text = std::str::from_utf8(bytes).map_err(|_| damaged(1, "this is not text"))?;
        Ok(Lines { text, at: 0, number: 0 })
    }

    /// The last line, with the checksum of all before.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let sum = checksum(&bytes[..self.at]);
        let last = self.next()?;
        if last.strip_prefix("end ") != Some(&format!("{sum:016x}")) {
            return Err(self.damaged("the checksum does not fit what is above"));
        }
        Ok(())
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> CheckpointError {
        damaged(self.number, what)
    }

    /// The next line; a line without its end was cut.
    pub(crate) fn next(&mut self) -> Result<&'a str, CheckpointError> {
        self.number += 1;
        let rest = &self.text[self.at..];
        let Some(end) = rest.find('\n') else {
            return Err(self.damaged("the file ends too early"));
        };
        self.at += end + 1;
        Ok(&rest[..end])
    }

    /// The number in `name NUMBER`.
    pub(crate) fn section(&mut self, name: &str) -> Result<usize, CheckpointError> {
        let line = self.next()?;
        let number = line.strip_prefix(name).and_then(|n| n.strip_prefix(' ')?.parse().ok());
        number.ok_or_else(|| self.damaged(format!("`{name}` and a number should be here")))
    }

    /// The state of that name, if it is next.
    fn state(&mut self, name: &str) -> Result<Option<Snapshot>, CheckpointError> {
        if !self.text[self.at..].starts_with(&format!("state {name} ")) {
            return Ok(None);
        }
        let n = self.section(&format!("state {name} unknowns"))?;
        let time = self.bits(1)?[0];
        let [high, low, velocity] = [self.bits(n)?, self.bits(n)?, self.bits(n)?];
        Ok(Some(Snapshot { time, high, low, velocity }))
    }

    pub(crate) fn bits(&mut self, count: usize) -> Result<Vec<f64>, CheckpointError> {
        let line = self.next()?;
        self.unbits(line, count)
    }

    pub(crate) fn unbits(&self, text: &str, count: usize) -> Result<Vec<f64>, CheckpointError> {
        if !text.bytes().all(|b| b.is_ascii_hexdigit()) || text.len() / 16 != count {
            let digits = text.len();
            return Err(self.damaged(format!("{digits} characters instead of {count} numbers")));
        }
        let numbers = text.as_bytes().chunks(16).map(|digits| {
            let digits = std::str::from_utf8(digits).ok().filter(|d| d.len() == 16)?;
            u64::from_str_radix(digits, 16).ok().map(f64::from_bits).filter(|v| v.is_finite())
        });
        let numbers: Option<Vec<f64>> = numbers.collect();
        numbers.ok_or_else(|| self.damaged("a number is cut or not finite"))
    }

    fn contact(&mut self) -> Result<(ContactKey, [f64; 3], ContactStatus), CheckpointError> {
        let line = self.next()?;
        let words: Vec<&str> = line.split(' ').collect();
        let &[kind, a, b, c, status, force] = &words[..] else {
            return Err(self.damaged("a contact has six words"));
        };
        let status = STATUSES.iter().find(|(word, _)| *word == status).map(|(_, s)| *s);
        let (Some(key), Some(status)) = (self.key(kind, [a, b, c]), status) else {
            return Err(self.damaged("this is no contact"));
        };
        let force = self.vector(force)?;
        Ok((key, force, status))
    }

    fn coupling(&mut self) -> Result<[u32; 3], CheckpointError> {
        let line = self.next()?;
        let numbers: Option<Vec<u32>> = line.split(' ').map(|word| word.parse().ok()).collect();
        numbers
            .and_then(|n| n.try_into().ok())
            .ok_or_else(|| self.damaged("a coupling is three numbers"))
    }

    fn key(&self, kind: &str, numbers: [&str; 3]) -> Option<ContactKey> {
        let [a, b, c] = numbers.map(|n| n.parse().ok());
        contact_key(kind, [a?, b?, c?])
    }

    fn vector(&self, text: &str) -> Result<[f64; 3], CheckpointError> {
        let v = self.unbits(text, 3)?;
        Ok([v[0], v[1], v[2]])
    }
}
