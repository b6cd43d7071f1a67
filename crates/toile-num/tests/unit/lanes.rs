use toile_num::lanes::{Entries, LANES, Lanes, Simd, Triple, Wide, WideEntries, WithSimd, wide};

/// A little of everything a kernel does.
fn kernel<T: Lanes>(a: T, b: T) -> [T; 4] {
    let (u, v) = (Triple([a, b, a + b]), Triple([b, a.like(2.0), -a]));
    let w = u.cross(v).mul_add(a, u - v) * b;
    [
        w.norm() / (u.dot(v).abs() + a.like(1.0)),
        (a - b).choose(a, b),
        a.each(f64::sin) - b.abs().sqrt(),
        w[0] + w[1] * w[2],
    ]
}

struct Run<'a>([[f64; LANES]; 2], &'a mut [f64]);

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let [a, b] = self.0.map(|values| Wide::load(simd, &values));
        let mut out = WideEntries::new(simd, self.1);
        for (i, value) in kernel(a, b).into_iter().enumerate() {
            out.put(i, value);
            out.put(i, out.at(i)); // what is written can be read
        }
    }
}

#[test]
fn lanes_do_what_single_numbers_do() {
    let (a, b) = ([0.3, -1.2, 2.5, 0.0], [0.7, -0.4, -3.1, 0.0]);
    let mut out = [f64::NAN; 4 * LANES];
    if wide(Run([a, b], &mut out)).is_err() {
        println!("skipped: this processor has no registers of four numbers");
        return;
    }
    for l in 0..LANES {
        for (i, expected) in kernel(a[l], b[l]).into_iter().enumerate() {
            let found = out[i * LANES + l];
            assert!(
                (found - expected).abs() <= 1e-15 * (1.0 + expected.abs()),
                "{found} {expected}"
            );
        }
    }
}
