//! Draping: from a scene to its equilibrium.

use toile_geometry::Vec3;
use toile_io::{LoadedShell, Scene, SceneError, load_shells, scene_gravity};
use toile_sim::{
    Equilibrium, FrictionalSettings, Model, ShellNodes, SimError, StaticContact, equilibrium,
    frictional_equilibrium,
};
use toile_solve::{NewtonSettings, Step};

use crate::setting::Setting;
use crate::{Fields, Start, shell_fields, shell_tensions, shells};

/// A draped scene: what went in and what came out.
pub struct Drape {
    /// The shells of the scene, in its order.
    pub shells: Vec<LoadedShell>,
    /// Where each shell is in the model.
    pub nodes: Vec<ShellNodes>,
    /// The model that was solved.
    pub model: Model,
    /// The equilibrium or the best state found, with history and certificate.
    pub result: Equilibrium,
    /// Where colliders and layers hold the cloth.
    pub contacts: Vec<StaticContact>,
    /// What started inside something else, in words.
    pub penetrations: Vec<String>,
}

/// Why a scene could not be draped at all. A search that ends early is no error: its best state is
/// returned with a certificate that says so.
#[derive(Debug, thiserror::Error)]
pub enum DrapeError {
    /// The scene or one of its files.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A shell cannot be simulated.
    #[error("shell {shell} ({name}): {source}")]
    Shell {
        /// Which, counted from 0.
        shell: usize,
        /// Its name.
        name: String,
        /// Why.
        source: SimError,
    },
    /// The shells do not make one surface.
    #[error(transparent)]
    Mesh(#[from] toile_geometry::MeshError),
    /// The model cannot be solved.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// Settings of the static solver: its defaults, with what the scene says.
pub fn scene_settings(scene: &Scene) -> NewtonSettings {
    let mut settings = NewtonSettings::default();
    if let Some(solver) = scene.solver {
        settings.tolerance = solver.tolerance.unwrap_or(settings.tolerance);
        if let Some(most) = solver.max_iterations {
            settings.max_steps = most as usize;
        }
    }
    settings
}

/// Finds a stable equilibrium of a scene, starting from its meshes.
///
/// `observe` sees every Newton step and ends the search by returning `false`; what was reached by then
/// is returned and judged all the same. Same scene, same bits, whatever the number of threads.
pub fn drape(
    scene: &Scene,
    settings: &NewtonSettings,
    observe: impl FnMut(&Step) -> bool,
) -> Result<Drape, DrapeError> {
    if !scene.colliders.is_empty() || scene.self_contact.is_some() {
        return drape_on(scene, settings, Start::AsGiven, 0.0, observe);
    }
    let shells = load_shells(scene)?;
    let gravity = scene_gravity(scene);
    let (model, nodes) = shells::build(&shells, gravity)?;
    let result = equilibrium(&model, model.start(), settings, observe)?;
    Ok(Drape { shells, nodes, model, result, contacts: Vec::new(), penetrations: Vec::new() })
}

/// [`drape`] with what concerns contact: what to do with cloth that starts inside something, and in how much
/// simulated time the result must not move (none if zero) \[s\].
pub fn drape_on(
    scene: &Scene,
    settings: &NewtonSettings,
    start: Start,
    drift_time: f64,
    observe: impl FnMut(&Step) -> bool,
) -> Result<Drape, DrapeError> {
    let setting = Setting::new(scene, start)?;
    // Shells that cannot be simulated are named here.
    let (_, nodes) = shells::build(&setting.shells, setting.gravity)?;
    let frictional =
        FrictionalSettings { newton: *settings, drift_time, ..FrictionalSettings::default() };
    let mut around = setting.surroundings()?;
    let found = frictional_equilibrium(
        || setting.builder(),
        &mut around,
        |positions| setting.depth(positions),
        &frictional,
        observe,
    )?;
    let (mut result, contacts) = (found.equilibrium, found.contacts);
    if !result.certificate.certified && !setting.beginning.penetrations.is_empty() {
        let count = setting.beginning.penetrations.len();
        result.certificate.reason = format!(
            "{}; {count} places started inside something, the deepest: {}",
            result.certificate.reason, setting.beginning.penetrations[0]
        );
    }
    let Setting { shells, beginning, .. } = setting;
    let penetrations = beginning.penetrations;
    Ok(Drape { shells, nodes, model: found.model, result, contacts, penetrations })
}

impl Drape {
    /// Positions of the vertices of a shell \[m\], +z up, in the order of its mesh.
    pub fn positions(&self, shell: usize) -> Vec<Vec3> {
        let (nodes, loaded) = (&self.nodes[shell], &self.shells[shell]);
        shells::positions(&self.model, &self.result.state, nodes, loaded)
    }

    /// The same in the units and axes of the files the shell came from.
    ///
    /// Vertices that did not move at all are given back to the bit.
    pub fn file_positions(&self, shell: usize) -> Vec<[f64; 3]> {
        self.shells[shell].to_file(&self.positions(shell))
    }

    /// Stretch, bending and residual at the vertices of every shell.
    pub fn fields(&self) -> Vec<Fields> {
        let mut gradient = vec![0.0; self.model.len()];
        self.model.gradient(&self.result.state, &mut gradient);
        self.model.clear_fixed(&mut gradient);
        let one = |(shell, nodes): (usize, &ShellNodes)| {
            let positions = self.positions(shell);
            let forces: Vec<Vec3> = (0..positions.len() as u32)
                .map(|v| {
                    let i = self.model.unknown(nodes.vertices + v);
                    -Vec3::new(gradient[i], gradient[i + 1], gradient[i + 2])
                })
                .collect();
            let sheet = &self.shells[shell].shell;
            shell_fields(&sheet.topology, &sheet.rest_positions, &positions, &forces)
        };
        self.nodes.iter().enumerate().map(one).collect()
    }

    /// Largest tension of the membrane at the vertices of a shell \[N/m\]: see [`shell_tensions`].
    pub fn tensions(&self, shell: usize) -> Vec<f64> {
        let sheet = &self.shells[shell].shell;
        shell_tensions(sheet, &sheet.rest_positions, &self.positions(shell))
    }
}

/// Sets the number of threads of this program, once and before any other work; `false` if they were
/// already set. Results do not depend on it.
pub fn set_threads(threads: usize) -> bool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().is_ok()
}
