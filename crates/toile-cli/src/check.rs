//! `toile check`: what is wrong with a mesh or a scene, in words.

mod body;
mod fibres;
mod findings;
mod material;

use std::path::Path;

use toile::geometry::{
    MendSettings, ProblemKind, Severity, Topology, Vec3, bounding_box, diagnose, face_areas, mend,
    orient_consistently,
};
use toile::io::{
    FrictionMatrix, LoadedShell, MeshData, MeshFormat, Rest, Scene, SceneError, StrandFormat,
    load_scene, load_shell, load_shells, loaded_colliders, read_friction, read_mesh, sniff_format,
    unsupported_piece,
};
use toile::num::words::length;

use crate::args::{CheckArgs, Global};
use crate::{Failure, Outcome, json};
use findings::Report;

pub(crate) fn run(args: &CheckArgs, global: &Global) -> Result<Outcome, Failure> {
    let mut report = Report::default();
    if is_friction(&args.path) {
        check_friction(&args.path, &mut report);
    } else if is_strands(&args.path) {
        fibres::check_strands(&args.path, args.scale.unwrap_or(1.0), &mut report);
    } else if is_mesh(&args.path) {
        check_mesh(&args.path, args.scale.unwrap_or(1.0), &mut report);
    } else if args.scale.is_some() {
        return Err(Failure(
            "--scale is for files of meshes and strands; in a scene set `scale` in [[shell]], [[rod]] or [[hair]]".into(),
        ));
    } else {
        check_scene(&args.path, &mut report);
    }
    if global.json {
        json::print_pretty(&report.json());
    } else if !global.quiet {
        json::print(&report.text());
    }
    match report.worst() {
        None | Some(Severity::Note) => Ok(Outcome::Good),
        Some(Severity::Warning) => Ok(Outcome::Doubtful),
        Some(Severity::Error) => Ok(Outcome::Bad),
    }
}

/// By the name, or because there are strands and no faces.
fn is_strands(path: &Path) -> bool {
    match StrandFormat::from_path(path) {
        Some(StrandFormat::Hair | StrandFormat::Tfx | StrandFormat::Usda) => true,
        Some(StrandFormat::Obj | StrandFormat::Ply) => {
            let faces = read_mesh(path).is_ok_and(|mesh| !mesh.faces.is_empty());
            // A cloud of points is no strand.
            let lines = |s: toile::io::Strands| s.notes.iter().all(|n| !n.starts_with("no `l`"));
            !faces && toile::io::read_strands(path).is_ok_and(lines)
        }
        None => false,
    }
}

/// By the name, else by the content.
fn is_mesh(path: &Path) -> bool {
    if MeshFormat::from_path(path).is_some() {
        return true;
    }
    let known =
        |e: &std::ffi::OsStr| e.eq_ignore_ascii_case("toml") || e.eq_ignore_ascii_case("json");
    if path.extension().is_some_and(known) {
        return false;
    }
    let head = std::fs::File::open(path).ok().and_then(|file| {
        use std::io::Read;
        let mut head = Vec::new();
        file.take(1 << 12).read_to_end(&mut head).ok().map(|_| head)
    });
    head.is_some_and(|h| sniff_format(&h).is_some())
}

/// An FCLib file, or JSON with the keys of a friction problem.
fn is_friction(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "hdf5" | "h5" => true,
        "json" => {
            let text = std::fs::read(path).unwrap_or_default();
            let value: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
            value.get("problems").is_some() || value.get("W").is_some()
        }
        _ => false,
    }
}

fn check_friction(path: &Path, report: &mut Report) {
    report.section(format!("Friction {}", path.display()));
    match read_friction(path) {
        Err(error) => report.error(error.to_string()),
        Ok(file) => {
            for p in file.problems.iter().take(20) {
                let kind = match &p.w {
                    FrictionMatrix::Dense(_) => String::new(),
                    FrictionMatrix::Sparse(w) => format!(", {} entries of W", w.entries.len()),
                    FrictionMatrix::Global(g) => format!(", {} unknowns of bodies", g.force.len()),
                };
                let (n, d) = (p.contacts(), p.dimension);
                report.fact(format!("problem {}: {n} contacts of {d} components{kind}", p.id));
            }
            if file.problems.len() > 20 {
                report.fact(format!("and {} more", file.problems.len() - 20));
            }
            report.fact("`toile friction` solves it".into());
            for left_out in file.left_out() {
                report.note(format!("not read: {left_out}"));
            }
        }
    }
}

/// Tells of cloth so large or small that its unit may be another.
pub(crate) fn warn_of_size(shells: &[LoadedShell]) {
    for shell in shells {
        let problems = diagnose(&shell.shell.positions, shell.shell.topology.faces());
        for p in problems.iter().filter(|p| p.kind == ProblemKind::SuspiciousSize) {
            json::tell(&format!("warning: {}: {}; {}", shell.name, p.message, p.remedy));
        }
    }
}

/// Tells of contact distances that are large beside the cloth.
pub(crate) fn warn_of_gaps(scene: &Scene, shells: &[LoadedShell]) {
    for line in large_gaps(scene, shells) {
        json::tell(&format!("warning: {line}"));
    }
}

/// Contact distances beyond a twentieth of the smallest shell, in words.
fn large_gaps(scene: &Scene, shells: &[LoadedShell]) -> Vec<String> {
    let sizes = shells.iter().filter_map(|s| bounding_box(&s.shell.positions));
    let size = sizes.map(|[low, high]| (high - low).norm()).fold(f64::INFINITY, f64::min);
    let gaps = scene
        .colliders
        .iter()
        .enumerate()
        .map(|(i, c)| (format!("the `gap` of collider {i}"), c.gap));
    let own = scene.self_contact.and_then(|own| own.thickness);
    let layers = [("the `thickness` of [self_contact]".to_string(), own)];
    let mut found = Vec::new();
    for (what, gap) in gaps.chain(layers) {
        if let Some(gap) = gap.filter(|gap| *gap > 0.05 * size) {
            found.push(format!(
                "{what} is {gap} m and the cloth {size:.3} m large: what begins nearer is thrown that far in the first step; it is given in metres, about 1e-3"
            ));
        }
    }
    found
}

fn check_mesh(path: &Path, scale: f64, report: &mut Report) {
    report.section(format!("Mesh {}", path.display()));
    match read_mesh(path) {
        Ok(mesh) => {
            let positions: Vec<Vec3> =
                mesh.positions.iter().map(|p| Vec3::from(*p) * scale).collect();
            mesh_findings(&mesh, &positions, false, report);
            if !mesh.stitches.is_empty() {
                report.fact(format!("{} lines of stitches", mesh.stitches.len()));
            }
        }
        Err(error) => report.error(error.to_string()),
    }
}

/// Size, pieces and every problem of the surface; of one with seams, open ones are no problem.
fn mesh_findings(mesh: &MeshData, positions: &[Vec3], sewn: bool, report: &mut Report) {
    report.fact(format!("{} vertices, {} faces", positions.len(), mesh.faces.len()));
    if let Some([low, high]) = bounding_box(positions) {
        let d = high - low;
        report.fact(format!("{:.4} × {:.4} × {:.4} m", d.x, d.y, d.z));
    }
    if !mesh.groups.is_empty() {
        let named = |(name, group): (&String, &toile::io::Group)| {
            format!("{name} ({} vertices)", group.vertices.len())
        };
        let shown: Vec<String> = mesh.groups.iter().take(12).map(named).collect();
        let more = if mesh.groups.len() > 12 { ", …" } else { "" };
        report.fact(format!("groups: {}{more}", shown.join(", ")));
    }
    if mesh.face_uvs.is_some() {
        report.fact(format!("texture coordinates: {}", mesh.uvs.len()));
    }
    for note in &mesh.notes {
        report.note(note.clone());
    }
    let mut faces = mesh.faces.clone();
    if let Some(turned) = orient_consistently(&faces) {
        let count = turned.iter().zip(&faces).filter(|(a, b)| a != b).count();
        if count > 0 {
            report.warning(format!(
                "{count} faces run the other way round than their neighbours; they are turned for the \
                 computation, but inside and outside may not be what you think: recalculate the normals"
            ));
        }
        faces = turned;
    }
    let seams = [ProblemKind::UnweldedSeam, ProblemKind::CoincidentVertices];
    let problems = diagnose(positions, &faces);
    // What is mended when it is used is no error.
    let faulty = problems.iter().any(|p| p.severity == Severity::Error);
    let mendable = faulty && {
        let [low, high] = bounding_box(positions).unwrap_or_default();
        let tolerance = 1e-6 * (high - low).norm();
        let settings = MendSettings { tolerance, crumb: 1e-3, slender: 0.06, hole: 0.0 };
        let mended = mend(positions, &faces, &settings);
        let left = diagnose(&mended.positions, &mended.faces);
        let sound = left.iter().all(|p| p.severity != Severity::Error);
        if sound {
            let words = mended.counts.words().join("; ");
            report.warning(format!(
                "it is mended when it is used: {words}; results are written as the file is"
            ));
        }
        sound
    };
    for mut problem in problems {
        if mendable {
            problem.severity = problem.severity.min(Severity::Warning);
        }
        if sewn && seams.contains(&problem.kind) {
            continue;
        }
        report.add(problem.severity, format!("{}; {}", problem.message, problem.remedy));
    }
}

fn check_scene(path: &Path, report: &mut Report) {
    report.section(format!("Scene {}", path.display()));
    let scene = match load_scene(path) {
        Ok(scene) => scene,
        Err(error) => return scene_error(&error, report),
    };
    let g = toile::io::scene_gravity(&scene);
    let counts = [
        (scene.shells.len(), "shell(s)"),
        (scene.rods.len(), "rod(s)"),
        (scene.hair.len(), "table(s) of hair"),
    ];
    let named = counts.iter().filter(|c| c.0 > 0).map(|(n, what)| format!("{n} {what}"));
    let gravity = format!("gravity {:.3} m/s²", g.norm());
    report.fact(named.chain([gravity]).collect::<Vec<_>>().join(", "));
    if g.norm() == 0.0 {
        report.note("there is no gravity: everything only relaxes to its rest shape".into());
    } else if g.z > -0.5 * g.norm() {
        report.warning(format!(
            "gravity does not point down: with z up it is ({:.2}, {:.2}, {:.2}); it is given in the axes of \
             the files, check it against `up`",
            g.x, g.y, g.z
        ));
    }
    let colliders = loaded_colliders(&scene);
    match &colliders {
        Err(error) => scene_error(error, report),
        Ok(colliders) => {
            for (i, loaded) in colliders.iter().enumerate() {
                let table = &scene.colliders[i];
                let name = table.mesh.as_deref().unwrap_or("a solid");
                report.section(format!("Collider {i} ({name})"));
                let gap = length(loaded.collider.gap());
                report.fact(format!("friction {:.3}, gap {gap}", table.friction));
                if let Some(path) = &table.mesh
                    && let Ok(mesh) = read_mesh(scene.resolve(path))
                {
                    report.fact(format!(
                        "{} vertices, {} faces",
                        mesh.positions.len(),
                        mesh.faces.len()
                    ));
                }
                loaded.notes.iter().for_each(|note| report.note(note.clone()));
            }
            let placed: Vec<_> = colliders.iter().map(|c| c.collider.at(0.0)).collect();
            fibres::findings(&scene, &placed, g.norm(), report);
        }
    }
    for i in 0..scene.shells.len() {
        let loaded = load_shell(&scene, i);
        let name = loaded.as_ref().map_or_else(|_| String::new(), |l| format!(" ({})", l.name));
        report.section(format!("Shell {i}{name}"));
        match loaded {
            Ok(loaded) => {
                shell_findings(&scene, i, &loaded, g.norm(), report);
                let colliders = colliders.as_deref().unwrap_or_default();
                let placed: Vec<_> = colliders.iter().map(|c| c.collider.at(0.0)).collect();
                body::findings(&loaded, &placed, report);
            }
            Err(error) => scene_error(&error, report),
        }
    }
    if let Ok(shells) = load_shells(&scene) {
        large_gaps(&scene, &shells).into_iter().for_each(|line| report.warning(line));
    }
}

fn scene_error(error: &SceneError, report: &mut Report) {
    if error.problems().is_empty() {
        report.error(error.to_string());
    }
    for problem in error.problems() {
        report.error(problem.to_string());
    }
}

fn shell_findings(scene: &Scene, i: usize, loaded: &LoadedShell, g: f64, report: &mut Report) {
    let shell = &loaded.shell;
    let place = |p: &[f64; 3]| Vec3::from(loaded.axes.to_internal(*p));
    let places: Vec<Vec3> = loaded.mesh.positions.iter().map(place).collect();
    mesh_findings(&loaded.mesh, &places, !shell.seams.is_empty(), report);
    if !shell.seams.is_empty() {
        let (apart, sewn) = (shell.topology.components(), shell.sewn_topology().components());
        report.fact(format!("sewn, its {} panels make {} piece(s)", apart.count, sewn.count));
    }
    // What the reader and the orientation say is said above.
    let said =
        |note: &&String| !loaded.mesh.notes.contains(note) && !note.contains("other way round");
    for note in loaded.notes.iter().filter(said) {
        report.note(note.clone());
    }
    rest_findings(scene, i, loaded, report);
    material::findings(&scene.shells[i], loaded, g, report);
    let (held, n) = (shell.pins.len(), shell.topology.vertex_count());
    report.fact(format!("{held} of {n} vertices are held"));
    // On colliders a piece needs no pins; whether it comes to rest is seen.
    let falling = unsupported_piece(scene, i, loaded)
        .filter(|_| scene.colliders.is_empty() && !crate::rod::has_rods(scene));
    match falling {
        Some(problem) => report.error(problem.to_string()),
        None if held == n => report.warning("every vertex is held: nothing can move".into()),
        None if held == 1 => report.warning(
            "one vertex alone is held: the cloth may turn about the vertical through it, and no \
             certificate can call that stable; hold two"
                .into(),
        ),
        None => {}
    }
}

fn rest_findings(scene: &Scene, i: usize, loaded: &LoadedShell, report: &mut Report) {
    let shell = &loaded.shell;
    let total = |p: &[Vec3]| face_areas(&shell.topology, p).iter().sum::<f64>();
    let (rest, now) = (total(&shell.rest_positions), total(&shell.positions));
    let flat = flatness(&shell.topology, &shell.rest_positions);
    let origin = match &scene.shells[i].rest {
        None => "the mesh itself",
        Some(Rest::Uv) => "the texture coordinates",
        Some(Rest::File(path)) => path.as_str(),
    };
    report.fact(format!("rest shape: {origin}, {rest:.4} m², {flat}"));
    let ratio = now / rest;
    if !(0.5..=2.0).contains(&ratio) {
        report.warning(format!(
            "the start shape has {ratio:.3} times the area of the rest shape; check the units of both{}",
            if scene.shells[i].rest == Some(Rest::Uv) {
                " (texture coordinates are often scaled to 0…1: export the pattern in true size)"
            } else {
                ""
            }
        ));
    }
}

/// Whether all neighbours lie in one plane.
fn flatness(topology: &Topology, positions: &[Vec3]) -> &'static str {
    let normals = toile::geometry::face_normals(topology, positions);
    let bent = topology.interior_edges().any(|(_, edge)| match edge.faces {
        [Some(f), Some(g)] => normals[f as usize].dot(&normals[g as usize]) < 1.0 - 1e-9,
        _ => false,
    });
    if bent { "curved" } else { "flat" }
}
