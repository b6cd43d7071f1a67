use toile_energy::{StencilEnergy, Tie, check_derivatives};
use toile_num::{Matrix, Vector};

#[test]
fn derivatives_match_dual_numbers() {
    let root = Matrix::<3, 3>::new(2.0, 0.3, -0.4, 0.1, 1.5, 0.2, 0.6, -0.7, 1.1);
    let tie = Tie {
        weights: [1.0, -0.2, -0.5, -0.3],
        point: Vector::<3>::new(0.1, -0.2, 0.3),
        stiffness: root * root.transpose(),
        force: Vector::<3>::new(0.7, -0.4, 0.9),
    };
    let x = Vector::<12>::from_fn(|i, _| (1.7 * i as f64).sin());
    check_derivatives(&tie, &x, &Vector::<12>::from_fn(|i, _| (0.9 * i as f64).cos()));
}

#[test]
fn pulls_its_vertices_by_their_weights() {
    let tie = Tie {
        weights: [0.25, 0.75, 0.0, 0.0],
        point: Vector::zeros(),
        stiffness: Matrix::identity() * 10.0,
        force: Vector::<3>::new(0.0, 0.0, 4.0),
    };
    // At rest on its point it carries f, a quarter of it on the first vertex.
    let gradient = tie.gradient(&Vector::<12>::zeros(), &());
    assert_eq!(-gradient[2], 1.0);
    assert_eq!(-gradient[5], 3.0);
}
