//! Numbers for people.

use toile::num::words::{digits, duration, length};

#[test]
fn lengths_have_three_digits_and_no_exponent_where_that_reads_well() {
    for (metres, words) in [
        (0.0474, "47.4 mm"),
        (5.01e-4, "0.501 mm"),
        (1.2e-5, "12.0 µm"),
        (3.04e-7, "304 nm"),
        (1.706, "1.71 m"),
        (0.0, "0 mm"),
        (-0.002, "-2.00 mm"),
        (8.2e-15, "8.2e-15 m"),
        (f64::INFINITY, "inf m"),
    ] {
        assert_eq!(length(metres), words);
    }
    assert_eq!(digits(79.0577), "79.1");
    assert_eq!(digits(4.78e-15), "4.78e-15");
    assert_eq!(duration(90.0), "90.0 s");
}
