//! Shells of a scene in a model: there and back.

use toile_geometry::Vec3;
use toile_io::LoadedShell;
use toile_sim::{Model, ModelBuilder, ShellNodes, State};

use crate::DrapeError;

/// The model of all shells, and where each is in it.
pub(crate) fn build(
    shells: &[LoadedShell],
    gravity: Vec3,
) -> Result<(Model, Vec<ShellNodes>), DrapeError> {
    let mut builder = ModelBuilder::new();
    let mut nodes = Vec::with_capacity(shells.len());
    for (shell, loaded) in shells.iter().enumerate() {
        let added = loaded
            .shell
            .add_to(&mut builder, gravity)
            .map_err(|source| DrapeError::Shell { shell, name: loaded.name.clone(), source })?;
        nodes.push(added);
    }
    Ok((builder.build()?, nodes))
}

/// Positions of the vertices of a shell \[m\], +z up, in the order of its mesh.
pub(crate) fn positions(
    model: &Model,
    state: &State,
    nodes: &ShellNodes,
    shell: &LoadedShell,
) -> Vec<Vec3> {
    let count = shell.shell.topology.vertex_count() as u32;
    (0..count).map(|v| model.position(state, nodes.vertices + v)).collect()
}
