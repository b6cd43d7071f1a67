//! From the rods of a scene to rods that can be solved, and their stations as tables.

use std::path::Path;

use toile_rod::{
    Clamp, Curve, FitSettings, Mat3, Model, NaturalCurvature, RodSpec, Section, Station, Vec3,
    Within, root_turn,
};

use crate::atomic::WriteError;
use crate::axes::Axes;
use crate::csv::{Cell, write_csv};
use crate::model::scene_gravity;
use crate::scene::Scene;
use crate::scene_error::SceneError;
use crate::scene_rod::{NaturalSource, RodClamp, RodModel, RodParent, RodTable};
use crate::text::read_text;

/// Default accuracy of `drape`: ten times better than positions are usually compared to.
const ACCURACY: f64 = 1e-7;

/// A rod of a scene, in metres with +z up.
#[derive(Clone, Debug)]
pub struct LoadedRod {
    /// What it is.
    pub spec: RodSpec,
    /// Elements asked for.
    pub elements: usize,
    /// Accuracy asked for; 0 keeps the elements.
    pub accuracy: f64,
    /// Radius for contact \[m\].
    pub radius: f64,
    /// Friction with shells, if the scene gives one.
    pub friction: Option<f64>,
    /// Where it grows from another rod; its clamp means nothing then.
    pub growth: Option<LoadedGrowth>,
    /// Whether it is the discrete rod of nodes and angles.
    pub discrete: bool,
    /// Axes of the scene.
    pub axes: Axes,
}

/// Where a rod grows from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadedGrowth {
    /// The rod that bears it, an earlier one.
    pub parent: usize,
    /// Part of its length.
    pub at: f64,
    /// The first frame in the axes of the parent's.
    pub turn: Mat3,
}

/// Elements of a rod, and of a strand of hair, where the scene gives none.
const ROD_ELEMENTS: u32 = 40;
const HAIR_ELEMENTS: u32 = 20;
/// Elements that a drawing gets by itself at most, and where the scene says how near they are to bring it: fits take a time with the third power of them, a tenth of a
/// second with 100.
const MOST_ELEMENTS: usize = 80;
const MOST_WITHIN: usize = 160;
/// Part of its length by which a drawing may be missed where the scene does not say.
const MISSED: f64 = 1e-3;

/// How near rods are to come to a drawing. None where the scene asks for a number of elements and says nothing of this.
fn within(
    curve: &Curve,
    elements: Option<u32>,
    tolerance: Option<f64>,
    radius: f64,
    noise: f64,
) -> Option<Within> {
    let asked = tolerance.is_some();
    let by_default = || elements.is_none().then(|| radius.max(MISSED * curve.length()));
    // The largest of some hundred errors is about three of them.
    let tolerance = tolerance.or_else(by_default)? + 3.0 * noise;
    let most = if asked { MOST_WITHIN } else { MOST_ELEMENTS };
    Some(Within { tolerance, most_elements: most_elements(curve, most) })
}

/// Elements that a drawing gets at most: two for each segment follow whatever a cubic through its points does.
fn most_elements(curve: &Curve, most: usize) -> usize {
    most.min(2 * (curve.points().len() - 1))
}

/// Radius for contact where the scene gives none \[m\].
pub const FIBRE_RADIUS: f64 = 5e-4;

pub(crate) fn model(model: RodModel) -> Model {
    match model {
        RodModel::SuperClothoid => Model::SuperClothoid,
        // Of the discrete rod only the checks and the natural shape are used.
        RodModel::SuperHelix | RodModel::Discrete => Model::SuperHelix,
    }
}

/// The rods of a scene; every problem points at a line of it.
///
/// A rod that is only drawn (`curve` without `length` and `clamp`) has no shape of its own yet and is refused here.
pub fn load_rods(scene: &Scene) -> Result<Vec<LoadedRod>, SceneError> {
    let one = |(i, rod): (usize, &RodTable)| {
        let at = |key: &str, message: String, help: &str| {
            scene.error_at(&format!("rod[{i}].{key}"), message, help)
        };
        let growth = rod.parent.map(|p| growth(i, &p)).transpose();
        let growth =
            growth.map_err(|what| at("parent", what, "rods come after what bears them"))?;
        let standing = RodClamp {
            position: [0.0; 3],
            d1: [1.0, 0.0, 0.0],
            d2: [0.0, 1.0, 0.0],
            d3: [0.0, 0.0, 1.0],
        };
        let clamp = rod.clamp.or(growth.map(|_| standing));
        let (Some(length), Some(clamp)) = (rod.length, clamp) else {
            let help = "`toile invert` finds the natural shape of a drawn curve; here give `length` and `clamp`";
            return Err(at("curve", "the rod is drawn, but has no length and clamp".into(), help));
        };
        let axes = scene.own_axes();
        let turned = |v: [f64; 3]| Vec3::from(axes.direction_to_internal(v));
        let columns = [turned(clamp.d1), turned(clamp.d2), turned(clamp.d3)];
        let natural = match &rod.natural_curvature {
            None => NaturalCurvature::default(),
            Some(NaturalSource::Polynomials(p)) => {
                NaturalCurvature::polynomials([p.k1.clone(), p.k2.clone(), p.twist.clone()])
            }
            Some(NaturalSource::File(path)) => {
                let table = read_natural(&scene.resolve(path)).map_err(|what| {
                    let help = "the table has the columns s,k1,k2,twist in SI units, s increasing";
                    at("natural_curvature", what, help)
                })?;
                NaturalCurvature::tabulated(table)
            }
        };
        let spec = RodSpec {
            model: model(rod.model),
            length,
            section: Section {
                bending_stiffness: rod.bending_stiffness,
                twisting_stiffness: rod.twisting_stiffness,
                linear_density: rod.linear_density,
            },
            clamp: Clamp {
                position: Vec3::from(axes.to_internal(clamp.position)),
                frame: Mat3::from_columns(&columns),
            },
            natural,
            planar: rod.planar,
        };
        let elements = rod.elements.unwrap_or(ROD_ELEMENTS) as usize;
        let discrete = rod.model == RodModel::Discrete;
        if discrete && (growth.is_some() || rod.planar) {
            let help = "trees and planar rods are made of super-helices or super-clothoids";
            return Err(at("model", "the discrete rod stands alone, in space".into(), help));
        }
        spec.build(elements).map_err(|e| at("clamp", e.to_string(), "see the message"))?;
        if rod.planar {
            let gravity = scene_gravity(scene);
            let across = spec.clamp.frame.column(0).dot(&gravity).abs();
            let natural = &spec.natural;
            let bent = |c: usize| natural.coefficients[c].iter().any(|k| *k != 0.0);
            let tabulated = natural.table.iter().any(|(_, k)| k[1] != 0.0 || k[2] != 0.0);
            if across > 1e-12 * gravity.norm() || bent(1) || bent(2) || tabulated {
                let help = "d1 must be level, and k2 and twist zero, for a rod to stay in the plane of d2 and d3";
                return Err(at("planar", "the rod does not stay in its plane".into(), help));
            }
        }
        Ok(LoadedRod {
            spec,
            elements,
            accuracy: rod.accuracy.unwrap_or(ACCURACY),
            radius: rod.radius.unwrap_or(FIBRE_RADIUS),
            friction: rod.friction.or(scene.self_contact.map(|own| own.friction)),
            growth,
            discrete,
            axes,
        })
    };
    scene.rods.iter().enumerate().map(one).collect()
}

fn growth(rod: usize, parent: &RodParent) -> Result<LoadedGrowth, String> {
    let bearer = parent.rod as usize;
    if bearer >= rod {
        return Err(format!("rod {rod} cannot grow from rod {bearer}, which is not before it"));
    }
    let turn = Mat3::from_columns(&[parent.d1.into(), parent.d2.into(), parent.d3.into()]);
    let by = (turn.transpose() * turn - Mat3::identity()).norm();
    if by > 1e-6 || turn.determinant() < 0.0 {
        return Err(format!("d1, d2, d3 are no right-handed orthonormal frame: off by {by:.1e}"));
    }
    let at = parent.at.ok_or_else(|| format!("`at` is missing: where on rod {bearer} it grows"))?;
    Ok(LoadedGrowth { parent: bearer, at, turn })
}

/// Writes stations as `s,x,y,z,d1x,…,d3z`, in the axes of the scene \[m\].
pub fn write_stations(
    path: impl AsRef<Path>,
    stations: &[Station],
    axes: &Axes,
) -> Result<(), WriteError> {
    const COLUMNS: [&str; 13] =
        ["s", "x", "y", "z", "d1x", "d1y", "d1z", "d2x", "d2y", "d2z", "d3x", "d3y", "d3z"];
    let row = |s: &Station| {
        let mut cells: Vec<Cell> = vec![s.s.into()];
        cells.extend(axes.to_file(s.position.into()).map(Cell::from));
        for c in 0..3 {
            let d: Vec3 = s.frame.column(c).into();
            cells.extend(axes.direction_to_file(d.into()).map(Cell::from));
        }
        cells
    };
    write_csv(path, &COLUMNS, stations.iter().map(row))
}

/// Reads a table that [`write_stations`] wrote, in its own axes.
pub fn read_stations(path: impl AsRef<Path>) -> Result<Vec<Station>, String> {
    let path = path.as_ref();
    let told = |what: String| format!("{}: {what}", path.display());
    let text = read_text(path, LARGEST).map_err(told)?;
    let mut out: Vec<Station> = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, l)| !l.trim().is_empty()) {
        let cells: Vec<f64> =
            line.split(',').map(|w| w.trim().parse().unwrap_or(f64::NAN)).collect();
        let frame = Mat3::from_fn(|r, c| cells.get(4 + 3 * c + r).copied().unwrap_or(f64::NAN));
        let turned = (frame.transpose() * frame - Mat3::identity()).norm() < 1e-6;
        let increases = out.last().is_none_or(|last| cells[0] > last.s);
        if cells.len() != 13 || !cells.iter().all(|c| c.is_finite()) || !turned || !increases {
            return Err(told(format!(
                "line {} is no station: 13 numbers s,x,y,z,d1x,…,d3z, s increasing, d1, d2, d3 orthonormal",
                number + 1
            )));
        }
        let position = Vec3::new(cells[1], cells[2], cells[3]);
        out.push(Station { s: cells[0], position, frame });
    }
    if out.len() < 2 {
        return Err(told("fewer than two stations".into()));
    }
    Ok(out)
}

/// The largest table of natural curvatures that is read, 64 MiB.
const LARGEST: u64 = 64 << 20;

fn read_natural(path: &Path) -> Result<Vec<(f64, Vec3)>, String> {
    let text = read_text(path, LARGEST)?;
    let mut table: Vec<(f64, Vec3)> = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, l)| !l.trim().is_empty()) {
        let mut cells = [f64::NAN; 4];
        for (cell, word) in cells.iter_mut().zip(line.split(',')) {
            *cell = word.trim().parse().unwrap_or(f64::NAN);
        }
        let [s, k1, k2, twist] = cells;
        if !cells.iter().all(|c| c.is_finite()) || table.last().is_some_and(|row| row.0 >= s) {
            return Err(format!(
                "line {} is no row of finite numbers with s increasing",
                number + 1
            ));
        }
        table.push((s, Vec3::new(k1, k2, twist)));
    }
    if table.is_empty() { Err("the table has no rows".into()) } else { Ok(table) }
}

/// Writes natural curvatures as `s,k1,k2,twist` \[SI\].
pub fn write_natural(path: impl AsRef<Path>, rows: &[(f64, Vec3)]) -> Result<(), WriteError> {
    let row = |(s, k): &(f64, Vec3)| [*s, k[0], k[1], k[2]].map(Cell::from).to_vec();
    write_csv(path, &["s", "k1", "k2", "twist"], rows.iter().map(row))
}

/// A fibre that is drawn: a curve in metres with +z up, its material, and how to fit it.
#[derive(Clone, Debug)]
pub struct DrawnFibre {
    /// Where it came from, for people.
    pub name: String,
    /// The curve.
    pub curve: Curve,
    /// The same fibre as it rests without load, and the rotation that brings its root, with those of its table, to this drawing's.
    pub rest: Option<(Curve, Mat3)>,
    /// Stiffness and mass.
    pub section: Section,
    /// Direction of the section's first axis at the root, if one was given.
    pub d1: Option<Vec3>,
    /// Radius for contact \[m\].
    pub radius: f64,
    /// Friction with shells, if the scene gives one.
    pub friction: Option<f64>,
    /// The drawn rod it grows from, an earlier one, and at which part of its length, if that was given.
    pub parent: Option<(usize, Option<f64>)>,
    /// Elements, model and noise.
    pub settings: FitSettings,
    /// How near the rod is to come with more elements than that, if it is to.
    pub within: Option<Within>,
    /// Units and axes of its file.
    pub axes: Axes,
}

impl DrawnFibre {
    /// The same fibre with another curve.
    pub fn redraw(&mut self, curve: Curve) {
        if let Some(within) = &mut self.within {
            within.most_elements = within.most_elements.max(most_elements(&curve, MOST_ELEMENTS));
        }
        self.curve = curve;
    }
}

/// The drawn fibres of a scene: rods with `curve`, then every strand of its hair.
///
/// Strands that are no curves (one point, all points equal) are left out and told; if none is left, or a rod's curve is
/// none, that is an error.
pub fn load_drawn(scene: &Scene) -> Result<(Vec<DrawnFibre>, Vec<String>), SceneError> {
    let mut fibres = Vec::new();
    let mut notes = Vec::new();
    for (i, rod) in scene.rods.iter().enumerate() {
        let key = format!("rod[{i}].curve");
        let Some(path) = &rod.curve else {
            let help = "`invert` needs a target: `curve = \"strand.obj\"`";
            return Err(scene.error_at(&format!("rod[{i}]"), "the rod is not drawn", help));
        };
        no_nodes(scene, rod.model, &format!("rod[{i}].model"))?;
        if let Some(parent) = rod.parent.filter(|p| p.rod as usize >= i) {
            let what =
                format!("rod {i} cannot grow from rod {}, which is not before it", parent.rod);
            let help = "rods come after what bears them";
            return Err(scene.error_at(&format!("rod[{i}].parent"), what, help));
        }
        let axes = Axes { up: scene.up, scale: rod.scale.unwrap_or(1.0) };
        let help = "one polyline per rod, root first";
        let read =
            scene.read_strands(path).map_err(|e| scene.error_at(&key, e.to_string(), help))?;
        if read.strands.len() != 1 {
            let what = format!("the file has {} strands, a rod is one", read.strands.len());
            return Err(scene.error_at(&key, what, "use a table [[hair]] for many"));
        }
        let curve = drawn(&read.strands[0], &axes)
            .map_err(|e| scene.error_at(&key, e.to_string(), help))?;
        let radius = rod.radius.unwrap_or(FIBRE_RADIUS);
        let noise = rod.noise.unwrap_or(0.0);
        fibres.push(DrawnFibre {
            name: format!("rod {i}"),
            within: within(&curve, rod.elements, rod.tolerance, radius, noise),
            rest: rest_of(scene, i, rod, &curve, &axes)?,
            curve,
            section: Section {
                bending_stiffness: rod.bending_stiffness,
                twisting_stiffness: rod.twisting_stiffness,
                linear_density: rod.linear_density,
            },
            radius,
            friction: rod.friction.or(scene.self_contact.map(|own| own.friction)),
            parent: rod.parent.map(|p| (p.rod as usize, p.at)),
            d1: rod.clamp.map(|c| Vec3::from(axes.direction_to_internal(c.d1))),
            settings: FitSettings {
                elements: rod.elements.unwrap_or(ROD_ELEMENTS) as usize,
                model: model(rod.model),
                noise,
            },
            axes,
        });
    }
    for (i, hair) in scene.hair.iter().enumerate() {
        let key = format!("hair[{i}].strands");
        no_nodes(scene, hair.model, &format!("hair[{i}].model"))?;
        let axes = Axes { up: scene.up, scale: hair.scale.unwrap_or(1.0) };
        let read = scene
            .read_strands(&hair.strands)
            .map_err(|e| scene.error_at(&key, e.to_string(), "polylines, roots first"))?;
        notes.extend(read.notes.iter().map(|n| format!("hair {i}: {n}")));
        let most = hair.most_strands.map_or(usize::MAX, |n| n as usize);
        let rest = match &hair.rest {
            Some(path) => Some(rest_strands(scene, i, path, read.strands.len())?),
            None => None,
        };
        let begins = fibres.len();
        let (mut left_out, mut twice) = (0, 0);
        let mut seen = std::collections::HashSet::new();
        for (k, strand) in read.strands.iter().enumerate().take(most) {
            let Ok(curve) = drawn(strand, &axes) else {
                left_out += 1;
                continue;
            };
            let bits = strand.iter().flatten().map(|x| x.to_bits());
            twice += usize::from(!seen.insert(bits.collect::<Vec<u64>>()));
            let radius = hair.radius.unwrap_or(FIBRE_RADIUS);
            let noise = hair.noise.unwrap_or(0.0);
            fibres.push(DrawnFibre {
                within: within(&curve, hair.elements, hair.tolerance, radius, noise),
                name: format!("hair {i}, strand {k}"),
                rest: rest.as_ref().map(|r| rest_strand(scene, i, k, &r[k], &axes)).transpose()?,
                curve,
                section: Section {
                    bending_stiffness: hair.bending_stiffness,
                    twisting_stiffness: hair.twisting_stiffness,
                    linear_density: hair.linear_density,
                },
                radius,
                friction: hair.friction.or(scene.self_contact.map(|own| own.friction)),
                parent: None,
                d1: None,
                settings: FitSettings {
                    elements: hair.elements.unwrap_or(HAIR_ELEMENTS) as usize,
                    model: model(hair.model),
                    noise,
                },
                axes,
            });
        }
        turn_to_roots(&mut fibres[begins..]);
        if left_out > 0 {
            notes.push(format!("hair {i}: {left_out} strand(s) without length were left out"));
        }
        if twice > 0 {
            notes.push(format!(
                "hair {i}: {twice} strand(s) are exact copies of others; two that lie inside each other do not touch: delete the copies"
            ));
        }
        if left_out == read.strands.len().min(most) {
            return Err(scene.error_at(
                &key,
                "no strand has a length",
                "export strands of two points or more",
            ));
        }
    }
    Ok((fibres, notes))
}

/// Roots and first directions of drawings.
fn roots<'a>(curves: impl Iterator<Item = &'a Curve>) -> Vec<(Vec3, Vec3)> {
    curves.map(|c| c.at(0.0)).collect()
}

/// Finds how the rests of a table are turned to their drawings: by all of their roots.
fn turn_to_roots(fibres: &mut [DrawnFibre]) {
    let from = roots(fibres.iter().filter_map(|f| Some(&f.rest.as_ref()?.0)));
    if from.is_empty() {
        return;
    }
    let to = roots(fibres.iter().filter(|f| f.rest.is_some()).map(|f| &f.curve));
    let turn = root_turn(&from, &to);
    for fibre in fibres {
        if let Some(rest) = &mut fibre.rest {
            rest.1 = turn;
        }
    }
}

fn rest_of(
    scene: &Scene,
    i: usize,
    rod: &RodTable,
    curve: &Curve,
    axes: &Axes,
) -> Result<Option<(Curve, Mat3)>, SceneError> {
    let Some(path) = &rod.rest else { return Ok(None) };
    let (key, help) = (format!("rod[{i}].rest"), "one polyline, the root first as in `curve`");
    let read = scene.read_strands(path).map_err(|e| scene.error_at(&key, e.to_string(), help))?;
    if read.strands.len() != 1 {
        let what = format!("the file has {} strands, a rod is one", read.strands.len());
        return Err(scene.error_at(&key, what, help));
    }
    let rest =
        drawn(&read.strands[0], axes).map_err(|e| scene.error_at(&key, e.to_string(), help))?;
    let turn = root_turn(&[rest.at(0.0)], &[curve.at(0.0)]);
    Ok(Some((rest, turn)))
}

fn rest_strands(
    scene: &Scene,
    i: usize,
    path: &str,
    count: usize,
) -> Result<Vec<Vec<[f64; 3]>>, SceneError> {
    let key = format!("hair[{i}].rest");
    let help = "the same strands in the same order, roots first";
    let read = scene.read_strands(path).map_err(|e| scene.error_at(&key, e.to_string(), help))?;
    if read.strands.len() != count {
        let what =
            format!("the file has {} strands, that of `strands` {count}", read.strands.len());
        return Err(scene.error_at(&key, what, help));
    }
    Ok(read.strands)
}

fn rest_strand(
    scene: &Scene,
    i: usize,
    k: usize,
    points: &[[f64; 3]],
    axes: &Axes,
) -> Result<(Curve, Mat3), SceneError> {
    let told = |e: toile_rod::RodError| {
        let help = "every strand that is drawn needs a shape at rest; export it again";
        scene.error_at(&format!("hair[{i}].rest"), format!("strand {k}: {e}"), help)
    };
    Ok((drawn(points, axes).map_err(told)?, Mat3::identity()))
}

/// Refuses the discrete rod where a curve is to be fitted.
fn no_nodes(scene: &Scene, model: RodModel, key: &str) -> Result<(), SceneError> {
    if model != RodModel::Discrete {
        return Ok(());
    }
    let help = "use \"super-helix\" or \"super-clothoid\"; the discrete rod is for tables [[rod]] with `length` and `clamp`";
    Err(scene.error_at(key, "drawn fibres are not fitted by nodes and angles", help))
}

fn drawn(points: &[[f64; 3]], axes: &Axes) -> Result<Curve, toile_rod::RodError> {
    let points: Vec<Vec3> = points.iter().map(|p| Vec3::from(axes.to_internal(*p))).collect();
    Curve::new(&points)
}
