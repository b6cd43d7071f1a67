//! Forces that contacts carry in an equilibrium, for the simulation that starts there.
//!
//! A table `contact,a,b,c,fx,fy,fz`: kind and numbers of a contact as in checkpoints, and the force on its first side \[N\] in the axes of the files. Its
//! first row, `mesh`, says how many vertices and faces all shells have together.

use std::path::Path;

use toile_contact::ContactKey;
use toile_geometry::Vec3;

use crate::atomic::WriteError;
use crate::axes::Axes;
use crate::checkpoint::{contact_key, contact_words};
use crate::csv::{Cell, write_csv};
use crate::scene::Scene;
use crate::scene_error::SceneError;
use crate::text::read_text;

const COLUMNS: [&str; 7] = ["contact", "a", "b", "c", "fx", "fy", "fz"];
/// Name of the first row.
const MESH: &str = "mesh";
/// Largest file that is read \[bytes\].
const LARGEST: u64 = 1 << 30;

/// Writes the forces of contacts of a surface with so many vertices and faces.
pub fn write_contact_forces(
    path: impl AsRef<Path>,
    scene: &Scene,
    [vertices, faces]: [usize; 2],
    forces: impl IntoIterator<Item = (ContactKey, Vec3)>,
) -> Result<(), WriteError> {
    let axes = Axes { up: scene.up, scale: 1.0 };
    let row = |kind: &str, numbers: [u32; 3], force: [f64; 3]| {
        let mut cells = vec![Cell::Text(kind.into())];
        cells.extend(numbers.map(|n| Cell::Integer(i64::from(n))));
        cells.extend(force.map(Cell::Number));
        cells
    };
    let mesh = row(MESH, [vertices as u32, faces as u32, 0], [0.0; 3]);
    let rows = forces.into_iter().map(|(key, force)| {
        let (kind, numbers) = contact_words(&key);
        row(kind, numbers, axes.to_file(force.into()))
    });
    write_csv(path, &COLUMNS, std::iter::once(mesh).chain(rows))
}

/// The contact forces a scene starts with, for a surface with so many vertices and faces; none if it names no file.
pub fn load_contact_forces(
    scene: &Scene,
    [vertices, faces]: [usize; 2],
) -> Result<Vec<(ContactKey, Vec3)>, SceneError> {
    let Some(name) = &scene.contact_forces else { return Ok(Vec::new()) };
    let help = "take this line out, and the simulation finds forces of its own";
    let wrong = |what: String| {
        let what = format!("{name}: {what}");
        SceneError::one(scene.source.diagnostic_at("contact_forces", what, help))
    };
    let text = read_text(&scene.resolve(name), LARGEST).map_err(wrong)?;
    let axes = Axes { up: scene.up, scale: 1.0 };
    if !text.lines().next().is_some_and(|l| l.split(',').map(str::trim).eq(COLUMNS)) {
        return Err(wrong(format!("line 1 is not {}", COLUMNS.join(","))));
    }
    let (mut forces, mut mesh_known) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, l)| !l.trim().is_empty()) {
        let (kind, numbers, force) = parsed(line).ok_or_else(|| {
            wrong(format!("line {} is not a contact, three numbers and a force", number + 1))
        })?;
        if !std::mem::replace(&mut mesh_known, true) {
            if kind != MESH || numbers != [vertices as u32, faces as u32, 0] {
                return Err(wrong(format!(
                    "the forces are those of another mesh: this one has {vertices} vertices and {faces} faces"
                )));
            }
            continue;
        }
        let key = contact_key(kind, numbers)
            .ok_or_else(|| wrong(format!("line {}: no contact is called so", number + 1)))?;
        forces.push((key, Vec3::from(axes.to_internal(force))));
    }
    if !mesh_known {
        return Err(wrong(format!(
            "it ends before its row {MESH}, which says what mesh it is for"
        )));
    }
    Ok(forces)
}

/// Kind, numbers and force of a line.
fn parsed(line: &str) -> Option<(&str, [u32; 3], [f64; 3])> {
    let mut words = line.split(',').map(str::trim);
    let kind = words.next()?;
    let (mut numbers, mut force) = ([0; 3], [0.0; 3]);
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    for f in &mut force {
        *f = words.next()?.parse().ok().filter(|f: &f64| f.is_finite())?;
    }
    words.next().is_none().then_some((kind, numbers, force))
}
