//! The side of a plane on which a point lies, without round-off.

use toile_geometry::Vec3;

/// Relative error of the determinant as computed, times the sum of its absolute terms
/// (Shewchuk 1997, first stage of orient3d): (7 + 56 ε) ε with ε = 2⁻⁵³.
const ERROR: f64 = 7.771561172376103e-16;

/// Sign of (a − d) · ((b − d) × (c − d)): 1 when d sees a, b, c clockwise, 0 exactly when the four
/// points lie in a plane. Exact for finite coordinates unless products leave the range of doubles.
pub(crate) fn orientation(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> i8 {
    let (u, v, w) = (a - d, b - d, c - d);
    let terms =
        [(v.x * w.y, v.y * w.x, u.z), (w.x * u.y, w.y * u.x, v.z), (u.x * v.y, u.y * v.x, w.z)];
    let mut det = 0.0;
    let mut size = 0.0;
    for (p, q, z) in terms {
        det += (p - q) * z;
        size += (p.abs() + q.abs()) * z.abs();
    }
    if det.abs() > ERROR * size {
        return if det > 0.0 { 1 } else { -1 };
    }
    exact(a, b, c, d)
}

/// A sum of doubles that do not overlap, smallest first: 6 products of three differences, each
/// difference two doubles, each product of three doubles four of them.
struct Sum {
    parts: [f64; 192],
    count: usize,
}

impl Sum {
    fn add(&mut self, mut x: f64) {
        let mut kept = 0;
        for k in 0..self.count {
            let (sum, rest) = two_sum(x, self.parts[k]);
            x = sum;
            if rest != 0.0 {
                self.parts[kept] = rest;
                kept += 1;
            }
        }
        if x != 0.0 {
            self.parts[kept] = x;
            kept += 1;
        }
        self.count = kept;
    }
}

/// a + b as rounded sum and error (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

/// a b as rounded product and error.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

#[cold]
fn exact(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> i8 {
    let difference = |p: &Vec3| [0, 1, 2].map(|k| two_sum(p[k], -d[k])).map(|(s, r)| [s, r]);
    let (u, v, w) = (difference(a), difference(b), difference(c));
    let mut sum = Sum { parts: [0.0; 192], count: 0 };
    for (i, j, k, sign) in [
        (0, 1, 2, 1.0),
        (1, 2, 0, 1.0),
        (2, 0, 1, 1.0),
        (0, 2, 1, -1.0),
        (2, 1, 0, -1.0),
        (1, 0, 2, -1.0),
    ] {
        for x in u[i] {
            for y in v[j] {
                let (p, q) = two_product(sign * x, y);
                for z in w[k] {
                    for factor in [q, p] {
                        let (r, s) = two_product(factor, z);
                        sum.add(s);
                        sum.add(r);
                    }
                }
            }
        }
    }
    match sum.count {
        0 => 0,
        n if sum.parts[n - 1] > 0.0 => 1,
        _ => -1,
    }
}

/// Whether the inside of the segment p q passes through a triangle (its border included). Ends that
/// only touch its plane and segments within the plane do not pass.
pub(crate) fn passes_through(p: &Vec3, q: &Vec3, face: &[Vec3; 3]) -> bool {
    let [a, b, c] = face;
    let (sp, sq) = (orientation(a, b, c, p), orientation(a, b, c, q));
    if sp == 0 || sq == 0 || sp == sq {
        return false;
    }
    let around = [orientation(p, q, a, b), orientation(p, q, b, c), orientation(p, q, c, a)];
    around.iter().all(|&s| s >= 0) || around.iter().all(|&s| s <= 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// By integers: coordinates are multiples of 2⁻²⁰ below 2⁸ in size, so the determinant fits i128.
    fn by_integers(points: [&Vec3; 4]) -> i8 {
        let x = points.map(|p| [0, 1, 2].map(|k| (p[k] * (1u64 << 20) as f64) as i128));
        let m = [0, 1, 2].map(|i| [0, 1, 2].map(|k| x[i][k] - x[3][k]));
        let det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
        det.signum() as i8
    }

    fn on_grid(p: Vec3) -> Vec3 {
        p.map(|c| (c * (1u64 << 20) as f64).round() / (1u64 << 20) as f64)
    }

    #[test]
    fn signs_are_exact_next_to_and_in_the_plane() {
        let mut random = Random::new(81);
        let mut zeros = 0;
        for case in 0..20000 {
            let [a, b, c] = [0; 3].map(|_| on_grid(random.point(100.0)));
            let far = on_grid(random.point(100.0));
            // In the plane of a, b, c or one grain beside it.
            let k = random.between(-3.0, 3.0).round();
            let l = random.between(-3.0, 3.0).round();
            let mut d = if case % 3 == 0 { far } else { a + (b - a) * k + (c - a) * l };
            if case % 3 == 2 {
                d[case % 2] += 1.0 / (1u64 << 20) as f64;
            }
            let found = orientation(&a, &b, &c, &d);
            assert_eq!(found, by_integers([&a, &b, &c, &d]), "case {case}");
            assert_eq!(exact(&a, &b, &c, &d), found, "case {case}");
            zeros += usize::from(found == 0);
            assert_eq!(orientation(&b, &a, &c, &d), -found);
        }
        assert!(zeros > 5000, "{zeros} in the plane");
    }

    #[test]
    fn passing_is_told_from_touching() {
        let face = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let at = |x, y, z| Vec3::new(x, y, z);
        assert!(passes_through(&at(0.2, 0.2, -1.0), &at(0.2, 0.2, 1e-300), &face));
        assert!(!passes_through(&at(0.2, 0.2, -1.0), &at(0.2, 0.2, 0.0), &face));
        assert!(passes_through(&at(0.5, 0.0, -1.0), &at(0.5, 0.0, 1.0), &face), "on the border");
        assert!(!passes_through(&at(0.7, 0.7, -1.0), &at(0.7, 0.7, 1.0), &face));
        assert!(!passes_through(&at(-1.0, 0.2, 0.0), &at(1.0, 0.2, 0.0), &face), "in the plane");
    }
}
