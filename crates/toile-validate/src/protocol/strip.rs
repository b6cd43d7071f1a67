//! A rectangular strip held along one edge: the specimen of all protocols.
//!
//! The strip rests in the plane z = 0, 0 ≤ x ≤ L, |y| ≤ w/2, and is clamped at x = 0. One column of faces behind the
//! clamp is pinned, so that the clamp holds the slope as well as the edge and the free length is exactly L.

use std::fmt;
use std::str::FromStr;

use super::progress::Meter;
use super::{NEARLY_SETTLED, ProtocolError, SETTLED, settle};
use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::Vec3;
use toile_geometry::generate::{self, Triangulation};
use toile_geometry::measure::NormalRule;
use toile_sim::{Model, ModelBuilder, Shell, ShellMaterial, ShellNodes, SimError, State};

/// Acceleration of gravity in all protocols \[m/s²\].
pub const GRAVITY: f64 = 9.81;

/// Which discrete shell is put to the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShellModel {
    /// The discrete Koiter shell.
    Koiter {
        /// Rule for mid-edge normals.
        normals: NormalRule,
        /// Law of the membrane.
        membrane: Membrane,
    },
    /// Hinges of Discrete Shells on the Koiter membrane, with k_b = `calibration` · D.
    Hinges {
        /// k_b/D; 1 is what is usually taken, 1/3 what equilateral triangles would need.
        calibration: f64,
    },
}

impl ShellModel {
    /// Koiter, averaged normals, St Venant–Kirchhoff membrane.
    pub const AVERAGE: Self =
        Self::Koiter { normals: NormalRule::Average, membrane: Membrane::StVenantKirchhoff };
    /// Koiter, b = 2h sin α, St Venant–Kirchhoff membrane.
    pub const SIN: Self =
        Self::Koiter { normals: NormalRule::Sin, membrane: Membrane::StVenantKirchhoff };
    /// Koiter, b = 2h tan α, St Venant–Kirchhoff membrane.
    pub const TAN: Self =
        Self::Koiter { normals: NormalRule::Tan, membrane: Membrane::StVenantKirchhoff };
    /// Discrete Shells' hinges with k_b = D.
    pub const HINGES: Self = Self::Hinges { calibration: 1.0 };

    /// Whether this is a Koiter shell, the model expected to pass.
    pub fn is_koiter(self) -> bool {
        matches!(self, Self::Koiter { .. })
    }

    /// Whether its mid-edge normals are unknowns (sin or tan).
    pub fn has_edge_angles(self) -> bool {
        matches!(self, Self::Koiter { normals, .. } if normals.has_edge_angles())
    }
}

impl fmt::Display for ShellModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Koiter { normals, membrane } => {
                let normals = match normals {
                    NormalRule::Average => "average",
                    NormalRule::Sin => "sin",
                    NormalRule::Tan => "tan",
                };
                let membrane = match membrane {
                    Membrane::StVenantKirchhoff => "",
                    Membrane::NeoHookean => "-neo-hookean",
                };
                write!(f, "koiter-{normals}{membrane}")
            }
            Self::Hinges { calibration } if *calibration == 1.0 => write!(f, "ds-hinge"),
            Self::Hinges { calibration } => write!(f, "ds-hinge-{calibration}"),
        }
    }
}

/// Not the name of a [`ShellModel`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no shell model is called \"{0}\"; use koiter-average, koiter-sin, koiter-tan (each also with \
     -neo-hookean), or ds-hinge, or ds-hinge-0.5 for hinges of half the plate modulus"
)]
pub struct UnknownModel(pub String);

impl FromStr for ShellModel {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        let unknown = || UnknownModel(name.to_owned());
        if let Some(rest) = name.strip_prefix("koiter-") {
            let (normals, membrane) = match rest.strip_suffix("-neo-hookean") {
                Some(normals) => (normals, Membrane::NeoHookean),
                None => (rest, Membrane::StVenantKirchhoff),
            };
            let normals = match normals {
                "average" => NormalRule::Average,
                "sin" => NormalRule::Sin,
                "tan" => NormalRule::Tan,
                _ => return Err(unknown()),
            };
            return Ok(Self::Koiter { normals, membrane });
        }
        match name.strip_prefix("ds-hinge") {
            Some("") => Ok(Self::HINGES),
            Some(rest) => {
                let number = rest.strip_prefix('-').and_then(|r| r.parse::<f64>().ok());
                let calibration = number.filter(|c| *c > 0.0 && c.is_finite());
                calibration.map(|calibration| Self::Hinges { calibration }).ok_or_else(unknown)
            }
            None => Err(unknown()),
        }
    }
}

/// Size and matter of a strip; its Young's modulus follows from the load it shall feel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strip {
    /// L, from clamp to tip \[m\].
    pub length: f64,
    /// w \[m\].
    pub width: f64,
    /// h \[m\].
    pub thickness: f64,
    /// ρ \[kg/m³\].
    pub density: f64,
    /// ν.
    pub poisson: f64,
}

impl Strip {
    /// Young's modulus \[Pa\] that makes Γ* = ρ h g L³/D = 12 (1−ν²) ρ g L³/(E h²) equal to `gamma`.
    ///
    /// Reference: Ly 2021, §3.3.2, with the power of h corrected (spec 2.6).
    pub fn young(&self, gamma: f64) -> f64 {
        12.0 * (1.0 - self.poisson.powi(2)) * self.density * GRAVITY * self.length.powi(3)
            / (gamma * self.thickness.powi(2))
    }

    /// Whether all lengths are positive numbers, ρ too, and ν one of a stable material.
    pub(crate) fn check(&self) -> Result<(), ProtocolError> {
        for (what, value) in [
            ("length", self.length),
            ("width", self.width),
            ("thickness", self.thickness),
            ("density", self.density),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ProtocolError::Input { what, value, must: "a positive number" });
            }
        }
        if self.poisson > -1.0 && self.poisson <= 0.5 {
            Ok(())
        } else {
            let must = "above -1 and at most 0.5";
            Err(ProtocolError::Input { what: "Poisson's ratio", value: self.poisson, must })
        }
    }
}

/// How a strip is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    /// Cells along the free length.
    pub along: usize,
    /// Cells across; made even, so that a vertex lies at mid width.
    pub across: usize,
    /// a of x = L sinh(a t)/sinh(a), t uniform: cells grow from the clamp to the tip by cosh a; 0 for equal cells.
    pub grading: f64,
    /// How the cells are cut.
    pub triangulation: Triangulation,
}

/// A clamped strip, ready to be loaded.
pub struct Clamped {
    /// Its equations; load factor 1 is Γ* of the call that built it.
    pub model: Model,
    /// The flat start.
    pub flat: State,
    /// Where its vertices and angles are.
    pub nodes: ShellNodes,
    /// The tip at mid width.
    tip: u32,
    vertices: u32,
}

impl Clamped {
    /// A strip with dimensionless weight Γ* = `gamma`, pulled along `down` (a unit vector in the frame of the strip).
    pub fn new(
        strip: &Strip,
        cells: Cells,
        shell: ShellModel,
        gamma: f64,
        down: Vec3,
    ) -> Result<Self, SimError> {
        Self::with_membrane(strip, cells, shell, gamma, down, 1.0)
    }

    /// The same with a membrane `factor` times as stiff. Unknowns are numbered alike, so states can be exchanged.
    fn with_membrane(
        strip: &Strip,
        cells: Cells,
        shell: ShellModel,
        gamma: f64,
        down: Vec3,
        factor: f64,
    ) -> Result<Self, SimError> {
        let (nx, ny) = (cells.along.max(2), cells.across.max(2).next_multiple_of(2));
        let mut mesh =
            generate::strip_with(strip.length, strip.width, nx + 1, ny, cells.triangulation);
        let at = |i: usize| {
            let t = i as f64 / nx as f64;
            let a = cells.grading;
            let share = if a.abs() < 1e-6 { t } else { (a * t).sinh() / a.sinh() };
            if i == nx { strip.length } else { strip.length * share }
        };
        let mut pins = Vec::new();
        for (v, x) in mesh.positions.iter_mut().enumerate() {
            let column = v % (nx + 2);
            x.x = if column == 0 { -at(1) } else { at(column - 1) };
            if column <= 1 {
                pins.push(v as u32);
            }
        }
        let solid = ShellStiffness::isotropic(strip.young(gamma), strip.poisson, strip.thickness);
        let stiffness = ShellStiffness { membrane: solid.membrane.map(|c| factor * c), ..solid };
        let material = match shell {
            ShellModel::Koiter { normals, membrane } => {
                ShellMaterial::Koiter { stiffness, normals, membrane, warp: Vec3::x() }
            }
            ShellModel::Hinges { calibration } => ShellMaterial::HingedMembrane {
                stiffness,
                membrane: Membrane::StVenantKirchhoff,
                k_bend: calibration * stiffness.bending[0],
            },
        };
        let shell = Shell {
            rest_positions: mesh.positions.clone(),
            positions: mesh.positions,
            topology: mesh.topology,
            material,
            areal_density: strip.density * strip.thickness,
            pins,
            seams: Vec::new(),
            damping: 0.0,
        };
        let mut builder = ModelBuilder::new();
        let nodes = shell.add_to(&mut builder, Vec3::zeros())?;
        let vertices = shell.rest_positions.len() as u32;
        let mut clamped = Self {
            model: builder.build()?,
            flat: State::new(Vec::new()),
            tip: nodes.vertices + (ny / 2 * (nx + 2) + nx + 1) as u32,
            vertices,
            nodes,
        };
        clamped.flat = clamped.model.start().clone();
        clamped.pull(down);
        Ok(clamped)
    }

    /// Turns gravity to `down`. As dead forces, so that one model serves all directions.
    pub fn pull(&mut self, down: Vec3) {
        for v in self.nodes.vertices..self.nodes.vertices + self.vertices {
            let i = self.model.unknown(v);
            for k in 0..3 {
                let weight = GRAVITY * self.model.masses()[i + k];
                self.model.external_mut()[i + k] = weight * down[k];
            }
        }
    }

    /// Displacement of the tip at mid width from its rest position \[m\].
    pub fn tip_displacement(&self, state: &State) -> Vec3 {
        self.model.position(state, self.tip) - self.model.position(&self.flat, self.tip)
    }

    /// Position of the tip at mid width; the clamp is at x = z = 0 \[m\].
    pub fn tip(&self, state: &State) -> Vec3 {
        self.model.position(state, self.tip)
    }

    /// Holds the strip in its plane, or frees it again: z of every vertex and every edge angle.
    ///
    /// Unknowns fixed for good (in the clamp) stay so.
    pub fn hold_in_plane(&mut self, hold: bool) {
        let columns = self.columns();
        for v in 0..self.vertices {
            if v as usize % columns > 1 {
                let i = self.model.unknown(self.nodes.vertices + v) + 2;
                self.model.set_fixed(i, hold);
            }
        }
        let angles: Vec<u32> =
            self.nodes.angles.iter().copied().filter(|a| *a != toile_sim::NO_NODE).collect();
        for angle in angles {
            let i = self.model.unknown(angle);
            self.model.set_fixed(i, hold);
        }
    }

    fn columns(&self) -> usize {
        // Vertices are numbered row by row, and the tip ends the middle one.
        let tip = (self.tip - self.nodes.vertices) as usize;
        let rows_times_two = 2 * (tip + 1);
        // tip + 1 = (ny/2 + 1) columns and vertices = (ny + 1) columns.
        rows_times_two - self.vertices as usize
    }
}

/// A strip and the same strip with softer and softer membranes: the way to its equilibrium.
///
/// A sheet that hardly stretches leaves Newton's method a narrow curved valley, which it follows in hundreds of
/// steps (film of h/L = 4e-4 turned by 15°: more than 500). A membrane that stretches by a few thousandths turns in a few,
/// and its shape is a start from which a stiffer one needs a few more: 20 in all.
pub(crate) struct Stages {
    plates: Vec<Clamped>,
}

/// Thickness over length that the softest membrane stands for.
const SOFTEST: f64 = 0.02;
/// Stretch of the softest membrane under the weight, Γ* h²/12L²: what a start may be wrong by.
const LARGEST_STRETCH: f64 = 3e-3;
/// Stiffening from stage to stage, at most.
const STIFFENING: f64 = 20.0;

impl Stages {
    /// As [`Clamped::new`].
    pub(crate) fn new(
        strip: &Strip,
        cells: Cells,
        shell: ShellModel,
        gamma: f64,
        down: Vec3,
    ) -> Result<Self, SimError> {
        let h_over_l = (SOFTEST.powi(2)).min(12.0 * LARGEST_STRETCH / gamma).sqrt();
        let softest = (strip.thickness / (h_over_l * strip.length)).powi(2).min(1.0);
        let count = (-softest.ln() / STIFFENING.ln()).ceil().max(0.0) as u32;
        let factor = |stage: u32| {
            if stage == count {
                1.0
            } else {
                softest.powf(1.0 - f64::from(stage) / f64::from(count))
            }
        };
        let plates = (0..=count)
            .map(|stage| Clamped::with_membrane(strip, cells, shell, gamma, down, factor(stage)))
            .collect::<Result<_, _>>()?;
        Ok(Self { plates })
    }

    /// The strip itself.
    pub(crate) fn strip(&self) -> &Clamped {
        &self.plates[self.plates.len() - 1]
    }

    /// As [`Clamped::pull`].
    pub(crate) fn pull(&mut self, down: Vec3) {
        self.plates.iter_mut().for_each(|plate| plate.pull(down));
    }

    /// As [`Model::set_load`].
    pub(crate) fn set_load(&mut self, factor: f64) {
        self.plates.iter_mut().for_each(|plate| plate.model.set_load(factor));
    }

    /// A stable equilibrium of the strip, or `None` when the search did not get there.
    pub(crate) fn settle(
        &self,
        start: &State,
        meter: &Meter<'_>,
    ) -> Result<Option<State>, ProtocolError> {
        let mut state = start.clone();
        let mut found = None;
        for (i, plate) in self.plates.iter().enumerate() {
            let last = i + 1 == self.plates.len();
            let shortest = if last { SETTLED } else { NEARLY_SETTLED };
            found = settle(&plate.model, &state, shortest, meter)?;
            if let Some(next) = &found {
                state = next.clone();
            }
        }
        Ok(found)
    }
}
