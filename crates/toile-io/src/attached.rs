//! Meshes and strands that lie in memory under the names a scene gives them.

use std::collections::BTreeMap;

use crate::mesh::MeshData;
use crate::strands::Strands;

/// What a scene names that is no file: other programs and languages hand over arrays this way.
///
/// Where a name is attached, no file of that name is looked for. Lengths and axes are those of the scene's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attached {
    meshes: BTreeMap<String, MeshData>,
    strands: BTreeMap<String, Strands>,
}

impl Attached {
    /// Attaches a mesh under a name; one of that name is replaced.
    pub fn add_mesh(&mut self, name: impl Into<String>, mesh: MeshData) {
        self.meshes.insert(name.into(), mesh);
    }

    /// Attaches strands under a name; those of that name are replaced.
    pub fn add_strands(&mut self, name: impl Into<String>, strands: Strands) {
        self.strands.insert(name.into(), strands);
    }

    /// The mesh of a name.
    pub fn mesh(&self, name: &str) -> Option<&MeshData> {
        self.meshes.get(name)
    }

    /// The strands of a name.
    pub fn strands(&self, name: &str) -> Option<&Strands> {
        self.strands.get(name)
    }

    /// Whether something has this name.
    pub fn holds(&self, name: &str) -> bool {
        self.meshes.contains_key(name) || self.strands.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{SceneFormat, load_colliders, load_shells, parse_scene_at};

    const SCENE: &str = r#"
        [[shell]]
        mesh = "cloth"
        rest = "made"
        thickness = 1e-3
        areal_density = 0.2
        material = { model = "koiter", young = 1e6, poisson = 0.3 }
        [[collider]]
        mesh = "body"
    "#;

    fn triangle(height: f64) -> MeshData {
        MeshData {
            positions: vec![[0.0, 0.0, height], [1.0, 0.0, height], [0.0, 1.0, height]],
            faces: vec![[0, 1, 2]],
            ..MeshData::default()
        }
    }

    #[test]
    fn meshes_in_memory_serve_like_files() {
        let mut attached = Attached::default();
        attached.add_mesh("cloth", triangle(2.0));
        attached.add_mesh("made", triangle(3.0));
        attached.add_mesh("body", triangle(0.5));
        let scene = parse_scene_at(SCENE, SceneFormat::Toml, None, attached).unwrap();
        let shells = load_shells(&scene).unwrap();
        assert_eq!(shells[0].shell.positions[1].z, 2.0);
        assert_eq!(shells[0].shell.rest_positions[1].z, 3.0);
        assert_eq!(load_colliders(&scene).unwrap().len(), 1);
    }

    #[test]
    fn what_is_not_attached_must_be_a_file() {
        let mut attached = Attached::default();
        attached.add_mesh("cloth", triangle(2.0));
        attached.add_mesh("body", triangle(0.5));
        let place = Some(Path::new("folder/scene.toml"));
        let error = parse_scene_at(SCENE, SceneFormat::Toml, place, attached).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("`made` does not exist") && said.contains("folder"), "{said}");
        assert!(!said.contains("`cloth`"), "{said}");
    }
}
