//! What the benchmarks of motion read off a shape and a series.

use toile::geometry::Vec3;

/// How deep the sheet is in the ball at vertices, middles of edges and of faces; and at vertices only \[m\].
pub(crate) fn depth(x: &[Vec3], faces: &[[u32; 3]], radius: f64) -> (f64, f64) {
    let depth = |p: Vec3| (radius - p.norm()).max(0.0);
    let vertices = x.iter().map(|p| depth(*p)).fold(0.0, f64::max);
    let inner = faces.iter().map(|f| {
        let [a, b, c] = f.map(|v| x[v as usize]);
        let middles = [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, (a + b + c) / 3.0];
        middles.map(depth).into_iter().fold(0.0, f64::max)
    });
    (inner.fold(vertices, f64::max), vertices)
}

/// Slope of the straight line nearest to values a step apart \[1/s\].
pub(crate) fn slope(values: &[f64], dt: f64) -> f64 {
    let n = values.len() as f64;
    let (t, v) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let (mut up, mut down) = (0.0, 0.0);
    for (k, value) in values.iter().enumerate() {
        up += (k as f64 - t) * (value - v);
        down += (k as f64 - t).powi(2);
    }
    if down > 0.0 { up / (down * dt) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_line_is_found() {
        let line: Vec<f64> = (0..7).map(|k| 3.0 - 0.5 * 0.01 * f64::from(k)).collect();
        assert!((slope(&line, 0.01) + 0.5).abs() < 1e-12);
        assert_eq!(slope(&[1.0], 0.01), 0.0);
    }

    #[test]
    fn a_face_that_cuts_the_ball_is_deep_inside_though_its_corners_are_not() {
        let x = [Vec3::new(0.3, 0.1, 0.0), Vec3::new(-0.3, 0.1, 0.0), Vec3::new(0.0, 0.1, 0.3)];
        let (any, vertices) = depth(&x, &[[0, 1, 2]], 0.3);
        assert!(vertices == 0.0 && (any - 0.2).abs() < 1e-12, "{any} {vertices}");
    }
}
