//! Which number of a cloth is to blame where a target asks too much of it.
//!
//! Only the ratio of stiffness to weight is physics: cloth forty times as heavy and cloth a fortieth as stiff hang alike. Which of the two is meant by "too heavy" and "too
//! soft" is told by what cloth can be: the number that leaves the range of fabrics is the one to change.
//!
//! References: Kawabata 1980 (clothing fabrics, 0.02 to 0.2 gf·cm²/cm against bending), Clyde 2017 (silk, canvas); see the guide to materials in the book.

use toile_num::words::digits;
use toile_sim::{Shell, ShellMaterial};

use crate::Garment;

/// A number of the cloth that can be too large or too small for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// Mass of an area.
    Weight,
    /// Stiffness against bending.
    Bending,
    /// Stretch under its own weight.
    Stretch,
}

/// How far numbers of cloth go in the direction that makes it sag.
struct Range {
    /// As far as ordinary clothing goes.
    usual: f64,
    /// As far as any cloth goes.
    last: f64,
}

/// Areal density \[kg/m²\]: shirts to canvas and suiting; beyond are coats, felt and leather, at most a kilogramme.
const WEIGHT: Range = Range { usual: 0.3, last: 1.0 };
/// Plate modulus \[N·m\]: light dress fabrics begin at 0.02 gf·cm²/cm; chiffon and the like have down to a tenth of it.
const BENDING: Range = Range { usual: 2e-6, last: 2e-7 };
/// Strain of a piece as high as the garment under its weight: woven cloth has some thousandths, knits some hundredths. So E·h, which goes from
/// 50 N/m (knits) to 1e5 N/m, is judged by what it has to bear.
const STRETCH: Range = Range { usual: 0.01, last: 0.05 };

impl Range {
    /// How far a value is on the way from usual (0) to last (1) and beyond, by ratios.
    fn place(&self, value: f64) -> f64 {
        (value / self.usual).ln() / (self.last / self.usual).ln()
    }
}

/// The numbers of a piece of cloth that decide whether it sags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fabric {
    /// Areal density \[kg/m²\].
    pub(crate) density: f64,
    /// Plate modulus D \[N·m\].
    pub(crate) bending: f64,
    /// Young's modulus times thickness \[N/m\].
    pub(crate) stretching: f64,
    /// Strain of a piece as high as the garment under its own weight, which counts up to what cloth weighs at most: heavier cloth is too heavy, not too stretchy.
    pub(crate) strain: f64,
}

impl Fabric {
    /// The numbers of a shell that hangs from so high \[m\] under such a gravity \[m/s²\]. Directions count by their geometric mean.
    fn of(shell: &Shell, gravity: f64, height: f64) -> Self {
        let (stretching, bending) = match &shell.material {
            ShellMaterial::Koiter { stiffness, .. } => {
                let [warp, _, weft, _] = stiffness.bending;
                (young(&stiffness.membrane), (warp * weft).sqrt())
            }
            ShellMaterial::HingedMembrane { stiffness, k_bend, .. } => {
                (young(&stiffness.membrane), HINGES * k_bend)
            }
            ShellMaterial::DiscreteShells { k_length, k_bend, .. } => {
                (LATTICE * k_length / mean_edge(shell), HINGES * k_bend)
            }
        };
        let density = shell.areal_density;
        let strain = density.min(WEIGHT.last) * gravity * height / stretching;
        Self { density, bending, stretching, strain }
    }

    fn place(&self, number: Number) -> f64 {
        match number {
            Number::Weight => WEIGHT.place(self.density),
            Number::Bending => BENDING.place(self.bending),
            Number::Stretch => STRETCH.place(self.strain),
        }
    }

    /// What of it is not as cloth is, in words.
    pub(crate) fn fault(&self, number: Number) -> String {
        let beyond = self.place(number) > 1.0;
        match number {
            Number::Weight => {
                let most =
                    if beyond { "cloth weighs at most 1" } else { "clothing weighs at most 0.3" };
                format!("too heavy: {} kg/m² where {most}", digits(self.density))
            }
            Number::Bending => {
                let (what, least) = if beyond {
                    ("the softest cloth", BENDING.last)
                } else {
                    ("light dress fabric", BENDING.usual)
                };
                format!(
                    "too soft: a stiffness against bending of {:.1e} N·m where {what} has {least:.0e}",
                    self.bending
                )
            }
            Number::Stretch => {
                let (what, most) = if beyond {
                    ("knits give", STRETCH.last)
                } else {
                    ("woven cloth gives", STRETCH.usual)
                };
                format!(
                    "too stretchy: with E·h = {} N/m its weight stretches it by {} % where {what} {:.0} % at most",
                    digits(self.stretching),
                    digits(100.0 * self.strain),
                    100.0 * most
                )
            }
        }
    }

    /// Its numbers, none of which is a fault.
    pub(crate) fn numbers(&self) -> String {
        format!(
            "{} kg/m², {:.1e} N·m against bending, {} % of stretch under its weight",
            digits(self.density),
            self.bending,
            digits(100.0 * self.strain)
        )
    }
}

/// Plate modulus of hinges of stiffness one, on equilateral triangles.
const HINGES: f64 = 3.0;
/// Young's modulus times thickness of a lattice of equilateral triangles whose edges have stiffness one: 2/√3.
const LATTICE: f64 = 1.154_700_538_379_251_5;

/// Young's modulus times thickness \[N/m\], from the constants of a membrane.
fn young([warp, across, weft, _]: &[f64; 4]) -> f64 {
    (warp * weft).sqrt() * (1.0 - across * across / (warp * weft))
}

fn mean_edge(shell: &Shell) -> f64 {
    let edges = shell.topology.edges();
    let length =
        |[a, b]: [u32; 2]| (shell.positions[a as usize] - shell.positions[b as usize]).norm();
    edges.iter().map(|e| length(e.vertices)).sum::<f64>() / edges.len().max(1) as f64
}

/// The number that goes farthest beyond clothing in the direction that makes it sag, with how far (1 is as far as any cloth goes), and the cloth it is of; no number where all are
/// ordinary. Stretching is blamed only where the target is not known to be held without less of it.
pub(crate) fn blame(garment: &Garment, stretches: bool) -> (Fabric, Option<(Number, f64)>) {
    let (target, gravity) = (garment.target(), garment.gravity.norm());
    let along = |p: &toile_geometry::Vec3| p.dot(&garment.gravity) / gravity.max(f64::MIN_POSITIVE);
    let (low, high) = target
        .iter()
        .map(along)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), a| (l.min(a), h.max(a)));
    let mut worst: Option<(Fabric, Number, f64)> = None;
    for shell in &garment.shells {
        let fabric = Fabric::of(shell, gravity, (high - low).max(0.0));
        let numbers = [Number::Weight, Number::Bending, Number::Stretch];
        for number in numbers.into_iter().filter(|n| stretches || *n != Number::Stretch) {
            let place = fabric.place(number);
            if worst.is_none_or(|(_, _, most)| place > most) {
                worst = Some((fabric, number, place));
            }
        }
    }
    match worst {
        Some((fabric, number, place)) => (fabric, (place > 0.0).then_some((number, place))),
        None => (Fabric { density: 0.0, bending: 0.0, stretching: 0.0, strain: 0.0 }, None),
    }
}
