//! A piecewise polynomial, the unknown of collocation.

use super::collocation::Rule;

/// Values at mesh points, derivatives at the Gauss points of each interval, and the parameters.
///
/// On interval i of width h, u(s_i + τ h) = y_i + h Σ_j K_ij ∫₀^τ ℓ_j: a polynomial of degree k, continuous at the
/// mesh points once the problem is solved.
#[derive(Clone, Debug)]
pub struct Solution {
    pub(crate) dimension: usize,
    pub(crate) mesh: Vec<f64>,
    /// y_i, n per mesh point.
    pub(crate) nodes: Vec<f64>,
    /// K_ij, n per Gauss point, k per interval.
    pub(crate) slopes: Vec<f64>,
    pub(crate) parameters: Vec<f64>,
    /// Largest local error relative to the size of its component; infinite for a guess.
    pub(crate) local_error: f64,
}

impl Solution {
    /// A guess on `intervals` equal intervals from a function of s in [0, 1] with values of one fixed length.
    ///
    /// # Panics
    ///
    /// If `y` returns different lengths.
    pub fn from_function(
        intervals: usize,
        parameters: &[f64],
        y: impl Fn(f64) -> Vec<f64>,
    ) -> Self {
        let intervals = intervals.max(1);
        let mesh: Vec<f64> = (0..=intervals).map(|i| i as f64 / intervals as f64).collect();
        let dimension = y(0.0).len();
        let nodes: Vec<f64> = mesh.iter().flat_map(|&s| y(s)).collect();
        assert_eq!(
            nodes.len(),
            dimension * mesh.len(),
            "the guess has different lengths at different s"
        );
        // One slope per interval: the piecewise linear interpolant, which `on_rule` spreads to k points.
        let slopes = (0..intervals)
            .flat_map(|i| (0..dimension).map(move |c| (i, c)))
            .map(|(i, c)| {
                (nodes[(i + 1) * dimension + c] - nodes[i * dimension + c]) * intervals as f64
            })
            .collect();
        Self {
            dimension,
            mesh,
            nodes,
            slopes,
            parameters: parameters.to_vec(),
            local_error: f64::INFINITY,
        }
    }

    /// Mesh points from 0 to 1.
    pub fn mesh(&self) -> &[f64] {
        &self.mesh
    }

    /// p, the unknown parameters.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Largest h·|u' − f| relative to the size of its component.
    pub fn local_error(&self) -> f64 {
        self.local_error
    }

    /// y at `s`, which is clamped to [0, 1]; exact node values at mesh points.
    pub fn at(&self, s: f64) -> Vec<f64> {
        let rule = Rule::gauss(self.stages());
        self.evaluate(s, &rule).0
    }

    /// y at each station, cheaper than repeated calls of [`Self::at`].
    pub fn at_stations(&self, stations: &[f64]) -> Vec<Vec<f64>> {
        let rule = Rule::gauss(self.stages());
        stations.iter().map(|&s| self.evaluate(s, &rule).0).collect()
    }

    pub(crate) fn intervals(&self) -> usize {
        self.mesh.len() - 1
    }

    pub(crate) fn stages(&self) -> usize {
        self.slopes.len() / (self.intervals() * self.dimension)
    }

    pub(crate) fn node(&self, i: usize) -> &[f64] {
        &self.nodes[i * self.dimension..(i + 1) * self.dimension]
    }

    /// K_ij, the derivative at Gauss point j of interval i.
    pub(crate) fn slope(&self, i: usize, j: usize) -> &[f64] {
        let at = (i * self.stages() + j) * self.dimension;
        &self.slopes[at..at + self.dimension]
    }

    /// Largest magnitude of each component over the mesh points.
    pub(crate) fn sizes(&self) -> Vec<f64> {
        let mut sizes = vec![0.0_f64; self.dimension];
        for y in self.nodes.chunks(self.dimension) {
            for (size, y) in sizes.iter_mut().zip(y) {
                *size = size.max(y.abs());
            }
        }
        sizes
    }

    /// y and y' at `s`.
    fn evaluate(&self, s: f64, rule: &Rule) -> (Vec<f64>, Vec<f64>) {
        let s = s.clamp(0.0, 1.0);
        let i = self.mesh.partition_point(|&t| t <= s).clamp(1, self.intervals()) - 1;
        let h = self.mesh[i + 1] - self.mesh[i];
        let tau = (s - self.mesh[i]) / h;
        if s == self.mesh[i + 1] {
            // Superconvergent value, free of the rounding of the sum below.
            return (self.node(i + 1).to_vec(), self.combine(i, &rule.lagrange(1.0)));
        }
        let (mut y, slope) = (self.node(i).to_vec(), self.combine(i, &rule.lagrange(tau)));
        for (y, increment) in y.iter_mut().zip(self.combine(i, &rule.integrals(tau))) {
            *y += h * increment;
        }
        (y, slope)
    }

    /// Σ_j `factors`_j K_ij.
    pub(crate) fn combine(&self, i: usize, factors: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.dimension];
        for (j, factor) in factors.iter().enumerate() {
            for (sum, k) in sum.iter_mut().zip(self.slope(i, j)) {
                *sum += factor * k;
            }
        }
        sum
    }

    /// The same function on another mesh, with the k slopes of `rule`.
    pub(crate) fn on_mesh(&self, mesh: Vec<f64>, rule: &Rule) -> Self {
        let own = Rule::gauss(self.stages());
        let nodes = mesh.iter().flat_map(|&s| self.evaluate(s, &own).0).collect();
        let slopes = mesh
            .windows(2)
            .flat_map(|w| rule.points.iter().map(move |c| w[0] + c * (w[1] - w[0])))
            .flat_map(|s| self.evaluate(s, &own).1)
            .collect();
        Self { mesh, nodes, slopes, parameters: self.parameters.clone(), ..*self }
    }

    /// The same function with the k slopes of `rule`.
    pub(crate) fn on_rule(&self, rule: &Rule) -> Self {
        if self.stages() == rule.stages() {
            self.clone()
        } else {
            self.on_mesh(self.mesh.clone(), rule)
        }
    }

    /// `self` + factor (`self` − `other`) on the mesh of `self`: the secant predictor of continuation.
    pub(crate) fn extrapolate(&self, other: &Self, factor: f64) -> Self {
        let other = other.on_mesh(self.mesh.clone(), &Rule::gauss(self.stages()));
        let mut out = self.clone();
        let blend = |out: &mut [f64], other: &[f64]| {
            for (a, b) in out.iter_mut().zip(other) {
                *a += factor * (*a - b);
            }
        };
        blend(&mut out.nodes, &other.nodes);
        blend(&mut out.slopes, &other.slopes);
        blend(&mut out.parameters, &other.parameters);
        out
    }
}
