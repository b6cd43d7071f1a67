use toile_energy::{ShellStiffness, orthotropic_3d};
use toile_num::Matrix;

#[test]
fn isotropic_sheet_has_the_plate_modulus() {
    let (e, nu, h) = (2.0e5, 0.3, 1.0e-3);
    let s = ShellStiffness::isotropic(e, nu, h);
    let d = e * h * h * h / (12.0 * (1.0 - nu * nu));
    assert!((s.bending[0] - d).abs() < 1e-15 * d.max(1.0));
    assert!((s.membrane[3] - e * h / 2.6).abs() < 1e-10);
    assert!(s.is_positive());
    let soft = s.with_plate_modulus(1e-6);
    assert!((soft.bending[0] - 1e-6).abs() < 1e-18 && (soft.bending[1] - 3e-7).abs() < 1e-18);
}

#[test]
fn orthotropic_stiffness_inverts_the_compliance() {
    let (e, n, g) = ([3.0, 2.0, 1.0], [0.3, 0.2, 0.25], [0.7, 0.8, 0.9]);
    let mut s = Matrix::<6, 6>::zeros();
    for i in 0..3 {
        s[(i, i)] = 1.0 / e[i];
        s[(3 + i, 3 + i)] = 0.5 / g[i];
    }
    for (i, j, nu) in [(0, 1, n[0]), (0, 2, n[1]), (1, 2, n[2])] {
        s[(i, j)] = -nu / e[i];
        s[(j, i)] = -nu / e[i];
    }
    let error = (orthotropic_3d(e, n, g) * s - Matrix::<6, 6>::identity()).amax();
    assert!(error < 1e-14, "{error}");
    // Equal constants give Hooke's law: λ = Eν/((1+ν)(1−2ν)) off the diagonal.
    let c = orthotropic_3d([1.0; 3], [0.3; 3], [1.0 / 2.6; 3]);
    assert!((c[(0, 1)] - 0.3 / (1.3 * 0.4)).abs() < 1e-14);
}
