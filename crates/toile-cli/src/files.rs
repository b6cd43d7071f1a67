//! The files of a result.

use std::collections::BTreeMap;
use std::path::Path;

use toile::geometry::Vec3;
use toile::io::{
    Axes, GlbMesh, Group, LoadedShell, ObjWriter, PlyWriter, Up, WriteError, atomic_write,
    contact_words, write_glb, write_obj, write_ply, write_vtp,
};
use toile::report::picture::{Paint, PictureMesh, View, png_to, render};
use toile::{Drape, Fields};

use crate::json::Object;

const COMMENT: &str = "toile: static equilibrium";

/// Writes every file of a drape; returns their names.
pub(crate) fn write_all(out: &Path, drape: &Drape) -> Result<Vec<String>, WriteError> {
    let mut names: Vec<String> = Vec::new();
    let fields = drape.fields();
    let several = drape.shells.len() > 1;
    let each: Vec<Vec<[f64; 3]>> =
        (0..drape.shells.len()).map(|i| drape.file_positions(i)).collect();
    for (i, (loaded, positions)) in drape.shells.iter().zip(&each).enumerate() {
        let name = if several { format!("equilibrium_{i}.obj") } else { "equilibrium.obj".into() };
        write_shell(&out.join(&name), loaded, positions, COMMENT)?;
        names.push(name);
    }
    let joined = Joined::new(drape, &each, &fields);
    if several {
        let groups = Some(&joined.groups);
        let extras = ObjWriter { groups, comment: Some(COMMENT), ..ObjWriter::default() };
        write_obj(out.join("equilibrium.obj"), &joined.positions, &joined.faces, &extras)?;
        names.push("equilibrium.obj".into());
    }
    let columns: [(&str, &[f64]); 4] = [
        ("stretch", &joined.fields.stretch),
        ("bending", &joined.fields.bending),
        ("stress", &joined.stress),
        ("residual", &joined.fields.residual),
    ];
    let extras = PlyWriter {
        fields: &columns,
        groups: several.then_some(&joined.groups),
        comment: Some(COMMENT),
    };
    write_ply(out.join("equilibrium.ply"), &joined.positions, &joined.faces, &extras)?;
    write_vtp(out.join("equilibrium.vtp"), &joined.positions, &joined.faces, &columns)?;
    write_glb_of(&out.join("equilibrium.glb"), drape, &fields)?;
    let places = (0..drape.shells.len()).map(|i| drape.positions(i));
    write_picture(&out.join("equilibrium.png"), &drape.shells, places)?;
    atomic_write(out.join("certificate.json"), |w| {
        writeln!(w, "{}", drape.certificate().pretty())
    })?;
    if !drape.contacts.is_empty() {
        write_contacts(&out.join("contacts.jsonl"), drape)?;
        names.push("contacts.jsonl".into());
    }
    atomic_write(out.join("log.jsonl"), |w| {
        for line in log(drape) {
            writeln!(w, "{}", line.line())?;
        }
        Ok(())
    })?;
    let rest = ["ply", "vtp", "glb", "png"].map(|e| format!("equilibrium.{e}"));
    names.extend(rest);
    names.extend(["certificate.json".into(), "log.jsonl".into()]);
    Ok(names)
}

/// One line per contact: what touches what, where, and by which force, in the axes of the model (metres, z up).
fn write_contacts(path: &Path, drape: &Drape) -> Result<(), WriteError> {
    let state = &drape.result.state;
    let vertices = drape.model.vertices();
    atomic_write(path, |w| {
        for c in &drape.contacts {
            let (kind, numbers) = contact_words(&c.contact.key);
            let mut point = Vec3::zeros();
            // Between layers the place is that of the first side.
            for (v, weight) in c.contact.carriers().filter(|(_, weight)| *weight > 0.0) {
                point += weight * drape.model.position(state, vertices[v as usize]);
            }
            let [normal, tangential] = c.parts();
            let line = Object::default()
                .with("kind", kind)
                .with("ids", numbers.map(f64::from).to_vec())
                .with("point", point.as_slice().to_vec())
                .with("normal", c.contact.normal.as_slice().to_vec())
                .with("force", c.force.as_slice().to_vec())
                .with("normal_force", normal)
                .with("tangential_force", tangential)
                .with("friction", c.contact.friction)
                .with("status", "stick");
            writeln!(w, "{}", line.line())?;
        }
        Ok(())
    })
}

/// All shells in one mesh, each a group.
struct Joined {
    positions: Vec<[f64; 3]>,
    faces: Vec<[u32; 3]>,
    fields: Fields,
    stress: Vec<f64>,
    groups: BTreeMap<String, Group>,
}

impl Joined {
    fn new(drape: &Drape, each: &[Vec<[f64; 3]>], fields: &[Fields]) -> Self {
        // One file has one unit: that of the shells, or metres if they differ.
        let unit = drape.shells.first().map_or(1.0, |s| s.axes.scale);
        let same = drape.shells.iter().all(|s| s.axes.scale == unit);
        let mut joined = Joined {
            positions: Vec::new(),
            faces: Vec::new(),
            fields: Fields { stretch: Vec::new(), bending: Vec::new(), residual: Vec::new() },
            stress: Vec::new(),
            groups: BTreeMap::new(),
        };
        for (i, loaded) in drape.shells.iter().enumerate() {
            let base = joined.positions.len() as u32;
            let first_face = joined.faces.len() as u32;
            if same {
                joined.positions.extend(&each[i]);
            } else {
                let metres = Axes { scale: 1.0, ..loaded.axes };
                let start =
                    |v: usize| Vec3::from(loaded.axes.to_internal(loaded.mesh.positions[v]));
                let places = loaded.spread(&drape.positions(i), start);
                joined.positions.extend(places.iter().map(|p| metres.to_file((*p).into())));
            }
            joined.faces.extend(loaded.mesh.faces.iter().map(|f| f.map(|v| base + v)));
            joined.fields.stretch.extend(loaded.spread(&fields[i].stretch, |_| 0.0));
            joined.fields.bending.extend(loaded.spread(&fields[i].bending, |_| 0.0));
            joined.fields.residual.extend(loaded.spread(&fields[i].residual, |_| 0.0));
            joined.stress.extend(loaded.spread(&drape.tensions(i), |_| 0.0));
            let group = Group {
                vertices: (base..joined.positions.len() as u32).collect(),
                faces: (first_face..joined.faces.len() as u32).collect(),
            };
            joined.groups.insert(format!("shell_{i}"), group);
        }
        joined
    }
}

/// One mesh per shell in metres, y up, coloured by stretch from white to red.
fn write_glb_of(out: &Path, drape: &Drape, fields: &[Fields]) -> Result<(), WriteError> {
    let axes = Axes { up: Up::Y, scale: 1.0 };
    let most = fields.iter().flat_map(|f| &f.stretch).fold(1e-6, |m: f64, s| m.max(*s));
    let points: Vec<Vec<[f64; 3]>> = (0..drape.shells.len())
        .map(|i| drape.positions(i).iter().map(|p| axes.to_file((*p).into())).collect())
        .collect();
    let colors: Vec<Vec<[f32; 4]>> = fields
        .iter()
        .map(|f| {
            let color = |s: &f64| {
                let pale = 1.0 - (s / most).clamp(0.0, 1.0) as f32;
                [0.9, 0.15 + 0.75 * pale, 0.15 + 0.75 * pale, 1.0]
            };
            f.stretch.iter().map(color).collect()
        })
        .collect();
    let meshes: Vec<GlbMesh<'_>> = drape
        .shells
        .iter()
        .enumerate()
        .map(|(i, loaded)| GlbMesh {
            name: &loaded.name,
            positions: &points[i],
            faces: loaded.shell.topology.faces(),
            colors: Some(&colors[i]),
        })
        .collect();
    write_glb(out, &meshes)
}

/// One shell with the names and patterns of its mesh.
pub(crate) fn write_shell(
    path: &Path,
    loaded: &LoadedShell,
    positions: &[[f64; 3]],
    comment: &str,
) -> Result<(), WriteError> {
    let mesh = &loaded.mesh;
    let extras = ObjWriter {
        uvs: &mesh.uvs,
        face_uvs: mesh.face_uvs.as_deref(),
        groups: Some(&mesh.groups),
        comment: Some(comment),
    };
    write_obj(path, positions, &mesh.faces, &extras)
}

/// All shells, seen half from the front.
pub(crate) fn write_picture(
    path: &Path,
    shells: &[LoadedShell],
    positions: impl Iterator<Item = Vec<Vec3>>,
) -> Result<(), WriteError> {
    let points: Vec<Vec<[f64; 3]>> =
        positions.map(|points| points.iter().map(|p| (*p).into()).collect()).collect();
    let meshes: Vec<PictureMesh<'_>> = shells
        .iter()
        .zip(&points)
        .map(|(loaded, points)| PictureMesh {
            positions: points,
            faces: loaded.shell.topology.faces(),
            paint: Paint::Cloth,
        })
        .collect();
    let picture = render(&meshes, &View::default());
    atomic_write(path, |w| png_to(w, &picture))
}

fn log(drape: &Drape) -> Vec<Object> {
    let result = &drape.result;
    let step = |s: &toile::solve::Step| {
        Object::default()
            .with("step", s.step)
            .with("energy", s.energy)
            .with("residual", s.residual)
            .with("shift", s.shift)
            .with("exact", s.exact)
            .with("scale", s.scale)
            .with("length", s.length)
            .with("seconds", s.elapsed.as_secs_f64())
    };
    let t = result.timings;
    let last = Object::default()
        .with("stop", format!("{:?}", result.stop))
        .with("steps", result.history.len())
        .with("energy", result.energy)
        .with("residual", result.certificate.residual)
        .with("analysis", t.analysis.as_secs_f64())
        .with("assembly", t.assembly.as_secs_f64())
        .with("factorisation", t.factorisation.as_secs_f64())
        .with("solve", t.solve.as_secs_f64())
        .with("evaluation", t.evaluation.as_secs_f64())
        .with("total", t.total.as_secs_f64());
    result.history.iter().map(step).chain([last]).collect()
}
