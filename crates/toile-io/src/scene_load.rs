//! From a file to a checked scene.

use crate::attached::Attached;
use crate::error::excerpt;
use crate::mesh::MeshFormat;
use crate::scene::{MeshSource, Rest, Scene};
use crate::scene_error::{Diagnostic, SceneError};
use crate::scene_rod::NaturalSource;
use crate::scene_tree::{SceneSource, Tree, from_json, from_toml};
use crate::text::as_text;
use crate::{scene_check, scene_schema};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// How a scene is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneFormat {
    /// TOML, the usual one.
    Toml,
    /// JSON with the same keys.
    Json,
}

/// The largest scene file that is read, 64 MiB.
const LARGEST: u64 = 64 << 20;

/// Reads a scene file (JSON if it ends in `.json`, else TOML), checks it, and checks that the files it
/// names exist. Their paths are relative to the scene file.
pub fn load_scene(path: impl AsRef<Path>) -> Result<Scene, SceneError> {
    let path = path.as_ref();
    let fail = |what: String, remedy: &str| SceneError::Unreadable {
        path: path.to_path_buf(),
        what,
        remedy: remedy.into(),
    };
    let meta =
        fs::metadata(path).map_err(|e| fail(e.to_string(), "check the name and the folder"))?;
    if !meta.is_file() {
        return Err(fail("not a regular file".into(), "give the path of a .toml or .json file"));
    }
    if MeshFormat::from_path(path).is_some() {
        let remedy = "name it in a scene: [[shell]] with mesh = \"…\", thickness, areal_density, material; \
                      `toile check` looks at meshes alone";
        return Err(fail("it is a mesh, not a scene".into(), remedy));
    }
    if meta.len() > LARGEST {
        return Err(fail(
            format!("{} bytes, more than the {LARGEST} that are read", meta.len()),
            "scenes hold words; keep meshes in files of their own",
        ));
    }
    let bytes = fs::read(path).map_err(|e| fail(e.to_string(), "check the permissions"))?;
    let text = as_text(bytes).map_err(|what| fail(what, "a scene is a text file, TOML or JSON"))?;
    let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let format = if json { SceneFormat::Json } else { SceneFormat::Toml };
    let scene = parse_named(&text, format, Some(path))?;
    check_files(&scene)?;
    Ok(scene)
}

/// Reads a scene held in memory and checks all that can be checked without other files.
pub fn parse_scene(text: &str, format: SceneFormat) -> Result<Scene, SceneError> {
    parse_named(text, format, None)
}

/// Reads a scene held in memory as if it had been read from `path` (if there is one): paths in it are relative to that, files
/// that are not `attached` must exist.
pub fn parse_scene_at(
    text: &str,
    format: SceneFormat,
    path: Option<&Path>,
    attached: Attached,
) -> Result<Scene, SceneError> {
    let mut scene = parse_named(text, format, path)?;
    scene.source.attached = attached;
    check_files(&scene)?;
    Ok(scene)
}

fn parse_named(text: &str, format: SceneFormat, path: Option<&Path>) -> Result<Scene, SceneError> {
    let file = SceneSource::file_name(path);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree = match format {
        SceneFormat::Toml => from_toml(text),
        SceneFormat::Json => from_json(text),
    };
    let mut root = tree.map_err(|(span, message, help)| {
        SceneError::one(Diagnostic::new(&file, text, span, message, help))
    })?;
    if let Tree::Table(entries) = &mut root.value {
        // Editors find the schema by this key; it says nothing about the scene.
        let json = format == SceneFormat::Json;
        entries.retain(|e| !(json && e.key == "$schema"));
    }
    let mut problems = scene_schema::check(&root, &file, text);
    problems.sort_by_key(|p| (p.line, p.column));
    if !problems.is_empty() {
        return Err(SceneError::Invalid { problems });
    }
    let mut scene = Scene::deserialize(root.to_toml()).map_err(|e| {
        let what = excerpt(e.message().as_bytes());
        SceneError::one(Diagnostic::new(&file, text, 0..0, what, "compare it with the schema"))
    })?;
    scene.source = SceneSource::new(path, text, root);
    let problems = scene_check::check(&scene);
    if problems.is_empty() { Ok(scene) } else { Err(SceneError::Invalid { problems }) }
}

fn check_files(scene: &Scene) -> Result<(), SceneError> {
    let mut problems = Vec::new();
    for (i, shell) in scene.shells.iter().enumerate() {
        let mesh = match &shell.mesh {
            MeshSource::File(path) => Some(path),
            MeshSource::Generated(_) => None,
        };
        let rest = match &shell.rest {
            Some(Rest::File(path)) => Some(path),
            _ => None,
        };
        for (key, path) in [("mesh", mesh), ("rest", rest), ("stitches", shell.stitches.as_ref())] {
            let Some(path) = path else { continue };
            let place = scene.resolve(path);
            if !scene.source.attached.holds(path) && !place.is_file() {
                problems.push(scene.source.diagnostic_at(
                    &format!("shell[{i}].{key}"),
                    format!("the file `{}` does not exist", excerpt(path.as_bytes())),
                    format!("looked for {}; paths are relative to the scene file", place.display()),
                ));
            }
        }
    }
    let forces = scene.contact_forces.iter().map(|path| ("contact_forces".to_string(), path));
    let curves = (scene.rods.iter().enumerate())
        .filter_map(|(i, rod)| rod.curve.as_ref().map(|path| (format!("rod[{i}].curve"), path)));
    let rests = (scene.rods.iter().enumerate())
        .filter_map(|(i, rod)| rod.rest.as_ref().map(|path| (format!("rod[{i}].rest"), path)));
    let rests =
        rests.chain((scene.hair.iter().enumerate()).filter_map(|(i, hair)| {
            hair.rest.as_ref().map(|path| (format!("hair[{i}].rest"), path))
        }));
    let natures =
        (scene.rods.iter().enumerate()).filter_map(|(i, rod)| match &rod.natural_curvature {
            Some(NaturalSource::File(path)) => Some((format!("rod[{i}].natural_curvature"), path)),
            _ => None,
        });
    let strands = (scene.hair.iter().enumerate())
        .map(|(i, hair)| (format!("hair[{i}].strands"), &hair.strands));
    for (key, path) in forces.chain(curves).chain(rests).chain(natures).chain(strands) {
        let place = scene.resolve(path);
        if !scene.source.attached.holds(path) && !place.is_file() {
            problems.push(scene.source.diagnostic_at(
                &key,
                format!("the file `{}` does not exist", excerpt(path.as_bytes())),
                format!("looked for {}; paths are relative to the scene file", place.display()),
            ));
        }
    }
    for (i, collider) in scene.colliders.iter().enumerate() {
        let sequence = collider.motion.iter().flat_map(|m| m.sequence.iter().map(|k| &k.mesh));
        for path in collider.mesh.iter().chain(sequence) {
            let place = scene.resolve(path);
            if !scene.source.attached.holds(path) && !place.is_file() {
                problems.push(scene.source.diagnostic_at(
                    &format!("collider[{i}].mesh"),
                    format!("the file `{}` does not exist", excerpt(path.as_bytes())),
                    format!("looked for {}; paths are relative to the scene file", place.display()),
                ));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(SceneError::Invalid { problems }) }
}
