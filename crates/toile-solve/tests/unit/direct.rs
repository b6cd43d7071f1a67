//! The direct solvers against dense algebra, against each other, and against known spectra.

use crate::common::{Noise, Symmetric, brick, dense_solve, difference, general, laplacian, sheet};
use std::sync::Arc;
use toile_solve::{
    Cholesky, FactorSettings, GeneralPattern, Inertia, Ldlt, LinearSolver, Lu, NodeGraph, Ordering,
    SolveError, SymmetricPattern, Variant,
};

fn variant(variant: Variant) -> FactorSettings {
    FactorSettings { variant, ..FactorSettings::default() }
}

#[test]
fn all_solvers_agree_with_dense_elimination() {
    for ordering in [Ordering::Natural, Ordering::Amd, Ordering::NestedDissection] {
        let a = sheet(6, ordering);
        let (general_pattern, general_values) = a.general();
        let b = Noise(7).vector(a.pattern.n);
        let expected = dense_solve(&a.dense(), &b);
        let mut solvers: Vec<(Box<dyn LinearSolver>, &[f64])> = Vec::new();
        for v in [Variant::Supernodal, Variant::Simplicial] {
            let pattern = || a.pattern.clone();
            let cholesky = Cholesky::with_settings(pattern(), variant(v)).unwrap();
            assert_eq!(cholesky.is_supernodal(), v == Variant::Supernodal);
            solvers.push((Box::new(cholesky), &a.values));
            let ldlt = Ldlt::with_settings(pattern(), variant(v)).unwrap();
            solvers.push((Box::new(ldlt), &a.values));
        }
        let lu = Lu::new(general_pattern).unwrap();
        solvers.push((Box::new(lu), &general_values));
        for (solver, values) in &mut solvers {
            let mut x = vec![f64::NAN; b.len()];
            assert_eq!(solver.dimension(), b.len());
            assert_eq!(solver.solve(values, &b, &mut x), Err(SolveError::NotFactorized));
            solver.factorize(values).unwrap();
            let report = solver.solve(values, &b, &mut x).unwrap();
            assert!(report.residual <= 1e-14, "{report:?}");
            assert!(difference(&x, &expected) < 1e-13);
        }
    }
}

#[test]
fn rods_go_entry_by_entry_and_sheets_in_blocks() {
    // A rod: vertices and the angles of the edges between them, each coupled to the next vertex.
    let sizes = (0..199).map(|k| if k % 2 == 0 { 3 } else { 1 }).collect();
    let reach = |k: u32| (1..=2).map(move |d| (k, k + d));
    let pairs = (0..199u32).flat_map(reach).filter(|&(_, v)| v < 199);
    let graph = NodeGraph::from_pairs(sizes, pairs).unwrap();
    let rod =
        Symmetric::build(
            &graph,
            Ordering::Natural,
            |v, c, u, d| {
                if (v, c) == (u, d) { 30.0 } else { -0.5 }
            },
        );
    assert!(!Cholesky::new(rod.pattern.clone()).unwrap().is_supernodal());
    let small = sheet(6, Ordering::Amd);
    assert!(Cholesky::new(small.pattern).unwrap().is_supernodal());
}

#[test]
fn inertia_counts_the_analytic_eigenvalues_below_the_shift() {
    for v in [Variant::Supernodal, Variant::Simplicial] {
        for shift in [0.0, -0.7, -3.1, -6.03, -9.0] {
            let (a, eigenvalues) = laplacian(17, shift, Ordering::Amd);
            let closest = eigenvalues.iter().fold(9.0, |m: f64, e| m.min(e.abs()));
            assert!(closest > 1e-3, "shift {shift} too close to an eigenvalue");
            let negative = eigenvalues.iter().filter(|&&e| e < 0.0).count();
            let mut ldlt = Ldlt::with_settings(a.pattern.clone(), variant(v)).unwrap();
            let inertia = ldlt.factorize(&a.values, None).unwrap();
            let expected = Inertia { positive: 289 - negative, negative, zero: 0 };
            assert_eq!(inertia, expected, "shift {shift}");
            let b = Noise(3).vector(289);
            let mut x = vec![0.0; 289];
            let report = ldlt.solve(&a.values, &b, &mut x).unwrap();
            assert!(report.residual < 1e-13, "{report:?}");
            let mut cholesky = Cholesky::with_settings(a.pattern.clone(), variant(v)).unwrap();
            let outcome = cholesky.factorize(&a.values);
            assert_eq!(outcome.is_ok(), negative == 0);
            assert_eq!(cholesky.is_factorized(), negative == 0);
            if negative == 0 {
                let expected: f64 = eigenvalues.iter().map(|e| e.ln()).sum();
                assert!((cholesky.log_determinant().unwrap() / expected - 1.0).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn a_rigid_mode_is_counted_as_zero() {
    // Graph Laplacian of a sheet: constants are in the kernel.
    let graph = NodeGraph::from_pairs(vec![1; 100], crate::common::grid_pairs(10, false)).unwrap();
    let a = Symmetric::build(&graph, Ordering::Amd, |v, _, u, _| {
        if v == u { graph.neighbours(v).len() as f64 } else { -1.0 }
    });
    for v in [Variant::Supernodal, Variant::Simplicial] {
        let mut ldlt = Ldlt::with_settings(a.pattern.clone(), variant(v)).unwrap();
        match ldlt.factorize(&a.values, None) {
            Ok(inertia) => assert_eq!((inertia.positive, inertia.zero), (99, 1)),
            Err(error) => assert_eq!(error, SolveError::ZeroPivot { column: 99 }),
        }
    }
}

#[test]
fn the_first_bad_pivot_is_named() {
    // Diagonal, so that pivots are the entries.
    let n = 40;
    let pattern = SymmetricPattern::new(n, (0..=n).collect(), (0..n).collect()).unwrap();
    let pattern = Arc::new(pattern);
    let mut values = vec![2.0; n];
    values[23] = -1.0;
    for v in [Variant::Supernodal, Variant::Simplicial] {
        let mut cholesky = Cholesky::with_settings(pattern.clone(), variant(v)).unwrap();
        assert_eq!(
            cholesky.factorize(&values),
            Err(SolveError::NotPositiveDefinite { column: 23 })
        );
        let mut ldlt = Ldlt::with_settings(pattern.clone(), variant(v)).unwrap();
        assert_eq!(ldlt.factorize(&values, None).unwrap().negative, 1);
        let mut zeroed = values.clone();
        zeroed[11] = 0.0;
        assert_eq!(ldlt.factorize(&zeroed, None), Err(SolveError::ZeroPivot { column: 11 }));
    }
}

/// Saddle point [K Bᵀ; B 0]: a sheet whose vertices on one diagonal have one coordinate combination held.
fn saddle_point() -> (Symmetric, Vec<i8>) {
    let (m, held) = (9u32, 9u32);
    let vertices = m * m;
    let mut sizes = vec![3; vertices as usize];
    sizes.extend(vec![1; held as usize]);
    let mut pairs = crate::common::grid_pairs(m, true);
    pairs.extend((0..held).map(|k| (k * (m + 1), vertices + k)));
    let graph = NodeGraph::from_pairs(sizes, pairs).unwrap();
    let vertices = vertices as usize;
    let a = Symmetric::build(&graph, Ordering::Amd, |v, c, u, d| {
        match (v >= vertices, u >= vertices) {
            (true, true) => 0.0,
            (false, false) if (v, c) == (u, d) => 12.0,
            (false, false) if v == u => 0.3,
            (false, false) => -0.4,
            _ => 1.0 + (c + d) as f64,
        }
    });
    let mut signs = vec![1i8; a.pattern.n];
    for k in 0..held as usize {
        signs[a.first[vertices + k]] = -1;
    }
    (a, signs)
}

#[test]
fn saddle_points_with_an_exact_zero_block_are_solved_through_signs() {
    let (a, signs) = saddle_point();
    let negative = signs.iter().filter(|&&s| s < 0).count();
    let b = Noise(11).vector(a.pattern.n);
    let expected = dense_solve(&a.dense(), &b);
    for v in [Variant::Supernodal, Variant::Simplicial] {
        let mut settings = variant(v);
        settings.max_refinements = 10;
        let mut ldlt = Ldlt::with_settings(a.pattern.clone(), settings).unwrap();
        // Minimum degree eliminates the lone multipliers first: without signs there is no pivot.
        assert!(matches!(ldlt.factorize(&a.values, None), Err(SolveError::ZeroPivot { .. })));
        assert!(!ldlt.is_factorized());
        let inertia = ldlt.factorize(&a.values, Some(&signs)).unwrap();
        assert_eq!((inertia.negative, inertia.zero), (negative, 0));
        assert!(ldlt.replaced_pivots() > 0);
        let mut x = vec![0.0; b.len()];
        let report = ldlt.solve(&a.values, &b, &mut x).unwrap();
        assert!(report.refinements > 0);
        assert!(report.residual <= 1e-14, "{report:?}");
        assert!(difference(&x, &expected) < 1e-12);
    }
}

#[test]
fn a_reused_analysis_gives_the_same_bits() {
    let a = sheet(12, Ordering::Amd);
    let other: Vec<f64> = a.values.iter().map(|v| 1.5 * v).collect();
    let b = Noise(5).vector(a.pattern.n);
    for threads in [1, 2, 4] {
        let settings = FactorSettings { threads, ..FactorSettings::default() };
        let mut reference = vec![0.0; b.len()];
        let mut fresh = Cholesky::new(a.pattern.clone()).unwrap();
        fresh.factorize(&a.values).unwrap();
        fresh.solve(&a.values, &b, &mut reference).unwrap();
        let mut reused = Cholesky::with_settings(a.pattern.clone(), settings).unwrap();
        let mut x = vec![0.0; b.len()];
        reused.factorize(&other).unwrap();
        reused.solve(&other, &b, &mut x).unwrap();
        assert!(difference(&x, &reference) > 0.1);
        let mut negative = a.values.clone();
        negative[0] = -1.0;
        assert!(reused.factorize(&negative).is_err());
        reused.factorize(&a.values).unwrap();
        reused.solve(&a.values, &b, &mut x).unwrap();
        assert_eq!(x, reference);
    }
}

#[test]
fn blocks_of_right_hand_sides_are_solved_column_by_column() {
    let a = sheet(7, Ordering::NestedDissection);
    let n = a.pattern.n;
    let b = Noise(9).vector(5 * n);
    let (mut x, mut single) = (vec![0.0; 5 * n], vec![0.0; n]);
    let mut cholesky = Cholesky::new(a.pattern.clone()).unwrap();
    cholesky.factorize(&a.values).unwrap();
    let report = cholesky.solve_many(&a.values, &b, &mut x, 5).unwrap();
    assert!(report.residual <= 1e-14);
    for k in 0..5 {
        let column = k * n..(k + 1) * n;
        cholesky.solve(&a.values, &b[column.clone()], &mut single).unwrap();
        assert!(difference(&x[column.clone()], &single) < 1e-14);
        let mut raw = b[column].to_vec();
        cholesky.apply_inverse(&mut raw);
        assert!(difference(&raw, &single) < 1e-13);
    }
    assert!(matches!(
        cholesky.solve_many(&a.values, &b, &mut x, 4),
        Err(SolveError::WrongLength { .. })
    ));
}

#[test]
fn threads_change_neither_residual_nor_bits_on_a_brick() {
    // The fault this guards against: wrong factors from threaded triangular products.
    let a = brick(22);
    let b = Noise(13).vector(a.pattern.n);
    let mut reference: Option<Vec<f64>> = None;
    for threads in [1, 2, 3, 8] {
        let settings = FactorSettings { threads, max_refinements: 0, ..FactorSettings::default() };
        let mut cholesky = Cholesky::with_settings(a.pattern.clone(), settings).unwrap();
        cholesky.factorize(&a.values).unwrap();
        let mut x = vec![0.0; b.len()];
        let report = cholesky.solve(&a.values, &b, &mut x).unwrap();
        assert!(report.residual <= 1e-13, "{threads} threads: {report:?}");
        let reference = reference.get_or_insert_with(|| x.clone());
        assert!(&x == reference, "{threads} threads change bits");
    }
}

#[test]
fn lu_solves_non_symmetric_systems_and_their_transposes() {
    // Convection-diffusion, some rows needing pivots.
    let n = 60;
    let mut a = vec![vec![0.0; n]; n];
    let mut noise = Noise(21);
    for i in 0..n {
        a[i][(i + 1) % n] = 2.0 + noise.next();
        a[i][(i * 7 + 3) % n] -= 1.5;
        if i % 5 != 0 {
            a[i][i] = 0.1 * noise.next();
        }
    }
    let (pattern, values) = general(&a);
    let transposed: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| a[j][i]).collect()).collect();
    let b = noise.vector(n);
    let mut lu = Lu::new(pattern.clone()).unwrap();
    lu.factorize(&values).unwrap();
    let mut x = vec![0.0; n];
    let report = lu.solve(&values, &b, &mut x).unwrap();
    assert!(report.residual <= 1e-14, "{report:?}");
    assert!(difference(&x, &dense_solve(&a, &b)) < 1e-11);
    lu.solve_transposed(&values, &b, &mut x).unwrap();
    assert!(difference(&x, &dense_solve(&transposed, &b)) < 1e-11);
    // Same analysis, other values, then back: same bits.
    let before = x.clone();
    let other: Vec<f64> = values.iter().map(|v| v * v + 0.1).collect();
    lu.factorize(&other).unwrap();
    lu.factorize(&values).unwrap();
    lu.solve_transposed(&values, &b, &mut x).unwrap();
    assert_eq!(x, before);
}

#[test]
fn large_lu_uses_blocks_and_still_solves() {
    let a = brick(9);
    let (pattern, mut values) = a.general();
    for (k, v) in values.iter_mut().enumerate() {
        *v *= 1.0 + 0.2 * (k as f64).sin();
    }
    let b = Noise(2).vector(pattern.n);
    let mut x = vec![0.0; b.len()];
    let mut lu = Lu::new(pattern).unwrap();
    lu.factorize(&values).unwrap();
    let report = lu.solve(&values, &b, &mut x).unwrap();
    assert!(report.residual <= 1e-14, "{report:?}");
}

#[test]
fn nan_and_infinity_are_refused_wherever_they_enter() {
    let a = sheet(5, Ordering::Amd);
    let n = a.pattern.n;
    let (general_pattern, general_values) = a.general();
    let b = vec![1.0; n];
    let mut x = vec![0.0; n];
    for poison in [f64::NAN, f64::INFINITY] {
        let not_finite = |what| Err(SolveError::NotFinite { what });
        let mut bad_b = b.clone();
        bad_b[n / 2] = poison;
        let mut cholesky = Cholesky::new(a.pattern.clone()).unwrap();
        let mut ldlt = Ldlt::new(a.pattern.clone()).unwrap();
        let mut lu = Lu::new(general_pattern.clone()).unwrap();
        for k in [0, a.values.len() / 3, a.values.len() - 1] {
            let mut values = a.values.clone();
            values[k] = poison;
            assert_eq!(cholesky.factorize(&values), not_finite("matrix"));
            let signs = vec![1; n];
            let outcome = ldlt.factorize(&values, Some(&signs));
            assert_eq!(outcome.map(|_| ()), not_finite("matrix"));
            let mut values = general_values.clone();
            values[k] = poison;
            assert_eq!(lu.factorize(&values), not_finite("matrix"));
            assert!(!cholesky.is_factorized() && !ldlt.is_factorized() && !lu.is_factorized());
        }
        cholesky.factorize(&a.values).unwrap();
        ldlt.factorize(&a.values, None).unwrap();
        lu.factorize(&general_values).unwrap();
        let expected = Err(SolveError::NotFinite { what: "right-hand side" });
        assert_eq!(cholesky.solve(&a.values, &bad_b, &mut x), expected);
        assert_eq!(ldlt.solve(&a.values, &bad_b, &mut x), expected);
        assert_eq!(lu.solve(&general_values, &bad_b, &mut x), expected);
    }
    // Overflow inside the elimination: finite entries, infinite factor.
    let huge: Vec<f64> = a.values.iter().map(|v| v * 1e307).collect();
    assert!(Cholesky::new(a.pattern.clone()).unwrap().factorize(&huge).is_err());
}

#[test]
fn singular_matrices_are_refused() {
    // No entry in column 1; then columns 0 and 1 competing for one row.
    for (col_ptr, row_idx) in [(vec![0, 1, 1, 2], vec![0, 2]), (vec![0, 1, 2, 4], vec![0, 0, 1, 2])]
    {
        let pattern = GeneralPattern::new(3, col_ptr, row_idx).unwrap();
        assert_eq!(
            Lu::new(Arc::new(pattern)).err(),
            Some(SolveError::StructurallySingular { rank: 2, n: 3 })
        );
    }
    // Full pattern, rank one and rank n − 1.
    for (a, n) in [(0.0, 12), (1.0, 12)] {
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let diagonal = move |j| if i == j && i + 2 < n { a } else { 0.0 };
                (0..n).map(|j| 1.0 + diagonal(j)).collect()
            })
            .collect();
        let (pattern, values) = general(&rows);
        let mut lu = Lu::new(pattern).unwrap();
        assert_eq!(lu.factorize(&values), Err(SolveError::Singular));
    }
    // A symmetric pattern without a diagonal entry.
    let hole = SymmetricPattern { n: 2, col_ptr: vec![0, 1, 1], row_idx: vec![0] };
    assert!(matches!(
        Cholesky::new(Arc::new(hole)).err(),
        Some(SolveError::BadPattern { column: 1, .. })
    ));
}

#[test]
fn a_wrong_factor_is_refused_not_returned() {
    let a = sheet(5, Ordering::Amd);
    let b = vec![1.0; a.pattern.n];
    let mut x = b.clone();
    let mut cholesky = Cholesky::new(a.pattern.clone()).unwrap();
    cholesky.factorize(&a.values).unwrap();
    let other: Vec<f64> = a.values.iter().map(|v| -v).collect();
    assert!(matches!(cholesky.solve(&other, &b, &mut x), Err(SolveError::Inaccurate { .. })));
}

#[test]
fn empty_and_single_systems_are_systems_too() {
    for v in [Variant::Auto, Variant::Supernodal, Variant::Simplicial] {
        let empty = Arc::new(SymmetricPattern::new(0, vec![0], vec![]).unwrap());
        let single = Arc::new(SymmetricPattern::new(1, vec![0, 1], vec![0]).unwrap());
        let mut cholesky = Cholesky::with_settings(empty.clone(), variant(v)).unwrap();
        cholesky.factorize(&[]).unwrap();
        assert_eq!(cholesky.solve(&[], &[], &mut []).unwrap().residual, 0.0);
        cholesky.apply_inverse(&mut []);
        let mut ldlt = Ldlt::with_settings(empty, variant(v)).unwrap();
        assert_eq!(ldlt.factorize(&[], None), Ok(Inertia::default()));
        let mut x = [0.0];
        let mut cholesky = Cholesky::with_settings(single.clone(), variant(v)).unwrap();
        cholesky.factorize(&[4.0]).unwrap();
        cholesky.solve(&[4.0], &[2.0], &mut x).unwrap();
        assert_eq!(x, [0.5]);
        assert!((cholesky.log_determinant().unwrap() - 4f64.ln()).abs() < 1e-15);
        let mut ldlt = Ldlt::with_settings(single, variant(v)).unwrap();
        assert_eq!(ldlt.factorize(&[-4.0], None).unwrap().negative, 1);
        ldlt.solve(&[-4.0], &[2.0], &mut x).unwrap();
        assert_eq!(x, [-0.5]);
    }
    let mut lu = Lu::new(Arc::new(GeneralPattern::new(0, vec![0], vec![]).unwrap())).unwrap();
    lu.factorize(&[]).unwrap();
    lu.solve(&[], &[], &mut []).unwrap();
    let single = GeneralPattern::new(1, vec![0, 1], vec![0]).unwrap();
    let mut lu = Lu::new(Arc::new(single)).unwrap();
    let mut x = [0.0];
    lu.factorize(&[-4.0]).unwrap();
    lu.solve(&[-4.0], &[2.0], &mut x).unwrap();
    assert_eq!(x, [-0.5]);
    assert_eq!(lu.factorize(&[0.0]), Err(SolveError::Singular));
}

#[test]
fn a_zero_right_hand_side_has_the_zero_solution() {
    let a = sheet(4, Ordering::Amd);
    let mut x = vec![1.0; a.pattern.n];
    let mut cholesky = Cholesky::new(a.pattern.clone()).unwrap();
    cholesky.factorize(&a.values).unwrap();
    let b = vec![0.0; x.len()];
    cholesky.solve(&a.values, &b, &mut x).unwrap();
    assert!(x.iter().all(|&x| x == 0.0));
}

#[test]
fn the_end_of_the_factor_tells_how_what_is_eliminated_last_yields() {
    for (v, ordering) in [
        (Variant::Supernodal, Ordering::Amd),
        (Variant::Supernodal, Ordering::NestedDissection),
        (Variant::Simplicial, Ordering::Amd),
    ] {
        // From the middle of a dense block on, too.
        let a = sheet(9, ordering);
        let n = a.pattern.n;
        for first in [0, 1, n / 2, n - 31, n - 1] {
            let mut cholesky = Cholesky::with_settings(a.pattern.clone(), variant(v)).unwrap();
            let (size, columns) = (n - first, 4);
            let x = Noise(11).vector(size * columns);
            let early = cholesky.compliance(first);
            assert_eq!(early.err(), Some(SolveError::NotFactorized));
            cholesky.factorize(&a.values).unwrap();
            let mut product = cholesky.compliance(first).unwrap();
            assert_eq!(product.size(), size);
            // A few at a time.
            product.add(&x[..size]);
            product.add(&[]);
            product.add(&x[size..3 * size]);
            product.add(&x[3 * size..]);
            assert_eq!(product.columns(), columns);
            for c in 0..columns {
                let mut whole = vec![0.0; n];
                whole[first..].copy_from_slice(&x[c * size..][..size]);
                cholesky.apply_inverse(&mut whole);
                for r in 0..columns {
                    let pairs = whole[first..].iter().zip(&x[r * size..]);
                    let expected: f64 = pairs.map(|(a, b)| a * b).sum();
                    let found = product.at(r, c);
                    assert!((found - expected).abs() <= 1e-11 * expected.abs().max(1.0));
                }
            }
        }
    }
}
