//! Where the time went.

/// Seconds of named parts, and the rest of the whole.
pub(crate) fn parts(whole: f64, parts: &[(&str, f64)]) -> Vec<(String, f64)> {
    let mut out: Vec<(String, f64)> =
        parts.iter().filter(|p| p.1 > 0.0).map(|(n, s)| ((*n).into(), *s)).collect();
    let rest = whole - parts.iter().map(|p| p.1).sum::<f64>();
    if rest > 0.0 {
        out.push(("everything else".into(), rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_to_the_whole() {
        let all = parts(10.0, &[("a", 2.0), ("b", 0.0), ("c", 3.0)]);
        assert_eq!(all.iter().map(|p| p.1).sum::<f64>(), 10.0);
        assert_eq!(all.len(), 3);
        assert_eq!(parts(1.0, &[("a", 2.0)]).len(), 1, "never a negative rest");
    }
}
