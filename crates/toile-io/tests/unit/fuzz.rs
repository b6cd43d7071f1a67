//! Damaged files are refused or read, and never break the reader. `examples/fuzz_readers.rs` runs longer.

use crate::mutation::{read_one, run, seeds};

#[test]
fn whole_seeds_are_accepted() {
    for (reader, bytes) in seeds() {
        assert!(read_one(reader, &bytes), "{reader:?}");
    }
}

#[test]
fn damaged_files_never_break_a_reader() {
    let count = 25_000;
    let outcome = run(count, 2021, |_| {});
    for (input, cause) in &outcome.panics {
        eprintln!("{cause}\n{}\n", String::from_utf8_lossy(input));
    }
    assert!(outcome.panics.is_empty() && outcome.hangs.is_empty());
    // Were all refused at the first byte, or none at all, the run would prove nothing.
    for (reader, count, accepted) in outcome.accepted {
        let share = accepted as f64 / count as f64;
        assert!((0.005..0.995).contains(&share), "{reader:?} accepted {share}");
    }
}
