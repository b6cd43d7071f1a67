//! Second derivatives of functions of a face's fundamental forms.

use toile_num::{Matrix, Vector};

use super::{FaceForms, Point};

/// Derivatives of a function of the forms (a, b) of a face, and what of them to use.
#[derive(Clone, Copy, Debug)]
pub struct FormDerivatives {
    /// ∂²/∂a².
    pub metric_tangent: Matrix<3, 3>,
    /// What Σ sₖ ∂²aₖ/∂x² does to the edges e₁ and e₂: (g₁₁, g₁₂, g₂₂) = (2s₁₁, s₁₂, 2s₂₂) for a gradient s
    /// in (a₁₁, a₁₂, a₂₂); the solver may take another one.
    pub metric_geometric: [f64; 3],
    /// ∂/∂b.
    pub curvature_gradient: Vector<3>,
    /// ∂²/∂b².
    pub curvature_tangent: Matrix<3, 3>,
    /// Whether to add Σ gₘ ∂²bₘ/∂x². Without it the result is positive semi-definite when both
    /// tangents and the geometric part are.
    pub curvature_second_order: bool,
}

/// A 3×3 block by columns.
type Block = [f64; 9];

/// block += u vᵀ.
#[inline(always)]
fn add_outer(block: &mut Block, u: &Point, v: &Point) {
    for q in 0..3 {
        for p in 0..3 {
            block[3 * q + p] += u[p] * v[q];
        }
    }
}

/// y += c x.
#[inline(always)]
fn add_scaled<const K: usize>(y: &mut [f64; K], c: f64, x: &[f64; K]) {
    for i in 0..K {
        y[i] += c * x[i];
    }
}

/// Pairs of corners below the diagonal, in the order in which their blocks are kept.
const PAIRS: [(usize, usize); 3] = [(1, 0), (2, 0), (2, 1)];

/// First derivatives of (h₀, α₀, h₁, α₁, h₂, α₂).
struct Gradients {
    /// In the corners, a row per quantity.
    corners: [[f64; 9]; 6],
    /// Of αₘ in the vertex across edge m, the only quantity that knows it.
    across: [Point; 3],
}

impl FaceForms {
    fn tilt_gradients(&self) -> Gradients {
        let mut corners = [[0.0; 9]; 6];
        let mut across = [Point::zeros(); 3];
        for (m, t) in self.tilts.iter().enumerate() {
            let w = t.weights(m);
            let by_face = self.normal * (t.fold / t.altitude);
            let by_second = t.second.normal * (t.fold * t.second.inverse_altitude);
            let mut w2 = [0.0; 3];
            w2[(m + 1) % 3] = 1.0 - t.second.foot;
            w2[(m + 2) % 3] = t.second.foot;
            for i in 0..3 {
                for k in 0..3 {
                    corners[2 * m][3 * i + k] = w[i] * t.outward[k];
                    corners[2 * m + 1][3 * i + k] = w[i] * by_face[k] + w2[i] * by_second[k];
                }
            }
            across[m] = -by_second;
        }
        Gradients { corners, across }
    }

    /// Second derivatives of the function in h and α, through which it depends on x.
    fn core(&self, d: &FormDerivatives) -> [[f64; 6]; 6] {
        let slopes = [self.tilts[0].slopes(), self.tilts[1].slopes(), self.tilts[2].slopes()];
        let c = &d.curvature_tangent;
        let mut core = [[0.0; 6]; 6];
        for i in 0..6 {
            for j in 0..6 {
                core[i][j] = slopes[i / 2][i % 2] * c[(i / 2, j / 2)] * slopes[j / 2][j % 2];
            }
        }
        if d.curvature_second_order {
            for (m, t) in self.tilts.iter().enumerate() {
                let g = 2.0 * d.curvature_gradient[m];
                core[2 * m][2 * m + 1] += g * t.profile[1];
                core[2 * m + 1][2 * m] += g * t.profile[1];
                core[2 * m + 1][2 * m + 1] += g * t.altitude * t.profile[2];
            }
        }
        core
    }

    /// Second derivatives in x of a function of the forms, in the lower triangle of `out`; what lies above
    /// is left as it is.
    ///
    /// Only the blocks between different points are computed. Those of a point with itself are minus the sum of
    /// its others, because moving all points together changes nothing.
    /// Check: `second_derivatives_match_dual_numbers`.
    #[inline]
    pub fn hessian_into<const N: usize>(&self, d: &FormDerivatives, out: &mut Matrix<N, N>) {
        const { assert!(N == 18 || N == 21, "a face stencil has 18 or 21 coordinates") };
        let out = out.as_mut_slice();
        assert_eq!(out.len(), N * N); // what follows needs no further checks
        let z = self.tilt_gradients();
        let core = self.core(d);
        let mut u = [[0.0; 9]; 6];
        for (row, core) in u.iter_mut().zip(&core) {
            for (core, z) in core.iter().zip(&z.corners) {
                add_scaled(row, *core, z);
            }
        }
        let mut blocks = self.metric_blocks(d);
        for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
            for (u, z) in u.iter().zip(&z.corners) {
                let rows = Point::new(u[3 * i], u[3 * i + 1], u[3 * i + 2]);
                add_outer(block, &rows, &Point::new(z[3 * j], z[3 * j + 1], z[3 * j + 2]));
            }
        }
        // Rows of the vertices across, and of the angles.
        for j in 0..9 {
            let column = &mut out[j * N..(j + 1) * N];
            for m in 0..3 {
                for p in 0..3 {
                    column[9 + 3 * m + p] = z.across[m][p] * u[2 * m + 1][j];
                }
                if N > 18 {
                    column[18 + m] = self.tilts[m].turn * u[2 * m + 1][j];
                }
            }
        }
        for k in 0..3 {
            for q in 0..3 {
                let column = &mut out[(9 + 3 * k + q) * N..(10 + 3 * k + q) * N];
                for m in 0..3 {
                    let f = core[2 * m + 1][2 * k + 1] * z.across[k][q];
                    for p in 0..3 {
                        if m > k {
                            column[9 + 3 * m + p] = z.across[m][p] * f;
                        }
                    }
                    if N > 18 {
                        column[18 + m] = self.tilts[m].turn * f;
                    }
                }
            }
            if N > 18 {
                let f = self.tilts[k].turn;
                for m in k..3 {
                    out[(18 + k) * N + 18 + m] =
                        self.tilts[m].turn * f * core[2 * m + 1][2 * k + 1];
                }
            }
        }
        if d.curvature_second_order {
            self.add_face_curvature(&d.curvature_gradient, &mut blocks);
            for m in 0..3 {
                self.add_neighbour_curvature::<N>(m, d.curvature_gradient[m], &mut blocks, out);
            }
        }
        for (block, (i, j)) in blocks.iter().zip(PAIRS) {
            for q in 0..3 {
                let at = (3 * j + q) * N + 3 * i;
                out[at..at + 3].copy_from_slice(&block[3 * q..3 * q + 3]);
            }
        }
        close::<N, 0>(out);
        close::<N, 1>(out);
        close::<N, 2>(out);
        close::<N, 3>(out);
        close::<N, 4>(out);
        close::<N, 5>(out);
    }

    /// What the metric contributes between different corners.
    fn metric_blocks(&self, d: &FormDerivatives) -> [Block; 3] {
        let (e1, e2) = (&self.e1, &self.e2);
        let t = &d.metric_tangent;
        let [g11, g12, g22] = d.metric_geometric;
        // In (e₁, e₂), with ∂a₁₁ = 2e₁·, ∂a₁₂ = e₂· + e₁·, ∂a₂₂ = 2e₂·.
        let block = |on_e1: &Point, on_e2: &Point, geometric: f64| {
            let mut block = [0.0; 9];
            add_outer(&mut block, e1, on_e1);
            add_outer(&mut block, e2, on_e2);
            for k in [0, 4, 8] {
                block[k] += geometric;
            }
            block
        };
        let (t01, t12) = (2.0 * t[(0, 1)], 2.0 * t[(1, 2)]);
        let mixed = e1 * t[(1, 1)] + e2 * t12;
        let k11 = block(&(e1 * (4.0 * t[(0, 0)]) + e2 * t01), &(e1 * t01 + e2 * t[(1, 1)]), g11);
        // Row e₁, column e₂.
        let k12 = block(&(e1 * t01 + e2 * (4.0 * t[(0, 2)])), &mixed, g12);
        let k22 = block(&mixed, &(e1 * t12 + e2 * (4.0 * t[(2, 2)])), g22);
        let mut blocks = [[0.0; 9]; 3];
        for q in 0..3 {
            for p in 0..3 {
                let (at, turned) = (3 * q + p, 3 * p + q);
                blocks[0][at] = -k11[at] - k12[at];
                blocks[1][at] = -k12[turned] - k22[at];
                blocks[2][at] = k12[turned];
            }
        }
        blocks
    }

    /// Σ gₘ times the part of ∂²bₘ/∂x² that comes from ∂²hₘ and from the face's own wing of ∂²θₘ.
    ///
    /// A wing's blocks (see [`super::Wing`]) are Xᵢⱼ nᵀ + n Xⱼᵢᵀ and a part in the plane; the three wings
    /// of a face share n.
    fn add_face_curvature(&self, g: &Vector<3>, blocks: &mut [Block; 3]) {
        let n = &self.normal;
        let mut x = [[Point::zeros(); 3]; 3];
        for (m, t) in self.tilts.iter().enumerate() {
            let w = t.weights(m);
            let mut r = [0.0; 3];
            r[(m + 1) % 3] = t.inverse_length;
            r[(m + 2) % 3] = -t.inverse_length;
            let slopes = t.slopes();
            let (by_altitude, by_angle) = (g[m] * slopes[0], g[m] * slopes[1] * t.fold);
            let inverse = 1.0 / t.altitude;
            let (nn, ww) = (0.5 * by_altitude * inverse, by_angle * inverse * inverse);
            let turn = t.tangent * (by_angle * inverse);
            for i in 0..3 {
                for j in 0..3 {
                    if i != j {
                        let on = -ww * w[i] * w[j] - 0.5 * by_angle * r[i] * r[j];
                        x[i][j] += n * (nn * w[i] * w[j]) + t.outward * on + turn * (w[i] * r[j]);
                    }
                }
            }
            let (e, o) = (t.tangent * by_altitude, t.outward * (by_altitude * t.altitude));
            for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
                add_outer(block, &(e * (w[i] * r[j])), &t.outward);
                add_outer(block, &t.outward, &(e * (r[i] * w[j]) - o * (r[i] * r[j])));
            }
        }
        for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
            add_outer(block, &x[i][j], n);
            add_outer(block, n, &x[j][i]);
        }
    }

    /// gₘ times the part of ∂²bₘ/∂x² that comes from the neighbour's wing of ∂²θₘ.
    #[inline(always)]
    fn add_neighbour_curvature<const N: usize>(
        &self,
        m: usize,
        g: f64,
        blocks: &mut [Block; 3],
        out: &mut [f64],
    ) {
        let t = &self.tilts[m];
        let s = &t.second;
        let by_angle = g * t.slopes()[1] * t.fold;
        if by_angle == 0.0 {
            return;
        }
        let (n, o, r) = (&s.normal, &s.outward, t.inverse_length);
        let (wa, wb) = (1.0 - s.foot, s.foot);
        let by_h = by_angle * s.inverse_altitude;
        let by_hh = by_h * s.inverse_altitude;
        let turn = t.tangent * (by_h * r);
        let (a, b) = ((m + 1) % 3, (m + 2) % 3);
        // The apex has w = −1, r = 0.
        for (corner, w, turn) in [(a, wa, -turn), (b, wb, turn)] {
            let on = o * (by_hh * w);
            let mut block = [0.0; 9];
            add_outer(&mut block, &(on + turn), n);
            add_outer(&mut block, n, &on);
            for q in 0..3 {
                let at = (3 * corner + q) * N + 9 + 3 * m;
                for p in 0..3 {
                    out[at + p] += block[3 * q + p];
                }
            }
        }
        let on = o * (0.5 * by_angle * r * r - by_hh * wa * wb);
        let (ab, ba) = (on - turn * wa, on + turn * wb);
        // The blocks lie below the diagonal: (2, 1), (2, 0), (1, 0).
        let (block, row, column) =
            if a > b { (&mut blocks[1], ab, ba) } else { (&mut blocks[2 - m], ba, ab) };
        add_outer(block, &row, n);
        add_outer(block, n, &column);
    }
}

/// The diagonal block of point `I` from all its others.
#[inline(always)]
fn close<const N: usize, const I: usize>(out: &mut [f64]) {
    for q in 0..3 {
        for p in q..3 {
            let mut sum = 0.0;
            for j in 0..I {
                sum += out[(3 * j + q) * N + 3 * I + p];
            }
            for j in I + 1..6 {
                sum += out[(3 * I + p) * N + 3 * j + q];
            }
            out[(3 * I + q) * N + 3 * I + p] = -sum;
        }
    }
}
