//! The scene file as Rust types. The names are the contract of the TOML; SI units.
//!
//! The JSON schema is generated from these types, and files are checked against it, so that a key
//! exists in the code, in the schema and in the messages or in none.

use crate::axes::{Axes, Up};
use crate::error::MeshError;
use crate::mesh::{MeshData, read_mesh};
use crate::scene_contact::{Collider, SelfContact, Time};
use crate::scene_error::SceneError;
use crate::scene_rod::{HairTable, RodTable};
use crate::scene_tree::SceneSource;
use crate::strands::{Strands, read_strands};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Acceleration of gravity where the scene gives none \[m/s²\].
const STANDARD_GRAVITY: f64 = 9.81;

/// A scene: what is there, and the forces on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// The upward axis of the files, "z" or "y": rotated on reading, and back on writing.
    #[serde(default)]
    pub up: Up,
    /// Gravity in the axes of the files \[m/s²\]; 9.81 against `up` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<[f64; 3]>,
    /// Forces that contacts of the shells carry at the start of `simulate`: a table that `invert` writes, so that what was found at rest stays there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_forces: Option<String>,
    /// The shells: cloth, plates, anything thin.
    #[serde(default, rename = "shell")]
    pub shells: Vec<Shell>,
    /// Rods clamped at one end.
    #[serde(default, rename = "rod", skip_serializing_if = "Vec::is_empty")]
    pub rods: Vec<RodTable>,
    /// Hair: many rods with one material.
    #[serde(default, rename = "hair", skip_serializing_if = "Vec::is_empty")]
    pub hair: Vec<HairTable>,
    /// What the cloth can touch.
    #[serde(default, rename = "collider", skip_serializing_if = "Vec::is_empty")]
    pub colliders: Vec<Collider>,
    /// Cloth that touches itself; it passes through itself without this table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_contact: Option<SelfContact>,
    /// How `simulate` goes through time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Settings of the static solver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<Solver>,
    /// Settings of `invert`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invert: Option<Invert>,
    /// The file this came from.
    #[serde(skip)]
    pub source: SceneSource,
}

/// A thin elastic surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shell {
    /// Start shape for drape and simulate, target for invert: a file, or a table `{ generate = … }`.
    pub mesh: MeshSource,
    /// Rest shape: a file with the same faces, or "uv" for the flat pattern in the texture coordinates; the
    /// mesh itself by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// Length of one unit of the files \[m\]; 0.01 for centimetres, 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Thickness h \[m\].
    pub thickness: f64,
    /// Mass per area of the rest shape \[kg/m²\].
    pub areal_density: f64,
    /// The elastic law, chosen by `model`.
    pub material: Material,
    /// What is held in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pins: Option<Pins>,
    /// Velocity at the start of `simulate`, in the axes of the files \[m/s\]; at rest by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// An OBJ file with lines `stitch i a b w`: vertex i is sewn to the point (1 − w) a + w b of the edge from a to b. By default
    /// the stitches of the mesh file, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stitches: Option<String>,
    /// Internal damping in motion \[s\]: stresses gain so many seconds of the rate at which they change (Kelvin and Voigt), so a vibration of
    /// f hertz has the damping ratio π f · damping, and moving or turning as one piece costs nothing; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
}

/// Where the triangles of a shell come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MeshSource {
    /// A mesh file, relative to the scene file.
    File(String),
    /// A mesh made by rule. It is in metres and z up whatever `up` says, and takes no `scale`.
    Generated(Generator),
}

/// Rest shape other than the mesh itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Rest {
    /// `"uv"`: the flat pattern in the texture coordinates.
    Uv,
    /// A mesh file with the same faces.
    File(String),
}

impl From<String> for Rest {
    fn from(text: String) -> Self {
        if text == "uv" { Rest::Uv } else { Rest::File(text) }
    }
}

impl From<Rest> for String {
    fn from(rest: Rest) -> Self {
        match rest {
            Rest::Uv => "uv".into(),
            Rest::File(path) => path,
        }
    }
}

/// The elastic law of a shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum Material {
    /// Thin-shell theory with membrane and bending from the fundamental forms.
    Koiter(Koiter),
    /// Springs on edges, areas and hinges.
    DiscreteShells(DiscreteShells),
}

/// Discrete Koiter shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Koiter {
    /// Young's modulus E \[Pa\]; two of them, along and across `warp`, for an orthotropic cloth.
    pub young: Young,
    /// Poisson's ratio ν, for orthotropic cloth ν₁₂ (contraction across per stretch along the warp).
    pub poisson: f64,
    /// Shear modulus G \[Pa\]; needed for orthotropic cloth, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear: Option<f64>,
    /// Direction of the warp in the rest shape, in the axes of the files; +x by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp: Option<[f64; 3]>,
    /// Mid-edge normals of the bending energy.
    #[serde(default)]
    pub normals: Normals,
    /// Membrane energy.
    #[serde(default)]
    pub membrane: Membrane,
    /// Bending stiffness D \[N·m\], or \[D1, D2, D12, Dshear\], in place of E h³ / 12 (1 − ν²).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending: Option<Bending>,
}

/// One modulus, or two for an orthotropic cloth \[Pa\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Young {
    /// The same in all directions.
    Isotropic(f64),
    /// Along and across the warp.
    Orthotropic([f64; 2]),
}

/// Bending stiffness given directly \[N·m\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Bending {
    /// D, with the material's ν.
    Isotropic(f64),
    /// D1, D2, D12 and Dshear in the axes of the warp.
    Orthotropic([f64; 4]),
}

/// Mid-edge normals of the Koiter bending energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Normals {
    /// Mean of the normals of the two faces.
    Average,
    /// Free edge angles, second form by the sine.
    Sin,
    /// Free edge angles, second form by the tangent.
    #[default]
    Tan,
}

/// Membrane energy of the Koiter shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Membrane {
    /// Quadratic in the Green strain (Saint Venant–Kirchhoff).
    #[default]
    Stvk,
    /// Neo-Hookean: resists being squeezed to nothing.
    NeoHookean,
}

/// Discrete Shells: edges, areas and hinges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscreteShells {
    /// Tension per unit strain of an edge \[N\].
    pub k_length: f64,
    /// Stiffness of areas \[N/m\].
    pub k_area: f64,
    /// Stiffness of hinges \[N·m\].
    pub k_bend: f64,
}

/// Vertices held in place: the union of what is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// Vertices, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vertices: Vec<u32>,
    /// All vertices of the start shape within \[least corner, greatest corner\] \[m\], in the axes of the files.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub corners: Option<[[f64; 3]; 2]>,
    /// All vertices of a group of the mesh file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Settings of the static solver; what is left out keeps the solver's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Solver {
    /// Residual at which to stop, relative to the weight per vertex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Newton steps at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
}

/// Settings of `invert`; what is left out keeps its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invert {
    /// Vertices at most this much farther from a collider than its gap touch it \[m\]; by default 5e-4, or what lets a garment that hovers be carried on a third of
    /// what goes along the body, up to 1 % of its size and 1 cm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_tolerance: Option<f64>,
    /// Stitches open by at most this much in the target are closed \[m\]; 5e-3 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seam_tolerance: Option<f64>,
    /// Part of the friction that contact forces may use; 0.975 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cone_part: Option<f64>,
    /// Steps at most; 200 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    /// Whether a result in which layers pass through each other may be certified; not by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers_may_cross: Option<bool>,
}

/// A mesh made by rule, chosen by `generate`; lengths in metres, z up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "generate", rename_all = "lowercase")]
pub enum Generator {
    /// A square of n × n vertices.
    Sheet(Sheet),
    /// A rectangle along x and y.
    Rectangle(Rectangle),
    /// A long rectangle, clamped at x = 0 in the protocols.
    Strip(Strip),
    /// A round disc.
    Disc(Disc),
    /// A ring.
    Annulus(Annulus),
    /// An open tube around z.
    Cylinder(Cylinder),
    /// An open cone frustum around z.
    Cone(Cone),
    /// A closed sphere.
    Sphere(Sphere),
}

/// The plane a flat generated mesh lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Plane {
    /// Lying: normal +z.
    #[default]
    Xy,
    /// Standing: the second direction is +z.
    Xz,
}

/// How a rectangle is cut into triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Triangulation {
    /// All diagonals the same way.
    Regular,
    /// Diagonals alternate like a chess board.
    #[default]
    Alternating,
    /// Rows shifted by half a cell.
    Equilateral,
    /// Inner vertices scattered.
    Random,
}

/// A square sheet centred at the origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// Vertices along each side.
    pub n: u32,
    /// Length of the sides \[m\].
    pub size: f64,
    /// The plane it lies in.
    #[serde(default)]
    pub plane: Plane,
    /// How it is cut into triangles.
    #[serde(default)]
    pub triangulation: Triangulation,
}

/// A rectangle centred at the origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// Size along x \[m\].
    pub width: f64,
    /// Size along the other direction \[m\].
    pub height: f64,
    /// Cells along x.
    pub nx: u32,
    /// Cells along the other direction.
    pub ny: u32,
    /// The plane it lies in.
    #[serde(default)]
    pub plane: Plane,
    /// How it is cut into triangles.
    #[serde(default)]
    pub triangulation: Triangulation,
}

/// A strip from x = 0 to x = length, centred in the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strip {
    /// Length along x \[m\].
    pub length: f64,
    /// Width \[m\].
    pub width: f64,
    /// Cells along x.
    pub nx: u32,
    /// Cells across.
    pub ny: u32,
    /// The plane it lies in.
    #[serde(default)]
    pub plane: Plane,
    /// How it is cut into triangles.
    #[serde(default)]
    pub triangulation: Triangulation,
}

/// A disc around the origin, normal +z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disc {
    /// Radius \[m\].
    pub radius: f64,
    /// Rings of triangles from the centre to the rim.
    pub rings: u32,
}

/// A ring around the origin, normal +z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annulus {
    /// Inner radius \[m\].
    pub inner_radius: f64,
    /// Outer radius \[m\].
    pub outer_radius: f64,
    /// Cells from the inner to the outer rim.
    pub rings: u32,
    /// Cells around.
    pub around: u32,
}

/// An open tube around z, from z = 0 to its height.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius \[m\].
    pub radius: f64,
    /// Height \[m\].
    pub height: f64,
    /// Cells around.
    pub around: u32,
    /// Cells along the height.
    pub along: u32,
}

/// An open cone frustum around z, from z = 0 to its height.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cone {
    /// Radius at z = 0 \[m\].
    pub bottom_radius: f64,
    /// Radius at the top \[m\].
    pub top_radius: f64,
    /// Height \[m\].
    pub height: f64,
    /// Cells around.
    pub around: u32,
    /// Cells along the height.
    pub along: u32,
}

/// A sphere around the origin, from an icosahedron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius \[m\].
    pub radius: f64,
    /// Times each triangle is cut into four.
    pub subdivisions: u32,
}

impl Scene {
    /// Gravity inside, with +z up \[m/s²\].
    pub fn gravity_internal(&self) -> [f64; 3] {
        match self.gravity {
            None => [0.0, 0.0, -STANDARD_GRAVITY],
            Some(g) => self.axes(1.0).direction_to_internal(g),
        }
    }

    /// Axes of this scene for files of the given scale.
    fn axes(&self, scale: f64) -> Axes {
        Axes { up: self.up, scale }
    }

    /// Units and axes of the files of a shell. Generated meshes are in metres and z up already, but
    /// are written in the axes of the scene like all others.
    pub fn file_axes(&self, shell: &Shell) -> Axes {
        self.axes(shell.scale.unwrap_or(1.0))
    }

    /// Axes of points that the scene file itself holds, in metres.
    pub fn own_axes(&self) -> Axes {
        self.axes(1.0)
    }

    /// A path of the scene file as seen from where the program runs.
    pub fn resolve(&self, path: &str) -> PathBuf {
        let folder = self.source.path().and_then(Path::parent);
        folder.unwrap_or(Path::new("")).join(path)
    }

    /// The mesh a path of the scene names: an attached one, or a file.
    pub fn read_mesh(&self, path: &str) -> Result<MeshData, MeshError> {
        match self.source.attached.mesh(path) {
            Some(mesh) => Ok(mesh.clone()),
            None => read_mesh(self.resolve(path)),
        }
    }

    /// The strands a path of the scene names: attached ones, or a file.
    pub fn read_strands(&self, path: &str) -> Result<Strands, MeshError> {
        match self.source.attached.strands(path) {
            Some(strands) => Ok(strands.clone()),
            None => read_strands(self.resolve(path)),
        }
    }

    /// The scene as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// The scene as JSON, on one line.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// An error that points at a place of the scene file, such as `shell[0].pins.vertices[3]`.
    pub fn error_at(
        &self,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> SceneError {
        SceneError::one(self.source.diagnostic_at(key, message, help))
    }
}
