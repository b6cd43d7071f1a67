//! A plot inside a page: its colours become those of the page.

/// Colours of [`super::draw`] and the custom properties that replace them.
const NAMED: [(&str, &str); 16] = [
    ("#222222", "--ink"),
    ("#000000", "--ink"),
    ("#ffffff", "--paper"),
    ("#fafafa", "--panel"),
    ("#f4faf5", "--panel"),
    ("#fdf4f3", "--panel"),
    ("#dddddd", "--line"),
    ("#bbbbbb", "--line"),
    ("#eeeeee", "--line"),
    ("#1a7f37", "--good"),
    ("#b3261e", "--bad"),
    ("#0072b2", "--series-0"),
    ("#d55e00", "--series-1"),
    ("#009e73", "--series-2"),
    ("#cc79a7", "--series-3"),
    ("#e69f00", "--series-4"),
];

pub(super) fn within(svg: &str, id: &str) -> String {
    let mut out = String::with_capacity(svg.len() + 1024);
    let mut rest = svg;
    while let Some(at) = rest.find('#') {
        out.push_str(&rest[..at]);
        let found =
            rest.get(at..at + 7).and_then(|c| NAMED.iter().find(|(colour, _)| *colour == c));
        // A name in a title is text, not a colour: colours follow a quote or a colon.
        let colour = rest[..at].ends_with(['"', ':']);
        if let (Some((value, name)), true) = (found, colour) {
            out.push_str(&format!("var({name}, {value})"));
            rest = &rest[at + 7..];
        } else {
            out.push('#');
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    out = out.replace("id=\"frame\"", &format!("id=\"frame-{id}\""));
    out = out.replace("url(#frame)", &format!("url(#frame-{id})"));
    // The view box keeps the proportions.
    match (out.find(" width=\""), out.find(" viewBox=\"")) {
        (Some(a), Some(b)) if a < b => format!("{} class=\"plot\"{}", &out[..a], &out[b..]),
        _ => out,
    }
}

#[cfg(test)]
mod tests {
    use crate::plot::{Axis, Plot, Series};

    #[test]
    fn takes_the_colours_of_the_page_and_a_name_of_its_own() {
        let plot = Plot::new("colour #222222", Axis::linear("x"), Axis::linear("y"))
            .with(Series::line("a", vec![(0.0, 0.0), (1.0, 1.0)]));
        let svg = plot.to_inline_svg("7 a<");
        assert!(
            svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=")
        );
        assert!(svg.contains("stroke=\"var(--series-0, #0072b2)\""));
        assert!(svg.contains("id=\"frame-7a\"") && svg.contains("url(#frame-7a)"));
        assert!(svg.contains(">colour #222222<"), "text is left alone");
        assert!(!svg.contains("\"#"), "no colour is left");
    }
}
