//! Checkpoints of moving fibres, exact to the bit.
//!
//! ```text
//! toile fibres 2
//! step 40
//! time 3fa47ae147ae147b3f60624dd2f1a9fc    and the length of the last step
//! fibres 2
//! blocks 21                    then three lines: curvatures, their rates, clamp with its motion
//! contacts 5                   one line each: kind, numbers, force
//! end 9f86d081884c7d65         checksum of everything above
//! ```
//!
//! Numbers are the sixteen hexadecimal digits of their bits.

use std::fs;
use std::path::Path;

use toile_rod::{FibreCheckpoint, FibreContactKey, FibreMoment, SurfacePart, Vec3};

use crate::atomic::{WriteError, atomic_write};
use crate::checkpoint::{CheckpointError, Lines, checksum, line, push_bits};

/// First line of the files this version writes and reads.
const TITLE: &str = "toile fibres 2";

/// Writes where fibres are after `step` steps, whole or not at all.
pub fn write_fibre_checkpoint(
    path: impl AsRef<Path>,
    step: usize,
    checkpoint: &FibreCheckpoint,
) -> Result<(), WriteError> {
    let text = text(step, checkpoint);
    atomic_write(path, |w| w.write_all(text.as_bytes()))
}

/// Reads what [`write_fibre_checkpoint`] wrote: the number of steps and the checkpoint.
pub fn read_fibre_checkpoint(
    path: impl AsRef<Path>,
) -> Result<(usize, FibreCheckpoint), CheckpointError> {
    let path = path.as_ref();
    let bytes = fs::read(path)
        .map_err(|source| CheckpointError::Unreadable { path: path.to_path_buf(), source })?;
    parse_fibre_checkpoint(&bytes).map_err(|e| e.in_file(path))
}

fn vectors(text: &mut String, values: &[Vec3]) {
    for v in values {
        push_bits(text, v.as_slice());
    }
    text.push('\n');
}

/// What a file of fibres holds.
pub fn text(step: usize, checkpoint: &FibreCheckpoint) -> String {
    let mut text = format!("{TITLE}\nstep {step}\ntime ");
    push_bits(&mut text, &[checkpoint.time, checkpoint.taken]);
    line(&mut text, format_args!("\nfibres {}", checkpoint.fibres.len()));
    for fibre in &checkpoint.fibres {
        line(&mut text, format_args!("blocks {}", fibre.q.len()));
        vectors(&mut text, &fibre.q);
        vectors(&mut text, &fibre.rate);
        vectors(&mut text, &fibre.clamp);
    }
    line(&mut text, format_args!("contacts {}", checkpoint.forces.len()));
    for (key, force) in &checkpoint.forces {
        let (kind, n) = match *key {
            FibreContactKey::Collider { fibre, point, collider } => {
                ("collider", [fibre, point, collider, 0])
            }
            FibreContactKey::Fibres { first, second } => {
                ("fibres", [first.0, first.1, second.0, second.1])
            }
            FibreContactKey::Surface { fibre, part } => {
                let (kind, number) = match part {
                    SurfacePart::Vertex(n) => (0, n),
                    SurfacePart::Edge(n) => (1, n),
                    SurfacePart::Face(n) => (2, n),
                };
                ("surface", [fibre.0, fibre.1, kind, number])
            }
        };
        let [a, b, c, d] = n;
        text.push_str(&format!("{kind} {a} {b} {c} {d} "));
        push_bits(&mut text, force.as_slice());
        text.push('\n');
    }
    let sum = checksum(text.as_bytes());
    line(&mut text, format_args!("end {sum:016x}"));
    text
}

/// Reads a checkpoint of fibres from memory.
pub fn parse_fibre_checkpoint(bytes: &[u8]) -> Result<(usize, FibreCheckpoint), CheckpointError> {
    let mut lines = Lines::new(bytes)?;
    if lines.next()? != TITLE {
        return Err(lines.damaged("this is no checkpoint of fibres"));
    }
    let step = lines.section("step")?;
    let time = lines.next()?;
    let time = time.strip_prefix("time ").ok_or_else(|| lines.damaged("`time` is missing"))?;
    let times = lines.unbits(time, 2)?;
    let (time, taken) = (times[0], times[1]);
    let count = lines.section("fibres")?;
    let mut fibres = Vec::new();
    for _ in 0..count {
        let n = lines.section("blocks")?;
        let mut three = |count: usize| -> Result<Vec<Vec3>, CheckpointError> {
            let values = lines.bits(count.saturating_mul(3))?;
            Ok(values.chunks(3).map(Vec3::from_column_slice).collect())
        };
        let (q, rate, clamp) = (three(n)?, three(n)?, three(8)?);
        let clamp = <[Vec3; 8]>::try_from(clamp).unwrap_or_default();
        fibres.push(FibreMoment { q, rate, clamp });
    }
    let count = lines.section("contacts")?;
    let mut forces = Vec::new();
    for _ in 0..count {
        let words: Vec<&str> = lines.next()?.split(' ').collect();
        let &[kind, a, b, c, d, force] = &words[..] else {
            return Err(lines.damaged("a contact has six words"));
        };
        let numbers: Option<Vec<u32>> = [a, b, c, d].iter().map(|n| n.parse().ok()).collect();
        let key = match (kind, numbers.as_deref()) {
            ("collider", Some(&[fibre, point, collider, _])) => {
                FibreContactKey::Collider { fibre, point, collider }
            }
            ("fibres", Some(&[a, b, c, d])) => {
                FibreContactKey::Fibres { first: (a, b), second: (c, d) }
            }
            ("surface", Some(&[a, b, kind @ 0..=2, number])) => {
                let part = match kind {
                    0 => SurfacePart::Vertex(number),
                    1 => SurfacePart::Edge(number),
                    _ => SurfacePart::Face(number),
                };
                FibreContactKey::Surface { fibre: (a, b), part }
            }
            _ => return Err(lines.damaged("this is no contact")),
        };
        forces.push((key, Vec3::from_column_slice(&lines.unbits(force, 3)?)));
    }
    lines.end(bytes)?;
    Ok((step, FibreCheckpoint { time, taken, fibres, forces }))
}
