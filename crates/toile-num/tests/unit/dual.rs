use toile_num::{Dual, Scalar};

#[test]
fn product_and_quotient_rules() {
    let x = Dual::<f64, 2>::variable(3.0, 0);
    let y = Dual::<f64, 2>::variable(2.0, 1);
    let f = x * x * y / (x + y); // ∂x = y(x² + 2xy)/(x+y)², ∂y = x³/(x+y)²
    assert!((f.value - 3.6).abs() < 1e-15);
    assert!((f.partials[0] - 2.0 * (9.0 + 12.0) / 25.0).abs() < 1e-15);
    assert!((f.partials[1] - 27.0 / 25.0).abs() < 1e-15);
}

#[test]
fn functions_have_their_slopes() {
    let x = Dual::<f64, 1>::variable(0.7, 0);
    let slope = |d: Dual<f64, 1>| d.partials[0];
    assert!((slope(x.sqrt()) - 0.5 / 0.7f64.sqrt()).abs() < 1e-15);
    assert!((slope(x.ln()) - 1.0 / 0.7).abs() < 1e-15);
    assert!((slope(x.sin()) - 0.7f64.cos()).abs() < 1e-15);
    assert!((slope(x.cos()) + 0.7f64.sin()).abs() < 1e-15);
    assert!((slope(x.tan()) - 1.0 / 0.7f64.cos().powi(2)).abs() < 1e-14);
    let angle = x.sin().atan2(x.cos()); // = x
    assert!((angle.value - 0.7).abs() < 1e-15 && (slope(angle) - 1.0).abs() < 1e-15);
}

#[test]
fn second_derivatives_by_nesting() {
    type D2 = Dual<Dual<f64, 1>, 1>;
    let x: D2 = Dual::variable(Dual::variable(1.3, 0), 0);
    let f = x.sin() * x; // f″ = 2 cos x − x sin x
    let expected = 2.0 * 1.3f64.cos() - 1.3 * 1.3f64.sin();
    assert!((f.partials[0].partials[0] - expected).abs() < 1e-15);
}
