//! Dense fronts against elimination entry by entry, which is the library's, and against themselves on
//! other numbers of threads and other registers.

use crate::common::{Noise, Symmetric, brick, difference, grid_pairs, sheet};
use std::collections::HashMap;
use std::sync::Arc;
use toile_solve::internal::{cholesky_entries, ldlt_entries, use_lanes};
use toile_solve::{
    Cholesky, FactorSettings, Ldlt, NodeGraph, Ordering, SolveError, SymmetricPattern, Variant,
};

fn settings(variant: Variant, threads: usize) -> FactorSettings {
    FactorSettings { variant, threads, max_refinements: 0, ..FactorSettings::default() }
}

/// A pattern with random entries, in an order that is no postorder, and a diagonally dominant matrix.
fn random(n: usize, per_column: usize, seed: u64) -> (Arc<SymmetricPattern>, Vec<f64>) {
    let mut noise = Noise(seed);
    let mut columns: Vec<Vec<usize>> = (0..n).map(|j| vec![j]).collect();
    for j in 0..n {
        for _ in 0..per_column {
            let i = ((noise.next() + 1.0) * 0.5 * n as f64) as usize;
            columns[i.min(j)].push(i.max(j));
        }
    }
    let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
    for column in &mut columns {
        column.sort_unstable();
        column.dedup();
        row_idx.extend_from_slice(column);
        col_ptr.push(row_idx.len());
    }
    let pattern = SymmetricPattern::new(n, col_ptr, row_idx).unwrap();
    let values = dominant(&pattern, &mut noise);
    (Arc::new(pattern), values)
}

/// Random entries, with a diagonal above the sum of the others.
fn dominant(pattern: &SymmetricPattern, noise: &mut Noise) -> Vec<f64> {
    let mut values = noise.vector(pattern.nnz());
    let mut sums = vec![0.0; pattern.n];
    for j in 0..pattern.n {
        values[pattern.col_ptr[j]] = 0.0;
    }
    pattern.norm_inf(&values, &mut sums);
    for j in 0..pattern.n {
        values[pattern.col_ptr[j]] = sums[j] + 0.5;
    }
    values
}

/// The last unknown, or the first, coupled with all others.
fn arrow(n: usize, last: bool) -> (Arc<SymmetricPattern>, Vec<f64>) {
    let head = if last { n - 1 } else { 0 };
    let pairs = (0..n as u32).map(|k| (k, head as u32));
    let graph = NodeGraph::from_pairs(vec![1; n], pairs).unwrap();
    let a = Symmetric::build(&graph, Ordering::Natural, |v, _, u, _| {
        if v == u { n as f64 } else { 0.3 + (v + u) as f64 * 1e-3 }
    });
    (a.pattern, a.values)
}

fn matrices() -> Vec<(String, Arc<SymmetricPattern>, Vec<f64>)> {
    let mut all = Vec::new();
    let mut push = |name: String, (pattern, values)| all.push((name, pattern, values));
    for m in [2, 3, 5, 9, 14] {
        for ordering in [Ordering::Natural, Ordering::Amd, Ordering::NestedDissection] {
            let a = sheet(m, ordering);
            let values = dominant(&a.pattern, &mut Noise(u64::from(m)));
            push(format!("sheet {m} {ordering:?}"), (a.pattern, values));
        }
    }
    // Large enough to be cut into tasks.
    let a = sheet(34, Ordering::NestedDissection);
    let values = dominant(&a.pattern, &mut Noise(34));
    push("large sheet".into(), (a.pattern, values));
    let mut pieces = grid_pairs(7, true);
    pieces.extend(grid_pairs(7, true).into_iter().map(|(u, v)| (u + 60, v + 60)));
    let graph = NodeGraph::from_pairs(vec![2; 120], pieces).unwrap();
    let a = Symmetric::build(&graph, Ordering::Amd, |v, c, u, d| {
        if (v, c) == (u, d) { 30.0 } else { -0.3 - 0.1 * (c * d) as f64 }
    });
    push("pieces and lone nodes".into(), (a.pattern, a.values));
    for n in [0, 1, 2, 7, 8, 9, 64] {
        let diagonal = SymmetricPattern::new(n, (0..=n).collect(), (0..n).collect()).unwrap();
        push(format!("diagonal {n}"), (Arc::new(diagonal), (1..=n).map(|k| k as f64).collect()));
        let full: Vec<usize> = (0..n).flat_map(|j| j..n).collect();
        let col_ptr = (0..=n).scan(0, |at, j| {
            let begin = *at;
            *at += n - j;
            Some(begin)
        });
        let full = SymmetricPattern::new(n, col_ptr.collect(), full).unwrap();
        let values = dominant(&full, &mut Noise(3 + n as u64));
        push(format!("full {n}"), (Arc::new(full), values));
    }
    for n in [3, 50, 3000] {
        push(format!("arrow {n}"), arrow(n, true));
    }
    push("arrow that fills".into(), arrow(60, false));
    for (n, per_column) in [(40, 1), (100, 1), (100, 3), (200, 2), (1000, 1)] {
        push(format!("random {n} {per_column}"), random(n, per_column, 5 + n as u64));
    }
    all
}

type Entries = Vec<(usize, usize, f64)>;

/// Largest difference between two factors, relative to the largest entry; what only one stores is zero.
fn factor_difference(a: &Entries, b: &Entries) -> f64 {
    let mut left: HashMap<(usize, usize), f64> = b.iter().map(|&(i, j, v)| ((i, j), v)).collect();
    let size = b.iter().fold(f64::MIN_POSITIVE, |m, e| m.max(e.2.abs()));
    let mut worst: f64 = 0.0;
    for &(i, j, v) in a {
        // Columns that do not reach each other may have changed places.
        let other = left.remove(&(i, j)).unwrap_or(0.0);
        let d = (v - other).abs();
        worst = if d.is_nan() { d } else { worst.max(d) };
    }
    left.values().fold(worst, |m, v| m.max(v.abs())) / size
}

#[test]
fn fronts_hold_the_factor_of_elimination_entry_by_entry() {
    for (name, pattern, values) in matrices() {
        let factor = |variant| {
            let mut solver =
                Cholesky::with_settings(pattern.clone(), settings(variant, 1)).unwrap();
            solver.factorize(&values).unwrap();
            cholesky_entries(&solver)
        };
        let error = factor_difference(&factor(Variant::Supernodal), &factor(Variant::Simplicial));
        assert!(error < 1e-12, "LLt of {name}: {error:e}");
        // Indefinite, with pivots of both signs.
        let mut values = values;
        for j in (0..pattern.n).filter(|j| j % 3 == 1) {
            values[pattern.col_ptr[j]] *= -1.0;
        }
        let factor = |variant| {
            let mut solver = Ldlt::with_settings(pattern.clone(), settings(variant, 1)).unwrap();
            let inertia = solver.factorize(&values, None).unwrap();
            (inertia, ldlt_entries(&solver))
        };
        let (fronts, entries) = (factor(Variant::Supernodal), factor(Variant::Simplicial));
        assert_eq!(fronts.0, entries.0, "inertia of {name}");
        let error = factor_difference(&fronts.1, &entries.1);
        assert!(error < 1e-12, "LDLt of {name}: {error:e}");
    }
}

#[test]
fn narrow_registers_compute_the_same_factor() {
    for (name, pattern, values) in matrices() {
        let b = Noise(9).vector(11 * pattern.n);
        let solve = |lanes| {
            let mut solver =
                Cholesky::with_settings(pattern.clone(), settings(Variant::Supernodal, 1)).unwrap();
            if lanes != 0 && !use_lanes(&mut solver, lanes) {
                return None;
            }
            solver.factorize(&values).unwrap();
            let mut x = vec![0.0; b.len()];
            solver.solve_many(&values, &b, &mut x, 11).unwrap();
            solver.solve(&values, &b[..pattern.n], &mut x[..pattern.n]).unwrap();
            Some((cholesky_entries(&solver), x))
        };
        let (factor, x) = solve(0).unwrap();
        for (other_factor, other_x) in [1, 4].into_iter().filter_map(solve) {
            assert!(factor_difference(&other_factor, &factor) < 1e-13, "{name}");
            assert!(x.is_empty() || difference(&other_x, &x) < 1e-12, "{name}");
        }
    }
}

#[test]
fn replaced_pivots_are_those_of_elimination_entry_by_entry() {
    for (n, per_column) in [(60, 1), (150, 2)] {
        let (pattern, mut values) = random(n, per_column, 77);
        let mut noise = Noise(13);
        let signs: Vec<i8> = (0..n).map(|_| if noise.next() > 0.0 { 1 } else { -1 }).collect();
        for j in 0..n {
            // A third of the signs expected, a third contradicted, a third without size.
            values[pattern.col_ptr[j]] *= [1.0, -1.0, 0.0][j % 3];
        }
        let factor = |variant| {
            let mut solver = Ldlt::with_settings(pattern.clone(), settings(variant, 1)).unwrap();
            // Large replacements, so that the factor stays comparable.
            solver.set_regularization(toile_solve::Regularization { epsilon: 0.05, delta: 0.6 });
            let inertia = solver.factorize(&values, Some(&signs)).unwrap();
            (inertia, solver.replaced_pivots(), ldlt_entries(&solver))
        };
        let (fronts, entries) = (factor(Variant::Supernodal), factor(Variant::Simplicial));
        assert!(fronts.1 > n / 3);
        assert_eq!((fronts.0, fronts.1), (entries.0, entries.1));
        assert!(factor_difference(&fronts.2, &entries.2) < 1e-12);
    }
}

#[test]
fn pivots_of_either_sign_are_replaced_only_when_tiny() {
    let pattern = Arc::new(SymmetricPattern::new(5, (0..=5).collect(), (0..5).collect()).unwrap());
    let chosen = settings(Variant::Supernodal, 1);
    let mut ldlt = Ldlt::with_settings(pattern, chosen).unwrap();
    let values = [2.0, -1.0, 0.0, 1e-15, -1e-15];
    let inertia = ldlt.factorize(&values, Some(&[0; 5])).unwrap();
    assert_eq!((inertia.positive, inertia.negative, ldlt.replaced_pivots()), (3, 2, 3));
    let pivots: Vec<f64> = ldlt_entries(&ldlt).iter().map(|e| e.2).collect();
    assert_eq!(pivots, [2.0, -1.0, 2e-8, 2e-8, -2e-8]);
}

#[test]
fn the_first_column_without_a_pivot_is_named_whatever_the_threads_meet_first() {
    let a = sheet(34, Ordering::NestedDissection);
    let mut cases = vec![(a.pattern.clone(), dominant(&a.pattern, &mut Noise(1)))];
    cases.push(random(300, 2, 21));
    cases.push(random(1000, 1, 22));
    let mut noise = Noise(99);
    for (pattern, values) in &cases {
        let mut solvers: Vec<Cholesky> = [1, 2, 3]
            .map(|t| settings(Variant::Supernodal, t))
            .into_iter()
            .chain([settings(Variant::Simplicial, 1)])
            .map(|s| Cholesky::with_settings(pattern.clone(), s).unwrap())
            .collect();
        for _ in 0..12 {
            let mut values = values.clone();
            let mut earliest = pattern.n;
            for _ in 0..5 {
                let j = ((noise.next() + 1.0) * 0.5 * pattern.n as f64) as usize;
                values[pattern.col_ptr[j]] = -1.0;
                earliest = earliest.min(j);
            }
            for solver in &mut solvers {
                let expected = Err(SolveError::NotPositiveDefinite { column: earliest });
                assert_eq!(solver.factorize(&values), expected);
            }
        }
    }
}

#[test]
fn threads_change_no_bit_of_factor_or_solution() {
    let a = sheet(40, Ordering::NestedDissection);
    let b = brick(11);
    for (pattern, values) in [(a.pattern, a.values), (b.pattern, b.values)] {
        let n = pattern.n;
        let rhs = Noise(4).vector(11 * n);
        let run = |threads| {
            let chosen = settings(Variant::Supernodal, threads);
            let mut cholesky = Cholesky::with_settings(pattern.clone(), chosen).unwrap();
            let mut ldlt = Ldlt::with_settings(pattern.clone(), chosen).unwrap();
            let mut x = vec![0.0; rhs.len()];
            let mut bits: Vec<u64> = Vec::new();
            for _ in 0..3 {
                bits.clear();
                cholesky.factorize(&values).unwrap();
                ldlt.factorize(&values, None).unwrap();
                for (_, _, v) in cholesky_entries(&cholesky).into_iter().chain(ldlt_entries(&ldlt))
                {
                    bits.push(v.to_bits());
                }
                cholesky.solve_many(&values, &rhs, &mut x, 11).unwrap();
                bits.extend(x.iter().map(|x| x.to_bits()));
                ldlt.solve(&values, &rhs[..n], &mut x[..n]).unwrap();
                bits.extend(x[..n].iter().map(|x| x.to_bits()));
            }
            bits
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let one = run(1);
        for threads in [0, 2, 3] {
            assert!(pool.install(|| run(threads)) == one, "{threads} threads change bits");
        }
    }
}

#[test]
fn columns_solved_together_agree_with_columns_alone() {
    let a = sheet(23, Ordering::Amd);
    let n = a.pattern.n;
    let mut ldlt = Ldlt::with_settings(a.pattern.clone(), settings(Variant::Auto, 1)).unwrap();
    ldlt.factorize(&a.values, None).unwrap();
    let rhs = Noise(8).vector(17 * n);
    let mut alone = vec![0.0; rhs.len()];
    for (b, x) in rhs.chunks(n).zip(alone.chunks_mut(n)) {
        ldlt.solve(&a.values, b, x).unwrap();
    }
    for columns in [1, 2, 7, 8, 9, 16, 17] {
        let mut x = vec![0.0; columns * n];
        let report = ldlt.solve_many(&a.values, &rhs[..x.len()], &mut x, columns).unwrap();
        assert!(report.residual < 1e-14, "{report:?}");
        assert!(difference(&x, &alone[..x.len()]) < 1e-14);
    }
}

#[test]
fn thousands_of_factorisations_and_failures_leave_no_trace() {
    let a = sheet(8, Ordering::Amd);
    let mut failing = a.values.clone();
    failing[a.pattern.col_ptr[100]] = -1.0;
    let mut cholesky = Cholesky::new(a.pattern.clone()).unwrap();
    cholesky.factorize(&a.values).unwrap();
    let first = cholesky_entries(&cholesky);
    for _ in 0..2000 {
        let expected = Err(SolveError::NotPositiveDefinite { column: 100 });
        assert_eq!(cholesky.factorize(&failing), expected);
        cholesky.factorize(&a.values).unwrap();
    }
    assert!(cholesky_entries(&cholesky) == first);
}
