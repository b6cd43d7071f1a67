//! Whether layers have passed through each other on their way.

use toile_geometry::Vec3;

/// Halvings of the time in which four points come to lie in a plane.
const HALVINGS: usize = 50;

/// Whether a vertex (first point) passes through a face (the others) while all go straight from `last` to `now`.
pub(crate) fn passes_face(last: &[Vec3; 4], now: &[Vec3; 4]) -> bool {
    let volume = |x: &[Vec3; 4]| (x[2] - x[1]).cross(&(x[3] - x[1])).dot(&(x[0] - x[1]));
    let Some(x) = flat_between(last, now, volume) else { return false };
    let n = (x[2] - x[1]).cross(&(x[3] - x[1]));
    (0..3).all(|k| {
        let (p, q) = (x[1 + k], x[1 + (k + 1) % 3]);
        n.dot(&(q - p).cross(&(x[0] - p))) >= 0.0
    })
}

/// The same for two edges: points 0, 1 and points 2, 3.
pub(crate) fn passes_edge(last: &[Vec3; 4], now: &[Vec3; 4]) -> bool {
    let volume = |x: &[Vec3; 4]| (x[1] - x[0]).cross(&(x[3] - x[2])).dot(&(x[0] - x[2]));
    let Some(x) = flat_between(last, now, volume) else { return false };
    let (e, f, d) = (x[1] - x[0], x[3] - x[2], x[0] - x[2]);
    let (ee, ef, ff) = (e.dot(&e), e.dot(&f), f.dot(&f));
    let det = ee * ff - ef * ef;
    let s = (ef * f.dot(&d) - ff * e.dot(&d)) / det;
    let t = (ee * f.dot(&d) - ef * e.dot(&d)) / det;
    // NaN for parallel edges fails the comparison.
    (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)
}

/// The four points where they lie in a plane on the way, if their volume changes sign.
fn flat_between(
    last: &[Vec3; 4],
    now: &[Vec3; 4],
    volume: impl Fn(&[Vec3; 4]) -> f64,
) -> Option<[Vec3; 4]> {
    let at = |t: f64| [0, 1, 2, 3].map(|k| last[k] + (now[k] - last[k]) * t);
    let positive = volume(last) > 0.0;
    if positive == (volume(now) > 0.0) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let t = 0.5 * (low + high);
        if (volume(&at(t)) > 0.0) == positive {
            low = t;
        } else {
            high = t;
        }
    }
    Some(at(0.5 * (low + high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face() -> [Vec3; 3] {
        [Vec3::zeros(), Vec3::x(), Vec3::y()]
    }

    #[test]
    fn a_vertex_passes_inside_a_face_and_not_beside_it() {
        let [a, b, c] = face();
        let way = |x: f64, y: f64, from: f64, to: f64| {
            let lift = Vec3::new(0.1, -0.2, 0.7); // all move
            let last = [Vec3::new(x, y, from), a, b, c];
            let now = [Vec3::new(x, y, to), a, b, c].map(|p| p + lift);
            passes_face(&last, &now)
        };
        assert!(way(0.2, 0.3, 1.0, -0.1));
        assert!(way(0.2, 0.3, -1.0, 0.1));
        assert!(!way(0.2, 0.3, 1.0, 0.1));
        assert!(!way(0.7, 0.6, 1.0, -0.1));
        assert!(!way(-0.1, 0.5, 1.0, -0.1));
    }

    #[test]
    fn edges_pass_where_they_cross_and_not_beyond_their_ends() {
        let way = |shift: f64, to: f64| {
            let last = [
                Vec3::new(-1.0, shift, 0.3),
                Vec3::new(1.0, shift, 0.3),
                Vec3::new(0.0, -1.0, 0.0),
                Vec3::new(0.0, 1.0, 0.0),
            ];
            let mut now = last;
            now[0].z = to;
            now[1].z = to;
            passes_edge(&last, &now)
        };
        assert!(way(0.0, -0.2) && way(0.9, -0.2));
        assert!(!way(0.0, 0.2) && !way(1.1, -0.2));
        // Parallel edges leave it to their ends.
        let last = [Vec3::z(), Vec3::z() + Vec3::x(), Vec3::zeros(), Vec3::x()];
        let now = [-Vec3::z(), -Vec3::z() + Vec3::x(), Vec3::zeros(), Vec3::x()];
        assert!(!passes_edge(&last, &now));
    }
}
