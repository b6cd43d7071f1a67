//! From the rods of a scene to rods that can be solved, and their stations as tables.

use std::path::Path;

use toile_rod::{Clamp, Mat3, Model, NaturalCurvature, RodSpec, Section, Station, Vec3};

use crate::atomic::WriteError;
use crate::axes::Axes;
use crate::csv::{Cell, write_csv};
use crate::scene::Scene;
use crate::scene_error::SceneError;
use crate::scene_rod::{RodModel, RodTable};

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
    /// Axes of the scene.
    pub axes: Axes,
}

pub(crate) fn model(model: RodModel) -> Model {
    match model {
        RodModel::SuperClothoid => Model::SuperClothoid,
        RodModel::SuperHelix => Model::SuperHelix,
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
        let (Some(length), Some(clamp)) = (rod.length, rod.clamp) else {
            let help = "`toile invert` finds the natural shape of a drawn curve; here give `length` and `clamp`";
            return Err(at("curve", "the rod is drawn, but has no length and clamp".into(), help));
        };
        let axes = scene.own_axes();
        let turned = |v: [f64; 3]| Vec3::from(axes.direction_to_internal(v));
        let columns = [turned(clamp.d1), turned(clamp.d2), turned(clamp.d3)];
        let natural = rod.natural_curvature.clone().unwrap_or_default();
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
            natural: NaturalCurvature { coefficients: [natural.k1, natural.k2, natural.twist] },
        };
        let elements = rod.elements as usize;
        spec.build(elements).map_err(|e| at("clamp", e.to_string(), "see the message"))?;
        Ok(LoadedRod { spec, elements, accuracy: rod.accuracy.unwrap_or(ACCURACY), axes })
    };
    scene.rods.iter().enumerate().map(one).collect()
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
