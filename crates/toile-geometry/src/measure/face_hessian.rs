//! Second derivatives of functions of a face's fundamental forms.

use toile_num::lanes::{Entries, Lanes, Triple};

use super::FaceForms;

/// Derivatives of a function of the forms (a, b) of a face, and what of them to use.
#[derive(Clone, Copy, Debug)]
pub struct FormDerivatives<T = f64> {
    /// ∂²/∂a², by columns.
    pub metric_tangent: [[T; 3]; 3],
    /// What Σ sₖ ∂²aₖ/∂x² does to the edges e₁ and e₂: (g₁₁, g₁₂, g₂₂) = (2s₁₁, s₁₂, 2s₂₂) for a gradient s
    /// in (a₁₁, a₁₂, a₂₂); the solver may take another one.
    pub metric_geometric: [T; 3],
    /// ∂/∂b.
    pub curvature_gradient: [T; 3],
    /// ∂²/∂b², by columns.
    pub curvature_tangent: [[T; 3]; 3],
    /// Whether to add Σ gₘ ∂²bₘ/∂x². Without it the result is positive semi-definite when both
    /// tangents and the geometric part are.
    pub curvature_second_order: bool,
}

/// A 3×3 block by columns.
type Block<T> = [T; 9];

/// block += u vᵀ.
#[inline(always)]
fn add_outer<T: Lanes>(block: &mut Block<T>, u: Triple<T>, v: Triple<T>) {
    for q in 0..3 {
        for p in 0..3 {
            block[3 * q + p] = u[p].mul_add(v[q], block[3 * q + p]);
        }
    }
}

/// Pairs of corners below the diagonal, in the order in which their blocks are kept.
const PAIRS: [(usize, usize); 3] = [(1, 0), (2, 0), (2, 1)];

/// First derivatives of (h₀, α₀, h₁, α₁, h₂, α₂).
struct Gradients<T> {
    /// In the corners, a row per quantity.
    corners: [[T; 9]; 6],
    /// Of αₘ in the vertex across edge m, the only quantity that knows it.
    across: [Triple<T>; 3],
}

impl<T: Lanes> FaceForms<T> {
    #[inline(always)]
    fn tilt_gradients(&self) -> Gradients<T> {
        let zero = self.e1[0].like(0.0);
        let one = zero.like(1.0);
        let mut corners = [[zero; 9]; 6];
        let mut across = [self.e1; 3];
        for m in 0..3 {
            let t = &self.tilts[m];
            let w = t.weights(m);
            let by_face = self.normal * (t.fold * t.inverse_altitude);
            let by_second = t.second.normal * (t.fold * t.second.inverse_altitude);
            let mut w2 = [zero; 3];
            w2[(m + 1) % 3] = one - t.second.foot;
            w2[(m + 2) % 3] = t.second.foot;
            for i in 0..3 {
                for k in 0..3 {
                    corners[2 * m][3 * i + k] = w[i] * t.outward[k];
                    corners[2 * m + 1][3 * i + k] = if i == m {
                        -by_face[k]
                    } else {
                        w[i].mul_add(by_face[k], w2[i] * by_second[k])
                    };
                }
            }
            across[m] = -by_second;
        }
        Gradients { corners, across }
    }

    /// Second derivatives of the function in h and α, through which it depends on x.
    #[inline(always)]
    fn core(&self, d: &FormDerivatives<T>) -> [[T; 6]; 6] {
        let slopes = [self.tilts[0].slopes(), self.tilts[1].slopes(), self.tilts[2].slopes()];
        let c = &d.curvature_tangent;
        let mut core = [[self.e1[0].like(0.0); 6]; 6];
        for i in 0..6 {
            for j in 0..6 {
                core[i][j] = slopes[i / 2][i % 2] * c[j / 2][i / 2] * slopes[j / 2][j % 2];
            }
        }
        if d.curvature_second_order {
            for m in 0..3 {
                let t = &self.tilts[m];
                let g = d.curvature_gradient[m] + d.curvature_gradient[m];
                let both = g * t.profile[1];
                core[2 * m][2 * m + 1] = core[2 * m][2 * m + 1] + both;
                core[2 * m + 1][2 * m] = core[2 * m + 1][2 * m] + both;
                core[2 * m + 1][2 * m + 1] =
                    (g * t.altitude).mul_add(t.profile[2], core[2 * m + 1][2 * m + 1]);
            }
        }
        core
    }

    /// Second derivatives in x of a function of the forms, in the lower triangle of the N × N matrix `out` (by columns); what
    /// lies above is left as it is.
    ///
    /// Only the blocks between different points are computed. Those of a point with itself are minus the sum of
    /// its others, because moving all points together changes nothing.
    /// Check: `second_derivatives_match_dual_numbers`.
    #[inline(always)]
    pub fn hessian_into<const N: usize>(
        &self,
        d: &FormDerivatives<T>,
        out: &mut (impl Entries<T> + ?Sized),
    ) {
        const { assert!(N == 18 || N == 21, "a face stencil has 18 or 21 coordinates") };
        assert_eq!(out.count(), N * N); // what follows needs no further checks
        let z = self.tilt_gradients();
        let core = self.core(d);
        let mut u = [[self.e1[0].like(0.0); 9]; 6];
        for a in 0..6 {
            for i in 0..9 {
                let mut sum = core[a][0] * z.corners[0][i];
                for b in 1..6 {
                    sum = core[a][b].mul_add(z.corners[b][i], sum);
                }
                u[a][i] = sum;
            }
        }
        let mut blocks = self.metric_blocks(d);
        for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
            for (u, z) in u.iter().zip(&z.corners) {
                let rows = Triple([u[3 * i], u[3 * i + 1], u[3 * i + 2]]);
                add_outer(block, rows, Triple([z[3 * j], z[3 * j + 1], z[3 * j + 2]]));
            }
        }
        // Rows of the vertices across, and of the angles.
        for j in 0..9 {
            for m in 0..3 {
                for p in 0..3 {
                    out.put(j * N + 9 + 3 * m + p, z.across[m][p] * u[2 * m + 1][j]);
                }
                if N > 18 {
                    out.put(j * N + 18 + m, self.tilts[m].turn * u[2 * m + 1][j]);
                }
            }
        }
        for k in 0..3 {
            for q in 0..3 {
                let column = (9 + 3 * k + q) * N;
                for m in 0..3 {
                    let f = core[2 * m + 1][2 * k + 1] * z.across[k][q];
                    for p in 0..3 {
                        if m > k {
                            out.put(column + 9 + 3 * m + p, z.across[m][p] * f);
                        }
                    }
                    if N > 18 {
                        out.put(column + 18 + m, self.tilts[m].turn * f);
                    }
                }
            }
            if N > 18 {
                let f = self.tilts[k].turn;
                for m in k..3 {
                    let value = self.tilts[m].turn * f * core[2 * m + 1][2 * k + 1];
                    out.put((18 + k) * N + 18 + m, value);
                }
            }
        }
        if d.curvature_second_order {
            self.add_face_curvature(&d.curvature_gradient, &mut blocks);
            self.add_neighbour_curvature::<N, 0>(d.curvature_gradient[0], &mut blocks, out);
            self.add_neighbour_curvature::<N, 1>(d.curvature_gradient[1], &mut blocks, out);
            self.add_neighbour_curvature::<N, 2>(d.curvature_gradient[2], &mut blocks, out);
        }
        for (block, (i, j)) in blocks.iter().zip(PAIRS) {
            for q in 0..3 {
                for p in 0..3 {
                    out.put((3 * j + q) * N + 3 * i + p, block[3 * q + p]);
                }
            }
        }
        close::<T, N, 0>(out);
        close::<T, N, 1>(out);
        close::<T, N, 2>(out);
        close::<T, N, 3>(out);
        close::<T, N, 4>(out);
        close::<T, N, 5>(out);
    }

    /// What the metric contributes between different corners.
    #[inline(always)]
    fn metric_blocks(&self, d: &FormDerivatives<T>) -> [Block<T>; 3] {
        let (e1, e2) = (self.e1, self.e2);
        let t = &d.metric_tangent;
        let [g11, g12, g22] = d.metric_geometric;
        let (two, four) = (g11.like(2.0), g11.like(4.0));
        // In (e₁, e₂), with ∂a₁₁ = 2e₁·, ∂a₁₂ = e₂· + e₁·, ∂a₂₂ = 2e₂·.
        let (t01, t12) = (two * t[1][0], two * t[2][1]);
        let mixed = e1.mul_add(t[1][1], e2 * t12);
        let first = [e1.mul_add(four * t[0][0], e2 * t01), e1.mul_add(t01, e2 * t[1][1])];
        let k11 = self.metric_block(first, g11);
        // Row e₁, column e₂.
        let k12 = self.metric_block([e1.mul_add(t01, e2 * (four * t[2][0])), mixed], g12);
        let k22 = self.metric_block([mixed, e1.mul_add(t12, e2 * (four * t[2][2]))], g22);
        let mut blocks = [[g11.like(0.0); 9]; 3];
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

    /// e₁ uᵀ + e₂ vᵀ + g I.
    #[inline(always)]
    fn metric_block(&self, [u, v]: [Triple<T>; 2], geometric: T) -> Block<T> {
        let mut block = [geometric.like(0.0); 9];
        for k in [0, 4, 8] {
            block[k] = geometric;
        }
        add_outer(&mut block, self.e1, u);
        add_outer(&mut block, self.e2, v);
        block
    }

    /// Σ gₘ times the part of ∂²bₘ/∂x² that comes from ∂²hₘ and from the face's own wing of ∂²θₘ.
    ///
    /// A wing's blocks (see [`super::Wing`]) are Xᵢⱼ nᵀ + n Xⱼᵢᵀ and a part in the plane; the three wings
    /// of a face share n.
    #[inline(always)]
    fn add_face_curvature(&self, g: &[T; 3], blocks: &mut [Block<T>; 3]) {
        let n = self.normal;
        let (zero, half) = (g[0].like(0.0), g[0].like(0.5));
        let mut x = [[Triple([zero; 3]); 3]; 3];
        for m in 0..3 {
            let t = &self.tilts[m];
            let w = t.weights(m);
            let mut r = [zero; 3];
            r[(m + 1) % 3] = t.inverse_length;
            r[(m + 2) % 3] = -t.inverse_length;
            let slopes = t.slopes();
            let (by_altitude, by_angle) = (g[m] * slopes[0], g[m] * slopes[1] * t.fold);
            let inverse = t.inverse_altitude;
            let (nn, ww) = (half * by_altitude * inverse, by_angle * inverse * inverse);
            let turn = t.tangent * (by_angle * inverse);
            for i in 0..3 {
                for j in 0..3 {
                    if i != j {
                        let on = -(ww * w[i] * w[j]) - half * by_angle * r[i] * r[j];
                        let sum = n.mul_add(nn * w[i] * w[j], x[i][j]);
                        x[i][j] = turn.mul_add(w[i] * r[j], t.outward.mul_add(on, sum));
                    }
                }
            }
            let (e, o) = (t.tangent * by_altitude, t.outward * (by_altitude * t.altitude));
            for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
                add_outer(block, e * (w[i] * r[j]), t.outward);
                add_outer(block, t.outward, e.mul_add(r[i] * w[j], -(o * (r[i] * r[j]))));
            }
        }
        for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
            add_outer(block, x[i][j], n);
            add_outer(block, n, x[j][i]);
        }
    }

    /// gₘ times the part of ∂²bₘ/∂x² that comes from the neighbour's wing of ∂²θₘ.
    #[inline(always)]
    fn add_neighbour_curvature<const N: usize, const M: usize>(
        &self,
        g: T,
        blocks: &mut [Block<T>; 3],
        out: &mut (impl Entries<T> + ?Sized),
    ) {
        let t = &self.tilts[M];
        let s = &t.second;
        let by_angle = g * t.slopes()[1] * t.fold;
        let (n, o, r) = (s.normal, s.outward, t.inverse_length);
        let (wa, wb) = (g.like(1.0) - s.foot, s.foot);
        let by_h = by_angle * s.inverse_altitude;
        let by_hh = by_h * s.inverse_altitude;
        let turn = t.tangent * (by_h * r);
        let (a, b) = ((M + 1) % 3, (M + 2) % 3);
        // The apex has w = −1, r = 0.
        for (corner, w, turn) in [(a, wa, -turn), (b, wb, turn)] {
            let on = o * (by_hh * w);
            let mut block = [g.like(0.0); 9];
            add_outer(&mut block, on + turn, n);
            add_outer(&mut block, n, on);
            for q in 0..3 {
                let at = (3 * corner + q) * N + 9 + 3 * M;
                for p in 0..3 {
                    out.put(at + p, out.at(at + p) + block[3 * q + p]);
                }
            }
        }
        let on = o * (g.like(0.5) * by_angle * r * r - by_hh * wa * wb);
        let (ab, ba) = (on - turn * wa, on + turn * wb);
        // The blocks lie below the diagonal: (2, 1), (2, 0), (1, 0).
        let (block, row, column) =
            if a > b { (&mut blocks[1], ab, ba) } else { (&mut blocks[2 - M], ba, ab) };
        add_outer(block, row, n);
        add_outer(block, n, column);
    }
}

/// The diagonal block of point `I` from all its others.
#[inline(always)]
fn close<T: Lanes, const N: usize, const I: usize>(out: &mut (impl Entries<T> + ?Sized)) {
    for q in 0..3 {
        for p in q..3 {
            let mut sum = out.at(1).like(0.0);
            for j in 0..I {
                sum = sum + out.at((3 * j + q) * N + 3 * I + p);
            }
            for j in I + 1..6 {
                sum = sum + out.at((3 * I + p) * N + 3 * j + q);
            }
            out.put((3 * I + q) * N + 3 * I + p, -sum);
        }
    }
}
