//! The nearest known word to a misspelt one.

/// Edits (insert, delete, replace, exchange neighbours) from one word to the other.
///
/// Reference: Damerau 1964, in the restricted form that edits no place twice.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The known word most like `word`, if any is near: a third of the letters may differ, or one is a
/// part of the other (`density` finds `areal_density`).
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |s: &str| -> Vec<char> {
        s.chars().take(64).map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let word = fold(word);
    let text: String = word.iter().collect();
    known
        .filter_map(|candidate| {
            let letters = fold(candidate);
            let d = distance(&word, &letters);
            let flat: String = letters.iter().collect();
            let within = word.len() >= 3
                && letters.len() >= 3
                && (flat.contains(&text) || text.contains(&flat));
            (within || 3 * d <= word.len().max(letters.len()).max(3)).then_some((d, candidate))
        })
        .min_by_key(|&(d, _)| d)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_find_their_neighbour_and_strangers_find_none() {
        let known = ["thickness", "areal_density", "material", "mesh", "pins"];
        let find = |w| nearest(w, known.iter().copied());
        assert_eq!(find("thicknes"), Some("thickness"));
        assert_eq!(find("tihckness"), Some("thickness"));
        assert_eq!(find("Areal-Density"), Some("areal_density"));
        assert_eq!(find("density"), Some("areal_density"));
        assert_eq!(find("pin"), Some("pins"));
        assert_eq!(find("colour"), None);
    }

    #[test]
    fn exchanged_neighbours_count_as_one_edit() {
        let d = |a: &str, b: &str| {
            distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(d("mehs", "mesh"), 1);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("", "abc"), 3);
    }
}
