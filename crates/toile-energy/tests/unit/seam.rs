use toile_energy::{HingeBend, SeamBend, StencilEnergy, check_derivatives, check_material};
use toile_num::Vector;

const SEAM: SeamBend =
    SeamBend { stiffness: 0.7, part: 0.4, middle: [0.3, 0.8], pressed_open: false };

/// A bent seam, and panels that rest apart and turned.
fn poses() -> [Vector<18>; 2] {
    [
        Vector::from([
            0.3, -0.9, 0.1, 1.1, 0.1, -0.1, -0.8, 0.05, 0.2, -0.4, 0.7, -0.6, 1.0, 0.1, 0.0, -0.9,
            0.1, 0.1,
        ]),
        Vector::from([
            0.2, -0.8, 0.0, 1.0, 0.0, -0.1, -0.9, 0.15, 0.1, 2.7, 1.9, 0.4, 4.0, 1.1, 0.1, 2.2,
            1.3, -0.1,
        ]),
    ]
}

#[test]
fn derivatives_match_dual_numbers() {
    let [x, x_bar] = poses();
    for pressed_open in [false, true] {
        let seam = SeamBend { pressed_open, ..SEAM };
        check_derivatives(&seam, &x, &x_bar);
        check_material(&seam, &x, &x_bar);
    }
}

#[test]
fn a_closed_seam_bends_as_a_hinge() {
    // The edge of the second panel is that of the first, the other way round, and it may rest anywhere.
    let [x, x_bar] = poses();
    let four = |x: &Vector<18>| x.fixed_rows::<12>(0).into_owned();
    let closed = |x: &Vector<18>, way: f64| {
        let mut x = *x;
        for k in 0..3 {
            (x[12 + k], x[15 + k]) = (x[6 + k] + way, x[3 + k] + way);
            x[9 + k] += way;
        }
        x
    };
    let mut rest = x_bar;
    rest.fixed_rows_mut::<3>(9).copy_from(&Vector::<3>::new(-0.3, 0.9, 0.4));
    let seam = SeamBend { part: 1.0, middle: [0.5; 2], ..SEAM };
    let hinge = HingeBend { stiffness: 0.7, clamped: false };
    let expected = hinge.energy(&four(&x), &hinge.rest(&four(&rest)));
    for way in [0.0, 3.0] {
        let found = seam.energy(&closed(&x, 0.0), &seam.rest(&closed(&rest, way)));
        assert!((found - expected).abs() < 1e-12 * expected, "{found} J, a hinge has {expected} J");
    }
    // Pressed open it wants to be flat: more energy, since the rest shape is bent the same way.
    let open = SeamBend { pressed_open: true, ..seam };
    let found = open.energy(&closed(&x, 0.0), &open.rest(&closed(&rest, 0.0)));
    assert!((found / expected - 1.0).abs() > 0.1, "{found} J, {expected} J");
}
