use toile_validate::quadrature::{gauss_legendre, legendre};

#[test]
fn gauss_rule_integrates_polynomials_of_twice_its_degree() {
    for count in 1..=24 {
        let rule = gauss_legendre(count);
        for degree in 0..2 * count {
            let sum: f64 = rule.iter().map(|(t, w)| w * t.powi(degree as i32)).sum();
            let exact = if degree % 2 == 0 { 2.0 / (degree as f64 + 1.0) } else { 0.0 };
            assert!(
                (sum - exact).abs() < 1e-14,
                "{count} points, degree {degree}: {sum} for {exact}"
            );
        }
    }
}

#[test]
fn legendre_polynomials_solve_their_differential_equation() {
    for t in [-1.0, -0.3, 0.7, 1.0] {
        for (k, p) in legendre(12, t).iter().enumerate() {
            let n = k as f64;
            let residual = (1.0 - t * t) * p[2] - 2.0 * t * p[1] + n * (n + 1.0) * p[0];
            assert!(residual.abs() < 1e-11 * (1.0 + n * n * p[1].abs()), "P_{k}({t}): {residual}");
        }
    }
}
