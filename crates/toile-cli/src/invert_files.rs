//! The files of an inversion.

use std::path::Path;

use toile::SceneInversion;
use toile::geometry::Vec3;
use toile::geometry::measure::dihedral_angle;
use toile::io::{
    Axes, Cell, GlbMesh, IntegratorName, MeshSource, ObjWriter, PlyWriter, Rest, Scene, Time, Up,
    WriteError, atomic_write, write_contact_forces, write_csv, write_glb, write_obj, write_ply,
    write_vtp,
};

use crate::Failure;
use crate::json::Object;

/// Writes every file of an inversion; returns their names.
pub(crate) fn write_all(
    out: &Path,
    scene: &Scene,
    found: &SceneInversion,
) -> Result<Vec<String>, Failure> {
    let result = &found.result;
    let mut names = Vec::new();
    let several = found.shells.len() > 1;
    for (i, loaded) in found.shells.iter().enumerate() {
        let range = found.range(i);
        let kinds = [
            ("rest", &result.rest, "toile: rest shape of an inversion"),
            ("equilibrium", &result.equilibrium, "toile: equilibrium of an inversion"),
        ];
        for (kind, positions, comment) in kinds {
            let name = shape_name(kind, i, several);
            let mesh = &loaded.mesh;
            let extras = ObjWriter {
                uvs: &mesh.uvs,
                face_uvs: mesh.face_uvs.as_deref(),
                groups: Some(&mesh.groups),
                comment: Some(comment),
            };
            let points = found.to_file(i, &positions[range.clone()]);
            write_obj(out.join(&name), &points, &mesh.faces, &extras)?;
            names.push(name);
        }
    }
    names.extend(write_mended(out, found)?);
    if several {
        for (kind, positions) in [("rest", &result.rest), ("equilibrium", &result.equilibrium)] {
            let name = format!("{kind}.obj");
            let (mut points, mut faces) = (Vec::new(), Vec::new());
            for (i, loaded) in found.shells.iter().enumerate() {
                let base = points.len() as u32;
                points.extend(found.to_file(i, &positions[found.range(i)]));
                faces.extend(loaded.mesh.faces.iter().map(|f| f.map(|v| base + v)));
            }
            write_obj(out.join(&name), &points, &faces, &ObjWriter::default())?;
            names.push(name);
        }
    }
    let joined = Joined::new(scene, found);
    let columns: Vec<(&str, &[f64])> =
        joined.fields.iter().map(|(name, values)| (*name, values.as_slice())).collect();
    let extras = PlyWriter { fields: &columns, comment: Some("toile: maps"), groups: None };
    write_ply(out.join("maps.ply"), &joined.equilibrium, &joined.faces, &extras)?;
    write_vtp(out.join("maps.vtp"), &joined.equilibrium, &joined.faces, &columns)?;
    write_contacts(&out.join("contacts.ply"), scene, found)?;
    write_edges(&out.join("edges.csv"), found)?;
    write_side_by_side(&out.join("inversion.glb"), found)?;
    atomic_write(out.join("certificate.json"), |w| {
        writeln!(w, "{}", found.certificate().pretty())
    })?;
    atomic_write(out.join("log.jsonl"), |w| {
        for s in &result.history {
            let line = Object::default()
                .with("steps", s.steps)
                .with("phase", format!("{:?}", s.phase).to_lowercase())
                .with("load", s.load)
                .with("distance", s.distance)
                .with("rms", s.rms)
                .with("outside", s.outside);
            writeln!(w, "{}", line.line())?;
        }
        Ok(())
    })?;
    // Forces that do not hold are no start for anything.
    let holds = result.certificate.certified;
    let faces = found.shells.iter().map(|s| s.shell.topology.faces().len()).sum();
    if holds {
        let forces = result.contacts.iter().map(|c| (c.contact.key, c.force));
        write_contact_forces(out.join(FORCES), scene, [result.equilibrium.len(), faces], forces)?;
    }
    let simulation = simulation(scene, found)
        .to_toml()
        .map_err(|e| Failure(format!("cannot write simulation.toml: {e}")))?;
    let head = "# The inverted garment, ready for `toile simulate`: it should stay where it is.\n";
    atomic_write(out.join("simulation.toml"), |w| {
        w.write_all(head.as_bytes())?;
        w.write_all(simulation.as_bytes())
    })?;
    let rest = ["maps.ply", "maps.vtp", "contacts.ply", "edges.csv", "inversion.glb"];
    names.extend(rest.map(String::from));
    names.extend(holds.then(|| FORCES.to_string()));
    names.extend(["certificate.json", "log.jsonl", "simulation.toml"].map(String::from));
    Ok(names)
}

/// Of shells that were mended or sewn, what the simulation needs: the surface as it was computed with, and its stitches.
fn write_mended(out: &Path, found: &SceneInversion) -> Result<Vec<String>, WriteError> {
    let several = found.shells.len() > 1;
    let mut names = Vec::new();
    for (i, loaded) in found.shells.iter().enumerate() {
        let range = found.range(i);
        if loaded.is_mended() {
            let shapes = [("rest", &found.result.rest), ("equilibrium", &found.result.equilibrium)];
            for (kind, shape) in shapes {
                let name = shape_name(&format!("mended_{kind}"), i, several);
                let comment = Some("toile: the surface that was computed with");
                let extras = ObjWriter { comment, ..ObjWriter::default() };
                let to_file = |p: &Vec3| loaded.axes.to_file((*p).into());
                let points: Vec<[f64; 3]> = shape[range.clone()].iter().map(to_file).collect();
                write_obj(out.join(&name), &points, loaded.shell.topology.faces(), &extras)?;
                names.push(name);
            }
        }
        if !loaded.shell.seams.is_empty() {
            let name = shape_name("stitches", i, several);
            atomic_write(out.join(&name), |w| {
                writeln!(w, "# toile: vertex i meets (1 - w) a + w b; vertices counted from 0")?;
                for s in &loaded.shell.seams {
                    writeln!(w, "stitch {} {} {} {}", s.vertex, s.edge[0], s.edge[1], s.weight)?;
                }
                Ok(())
            })?;
            names.push(name);
        }
    }
    Ok(names)
}

fn shape_name(kind: &str, shell: usize, several: bool) -> String {
    if several { format!("{kind}_{shell}.obj") } else { format!("{kind}.obj") }
}

/// All shells in one mesh, in the units of the first, with numbers per vertex.
struct Joined {
    equilibrium: Vec<[f64; 3]>,
    faces: Vec<[u32; 3]>,
    fields: Vec<(&'static str, Vec<f64>)>,
}

impl Joined {
    fn new(scene: &Scene, found: &SceneInversion) -> Self {
        let result = &found.result;
        let axes = found.shells.first().map_or(Axes { up: scene.up, scale: 1.0 }, |s| s.axes);
        let to_file = |p: &Vec3| axes.to_file((*p).into());
        let mut faces = Vec::new();
        let (mut stretch, mut bending, mut error) = (Vec::new(), Vec::new(), Vec::new());
        let mut stress = Vec::new();
        for (i, loaded) in found.shells.iter().enumerate() {
            let range = found.range(i);
            let base = range.start as u32;
            faces.extend(loaded.shell.topology.faces().iter().map(|f| f.map(|v| base + v)));
            let fields = found.fields(i);
            stretch.extend(fields.stretch);
            bending.extend(fields.bending);
            stress.extend(found.tensions(i));
            let away = range.map(|v| {
                let target = loaded.shell.positions[v - base as usize];
                (result.equilibrium[v] - target).norm()
            });
            error.extend(away);
        }
        let mut contact = vec![0.0; error.len()];
        let mut used = vec![0.0; error.len()];
        for c in &result.contacts {
            for (v, weight) in c.contact.carriers() {
                let v = v as usize;
                contact[v] += weight.abs() * c.force.norm();
                used[v] = use_of_friction(&c.contact.normal, c.friction, &c.force).max(used[v]);
            }
        }
        let mut fields = vec![
            ("stretch", stretch),
            ("bending", bending),
            ("stress", stress),
            ("residual", result.residual.clone()),
            ("target_error", error),
            ("contact_force", contact),
            ("friction_used", used),
        ];
        fields.extend(result.unheld.clone().map(|force| ("unheld_force", force)));
        Self { equilibrium: result.equilibrium.iter().map(to_file).collect(), faces, fields }
    }
}

/// ‖r_T‖ / (μ r_N), at most 1e3.
fn use_of_friction(normal: &Vec3, friction: f64, force: &Vec3) -> f64 {
    let along = force.dot(normal);
    let across = (force - normal * along).norm();
    if across == 0.0 && along >= 0.0 {
        0.0
    } else if along <= 0.0 {
        1e3
    } else {
        (across / (friction * along)).min(1e3)
    }
}

/// One point per contact with normal, force in newtons and use of friction.
fn write_contacts(path: &Path, scene: &Scene, found: &SceneInversion) -> Result<(), WriteError> {
    let result = &found.result;
    let axes = found.shells.first().map_or(Axes { up: scene.up, scale: 1.0 }, |s| s.axes);
    let turned = Axes { scale: 1.0, ..axes };
    let mut points = Vec::new();
    let mut columns: Vec<(&str, Vec<f64>)> =
        ["nx", "ny", "nz", "fx", "fy", "fz", "normal_force", "friction_used", "vertex"]
            .map(|name| (name, Vec::new()))
            .into();
    for c in &result.contacts {
        // Between layers the first side carries positive weights.
        let carriers = c.contact.carriers().filter(|(_, w)| *w > 0.0);
        let sum = carriers.fold(Vec3::zeros(), |p, (v, w)| p + result.equilibrium[v as usize] * w);
        points.push(axes.to_file(sum.into()));
        let normal = c.contact.normal;
        let (n, f) = (turned.to_file(normal.into()), turned.to_file(c.force.into()));
        let values = [
            n[0],
            n[1],
            n[2],
            f[0],
            f[1],
            f[2],
            c.force.dot(&normal),
            use_of_friction(&normal, c.friction, &c.force),
            f64::from(c.contact.vertices[0]),
        ];
        for ((_, column), value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
    }
    let fields: Vec<(&str, &[f64])> = columns.iter().map(|(n, v)| (*n, v.as_slice())).collect();
    let extras =
        PlyWriter { fields: &fields, groups: None, comment: Some("toile: contact forces [N]") };
    write_ply(path, &points, &[], &extras)
}

/// (L̄ − L)/L and |θ̄ − θ| of every edge.
fn write_edges(path: &Path, found: &SceneInversion) -> Result<(), WriteError> {
    let mut rows = Vec::new();
    for (i, loaded) in found.shells.iter().enumerate() {
        let range = found.range(i);
        let base = range.start;
        let (rest, now) = (&found.result.rest[range.clone()], &found.result.equilibrium[range]);
        for edge in loaded.shell.topology.edges() {
            let [a, b] = edge.vertices.map(|v| v as usize);
            let length = |p: &[Vec3]| (p[b] - p[a]).norm();
            let fold = |p: &[Vec3]| match edge.opposite {
                [Some(c), Some(d)] => dihedral_angle(&p[c as usize], &p[a], &p[b], &p[d as usize]),
                _ => 0.0,
            };
            let (l, l_bar) = (length(now), length(rest));
            rows.push(vec![
                Cell::from(base + a),
                Cell::from(base + b),
                Cell::from((l_bar - l) / l),
                Cell::from((fold(rest) - fold(now)).abs()),
            ]);
        }
    }
    write_csv(path, &["a", "b", "stretch", "bend"], rows)
}

/// Target, rest shape and the target made as drawn, side by side, in metres with y up.
fn write_side_by_side(path: &Path, found: &SceneInversion) -> Result<(), WriteError> {
    let result = &found.result;
    let axes = Axes { up: Up::Y, scale: 1.0 };
    let target: Vec<Vec3> =
        found.shells.iter().flat_map(|s| s.shell.positions.iter().copied()).collect();
    let along = |p: &[Vec3], f: fn(f64, f64) -> f64, start| p.iter().map(|p| p.x).fold(start, f);
    let mut faces = Vec::new();
    for (i, loaded) in found.shells.iter().enumerate() {
        let base = found.range(i).start as u32;
        faces.extend(loaded.shell.topology.faces().iter().map(|f| f.map(|v| base + v)));
    }
    let mut shapes: Vec<(&str, &[Vec3])> =
        vec![("target", &target), ("rest", &result.rest), ("equilibrium", &result.equilibrium)];
    if let Some(naive) = &result.naive {
        shapes.push(("made as drawn", naive));
    }
    let mut points = Vec::new();
    let mut edge = 0.0;
    for (_, shape) in &shapes {
        let (low, high) = (along(shape, f64::min, f64::MAX), along(shape, f64::max, f64::MIN));
        let shift = Vec3::x() * (edge - low);
        edge += 1.15 * (high - low);
        points.push(shape.iter().map(|p| axes.to_file((p + shift).into())).collect::<Vec<_>>());
    }
    let meshes: Vec<GlbMesh<'_>> = shapes
        .iter()
        .zip(&points)
        .map(|((name, _), points)| GlbMesh { name, positions: points, faces: &faces, colors: None })
        .collect();
    write_glb(path, &meshes)
}

/// The file of the forces with which that simulation starts.
const FORCES: &str = "forces.csv";

/// The scene that simulates the result.
fn simulation(scene: &Scene, found: &SceneInversion) -> Scene {
    let mut new = scene.clone();
    let several = found.shells.len() > 1;
    let absolute = |path: &str| {
        let place = scene.resolve(path);
        std::fs::canonicalize(&place).unwrap_or(place).to_string_lossy().into_owned()
    };
    for (i, shell) in new.shells.iter_mut().enumerate() {
        let prefix = if found.shells[i].is_mended() { "mended_" } else { "" };
        let name = |kind: &str| shape_name(&format!("{prefix}{kind}"), i, several);
        shell.mesh = MeshSource::File(name("equilibrium"));
        shell.rest = Some(Rest::File(name("rest")));
        let sewn = !found.shells[i].shell.seams.is_empty();
        shell.stitches = sewn.then(|| shape_name("stitches", i, several));
        shell.velocity = None;
        // What held by place or by name holds by number.
        if let Some(pins) = &mut shell.pins {
            pins.vertices = found.shells[i].shell.pins.clone();
            pins.corners = None;
            pins.group = None;
        }
    }
    for collider in &mut new.colliders {
        collider.mesh = collider.mesh.as_deref().map(absolute);
        for key in collider.motion.iter_mut().flat_map(|m| &mut m.sequence) {
            key.mesh = absolute(&key.mesh);
        }
    }
    new.time = Some(scene.time.unwrap_or(Time {
        step: 0.01,
        duration: 1.0,
        frame: Some(0.1),
        integrator: IntegratorName::ImplicitEuler,
        damping: 0.0,
        newton_steps: None,
    }));
    new.invert = None;
    new.contact_forces = found.result.certificate.certified.then(|| FORCES.into());
    new
}
