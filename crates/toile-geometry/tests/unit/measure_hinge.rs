use toile_geometry::measure::{Hinge, Point, dihedral_angle, norm};
use toile_num::{Matrix, Scalar, ScalarFunction, Vector, assert_close, gradient_of, hessian_of};

struct Angle;
impl ScalarFunction<12> for Angle {
    fn call<T: Scalar>(&self, x: &Vector<12, T>) -> T {
        let p = |i: usize| x.fixed_rows::<3>(3 * i).into_owned();
        dihedral_angle(&p(0), &p(1), &p(2), &p(3))
    }
}
struct Altitude;
impl ScalarFunction<9> for Altitude {
    fn call<T: Scalar>(&self, x: &Vector<9, T>) -> T {
        let p = |i: usize| x.fixed_rows::<3>(3 * i).into_owned();
        let (c, a, b) = (p(0), p(1), p(2));
        norm(&(a - c).cross(&(b - c))) / norm(&(b - a))
    }
}

fn hinge(x: &Vector<12>) -> Hinge {
    let p = |i: usize| x.fixed_rows::<3>(3 * i).into_owned();
    Hinge::new(&p(0), &p(1), &p(2), &p(3))
}

/// Folds convex, concave, nearly flat and beyond a right angle.
fn poses() -> [Vector<12>; 4] {
    let pose = |z: f64, y: f64| {
        Vector::<12>::from([0.3, -0.9, 0.1, 1.1, 0.1, -0.1, -0.8, 0.05, 0.2, -0.4, y, z])
    };
    [pose(-0.6, 0.7), pose(0.8, 0.9), pose(0.12, 1.3), pose(-1.0, -0.5)]
}

#[test]
fn angle_derivatives_match_dual_numbers() {
    for x in poses() {
        let h = hinge(&x);
        assert!((h.angle() - Angle.call(&x)).abs() < 1e-14, "{} {}", h.angle(), Angle.call(&x));
        assert_close("gradient", &h.gradient(), &gradient_of(&Angle, &x), 1e-12);
        assert_close("hessian", &h.hessian(), &hessian_of(&Angle, &x), 1e-12);
    }
}

#[test]
fn parts_of_a_fold_match_its_angle() {
    for x in poses() {
        let h = hinge(&x);
        for part in [0.5, 1.0, 0.3] {
            let (sin, cos) = h.fold(part);
            let (s, c) = (part * h.angle()).sin_cos();
            assert!((sin - s).abs() < 1e-15 && (cos - c).abs() < 1e-15, "{part} of {}", h.angle());
        }
    }
}

#[test]
fn altitude_derivatives_match_dual_numbers() {
    let x = poses()[0];
    let wing = *hinge(&x).first();
    let y = x.fixed_rows::<9>(0).into_owned();
    let mut gradient = Vector::<9>::zeros();
    let mut hessian = Matrix::<9, 9>::zeros();
    for i in 0..3 {
        gradient.fixed_rows_mut::<3>(3 * i).copy_from(&wing.altitude_gradient(i));
        for j in 0..3 {
            hessian.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(&wing.altitude_hessian(i, j));
        }
    }
    assert_close("gradient", &gradient, &gradient_of(&Altitude, &y), 1e-12);
    assert_close("hessian", &hessian, &hessian_of(&Altitude, &y), 1e-12);
}

#[test]
fn convex_folds_are_positive() {
    // A ridge along y, normals up: the second apex below the plane of the first.
    let p = |x: f64, y: f64, z: f64| Point::new(x, y, z);
    let (c, a, b) = (p(-1.0, 0.0, 0.0), p(0.0, -1.0, 0.0), p(0.0, 1.0, 0.0));
    let right_angle = dihedral_angle(&c, &a, &b, &p(0.0, 0.0, -1.0));
    assert!((right_angle - std::f64::consts::FRAC_PI_2).abs() < 1e-15, "{right_angle}");
    assert_eq!(dihedral_angle(&c, &a, &b, &p(2.0, 0.3, 0.0)), 0.0);
}
