use toile_geometry::measure::{EdgeRule, FaceForms, NormalRule, forms};
use toile_num::{Matrix, Scalar, Vector, VectorFunction, assert_close, jacobian_of};

struct Forms(NormalRule, [EdgeRule; 3]);
impl VectorFunction<21, 6> for Forms {
    fn call<T: Scalar>(&self, x: &Vector<21, T>) -> Vector<6, T> {
        forms(x, self.0, &self.1)
    }
}
fn pose() -> Vector<21> {
    let p = [
        [0.0, 0.0, 0.1],
        [1.0, 0.1, -0.1],
        [0.2, 0.9, 0.0],
        [1.1, 1.2, -0.5],
        [-0.9, 0.6, 0.4],
        [0.6, -0.8, -0.3],
    ];
    let mut x = Vector::<21>::zeros();
    for i in 0..18 {
        x[i] = p[i / 3][i % 3];
    }
    x[18] = 0.15;
    x[19] = -0.2;
    x[20] = 0.3;
    x
}

const INSIDE: EdgeRule = EdgeRule { fold: 0.5, turn: 1.0 };
const OTHER_SIDE: EdgeRule = EdgeRule { fold: 0.5, turn: -1.0 };
const BORDER: EdgeRule = EdgeRule { fold: 0.0, turn: 1.0 };
const CLAMP: EdgeRule = EdgeRule { fold: 1.0, turn: 0.0 };

#[test]
fn derivatives_match_dual_numbers() {
    let x = pose();
    for normals in [NormalRule::Sin, NormalRule::Tan] {
        for rules in [[INSIDE, OTHER_SIDE, INSIDE], [BORDER, CLAMP, OTHER_SIDE]] {
            let oracle = Forms(normals, rules);
            let f = FaceForms::new(&x, normals, &rules);
            let q = oracle.call(&x);
            assert!((f.metric() - q.fixed_rows::<3>(0)).amax() < 1e-14);
            assert!((f.curvature() - q.fixed_rows::<3>(3)).amax() < 1e-14);
            let jacobian = jacobian_of(&oracle, &x);
            let metric = jacobian.fixed_view::<3, 9>(0, 0).into_owned();
            assert_close("metric", &f.metric_jacobian(), &metric, 1e-13);
            let curvature = jacobian.fixed_view::<3, 21>(3, 0).transpose();
            assert_close("curvature", &f.curvature_gradients::<21>(), &curvature, 1e-12);
            let (s, g) = (Vector::<3>::new(0.4, -1.1, 0.8), Vector::<3>::new(0.7, -0.4, 0.9));
            let gradient = Vector::<21>::from(f.gradient(&s.into(), &g.into()));
            let both = Vector::<6>::new(s[0], s[1], s[2], g[0], g[1], g[2]);
            assert_close("gradient", &gradient, &jacobian.tr_mul(&both), 1e-12);
        }
    }
}

#[test]
fn cylinder_has_one_principal_curvature() {
    // Equilateral stencil on a cylinder of radius R about y: shape operator a⁻¹ b = (1/R, 0).
    let (radius, edge) = (1.0f64, 1e-3f64);
    let row = edge * 3f64.sqrt() / 2.0;
    let on = |u: f64, v: f64| [radius * (u / radius).sin(), v, radius * (u / radius).cos()];
    let p = [
        on(0.0, 0.0),
        on(edge, 0.0),
        on(edge / 2.0, row),
        on(1.5 * edge, row),
        on(-0.5 * edge, row),
        on(0.5 * edge, -row),
    ];
    let mut x = Vector::<21>::zeros();
    for i in 0..18 {
        x[i] = p[i / 3][i % 3];
    }
    let rule = EdgeRule { fold: 0.5, turn: 0.0 };
    let f = FaceForms::new(&x, NormalRule::Average, &[rule; 3]);
    let (a, b) = (f.metric(), f.curvature());
    let metric = Matrix::<2, 2>::new(a[0], a[1], a[1], a[2]);
    let second = Matrix::<2, 2>::new(b[0] + b[1], b[0], b[0], b[0] + b[2]);
    let shape = metric.try_inverse().unwrap() * second;
    assert!((shape.trace() - 1.0 / radius).abs() < 1e-6, "{shape}");
    assert!(shape.determinant().abs() < 1e-6, "{shape}");
}
