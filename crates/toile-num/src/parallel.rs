//! The only parallel reductions allowed: fixed chunks, combined in order, so that the bits of a
//! result do not depend on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

/// Chunk length of the reductions: long enough to hide the cost of a task, fixed so that the order
/// of the additions is.
const CHUNK: usize = 1024;

/// Σ over `0..len`, where `f` sums one range serially.
///
/// The ranges are the same whatever the number of threads, and their sums are added in order.
pub fn ordered_sum(len: usize, f: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    let partial: Vec<f64> = (0..len.div_ceil(CHUNK))
        .into_par_iter()
        .map(|c| f(c * CHUNK..((c + 1) * CHUNK).min(len)))
        .collect();
    partial.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
