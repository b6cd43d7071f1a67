use toile_energy::{DartBend, SeamBend, StencilEnergy, check_derivatives, check_material};
use toile_num::Vector;

const SEAM: SeamBend =
    SeamBend { stiffness: 0.7, part: 0.6, middle: [0.3, 0.8], pressed_open: false };

/// Two faces with a tip in common (c, t, p, d, a), bent, and at rest, where the dart is open.
fn poses() -> [Vector<15>; 2] {
    [
        Vector::from([
            0.3, -0.9, 0.1, 1.1, 0.1, -0.1, -0.8, 0.05, 0.2, -0.4, 0.7, -0.6, -0.9, 0.1, 0.1,
        ]),
        Vector::from([
            0.2, -0.8, 0.0, 1.0, 0.0, -0.1, -0.9, -0.15, 0.1, -0.2, 0.9, 0.3, -0.7, 0.4, -0.1,
        ]),
    ]
}

#[test]
fn derivatives_match_dual_numbers() {
    let [x, x_bar] = poses();
    for tip in [[0, 1], [1, 0]] {
        let dart = DartBend { seam: SEAM, tip };
        check_derivatives(&dart, &x, &x_bar);
        check_material(&dart, &x, &x_bar);
    }
}

#[test]
fn a_dart_bends_at_its_tip_as_a_seam_does() {
    let [x, x_bar] = poses();
    let six = |x: &Vector<15>| {
        let point = |k: usize| x.fixed_rows::<3>(3 * k);
        Vector::<18>::from_fn(|i, _| point([0, 1, 2, 3, 4, 1][i / 3])[i % 3])
    };
    let dart = DartBend { seam: SEAM, tip: [0, 1] };
    let (found, expected) =
        (dart.energy(&x, &dart.rest(&x_bar)), SEAM.energy(&six(&x), &SEAM.rest(&six(&x_bar))));
    assert!(expected > 1e-3 && found == expected, "{found} J, a seam has {expected} J");
}
