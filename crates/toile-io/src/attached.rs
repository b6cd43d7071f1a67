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
