//! From a scene to shells that can be simulated, and what is needed to write them back.

use std::collections::BTreeSet;
use std::path::Path;

use toile_energy::{Membrane as SimMembrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{MendCounts, Severity, Topology, Vec3, bounding_box, diagnose};
use toile_sim::{Shell as SimShell, ShellMaterial, SimError, Stitch};

use crate::axes::Axes;
use crate::error::MeshError;
use crate::mesh::MeshData;
use crate::obj::read_stitches;
use crate::scene::{
    Bending, Generator, Koiter, Material, Membrane, MeshSource, Normals, Pins, Rest, Scene, Shell,
    Young,
};
use crate::scene_error::{Diagnostic, SceneError};
use crate::stitches;
use crate::suggest::nearest;
use crate::surface::{Surface, unpinch};

/// One shell of a scene: the shell to simulate, and its mesh as the file has it.
#[derive(Clone, Debug)]
pub struct LoadedShell {
    /// Stem of the mesh file, or the name of the generator.
    pub name: String,
    /// The shell, in metres with +z up. Its faces all run the same way round.
    pub shell: SimShell,
    /// The shell as the scene describes it.
    pub table: Shell,
    /// The mesh in the units and axes of the files, faces as they were: results are written with these.
    pub mesh: MeshData,
    /// Units and axes of the files.
    pub axes: Axes,
    /// What was done on the way that the user may want to know.
    pub notes: Vec<String>,
    /// What was done to the mesh to make a surface of it.
    pub mended: MendCounts,
    /// The vertex of the mesh that each vertex of the shell is; the same number unless the mesh had to be mended.
    pub origin: Vec<u32>,
    /// The vertex of the shell for each of the mesh; `None` where nothing is left of it.
    pub image: Vec<Option<u32>>,
    /// The vertex of the shell that a vertex of the mesh goes along with that is not in the shell; empty where there are no trims.
    pub follows: Vec<Option<u32>>,
}

impl LoadedShell {
    /// Values at the vertices of the mesh from those at the vertices of the shell; `lost` where there is none.
    pub fn spread<T: Copy>(&self, values: &[T], lost: impl Fn(usize) -> T) -> Vec<T> {
        let value =
            |(v, image): (usize, &Option<u32>)| image.map_or(lost(v), |i| values[i as usize]);
        self.image.iter().enumerate().map(value).collect()
    }

    /// Positions \[m\] at the vertices of the mesh, in the units and axes of its file; those that did not move at all are given
    /// back to the bit.
    pub fn to_file(&self, positions: &[Vec3]) -> Vec<[f64; 3]> {
        let place = |(v, image): (usize, &Option<u32>)| match image {
            Some(i) if positions[*i as usize] != self.shell.positions[*i as usize] => {
                self.axes.to_file(positions[*i as usize].into())
            }
            None => match self.follows.get(v) {
                Some(Some(i)) if positions[*i as usize] != self.shell.positions[*i as usize] => {
                    let way = positions[*i as usize] - self.shell.positions[*i as usize];
                    let drawn = Vec3::from(self.axes.to_internal(self.mesh.positions[v]));
                    self.axes.to_file((drawn + way).into())
                }
                _ => self.mesh.positions[v],
            },
            _ => self.mesh.positions[v],
        };
        self.image.iter().enumerate().map(place).collect()
    }

    /// Whether the shell has other vertices or faces than its mesh.
    pub fn is_mended(&self) -> bool {
        let sorted = |face: &[u32; 3]| {
            let mut face = *face;
            face.sort_unstable();
            face
        };
        let (faces, given) = (self.shell.topology.faces(), &self.mesh.faces);
        self.origin.len() != self.mesh.positions.len()
            || faces.len() != given.len()
            || self.origin.iter().enumerate().any(|(new, &old)| new != old as usize)
            || faces.iter().zip(given).any(|(a, b)| sorted(a) != sorted(b))
    }
}

/// Acceleration of gravity of a scene, +z up \[m/s²\].
pub fn scene_gravity(scene: &Scene) -> Vec3 {
    Vec3::from(scene.gravity_internal())
}

/// Reads the meshes of a scene and makes its shells; every problem points at a line of the scene.
///
/// Refused: meshes that are no surface (each problem is listed), a rest shape that does not fit, pins
/// that name nothing, stitches of another mesh, pieces no pin holds.
pub fn load_shells(scene: &Scene) -> Result<Vec<LoadedShell>, SceneError> {
    let mut shells = Vec::new();
    let mut problems = Vec::new();
    for i in 0..scene.shells.len() {
        match load_shell(scene, i) {
            Ok(loaded) => {
                // On colliders a piece needs no pins; whether it comes to rest is seen.
                // Colliders and rods may carry what nothing else holds.
                if scene.colliders.is_empty() && scene.rods.is_empty() && scene.hair.is_empty() {
                    problems.extend(unsupported_piece(scene, i, &loaded));
                }
                shells.push(loaded);
            }
            Err(error @ SceneError::Unreadable { .. }) => return Err(error),
            Err(SceneError::Invalid { problems: found }) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(shells) } else { Err(SceneError::Invalid { problems }) }
}

/// Reads and makes shell number `index`, without asking what holds it up.
///
/// Panics if the scene has no such shell.
pub fn load_shell(scene: &Scene, index: usize) -> Result<LoadedShell, SceneError> {
    let at = At { scene, index };
    let table = &scene.shells[index];
    let shell = table;
    let axes = scene.file_axes(shell);
    let (name, mesh, places) = at.start(shell, axes)?;
    let mut notes = mesh.notes.clone();
    let mut seams = at.seams(shell, &mesh, &places, &mut notes)?;
    let surface = Surface::of(&mesh, &places, shell.rest.is_some(), &mut seams, &mut notes);
    let Surface { positions, faces, origin, image, counts: mended } = surface;
    at.sound("mesh", &positions, &faces)?;
    let topology = Topology::new(positions.len(), faces)
        .map_err(|e| at.error("mesh", e.to_string(), "run `toile check` on the mesh"))?;
    if shell.rest.is_none() && !seams.is_empty() {
        unpinch(&positions, &topology, &mut seams, &mut notes);
    }
    let rest_places = match &shell.rest {
        None => places.clone(),
        Some(Rest::Uv) => at.pattern(&mesh, axes)?,
        Some(Rest::File(path)) => at.rest_file(path, &mesh, axes)?,
    };
    let rest_positions: Vec<Vec3> = origin.iter().map(|&v| rest_places[v as usize]).collect();
    match &shell.rest {
        None => {}
        Some(Rest::Uv) => at.unfolded(&rest_positions, &topology)?,
        Some(Rest::File(_)) => at.sound("rest", &rest_positions, topology.faces())?,
    }
    let pins = match &shell.pins {
        None => Vec::new(),
        Some(pins) => at.pins(pins, &mesh, &places, axes)?,
    };
    let mut pins: Vec<u32> = pins.iter().filter_map(|&v| image[v as usize]).collect();
    pins.sort_unstable();
    pins.dedup();
    let material = material(shell, axes);
    let shell = SimShell {
        topology,
        positions,
        rest_positions,
        material,
        areal_density: shell.areal_density,
        pins,
        seams,
        damping: shell.damping.unwrap_or(0.0),
    };
    let table = table.clone();
    let follows = Vec::new();
    Ok(LoadedShell { name, shell, table, mesh, axes, notes, mended, origin, image, follows })
}

/// The problem that a piece of shell number `index` would fall for ever, if one would.
pub fn unsupported_piece(scene: &Scene, index: usize, loaded: &LoadedShell) -> Option<Diagnostic> {
    let error = loaded.shell.check_support().err()?;
    let (message, help) = match &error {
        SimError::FreeFall { vertex, size } if loaded.shell.pins.is_empty() => (
            format!(
                "nothing holds this shell: it has no pins, and {size} vertices (vertex {vertex} and what hangs on it) would fall for ever"
            ),
            "hold some vertices, for example `pins = { vertices = [0, 12] }` or `pins = { box = [[x0, y0, z0], [x1, y1, z1]] }`",
        ),
        SimError::FreeFall { vertex, size } => (
            format!(
                "a piece of {size} vertices (with vertex {vertex}) has no pin: it would fall for ever"
            ),
            "pin a vertex of every piece, join the pieces, or remove it",
        ),
        other => (other.to_string(), "see the message"),
    };
    let key = if scene.shells[index].pins.is_some() { "pins" } else { "mesh" };
    Some(At { scene, index }.diagnostic(key, message, help))
}

/// Elastic constants of a shell, the warp turned to +z up.
fn material(shell: &Shell, axes: Axes) -> ShellMaterial {
    match &shell.material {
        Material::Koiter(k) => ShellMaterial::Koiter {
            stiffness: stiffness(k, shell.thickness),
            normals: match k.normals {
                Normals::Average => NormalRule::Average,
                Normals::Sin => NormalRule::Sin,
                Normals::Tan => NormalRule::Tan,
            },
            membrane: match k.membrane {
                Membrane::Stvk => SimMembrane::StVenantKirchhoff,
                Membrane::NeoHookean => SimMembrane::NeoHookean,
            },
            warp: {
                let warp = k.warp.unwrap_or([1.0, 0.0, 0.0]);
                // A pattern lies in its own plane, whatever is up in the room.
                let turned = shell.rest != Some(Rest::Uv);
                Vec3::from(if turned { axes.direction_to_internal(warp) } else { warp })
            },
        },
        Material::DiscreteShells(m) => ShellMaterial::DiscreteShells {
            k_length: m.k_length,
            k_area: m.k_area,
            k_bend: m.k_bend,
        },
    }
}

fn stiffness(k: &Koiter, thickness: f64) -> ShellStiffness {
    let solid = match k.young {
        Young::Isotropic(young) => ShellStiffness::isotropic(young, k.poisson, thickness),
        Young::Orthotropic(young) => {
            ShellStiffness::orthotropic(young, k.poisson, k.shear.unwrap_or(0.0), thickness)
        }
    };
    match k.bending {
        None => solid,
        Some(Bending::Isotropic(d)) => solid.with_plate_modulus(d),
        Some(Bending::Orthotropic([d1, d2, d12, shear])) => {
            ShellStiffness { bending: [d1, d12, d2, shear], ..solid }
        }
    }
}

/// A shell of a scene, for messages.
struct At<'a> {
    scene: &'a Scene,
    index: usize,
}

impl At<'_> {
    fn diagnostic(
        &self,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let key = format!("shell[{}].{key}", self.index);
        self.scene.source.diagnostic_at(&key, message, help)
    }

    fn error(&self, key: &str, message: impl Into<String>, help: impl Into<String>) -> SceneError {
        SceneError::one(self.diagnostic(key, message, help))
    }

    fn read(&self, key: &str, path: &str) -> Result<MeshData, SceneError> {
        self.scene.read_mesh(path).map_err(|e| self.unreadable(key, e))
    }

    fn unreadable(&self, key: &str, error: MeshError) -> SceneError {
        match error {
            MeshError::Unreadable { path, source, remedy } => {
                self.error(key, format!("cannot read {}: {source}", path.display()), remedy)
            }
            MeshError::Invalid { file, place, what, remedy } => {
                self.error(key, format!("{file}{place}: {what}"), remedy)
            }
        }
    }

    /// Name, mesh in file units, and start positions in metres.
    fn start(
        &self,
        shell: &Shell,
        axes: Axes,
    ) -> Result<(String, MeshData, Vec<Vec3>), SceneError> {
        match &shell.mesh {
            MeshSource::File(path) => {
                let mesh = self.read("mesh", path)?;
                let positions = metres(&mesh.positions, axes);
                let stem = Path::new(path).file_stem().unwrap_or_default();
                Ok((stem.to_string_lossy().into_owned(), mesh, positions))
            }
            MeshSource::Generated(generator) => {
                let made = generator.build();
                let points: Vec<[f64; 3]> = made.positions.iter().map(|p| (*p).into()).collect();
                let mesh = MeshData {
                    positions: axes.all_to_file(&points),
                    faces: made.faces().to_vec(),
                    ..MeshData::default()
                };
                Ok((generator_name(generator).into(), mesh, made.positions))
            }
        }
    }

    /// Refuses a mesh with errors, naming each.
    fn sound(&self, key: &str, positions: &[Vec3], faces: &[[u32; 3]]) -> Result<(), SceneError> {
        let problems: Vec<Diagnostic> = diagnose(positions, faces)
            .into_iter()
            .filter(|p| p.severity == Severity::Error)
            .map(|p| self.diagnostic(key, p.message, p.remedy))
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(SceneError::Invalid { problems }) }
    }

    /// The flat rest shape in the texture coordinates \[m\], in the plane z = 0.
    fn pattern(&self, mesh: &MeshData, axes: Axes) -> Result<Vec<Vec3>, SceneError> {
        let Some(corners) = &mesh.face_uvs else {
            return Err(self.error(
                "rest",
                "`rest = \"uv\"`, but not every face of the mesh has texture coordinates",
                "unwrap the mesh and export it with `vt` lines, or leave `rest` out",
            ));
        };
        let mut uv_of = vec![None; mesh.positions.len()];
        for (face, corners) in mesh.faces.iter().zip(corners) {
            for (&v, &t) in face.iter().zip(corners) {
                let uv = mesh.uvs[t as usize];
                match uv_of[v as usize] {
                    None => uv_of[v as usize] = Some(uv),
                    // The same place under another number is no seam.
                    Some(other) if other == uv => {}
                    Some(other) => {
                        let message = format!(
                            "vertex {v} has several texture coordinates, ({}, {}) and ({}, {}): it lies on a seam, \
                             and one vertex cannot rest in two places of the pattern",
                            other[0], other[1], uv[0], uv[1]
                        );
                        let help = "cut the mesh open along the seams of its pattern (each panel with its own \
                                    vertices), or give the rest shape as a file";
                        return Err(self.error("rest", message, help));
                    }
                }
            }
        }
        let point = |uv: Option<[f64; 2]>| {
            let [u, v] = uv.unwrap_or_default();
            Vec3::new(u * axes.scale, v * axes.scale, 0.0)
        };
        Ok(uv_of.into_iter().map(point).collect())
    }

    /// Refuses a pattern with errors, or that folds over itself.
    fn unfolded(&self, rest: &[Vec3], topology: &Topology) -> Result<(), SceneError> {
        self.sound("rest", rest, topology.faces())?;
        // Along every edge the two faces must lie on different sides, else the pattern is folded.
        let side = |a: u32, b: u32, c: u32| {
            let [a, b, c] = [a, b, c].map(|v| rest[v as usize]);
            (b - a).cross(&(c - a)).z
        };
        for (_, edge) in topology.interior_edges() {
            let [a, b] = edge.vertices;
            if let [Some(c), Some(d)] = edge.opposite
                && side(a, b, c) * side(a, b, d) > 0.0
            {
                let message = format!(
                    "the pattern folds over itself along the edge between vertices {a} and {b}"
                );
                let help = "unwrap the mesh so that no face is mirrored against its neighbours";
                return Err(self.error("rest", message, help));
            }
        }
        Ok(())
    }

    fn rest_file(&self, path: &str, mesh: &MeshData, axes: Axes) -> Result<Vec<Vec3>, SceneError> {
        let rest = self.read("rest", path)?;
        let help = "the rest shape needs the same vertices and faces in the same order as `mesh`; \
                    export both from one model without merging or reordering";
        if rest.positions.len() != mesh.positions.len() {
            let message = format!(
                "the rest shape has {} vertices and the mesh {}",
                rest.positions.len(),
                mesh.positions.len()
            );
            return Err(self.error("rest", message, help));
        }
        let sets = |faces: &[[u32; 3]]| -> BTreeSet<[u32; 3]> {
            let sorted = |f: &[u32; 3]| {
                let mut f = *f;
                f.sort_unstable();
                f
            };
            faces.iter().map(sorted).collect()
        };
        let (ours, theirs) = (sets(&mesh.faces), sets(&rest.faces));
        if let Some(face) = ours.symmetric_difference(&theirs).next() {
            let where_ = if ours.contains(face) { "the mesh" } else { "the rest shape" };
            let message = format!(
                "the rest shape has other faces than the mesh: only {where_} joins vertices {}, {} and {}",
                face[0], face[1], face[2]
            );
            return Err(self.error("rest", message, help));
        }
        Ok(metres(&rest.positions, axes))
    }

    /// The seams: the stitches of the file the scene names, else those of the mesh file itself.
    fn seams(
        &self,
        shell: &Shell,
        mesh: &MeshData,
        positions: &[Vec3],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Stitch>, SceneError> {
        let (key, given) = match &shell.stitches {
            Some(path) => {
                let read = read_stitches(self.scene.resolve(path));
                ("stitches", read.map_err(|e| self.unreadable("stitches", e))?)
            }
            None => ("mesh", mesh.stitches.clone()),
        };
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let seams = stitches::fit(&given, &mesh.faces, positions)
            .map_err(|misfit| self.error(key, misfit.what, misfit.help))?;
        notes.extend(seams.notes);
        Ok(seams.stitches)
    }

    /// All pinned vertices, ascending, each once.
    fn pins(
        &self,
        pins: &Pins,
        mesh: &MeshData,
        positions: &[Vec3],
        axes: Axes,
    ) -> Result<Vec<u32>, SceneError> {
        let n = positions.len();
        let mut held: BTreeSet<u32> = BTreeSet::new();
        for (k, &v) in pins.vertices.iter().enumerate() {
            if v as usize >= n {
                return Err(self.error(
                    &format!("pins.vertices[{k}]"),
                    format!("vertex {v} does not exist: the mesh has {n} vertices"),
                    format!("vertices are counted from 0 to {}", n - 1),
                ));
            }
            held.insert(v);
        }
        if let Some(corners) = pins.corners {
            let [low, high] = axes.box_to_internal(corners).map(Vec3::from);
            let bounds = bounding_box(positions).unwrap_or_default();
            // Units divided and multiplied must not lose a vertex that lies on the face of the box.
            let slack = 1e-9 * (bounds[1] - bounds[0]).norm();
            let inside =
                |p: &Vec3| (0..3).all(|k| p[k] >= low[k] - slack && p[k] <= high[k] + slack);
            let found: Vec<u32> =
                (0..n).filter(|&v| inside(&positions[v])).map(|v| v as u32).collect();
            if found.is_empty() {
                let in_file = Axes { scale: 1.0, ..axes };
                let [a, b] = bounds.map(|p| in_file.direction_to_file(p.into()));
                let round = |k: usize| format!("{:.4} to {:.4}", a[k].min(b[k]), a[k].max(b[k]));
                return Err(self.error(
                    "pins.box",
                    "no vertex lies in the box",
                    format!(
                        "in metres and the axes of the files, the mesh spans x {}, y {}, z {}",
                        round(0),
                        round(1),
                        round(2)
                    ),
                ));
            }
            held.extend(found);
        }
        if let Some(name) = &pins.group {
            let Some(group) = mesh.groups.get(name) else {
                let known: Vec<&str> = mesh.groups.keys().map(String::as_str).collect();
                let help = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "the mesh file has no groups".into(),
                    None => {
                        let shown: Vec<&str> = known.iter().take(8).copied().collect();
                        format!("the mesh file has the groups {}", shown.join(", "))
                    }
                };
                let message = format!("the mesh has no group `{name}`");
                return Err(self.error("pins.group", message, help));
            };
            held.extend(&group.vertices);
        }
        Ok(held.into_iter().collect())
    }
}

fn metres(points: &[[f64; 3]], axes: Axes) -> Vec<Vec3> {
    points.iter().map(|&p| Vec3::from(axes.to_internal(p))).collect()
}

fn generator_name(generator: &Generator) -> &'static str {
    match generator {
        Generator::Sheet(_) => "sheet",
        Generator::Rectangle(_) => "rectangle",
        Generator::Strip(_) => "strip",
        Generator::Disc(_) => "disc",
        Generator::Annulus(_) => "annulus",
        Generator::Cylinder(_) => "cylinder",
        Generator::Cone(_) => "cone",
        Generator::Sphere(_) => "sphere",
    }
}
