//! The pictures of a stage: from several sides, coloured by its fields, with its forces.

use crate::page::Legend;
use crate::picture::{
    Paint, Picture, PictureMesh, Point, SLIP, STICK, Solid, View, arrow, bounds, render, tube,
};
use crate::stage::{Form, Layer, Stage, norm};

/// A picture, what it shows and what its colours mean.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What it shows.
    pub caption: String,
    /// The picture.
    pub picture: Picture,
    /// What its colours mean.
    pub legend: Option<Legend>,
}

const BODY: [f64; 3] = [0.62, 0.61, 0.60];
const SIZE: (usize, usize) = (620, 470);
/// Beyond this many corners tubes are drawn with fewer sides.
const MANY: usize = 20_000;

/// All pictures: the first layer from two sides and from above, its fields, its contact forces, then the other layers.
pub fn shots(stage: &Stage) -> Vec<Shown> {
    let Some(main) = stage.layers.first() else { return Vec::new() };
    // All at one scale where they are about equally large, so that they can be compared.
    let whole = stage.bounds();
    let diagonal =
        |b: Option<[Point; 2]>| b.map_or(0.0, |[a, b]| norm(std::array::from_fn(|k| b[k] - a[k])));
    let own = bounds(&main.positions);
    let focus = if diagonal(whole) < 1.4 * diagonal(own) { whole } else { own };
    let seen = |azimuth: f64, elevation: f64| View {
        width: SIZE.0,
        height: SIZE.1,
        azimuth,
        elevation,
        background: None,
        focus,
    };
    let front = seen(-1.1, 0.35);
    let mut out = vec![
        drawn(stage, main, &format!("{}, from the front", main.name), &front, None),
        drawn(stage, main, &format!("{}, from the other side", main.name), &seen(2.0, 0.15), None),
    ];
    if flatness(main) > 0.02 {
        out.push(drawn(
            stage,
            main,
            &format!("{}, from above", main.name),
            &seen(-1.57, 1.35),
            None,
        ));
    }
    for (i, field) in main.fields.iter().enumerate() {
        let caption = format!("{}, coloured by {}", main.name, field.name);
        out.push(drawn(stage, main, &caption, &front, Some(i)));
    }
    out.extend(forces(stage, main, &front));
    for layer in &stage.layers[1..] {
        out.push(drawn(stage, layer, &layer.name, &View { focus: whole, ..front }, None));
    }
    out
}

/// Least side of the box around a layer over its diagonal.
fn flatness(layer: &Layer) -> f64 {
    bounds(&layer.positions).map_or(0.0, |[a, b]| {
        let sides: Point = std::array::from_fn(|k| b[k] - a[k]);
        sides.iter().copied().fold(f64::INFINITY, f64::min) / norm(sides).max(1e-300)
    })
}

fn drawn(stage: &Stage, layer: &Layer, caption: &str, view: &View, field: Option<usize>) -> Shown {
    let mut meshes = bodies(stage);
    let tubes;
    let field = field.and_then(|i| layer.fields.get(i));
    let range = field.map(|f| f.range());
    let spread;
    match &layer.form {
        Form::Surface(faces) => {
            let paint = match (field, range) {
                (Some(f), Some(range)) => Paint::Field(&f.values, range, f.map),
                _ => Paint::Cloth,
            };
            meshes.push(PictureMesh { positions: &layer.positions, faces, paint });
        }
        Form::Strands { starts, radius } => {
            tubes = strands(
                layer,
                starts,
                drawn_radius(stage, *radius),
                field.map(|f| f.values.as_slice()),
            );
            spread = &tubes.1;
            let paint = match (field, range) {
                (Some(f), Some(range)) => Paint::Field(spread, range, f.map),
                _ => Paint::Plain([0.55, 0.33, 0.18]),
            };
            meshes.push(PictureMesh {
                positions: &tubes.0.positions,
                faces: &tubes.0.faces,
                paint,
            });
        }
    }
    let legend =
        field.zip(range).map(|(f, range)| Legend { label: f.label.into(), range, map: f.map });
    Shown { caption: caption.into(), picture: render(&meshes, view), legend }
}

fn bodies(stage: &Stage) -> Vec<PictureMesh<'_>> {
    stage
        .bodies
        .iter()
        .map(|b| PictureMesh {
            positions: &b.positions,
            faces: &b.faces,
            paint: Paint::Plain(BODY),
        })
        .collect()
}

/// Fibres thinner than a pixel would vanish.
fn drawn_radius(stage: &Stage, radius: f64) -> f64 {
    let size = stage.bounds().map_or(1.0, |[a, b]| norm(std::array::from_fn(|k| b[k] - a[k])));
    radius.max(4e-3 * size)
}

/// Tubes of all strands, and the values of their vertices.
fn strands(
    layer: &Layer,
    starts: &[u32],
    radius: f64,
    values: Option<&[f64]>,
) -> (Solid, Vec<f64>) {
    let sides = if layer.positions.len() > MANY { 3 } else { 6 };
    let (mut all, mut spread) = (Solid::default(), Vec::new());
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(layer.positions.len(), |e| *e as usize);
        let Some(points) = layer.positions.get(start as usize..end) else { continue };
        let one = tube(points, radius, sides);
        if let Some(values) = values.and_then(|v| v.get(start as usize..end)) {
            let rings = one.positions.len() / sides;
            let at =
                |ring: usize| values[(ring * values.len() / rings.max(1)).min(values.len() - 1)];
            spread.extend((0..one.positions.len()).map(|v| at(v / sides)));
        }
        all.add(&one);
    }
    (all, spread)
}

/// The first layer, pale, with an arrow for every contact force.
fn forces(stage: &Stage, main: &Layer, view: &View) -> Option<Shown> {
    let scale = stage.metres_per_newton();
    if scale == 0.0 {
        return None;
    }
    let size = stage.bounds().map_or(1.0, |[a, b]| norm(std::array::from_fn(|k| b[k] - a[k])));
    let [mut stick, mut slip] = [Solid::default(), Solid::default()];
    for touch in &stage.touches {
        let one = arrow(touch.point, touch.force.map(|f| f * scale), 3e-3 * size);
        if touch.slips { slip.add(&one) } else { stick.add(&one) }
    }
    let mut meshes = Vec::new();
    // The bodies would hide the arrows that start at them.
    let tubes;
    match &main.form {
        Form::Surface(faces) => meshes.push(PictureMesh {
            positions: &main.positions,
            faces,
            paint: Paint::Plain([0.80, 0.84, 0.88]),
        }),
        Form::Strands { starts, radius } => {
            tubes = strands(main, starts, drawn_radius(stage, *radius), None).0;
            let paint = Paint::Plain([0.75, 0.66, 0.58]);
            meshes.push(PictureMesh { positions: &tubes.positions, faces: &tubes.faces, paint });
        }
    }
    for (solid, colour) in [(&stick, STICK), (&slip, SLIP)] {
        meshes.push(PictureMesh {
            positions: &solid.positions,
            faces: &solid.faces,
            paint: Paint::Plain(colour),
        });
    }
    let slipping = stage.touches.iter().filter(|t| t.slips).count();
    let most = stage.touches.iter().map(|t| norm(t.force)).fold(0.0, f64::max);
    let caption = format!(
        "{} contact forces, the largest {} N; green sticks{}",
        stage.touches.len(),
        crate::figures::digits(most),
        if slipping > 0 { format!(", orange slips ({slipping})") } else { String::new() }
    );
    Some(Shown { caption, picture: render(&meshes, view), legend: None })
}
