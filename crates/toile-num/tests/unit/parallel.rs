use std::sync::atomic::{AtomicUsize, Ordering};
use toile_num::parallel::{for_chunks, map, ordered_sum, try_map};

#[test]
fn sum_has_the_same_bits_for_any_number_of_threads() {
    let values: Vec<f64> = (0..100_000).map(|i| (i as f64 * 0.37).sin() * 1e3).collect();
    let sum_with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ordered_sum(values.len(), |r| values[r].iter().sum()))
    };
    let one = sum_with(1);
    for threads in [2, 3, 5] {
        assert_eq!(one.to_bits(), sum_with(threads).to_bits());
    }
    let plain: f64 = values.iter().sum();
    assert!((one - plain).abs() < 1e-6);
}

#[test]
fn every_item_is_computed_once_and_kept_in_its_place() {
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (len, grain) in [(0, 4), (1, 4), (4, 4), (5, 4), (103, 7), (3, 0)] {
            let calls = AtomicUsize::new(0);
            let squares = pool.install(|| {
                map(len, grain, |i| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    i * i
                })
            });
            assert_eq!(squares, (0..len).map(|i| i * i).collect::<Vec<_>>());
            assert_eq!(calls.into_inner(), len);
            let mut items = vec![1usize; len];
            pool.install(|| {
                for_chunks(&mut items, grain, |c, part| part.iter_mut().for_each(|x| *x += c));
            });
            let expected: Vec<usize> = (0..len).map(|i| 1 + i / grain.max(1)).collect();
            assert_eq!(items, expected);
        }
    }
}

#[test]
fn the_first_error_in_order_is_told() {
    let odd = |i: usize| if i % 2 == 1 { Err(i) } else { Ok(i) };
    assert_eq!(try_map(50, 3, odd), Err(1));
    assert_eq!(try_map(50, 3, Ok::<usize, ()>), Ok((0..50).collect()));
}

#[test]
fn tasks_may_spread_work_of_their_own() {
    let sums = map(8, 1, |i| map(100, 5, |j| i * j).iter().sum::<usize>());
    assert_eq!(sums, (0..8).map(|i| i * 4950).collect::<Vec<_>>());
}
