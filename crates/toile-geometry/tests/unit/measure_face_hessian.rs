use toile_geometry::measure::{EdgeRule, FaceForms, FormDerivatives, NormalRule, forms};
use toile_num::{Matrix, Scalar, ScalarFunction, Vector, assert_close, hessian_of};

/// s·a + ½ a·t·a + g·b + ½ b·c·b.
struct Quadratic {
    normals: NormalRule,
    rules: [EdgeRule; 3],
    s: Vector<3>,
    t: Matrix<3, 3>,
    g: Vector<3>,
    c: Matrix<3, 3>,
}

impl<const N: usize> ScalarFunction<N> for Quadratic {
    fn call<T: Scalar>(&self, x: &Vector<N, T>) -> T {
        let q = forms(x, self.normals, &self.rules);
        let mut sum = T::zero();
        for (at, linear, quadratic) in [(0, &self.s, &self.t), (3, &self.g, &self.c)] {
            for i in 0..3 {
                sum += q[at + i] * linear[i];
                for j in 0..3 {
                    sum += q[at + i] * q[at + j] * (0.5 * quadratic[(i, j)]);
                }
            }
        }
        sum
    }
}

const INSIDE: EdgeRule = EdgeRule { fold: 0.5, turn: 1.0 };
const OTHER_SIDE: EdgeRule = EdgeRule { fold: 0.5, turn: -1.0 };
const BORDER: EdgeRule = EdgeRule { fold: 0.0, turn: 1.0 };
const CLAMP: EdgeRule = EdgeRule { fold: 1.0, turn: 0.0 };
const MEAN: EdgeRule = EdgeRule { fold: 0.5, turn: 0.0 };
const FREE: EdgeRule = EdgeRule { fold: 0.0, turn: 0.0 };

fn check<const N: usize>(normals: NormalRule, rules: [EdgeRule; 3]) {
    let pose: [f64; 21] = [
        0.0, 0.0, 0.1, 1.0, 0.1, -0.1, 0.2, 0.9, 0.0, 1.1, 1.2, -0.5, -0.9, 0.6, 0.4, 0.6, -0.8,
        -0.3, 0.15, -0.2, 0.3,
    ];
    let x = Vector::<N>::from_fn(|i, _| pose[i]);
    let q = Quadratic {
        normals,
        rules,
        s: Vector::<3>::new(-0.3, 0.5, 0.2),
        t: Matrix::<3, 3>::new(1.2, -0.3, 0.4, -0.3, 0.9, 0.1, 0.4, 0.1, 1.7),
        g: Vector::<3>::new(0.7, -0.4, 0.9),
        c: Matrix::<3, 3>::new(2.0, 0.3, -0.2, 0.3, 1.5, 0.4, -0.2, 0.4, 1.1),
    };
    let f = FaceForms::new(&x, normals, &rules);
    let stress = q.s + q.t * f.metric();
    let derivatives = FormDerivatives {
        metric_tangent: q.t.into(),
        metric_geometric: [2.0 * stress[0], stress[1], 2.0 * stress[2]],
        curvature_gradient: (q.g + q.c * f.curvature()).into(),
        curvature_tangent: q.c.into(),
        curvature_second_order: true,
    };
    // Nothing of what was there before may stay in the lower triangle.
    let mut found = Matrix::<N, N>::repeat(f64::NAN);
    f.hessian_into::<N>(&derivatives, found.as_mut_slice());
    found.fill_upper_triangle_with_lower_triangle();
    assert_close("hessian", &found, &hessian_of(&q, &x), 1e-12);
}

#[test]
fn second_derivatives_match_dual_numbers() {
    for normals in [NormalRule::Sin, NormalRule::Tan] {
        check::<21>(normals, [INSIDE, OTHER_SIDE, INSIDE]);
        check::<21>(normals, [BORDER, CLAMP, OTHER_SIDE]);
    }
    check::<18>(NormalRule::Average, [MEAN; 3]);
    check::<18>(NormalRule::Average, [FREE, CLAMP, MEAN]);
    check::<18>(NormalRule::Average, [MEAN, FREE, CLAMP]);
    check::<18>(NormalRule::Average, [CLAMP, MEAN, FREE]);
}
