use toile_energy::{
    Curvature, KoiterFace, Membrane, ShellStiffness, StencilEnergy, check_derivatives,
    check_material, positive_part,
};
use toile_geometry::measure::{EdgeRule, NormalRule};
use toile_num::{Matrix, Vector};

const INSIDE: EdgeRule = EdgeRule { fold: 0.5, turn: 1.0 };
const OTHER: EdgeRule = EdgeRule { fold: 0.5, turn: -1.0 };
const BORDER: EdgeRule = EdgeRule { fold: 0.0, turn: 1.0 };
const CLAMP: EdgeRule = EdgeRule { fold: 1.0, turn: 0.0 };
const MEAN: EdgeRule = EdgeRule { fold: 0.5, turn: 0.0 };
const FREE: EdgeRule = EdgeRule { fold: 0.0, turn: 0.0 };

fn face(normals: NormalRule, edges: [EdgeRule; 3], membrane: Membrane) -> KoiterFace {
    let mut stiffness = ShellStiffness::orthotropic([3.0, 2.0], 0.3, 0.8, 1.0);
    if membrane == Membrane::NeoHookean {
        stiffness.membrane = ShellStiffness::isotropic(3.0, 0.3, 1.0).membrane;
    }
    KoiterFace { normals, edges, membrane, stiffness, warp: [0.8, -0.3] }
}

fn shape(p: [[f64; 3]; 6], xi: [f64; 3]) -> Vector<21> {
    Vector::from_fn(|i, _| if i < 18 { p[i / 3][i % 3] } else { xi[i - 18] })
}

fn strained() -> Vector<21> {
    let p = [
        [0.0, 0.0, 0.1],
        [1.3, 0.1, -0.1],
        [0.2, 0.8, 0.0],
        [1.1, 1.2, -0.5],
        [-0.9, 0.6, 0.4],
        [0.6, -0.8, -0.3],
    ];
    shape(p, [0.15, -0.2, 0.3])
}

fn at_rest() -> Vector<21> {
    let p = [
        [0.1, 0.0, 0.0],
        [1.0, 0.2, 0.1],
        [0.1, 0.9, -0.1],
        [1.0, 1.1, 0.2],
        [-0.8, 0.5, -0.2],
        [0.5, -0.9, 0.1],
    ];
    shape(p, [0.05, 0.1, -0.1])
}

#[test]
fn derivatives_match_dual_numbers() {
    for membrane in [Membrane::StVenantKirchhoff, Membrane::NeoHookean] {
        for (normals, edges) in [
            (NormalRule::Average, [MEAN, MEAN, CLAMP]),
            (NormalRule::Sin, [INSIDE, OTHER, BORDER]),
            (NormalRule::Tan, [INSIDE, OTHER, CLAMP]),
        ] {
            check_derivatives(&face(normals, edges, membrane), &strained(), &at_rest());
        }
    }
}

fn points(x: &Vector<21>) -> Vector<18> {
    x.fixed_rows::<18>(0).into_owned()
}

#[test]
fn derivatives_without_edge_angles_match_dual_numbers() {
    let (x, x_bar) = (points(&strained()), points(&at_rest()));
    for membrane in [Membrane::StVenantKirchhoff, Membrane::NeoHookean] {
        for edges in [[MEAN, MEAN, CLAMP], [FREE, MEAN, MEAN]] {
            check_derivatives(&face(NormalRule::Average, edges, membrane), &x, &x_bar);
        }
    }
    let f = face(NormalRule::Average, [MEAN; 3], Membrane::StVenantKirchhoff);
    check_material(&f, &x, &x_bar);
}

#[test]
fn what_assembly_reads_is_the_lower_triangle() {
    let f = face(NormalRule::Tan, [INSIDE, OTHER, BORDER], Membrane::StVenantKirchhoff);
    let rest = f.rest(&at_rest());
    let before = at_rest() + (strained() - at_rest()) * 0.7;
    for curvature in [Curvature::Exact, Curvature::Positive] {
        for before in [None, Some(&before)] {
            let mut found = Matrix::<21, 21>::repeat(f64::NAN);
            f.hessian_into(&strained(), before, &rest, curvature, &mut found);
            let expected = match before {
                None => f.hessian(&strained(), &rest, curvature),
                Some(before) => f.secant_hessian(&strained(), before, &rest, curvature),
            };
            assert_eq!(found.lower_triangle(), expected.lower_triangle());
            assert_eq!(expected, expected.transpose());
        }
    }
}

#[test]
fn positive_part_clamps_eigenvalues() {
    for g in [[3.0, 1.0, 2.0], [-3.0, 1.0, -2.0], [1.0, 2.0, -0.5], [-1.0, 0.0, 2.0]] {
        let mut eigen = Matrix::<2, 2>::new(g[0], g[1], g[1], g[2]).symmetric_eigen();
        eigen.eigenvalues.apply(|v| *v = v.max(0.0));
        let expected = eigen.recompose();
        let found = positive_part(g);
        let error = (Matrix::<2, 2>::new(found[0], found[1], found[1], found[2]) - expected).amax();
        assert!(error < 1e-14, "{g:?}: {found:?}, expected {expected}");
    }
}

#[test]
fn material_derivatives_match() {
    let f = face(NormalRule::Tan, [INSIDE, OTHER, BORDER], Membrane::StVenantKirchhoff);
    check_material(&f, &strained(), &at_rest());
}

#[test]
fn rigid_motion_stores_no_energy() {
    let f = face(NormalRule::Sin, [INSIDE, OTHER, INSIDE], Membrane::NeoHookean);
    let turn = nalgebra::Rotation3::from_euler_angles(0.4, -1.1, 2.0);
    let x_bar = at_rest();
    let mut x = x_bar;
    for i in 0..6 {
        let p = turn * x_bar.fixed_rows::<3>(3 * i) + Vector::<3>::new(3.0, -1.0, 0.5);
        x.fixed_rows_mut::<3>(3 * i).copy_from(&p);
    }
    let rest = f.rest(&x_bar);
    assert!(f.energy(&x, &rest).abs() < 1e-14);
    assert!(f.gradient(&x, &rest).amax() < 1e-13);
}

#[test]
fn uniaxial_stretch_costs_young_times_green_strain_squared() {
    // Free lateral contraction: minimise over the transverse stretch by its closed form.
    let (young, nu, h) = (2.0e5, 0.3, 1.0e-3);
    let flat = |sx: f64, sy: f64| {
        let p = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]];
        shape(p.map(|[u, v]| [u * sx, v * sy, 0.0]), [0.0; 3])
    };
    let f = KoiterFace {
        normals: NormalRule::Average,
        edges: [MEAN; 3],
        membrane: Membrane::StVenantKirchhoff,
        stiffness: ShellStiffness::isotropic(young, nu, h),
        warp: [0.6, 0.4], // an isotropic law does not care
    };
    let strain = 0.5 * (1.1f64.powi(2) - 1.0);
    let transverse = (1.0 - 2.0 * nu * strain).sqrt();
    let energy = f.energy(&flat(1.1, transverse), &f.rest(&flat(1.0, 1.0)));
    let expected = 0.5 * young * h * strain * strain * 0.5; // area ½
    assert!((energy / expected - 1.0).abs() < 1e-12, "{energy} J, expected {expected} J");
}

#[test]
fn both_membranes_agree_for_small_strains() {
    let tiny = |f: &KoiterFace| {
        let x_bar = at_rest();
        let x = x_bar + (strained() - x_bar) * 1e-5;
        f.energy(&x, &f.rest(&x_bar))
    };
    let mut linear = face(NormalRule::Average, [MEAN; 3], Membrane::NeoHookean);
    let neo = tiny(&linear);
    linear.membrane = Membrane::StVenantKirchhoff;
    assert!((tiny(&linear) / neo - 1.0).abs() < 1e-4);
}
