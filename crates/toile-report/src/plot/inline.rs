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
