//! Case 2: a strip rolled up by a moment at its end.

use std::f64::consts::{PI, TAU};
use std::time::Instant;

use toile_energy::{EdgeMoment, ShellStiffness};
use toile_geometry::Vec3;
use toile_num::Vector;
use toile_sim::{Model, ModelBuilder, Role, ShellNodes, SimError, State};

use super::case::settle;
use super::{Case, ClampedStrip, Point, Run, Settings, ShellCaseError};

/// L, b, h \[m\], E \[Pa\], full load \[N·m\]; ν = 0.
const LENGTH: f64 = 12.0;
const WIDTH: f64 = 1.0;
const THICKNESS: f64 = 0.1;
const YOUNG: f64 = 1.2e6;
const FULL_LOAD: f64 = 50.0 * PI / 3.0;

/// Cantilever strip under a moment at its tip: shortening −U and deflection W of the tip.
///
/// L = 12, b = 1, h = 0.1, E = 1.2e6, ν = 0, M up to 50π/3, at which the strip closes to a circle. Every shape is an
/// arc of radius EI/M, so −U = L − sin φ L/φ and W = (1 − cos φ) L/φ with φ = M L/EI. The tip comes back to the
/// clamp: displacements are judged as one vector. Needs normals with edge angles (`Sin` or `Tan`), on which
/// the moment acts.
///
/// A Koiter shell of finite thickness shortens its middle line by h²κ²/12 and turns twice that share farther, which
/// leaves 0.046 % of deviation at the full load on any mesh.
///
/// The strip is guided in its plane (y fixed everywhere, which at ν = 0 takes no force): under a moment about a fixed
/// axis the arc is stable in the plane, but beyond 0.8 of the full load it would escape sideways.
/// Reference: Sze, Liu, Lo 2004, §3.2. Check: `end_moment_rolls_the_strip_into_a_circle`,
/// `unguided_the_rolled_strip_escapes_sideways`.
pub fn end_moment(settings: &Settings) -> Result<Case, ShellCaseError> {
    settings.check()?;
    if !settings.normals.has_edge_angles() {
        return Err(ShellCaseError::BadSetting {
            what: "the number of angles at an edge",
            value: 0.0,
            must: "1: choose Sin or Tan normals, on which a moment can act",
        });
    }
    let runs = settings.resolutions.iter().map(|&n| path(n, settings));
    Ok(Case {
        title: "Cantilever strip under end moment".into(),
        names: ["minus_u", "w"],
        runs: runs.collect::<Result<_, _>>()?,
        tolerance: settings.tolerance,
        as_vector: true,
        published: None,
    })
}

impl Settings {
    /// The settings of [`end_moment`] that show 1 % and its order: 20 to 80 cells, 20 load steps.
    pub fn end_moment() -> Self {
        Self { resolutions: vec![20, 40, 80], ..Self::default() }
    }
}

/// −U and W of the arc at a share of the full load.
fn arc(load: f64) -> [f64; 2] {
    let phi = TAU * load;
    [LENGTH * (1.0 - phi.sin() / phi), LENGTH * (1.0 - phi.cos()) / phi]
}

/// Border faces at the tip: apex, the ends of the border edge in the order of the face, and the edge.
fn border(strip: &ClampedStrip) -> Vec<([u32; 3], usize)> {
    let mesh = strip.mesh();
    let at_tip = |v: u32| mesh.positions[v as usize].x == strip.length;
    let edges = mesh.topology.edges().iter().enumerate();
    edges
        .filter(|(_, edge)| edge.is_boundary() && edge.vertices.iter().all(|&v| at_tip(v)))
        .filter_map(|(e, edge)| {
            let apex = edge.opposite[0]?;
            Some(([apex, edge.vertices[0], edge.vertices[1]], e))
        })
        .collect()
}

/// The moment on each border face, with its nodes: apex, ends of the edge, angle.
type Loads = Vec<(EdgeMoment, [u32; 4])>;

/// The strip with its moment, φ at each border edge counted from `references`.
///
/// ξ > 0 tilts the normal +z of the tip towards +x, a turn about +y; the moment acts about −y and lifts the tip.
fn build(
    strip: &ClampedStrip,
    border: &[([u32; 3], usize)],
    references: &[f64],
) -> Result<(Model, ShellNodes, Loads), SimError> {
    let mut builder = ModelBuilder::new();
    let shell = strip.shell();
    let nodes = shell.add_to(&mut builder, Vec3::zeros())?;
    for v in 0..shell.positions.len() as u32 {
        builder.fix_axes(nodes.vertices + v, [false, true, false]);
    }
    let loads: Loads = border
        .iter()
        .zip(references)
        .map(|(([apex, a, b], edge), &reference)| {
            let axis = -Vec3::y();
            let moment = EdgeMoment { moment: FULL_LOAD / WIDTH, axis, reference, turn: -1.0 };
            let v = nodes.vertices;
            (moment, [v + apex, v + a, v + b, nodes.angles[*edge]])
        })
        .collect();
    let (energies, stencils) = loads.iter().copied().unzip();
    builder.add::<_, 10, 4>(Role::Load, energies, stencils);
    Ok((builder.build()?, nodes, loads))
}

/// Angle of each border normal about the axis in a state.
fn angles(model: &Model, state: &State, loads: &[(EdgeMoment, [u32; 4])]) -> Vec<f64> {
    let angle = |(moment, [p, a, b, xi]): &(EdgeMoment, [u32; 4])| {
        let mut x = Vector::<10>::zeros();
        for (k, &node) in [p, a, b].into_iter().enumerate() {
            x.fixed_rows_mut::<3>(3 * k).copy_from(&model.position(state, node));
        }
        x[9] = state.coordinates()[model.unknown(*xi)];
        moment.angle(&x)
    };
    loads.iter().map(angle).collect()
}

fn path(n: usize, settings: &Settings) -> Result<Run, ShellCaseError> {
    let begun = Instant::now();
    let strip = ClampedStrip {
        length: LENGTH,
        width: WIDTH,
        nx: n,
        ny: (n / 12).max(1),
        grading: 1.0,
        stiffness: ShellStiffness::isotropic(YOUNG, 0.0, THICKNESS),
        normals: settings.normals,
        areal_density: 1.0, // weighs steps, pulls nothing
    };
    let border = border(&strip);
    let (model, _, loads) = build(&strip, &border, &vec![0.0; border.len()])?;
    let mut state = model.start().clone();
    let mut references = angles(&model, &state, &loads);
    let mut points = Vec::new();
    for load in settings.loads() {
        // The work of the moment is counted from the last equilibrium, so it never passes half a turn. A model of
        // the same parts numbers its unknowns alike: the state carries over.
        let (mut model, nodes, loads) = build(&strip, &border, &references)?;
        model.set_load(load);
        let (next, newton_steps, residual) = settle(&model, &state, "end moment", n, load)?;
        let mut mean = Vec3::zeros();
        for (v, share) in strip.tip() {
            mean += model.position(&next, nodes.vertices + v) * (share / WIDTH);
        }
        points.push(Point {
            load,
            measured: [LENGTH - mean.x, mean.z],
            expected: arc(load),
            newton_steps,
            residual,
        });
        references = angles(&model, &next, &loads);
        state = next;
    }
    Ok(Run { resolution: n, unknowns: model.len(), points, time: begun.elapsed() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Table;
    use toile_geometry::measure::NormalRule;

    #[test]
    fn end_moment_rolls_the_strip_into_a_circle() {
        let settings = Settings { resolutions: vec![20, 40], ..Settings::default() };
        let case = end_moment(&settings).unwrap();
        let verdict = case.verdict();
        assert!(verdict.ok && verdict.worst < 0.009, "{verdict}");
        assert!((case.orders()[0] - 2.0).abs() < 0.1, "order {:?}", case.orders());
    }

    #[test]
    fn arcs_are_those_of_the_given_table() {
        let Some(table) = Table::read("6_shells/sze32_cantilever_end_moment.csv") else { return };
        let (u, w) = (table.column("minus_U_tip_exact"), table.column("W_tip_exact"));
        for (i, load) in table.column("M_over_Mmax").into_iter().enumerate() {
            let [au, aw] = arc(load);
            assert!((au - u[i]).abs() < 1e-10 && (aw - w[i]).abs() < 1e-10, "load {load}");
        }
    }

    #[test]
    fn a_moment_about_the_axis_turns_the_border_by_its_own_sense() {
        // Less than a radian, one step: tip angle M L/EI about −y, which lifts the tip.
        let settings = Settings {
            resolutions: vec![10],
            levels: 10,
            normals: NormalRule::Sin,
            tolerance: 0.01,
        };
        let case = end_moment(&settings).unwrap();
        let first = case.runs[0].points[0];
        assert!(first.measured[1] > 0.0 && case.deviation(&first) < 0.01, "{first:?}");
    }

    #[test]
    fn unguided_the_rolled_strip_escapes_sideways() {
        let strip = ClampedStrip {
            length: LENGTH,
            width: WIDTH,
            nx: 20,
            ny: 1,
            grading: 1.0,
            stiffness: ShellStiffness::isotropic(YOUNG, 0.0, THICKNESS),
            normals: NormalRule::Tan,
            areal_density: 1.0,
        };
        let (border, mesh) = (border(&strip), strip.mesh());
        let mut state = None;
        let mut references = vec![0.0; border.len()];
        let mut least = Vec::new();
        for i in 0..=10 {
            let (mut model, nodes, loads) = build(&strip, &border, &references).unwrap();
            let start = state.take().unwrap_or_else(|| model.start().clone());
            model.set_load(f64::from(i) / 10.0);
            let (next, ..) = settle(&model, &start, "guided", 20, 0.0).unwrap();
            references = angles(&model, &next, &loads);
            for (v, x) in mesh.positions.iter().enumerate().filter(|(_, x)| x.x > 0.0) {
                assert!(x.x <= LENGTH);
                let y = model.unknown(nodes.vertices + v as u32) + 1;
                model.set_fixed(y, false);
            }
            least.push(toile_sim::stability(&model, &next).unwrap().0.unwrap());
            state = Some(next);
        }
        assert!(least[7] > 0.0 && least[9] < 0.0, "{least:?}");
    }

    #[test]
    fn averaged_normals_cannot_take_a_moment() {
        let settings = Settings { normals: NormalRule::Average, ..Settings::default() };
        assert!(matches!(end_moment(&settings), Err(ShellCaseError::BadSetting { .. })));
    }
}
