//! Hanging rods: where their plane shape bends out of the plane, from the linearised Kirchhoff equations.
//!
//! A rod with natural curvature κ̄ hangs from a clamp whose tangent points down. In lengths L and moments EI/L its plane shape
//! obeys φ″ = Γ (1 − s) sin φ, φ(0) = 0, φ′(1) = κ̄, with φ the angle from the vertical. A small rotation (β₂, β₃) out of the
//! plane and its moments (μ₂, μ₃), c = GJ/EI, obey
//!
//! ```text
//! β₂′ = μ₂ + κ β₃              μ₂′ = κ μ₃ − m (μ₃/c) + n₃ β₂ − n₂ β₃
//! β₃′ = μ₃/c − κ β₂            μ₃′ = m μ₂ − κ μ₂
//! ```
//!
//! with κ = φ′, m = κ − κ̄, n = Γ (1 − s) (sin φ, cos φ), and no moment at the tip. The plane shape is lost where two such
//! rotations, independent at the tip, become dependent at the clamp.

/// The plane shape on a grid of `n` cells by Newton from the last one; `false` if it does not converge.
fn relax(phi: &mut [f64], gamma: f64, natural: f64) -> bool {
    let n = phi.len() - 1;
    let h = 1.0 / n as f64;
    let (mut pivot, mut step) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for _ in 0..60 {
        // Rows 1 … n of −φ₋ + 2φ − φ₊ + h² Γ (1 − s) sin φ = 0; at the tip φ₊ = φ₋ + 2 h κ̄.
        for i in 1..=n {
            let load = h * h * gamma * (1.0 - h * i as f64);
            let (below, above, twice) = if i < n {
                (phi[i - 1], phi[i + 1], 1.0)
            } else {
                (phi[i - 1], phi[i - 1] + 2.0 * h * natural, 2.0)
            };
            let residual = 2.0 * phi[i] - below - above + load * phi[i].sin();
            let own = 2.0 + load * phi[i].cos();
            let (ratio, before) =
                if i > 1 { (-twice / pivot[i - 1], step[i - 1]) } else { (0.0, 0.0) };
            pivot[i] = own + ratio;
            step[i] = -residual - ratio * before;
        }
        let mut most = 0.0f64;
        for i in (1..=n).rev() {
            let next = if i < n { step[i + 1] } else { 0.0 };
            step[i] = (step[i] + next) / pivot[i];
            most = most.max(step[i].abs());
        }
        let scale = if most > 0.5 { 0.5 / most } else { 1.0 };
        for i in 1..=n {
            phi[i] += scale * step[i];
        }
        if most < 1e-12 {
            return true;
        }
        if !most.is_finite() {
            return false;
        }
    }
    false
}

/// Determinant at the clamp of the two rotations that start at the tip, by the Runge–Kutta rule on pairs of cells.
fn determinant(phi: &[f64], gamma: f64, natural: f64, c: f64) -> f64 {
    let n = phi.len() - 1;
    let h = 1.0 / n as f64;
    let curvature = |i: usize| {
        if i == 0 {
            (-3.0 * phi[0] + 4.0 * phi[1] - phi[2]) / (2.0 * h)
        } else if i == n {
            natural
        } else {
            (phi[i + 1] - phi[i - 1]) / (2.0 * h)
        }
    };
    let rate = |i: usize, [b2, b3, m2, m3]: [f64; 4]| {
        let k = curvature(i);
        let m = k - natural;
        let force = gamma * (1.0 - h * i as f64);
        let (n2, n3) = (force * phi[i].sin(), force * phi[i].cos());
        [m2 + k * b3, m3 / c - k * b2, k * m3 - m * m3 / c + n3 * b2 - n2 * b3, (m - k) * m2]
    };
    let add = |y: [f64; 4], k: [f64; 4], f: f64| std::array::from_fn(|j| y[j] + f * k[j]);
    let from = |start: [f64; 4]| {
        let mut y = start;
        let step = -2.0 * h;
        for i in (2..=n).rev().step_by(2) {
            let a = rate(i, y);
            let b = rate(i - 1, add(y, a, step / 2.0));
            let c = rate(i - 1, add(y, b, step / 2.0));
            let d = rate(i - 2, add(y, c, step));
            y = std::array::from_fn(|j| {
                y[j] + step / 6.0 * (a[j] + 2.0 * b[j] + 2.0 * c[j] + d[j])
            });
        }
        y
    };
    let (u, v) = (from([1.0, 0.0, 0.0, 0.0]), from([0.0, 1.0, 0.0, 0.0]));
    u[0] * v[1] - u[1] * v[0]
}

/// The threshold on a grid of `n` cells, n even, and the angle of the tip there.
fn on_grid(gamma: f64, c: f64, most: f64, n: usize) -> Option<(f64, f64)> {
    let mut phi = vec![0.0; n + 1];
    let sign = determinant(&phi, gamma, 0.0, c).signum();
    let mut low = 0.0;
    let mut step = 0.1;
    while low < most {
        let mut trial = phi.clone();
        if !relax(&mut trial, gamma, low + step) {
            step *= 0.5;
            if step < 1e-6 {
                return None;
            }
            continue;
        }
        if determinant(&trial, gamma, low + step, c).signum() != sign {
            let (mut a, mut b) = (low, low + step);
            for _ in 0..45 {
                let middle = 0.5 * (a + b);
                trial.copy_from_slice(&phi);
                if !relax(&mut trial, gamma, middle) {
                    return None;
                }
                let stable = determinant(&trial, gamma, middle, c).signum() == sign;
                if stable { a = middle } else { b = middle }
            }
            return Some((0.5 * (a + b), trial[n]));
        }
        (phi, low) = (trial, low + step);
    }
    None
}

/// Natural curvature κ̄ L at which the plane shape of a hanging rod (clamp tangent vertical, isotropic section) bends out of its
/// plane, and the angle of its tip from the vertical \[rad\], for Γ = w L³ / EI and GJ/EI.
///
/// The plane shape is followed from the straight rod, κ̄ = 0; two grids are extrapolated to the fourth order. `None` if it stays
/// stable up to κ̄ L = `most`. Check: `thresholds_match_the_reference_table`.
pub fn bend_twist_threshold(gamma: f64, twist_ratio: f64, most: f64) -> Option<(f64, f64)> {
    // Boundary layers have the length Γ^(−1/3).
    let n = 2 * (200.0 * gamma.cbrt().max(1.0)).ceil() as usize;
    let coarse = on_grid(gamma, twist_ratio, most, n)?;
    let fine = on_grid(gamma, twist_ratio, most, 2 * n)?;
    let better = |c: f64, f: f64| f + (f - c) / 3.0;
    Some((better(coarse.0, fine.0), better(coarse.1, fine.1)))
}
