use toile_energy::{
    Curvature, KoiterFace, KoiterRest, Membrane, ShellStiffness, StencilEnergy, Together,
    check_derivatives, check_material, positive_part,
};
use toile_geometry::measure::{EdgeRule, NormalRule};
use toile_num::{Matrix, Vector, assert_close};

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

/// Four faces that differ in shape, rest shape and borders: what comes of them together and one by one.
fn check_together<const N: usize>(normals: NormalRule, kinds: [[EdgeRule; 3]; 4])
where
    KoiterFace: StencilEnergy<N, Rest = KoiterRest>,
{
    let faces = kinds.map(|edges| face(normals, edges, Membrane::StVenantKirchhoff));
    let cut = |x: &Vector<21>| Vector::<N>::from_fn(|i, _| x[i]);
    let moved = |x: Vector<21>, l: usize| cut(&x.map(|v| v + 0.03 * (7.0 * v + l as f64).sin()));
    let x: [Vector<N>; 4] = std::array::from_fn(|l| moved(strained(), l));
    let before: [Vector<N>; 4] = std::array::from_fn(|l| moved(strained(), l + 4));
    let rests = std::array::from_fn::<_, 4, _>(|l| faces[l].rest(&moved(at_rest(), l)));
    let side_by_side = |x: &[Vector<N>; 4]| {
        std::array::from_fn::<_, N, _>(|i| [x[0][i], x[1][i], x[2][i], x[3][i]])
    };
    let (lanes, lanes_before) = (side_by_side(&x), side_by_side(&before));
    for secant in [false, true] {
        let together = Together {
            energies: faces.each_ref(),
            rests: rests.each_ref(),
            x: &lanes,
            before: secant.then_some(&lanes_before),
        };
        let Some(energies) = KoiterFace::energy_together(&together) else {
            println!("skipped: this processor has no registers of four numbers");
            return;
        };
        let mut gradients = [[f64::NAN; 4]; N];
        let beside = KoiterFace::gradient_together(&together, gradients.as_flattened_mut());
        assert_eq!(beside, Some(energies));
        for l in 0..4 {
            let expected = faces[l].energy(&x[l], &rests[l]);
            assert!((energies[l] - expected).abs() <= 1e-14 * expected.abs());
            let found = Vector::<N>::from_fn(|i, _| gradients[i][l]);
            assert_close("gradient", &found, &faces[l].gradient(&x[l], &rests[l]), 1e-13);
        }
        for curvature in [Curvature::Exact, Curvature::Positive] {
            let mut hessians = vec![f64::NAN; N * N * 4];
            assert!(KoiterFace::hessian_together(&together, curvature, &mut hessians));
            for l in 0..4 {
                let found = Matrix::<N, N>::from_fn(|i, j| hessians[(j * N + i) * 4 + l]);
                let mut expected = Matrix::<N, N>::zeros();
                let before = secant.then_some(&before[l]);
                faces[l].hessian_into(&x[l], before, &rests[l], curvature, &mut expected);
                let (found, expected) = (found.lower_triangle(), expected.lower_triangle());
                assert_close("hessian", &found, &expected, 1e-13);
            }
        }
    }
}

#[test]
fn faces_together_are_those_one_by_one() {
    for normals in [NormalRule::Sin, NormalRule::Tan] {
        let kinds = [
            [INSIDE, OTHER, BORDER],
            [CLAMP, INSIDE, INSIDE],
            [BORDER, BORDER, OTHER],
            [OTHER, CLAMP, INSIDE],
        ];
        check_together::<21>(normals, kinds);
    }
    let kinds = [[MEAN, MEAN, MEAN], [FREE, MEAN, CLAMP], [CLAMP, FREE, FREE], [FREE, FREE, MEAN]];
    check_together::<18>(NormalRule::Average, kinds);
}

#[test]
fn faces_of_another_law_are_taken_one_by_one() {
    let [quadratic, other] = [Membrane::StVenantKirchhoff, Membrane::NeoHookean]
        .map(|membrane| face(NormalRule::Average, [MEAN; 3], membrane));
    let (x, x_bar) = (points(&strained()), points(&at_rest()));
    let rest = quadratic.rest(&x_bar);
    let lanes = std::array::from_fn(|i| [x[i]; 4]);
    let energies = [&quadratic, &quadratic, &other, &quadratic];
    let together = Together { energies, rests: [&rest; 4], x: &lanes, before: None };
    assert!(<KoiterFace as StencilEnergy<18>>::energy_together(&together).is_none());
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
