//! Scenes: parsed, checked, with their arrays attached.

use std::path::PathBuf;

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toile::io::{self, Attached, MeshData, SceneFormat, Strands};

use crate::{arrays, refused};

/// A checked scene.
#[pyclass(frozen, module = "toile._native")]
pub(crate) struct Scene {
    pub(crate) scene: io::Scene,
}

#[pymethods]
impl Scene {
    /// The scene as JSON; meshes that came as arrays are names.
    fn to_json(&self) -> PyResult<String> {
        self.scene.to_json().map_err(refused)
    }

    /// The scene as TOML; meshes that came as arrays are names.
    fn to_toml(&self) -> PyResult<String> {
        self.scene.to_toml().map_err(refused)
    }

    /// Whether the scene is about rods and hair.
    fn has_rods(&self) -> bool {
        !self.scene.rods.is_empty() || !self.scene.hair.is_empty()
    }

    /// Step, duration and time between frames of the table [time], if there is one.
    fn time(&self) -> Option<(f64, f64, f64)> {
        self.scene.time.map(|t| (t.step, t.duration, t.frame.unwrap_or(t.step)))
    }
}

/// Reads a scene file.
#[pyfunction]
pub(crate) fn load_scene(path: PathBuf) -> PyResult<Scene> {
    Ok(Scene { scene: io::load_scene(path).map_err(refused)? })
}

/// Reads a scene from JSON. Paths are relative to `path`, unless `meshes` (name: (vertices, faces)) or `strands` (name: list
/// of polylines) hold the name.
#[pyfunction]
#[pyo3(signature = (text, path=None, meshes=None, strands=None))]
pub(crate) fn parse_scene(
    text: &str,
    path: Option<PathBuf>,
    meshes: Option<&Bound<'_, PyDict>>,
    strands: Option<&Bound<'_, PyDict>>,
) -> PyResult<Scene> {
    let mut attached = Attached::default();
    for (name, mesh) in meshes.iter().flat_map(|m| m.iter()) {
        let name: String = name.extract()?;
        let (vertices, faces): (PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, i64>) =
            mesh.extract()?;
        let positions = arrays::points(&vertices, &format!("{name}: vertices"))?;
        let faces = arrays::faces(&faces, positions.len(), &format!("{name}: faces"))?;
        attached.add_mesh(name, MeshData { positions, faces, ..MeshData::default() });
    }
    for (name, lines) in strands.iter().flat_map(|m| m.iter()) {
        let name: String = name.extract()?;
        let lines: Vec<PyReadonlyArray2<'_, f64>> = lines.extract()?;
        let strands = lines
            .iter()
            .enumerate()
            .map(|(i, line)| arrays::points(line, &format!("{name}: strand {i}")))
            .collect::<PyResult<_>>()?;
        attached.add_strands(name, Strands { strands, notes: Vec::new() });
    }
    let scene = io::parse_scene_at(text, SceneFormat::Json, path.as_deref(), attached);
    Ok(Scene { scene: scene.map_err(refused)? })
}
