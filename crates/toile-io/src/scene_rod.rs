//! Rods and hair in the scene file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rod clamped at one end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RodTable {
    /// How curvature varies along an element.
    #[serde(default)]
    pub model: RodModel,
    /// Number of elements; 40 by default, and up to 80 where a drawn rod would miss its curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<u32>,
    /// Length \[m\]; not needed with `curve`, which has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Bending stiffness EI about d1 and about d2 \[N·m²\].
    pub bending_stiffness: [f64; 2],
    /// Twisting stiffness GJ \[N·m²\].
    pub twisting_stiffness: f64,
    /// Mass per length \[kg/m\].
    pub linear_density: f64,
    /// Radius for contact \[m\]; 5e-4 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Friction with shells; that of `self_contact` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Curvature and twist without load; straight by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub natural_curvature: Option<NaturalSource>,
    /// Where and how the rod is held; not needed with `curve`, whose start and first direction are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamp: Option<RodClamp>,
    /// Where the rod grows from another one instead of being clamped; that one comes before it in the scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RodParent>,
    /// Keeps the rod in the plane of d2 and d3: it bends about d1 only. Gravity must lie in that plane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planar: bool,
    /// Target of `invert`: a file with one polyline, clamp first (.obj, .ply, .hair, .tfx, .usda).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<String>,
    /// The same fibre as it rests without load, in a second file of the same kind: with it `drape` and `simulate` begin, and `invert` compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// Length of one unit of the files \[m\]; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Root-mean-square noise of the points of `curve` \[m\]: `invert` takes the smoothest rod within it; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Distance by which a drawn rod may miss its curve before it gets more elements \[m\], 160 at most; its radius or a thousandth of its length by default, and
    /// any where `elements` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Elements are halved by `drape` until positions (over the length) and frames are as accurate as this; 1e-7 by default,
    /// 0 keeps the elements as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
}

/// How curvature varies along an element of a rod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RodModel {
    /// Linear: errors fall with the fourth power of the elements' length.
    #[default]
    SuperClothoid,
    /// Constant: arcs of helices.
    SuperHelix,
    /// Nodes and angles, the usual model of others: to compare. Not for trees and drawn rods.
    Discrete,
}

/// Where the natural curvature of a rod comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NaturalSource {
    /// A table `s,k1,k2,twist` (CSV, relative to the scene file), linear between its rows.
    File(String),
    /// Polynomials.
    Polynomials(NaturalPolynomials),
}

/// Polynomials in arclength \[m\], lowest degree first \[1/m, 1/m², …\].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NaturalPolynomials {
    /// Curvature about d1.
    #[serde(default)]
    pub k1: Vec<f64>,
    /// Curvature about d2.
    #[serde(default)]
    pub k2: Vec<f64>,
    /// Twist about the tangent d3.
    #[serde(default)]
    pub twist: Vec<f64>,
}

/// Where a rod is held, in the axes of the files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RodClamp {
    /// Position \[m\].
    pub position: [f64; 3],
    /// First direction of the cross-section.
    pub d1: [f64; 3],
    /// Second direction of the cross-section.
    pub d2: [f64; 3],
    /// The tangent; d1 × d2 = d3.
    pub d3: [f64; 3],
}

/// Where a rod grows from another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RodParent {
    /// Which rod of the scene, counted from 0.
    pub rod: u32,
    /// Part of its length at which this one grows: 0 at its clamp, 1 at its tip. Of a drawn rod: where it begins nearest to the other, by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// d1 of this rod there, in the axes d1, d2, d3 of the other; goes on straight by default. Of a drawn rod the drawing tells.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub d1: [f64; 3],
    /// d2, likewise.
    #[serde(default = "second", skip_serializing_if = "is_second")]
    pub d2: [f64; 3],
    /// The tangent d3, likewise; d1 × d2 = d3.
    #[serde(default = "third", skip_serializing_if = "is_third")]
    pub d3: [f64; 3],
}

fn first() -> [f64; 3] {
    [1.0, 0.0, 0.0]
}

fn second() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

fn third() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn is_first(d: &[f64; 3]) -> bool {
    *d == first()
}

fn is_second(d: &[f64; 3]) -> bool {
    *d == second()
}

fn is_third(d: &[f64; 3]) -> bool {
    *d == third()
}

/// Hair: many rods with one material, each drawn as a polyline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HairTable {
    /// A file of polylines, roots first (.obj, .ply, .hair, .tfx, .usda).
    pub strands: String,
    /// The same strands, in the same order, as they rest without load: with that `drape` and `simulate` begin, and `invert` compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// Length of one unit of the files \[m\]; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// How curvature varies along an element.
    #[serde(default)]
    pub model: RodModel,
    /// Elements per strand; 20 by default, and up to 80 where a strand would miss its drawing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<u32>,
    /// Bending stiffness EI about d1 and about d2 \[N·m²\].
    pub bending_stiffness: [f64; 2],
    /// Twisting stiffness GJ \[N·m²\].
    pub twisting_stiffness: f64,
    /// Mass per length \[kg/m\].
    pub linear_density: f64,
    /// Radius for contact \[m\]; 5e-4 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Friction with shells; that of `self_contact` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Root-mean-square noise of the points \[m\]: `invert` takes the smoothest rods within it; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Distance by which a strand may miss its drawing before it gets more elements \[m\], 160 at most; its radius or a thousandth of its length by default, and
    /// any where `elements` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Strands that are read, at most; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_strands: Option<u32>,
}
