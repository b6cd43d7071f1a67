//! A drawn fibre: a polyline, cleaned, and the smooth curve through its points.

use crate::RodError;
use crate::rotation::Vec3;

/// A curve through the points of a polyline: a cubic spline, parametrised by arclength.
#[derive(Clone, Debug)]
pub struct Curve {
    points: Vec<Vec3>,
    /// Derivatives with respect to the chord parameter.
    slopes: Vec<Vec3>,
    /// Chord lengths of the segments \[m\].
    chords: Vec<f64>,
    /// Arclength at each point \[m\].
    s: Vec<f64>,
    /// Points left out because they all but repeat the one before.
    pub repeated: usize,
}

/// Gauss–Legendre on \[0, 1\] with five points.
const GAUSS: [(f64, f64); 5] = [
    (0.046910077030668, 0.1184634425280945),
    (0.2307653449471585, 0.2393143352496832),
    (0.5, 0.2844444444444444),
    (0.7692346550528415, 0.2393143352496832),
    (0.953089922969332, 0.1184634425280945),
];

/// Part of the usual segment below which one is a slip of the hand.
const TINY: f64 = 1e-2;

/// Middle one of the lengths of a polyline's segments, without those that have none \[m\].
fn usual_segment(polyline: &[Vec3], least: f64) -> f64 {
    let long = |w: &[Vec3]| (w[1] - w[0]).norm();
    let mut all: Vec<f64> = polyline.windows(2).map(long).filter(|l| *l > least).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

impl Curve {
    /// Points within 1e-9 of the polyline's length, or within a hundredth of its usual segment, of the one before are left out: where they go says nothing
    /// about the curve there. Fewer than two distinct points, or one that is not finite, is refused.
    pub fn new(polyline: &[Vec3]) -> Result<Self, RodError> {
        if let Some(point) = polyline.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(RodError::CurvePoint { point });
        }
        let total: f64 = polyline.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
        let least = (1e-9 * total).max(TINY * usual_segment(polyline, 1e-9 * total));
        let mut points: Vec<Vec3> = Vec::with_capacity(polyline.len());
        for p in polyline {
            if points.last().is_none_or(|last| (p - last).norm() > least) {
                points.push(*p);
            }
        }
        // The tip is where it was drawn.
        if let ([_, .., last], Some(tip)) = (&mut points[..], polyline.last()) {
            *last = *tip;
        }
        if points.len() < 2 || !total.is_finite() {
            return Err(RodError::CurveTooShort { points: polyline.len(), distinct: points.len() });
        }
        let repeated = polyline.len() - points.len();
        let chords: Vec<f64> = points.windows(2).map(|w| (w[1] - w[0]).norm()).collect();
        let slopes = spline_slopes(&points, &chords);
        let mut curve = Self { points, slopes, chords, s: vec![0.0], repeated };
        for i in 0..curve.chords.len() {
            let speed = |(t, w): &(f64, f64)| w * curve.derivative(i, *t).norm();
            let length: f64 = GAUSS.iter().map(speed).sum::<f64>() * curve.chords[i];
            let end = curve.s[i] + length.max(curve.chords[i]);
            curve.s.push(end);
        }
        Ok(curve)
    }

    /// Arclength \[m\].
    pub fn length(&self) -> f64 {
        self.s[self.s.len() - 1]
    }

    /// The points that were kept.
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Arclengths of the points that were kept \[m\].
    pub fn arclengths(&self) -> &[f64] {
        &self.s
    }

    /// The curve through the means of its points in windows of about `width` \[m\]; the first point is kept.
    pub fn thinned(&self, width: f64) -> Result<Self, RodError> {
        let last = self.points.len() - 1;
        let windows = (self.length() / width).floor().clamp(1.0, 1e6) as usize;
        let step = self.length() / windows as f64;
        let mut points = vec![self.points[0]];
        for k in 1..=windows {
            // The last window is half as wide, and its mean is drawn out to the end.
            let middle = step * k as f64;
            let from = self.s.partition_point(|s| *s < middle - 0.5 * step);
            let to =
                self.s.partition_point(|s| *s <= middle + 0.5 * step).max(from + 1).min(last + 1);
            let from = from.min(to - 1);
            let count = (to - from) as f64;
            let mean = self.points[from..to].iter().sum::<Vec3>() / count;
            if k < windows {
                points.push(mean);
            } else {
                let at = self.s[from..to].iter().sum::<f64>() / count;
                let before = points[points.len() - 1];
                let gone = (at - (middle - step)).max(1e-3 * step);
                points.push(before + (mean - before) * (step / gone));
            }
        }
        Self::new(&points)
    }

    /// Derivative by the chord parameter in segment i at the fraction t.
    fn derivative(&self, i: usize, t: f64) -> Vec3 {
        let (a, b) = (self.points[i], self.points[i + 1]);
        let h = self.chords[i];
        let (u, v) = (self.slopes[i], self.slopes[i + 1]);
        (b - a) * (6.0 * t * (1.0 - t) / h)
            + u * ((1.0 - t) * (1.0 - 3.0 * t))
            + v * (t * (3.0 * t - 2.0))
    }

    /// Position and unit tangent at the arclength s.
    pub fn at(&self, s: f64) -> (Vec3, Vec3) {
        let last = self.chords.len() - 1;
        let i = self.s.partition_point(|x| *x <= s).saturating_sub(1).min(last);
        let length = self.s[i + 1] - self.s[i];
        let into = (s - self.s[i]).clamp(0.0, length);
        // Arclength within the segment, inverted by Newton: it is nearly the fraction itself.
        let mut t = into / length;
        for _ in 0..4 {
            let gone: f64 = GAUSS.iter().map(|(x, w)| w * self.derivative(i, t * x).norm()).sum();
            let speed = self.derivative(i, t).norm().max(1e-3);
            t = (t + (into / self.chords[i] - gone * t) / speed).clamp(0.0, 1.0);
        }
        let (a, b) = (self.points[i], self.points[i + 1]);
        let (u, v) = (self.slopes[i] * self.chords[i], self.slopes[i + 1] * self.chords[i]);
        let (t2, t3) = (t * t, t * t * t);
        let p = a * (2.0 * t3 - 3.0 * t2 + 1.0)
            + b * (3.0 * t2 - 2.0 * t3)
            + u * (t3 - 2.0 * t2 + t)
            + v * (t3 - t2);
        let d = self.derivative(i, t);
        let size = d.norm();
        let tangent = if size > 1e-6 { d / size } else { (b - a) / self.chords[i] };
        (p, tangent)
    }
}

/// Slopes of the C² cubic spline; at the ends those of the cubic through the four nearest points.
fn spline_slopes(p: &[Vec3], h: &[f64]) -> Vec<Vec3> {
    let n = p.len();
    if n == 2 {
        return vec![(p[1] - p[0]) / h[0]; 2];
    }
    let mut slopes = vec![Vec3::zeros(); n];
    slopes[0] = end_slope(p, h);
    let (back, gaps): (Vec<Vec3>, Vec<f64>) =
        (p.iter().rev().take(4).copied().collect(), h.iter().rev().take(3).copied().collect());
    slopes[n - 1] = -end_slope(&back, &gaps);
    // h₊ m₋ + 2 (h₋ + h₊) m + h₋ m₊ = 3 (h₊ Δ₋ + h₋ Δ₊), diagonally dominant.
    let mut ratio = vec![0.0; n];
    for i in 1..n - 1 {
        let (a, b) = (h[i - 1], h[i]);
        let right = ((p[i] - p[i - 1]) * (b / a) + (p[i + 1] - p[i]) * (a / b)) * 3.0;
        let pivot = 2.0 * (a + b) - b * ratio[i - 1];
        let right = if i + 1 == n - 1 { right - slopes[n - 1] * a } else { right };
        slopes[i] = (right - slopes[i - 1] * b) / pivot;
        ratio[i] = a / pivot;
    }
    for i in (1..n - 2).rev() {
        let next = slopes[i + 1];
        slopes[i] -= next * ratio[i];
    }
    slopes
}

/// Slope at the first of up to four points of the polynomial through them.
fn end_slope(p: &[Vec3], h: &[f64]) -> Vec3 {
    let n = p.len().min(4);
    let mut x = [0.0; 4];
    for i in 1..n {
        x[i] = x[i - 1] + h[i - 1];
    }
    // Lagrange derivative at x₀ = 0.
    let mut slope = Vec3::zeros();
    for j in 1..n {
        let mut w = 1.0 / x[j];
        for k in 1..n {
            if k != j {
                w *= -x[k] / (x[j] - x[k]);
            }
        }
        slope += (p[j] - p[0]) * w;
    }
    slope
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helix(n: usize) -> Vec<Vec3> {
        let point = |i: usize| {
            let t = i as f64 / (n - 1) as f64 * 9.0;
            Vec3::new(0.03 * t.cos(), 0.03 * t.sin(), -0.02 * t)
        };
        (0..n).map(point).collect()
    }

    #[test]
    fn arclength_converges_beyond_the_second_order() {
        let exact = 9.0 * (0.03f64.powi(2) + 0.02f64.powi(2)).sqrt();
        let error = |n| (Curve::new(&helix(n)).unwrap().length() - exact).abs() / exact;
        let (coarse, fine) = (error(41), error(81));
        assert!(fine < 1e-6 && (coarse / fine).log2() > 2.5, "{coarse:e} {fine:e}");
    }

    #[test]
    fn points_are_met_and_repeats_left_out() {
        let mut points = helix(30);
        points.insert(7, points[7]);
        points.insert(7, points[7]);
        let curve = Curve::new(&points).unwrap();
        assert_eq!((curve.repeated, curve.points().len()), (2, 30));
        for (p, s) in curve.points().iter().zip(curve.arclengths()) {
            assert!((curve.at(*s).0 - p).norm() < 1e-12);
        }
        // Equal steps in s are equal steps along the curve.
        let (a, _) = curve.at(0.1);
        let (b, t) = curve.at(0.1001);
        // Half the curvature, 23 1/m, times the step squared.
        assert!(((b - a) - t * 1e-4).norm() < 2e-7);
    }

    #[test]
    fn a_tiny_segment_does_not_turn_the_curve() {
        let mut points = helix(30);
        // A hundred times shorter than a hair is thick, straight across.
        let across = points[11] + Vec3::new(4e-7, -3e-7, 2e-7);
        points.insert(12, across);
        let tip = points[30] + Vec3::new(0.0, 0.0, -1e-6);
        points.push(tip);
        let curve = Curve::new(&points).unwrap();
        assert_eq!((curve.repeated, curve.points().len()), (2, 30));
        assert_eq!(curve.points()[29], tip);
        let plain = Curve::new(&helix(30)).unwrap();
        for i in 0..=200 {
            let s = plain.length() * f64::from(i) / 200.0;
            assert!(curve.at(s).1.dot(&plain.at(s).1) > 1.0 - 1e-6, "{s}");
        }
    }

    #[test]
    fn what_is_no_curve_is_refused_in_words() {
        let text = |p: &[Vec3]| Curve::new(p).unwrap_err().to_string();
        assert!(text(&[]).contains("0 point(s)"));
        assert!(text(&[Vec3::x()]).contains("1 point(s)"));
        assert!(text(&[Vec3::x(); 5]).contains("distinct"));
        assert!(text(&[Vec3::x(), Vec3::new(f64::NAN, 0.0, 0.0)]).contains("point 1"));
    }
}
