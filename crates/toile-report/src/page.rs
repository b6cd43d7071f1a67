//! One page that holds everything: no other file, no network.

use std::fmt::Write;

use crate::figures::{Figure, digits, duration};
use crate::picture::ColourMap;
use crate::plot::Plot;
use crate::plot::escape;

/// What the result is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is good.
    pub ok: bool,
    /// "certified", "not certified", "OK", "KO", "done".
    pub word: String,
    /// Why, in words.
    pub reason: String,
}

/// What the colours of a picture mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// Name of the field with its unit.
    pub label: String,
    /// Values at both ends.
    pub range: (f64, f64),
    /// Its colours.
    pub map: ColourMap,
}

/// A picture with its caption.
#[derive(Clone, Debug)]
pub struct Shot {
    /// What it shows.
    pub caption: String,
    /// The picture as a `data:` address.
    pub address: String,
    /// What its colours mean.
    pub legend: Option<Legend>,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Above it.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// A report.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// What was done, e.g. `invert dress.toml`.
    pub title: String,
    /// What came out.
    pub verdict: Option<Verdict>,
    /// What was asked: name and value.
    pub asked: Vec<(String, String)>,
    /// The scene as it was read.
    pub scene: Option<String>,
    /// Pictures.
    pub shots: Vec<Shot>,
    /// The certificate.
    pub figures: Vec<Figure>,
    /// Plots.
    pub plots: Vec<Plot>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Things that were noticed.
    pub notes: Vec<String>,
    /// Seconds by part.
    pub timings: Vec<(String, f64)>,
    /// Files beside the page and what they hold.
    pub files: Vec<(String, String)>,
    /// The program and its version.
    pub version: String,
    /// The command that makes it again.
    pub command: String,
}

const STYLE: &str = include_str!("page.css");
/// Rows of a table that are shown.
const MOST_ROWS: usize = 200;

impl Page {
    /// The page as HTML.
    pub fn to_html(&self) -> String {
        let mut out = String::with_capacity(100_000);
        let title = escape(&self.title);
        let _ = write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
             <title>toile: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
        );
        self.head(&mut out, &title);
        self.pictures(&mut out);
        self.certificate(&mut out);
        self.plots_and_tables(&mut out);
        self.times(&mut out);
        self.asked(&mut out);
        self.again(&mut out);
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    fn head(&self, out: &mut String, title: &str) {
        let _ = writeln!(
            out,
            "<header>\n<p class=\"maker\">{}</p>\n<h1>{title}</h1>",
            escape(&self.version)
        );
        if let Some(v) = &self.verdict {
            let _ = writeln!(
                out,
                "<p class=\"verdict {}\"><strong>{}</strong> {}</p>",
                if v.ok { "good" } else { "bad" },
                escape(&v.word),
                escape(&v.reason)
            );
        }
        out.push_str("</header>\n");
        if !self.notes.is_empty() {
            out.push_str("<ul class=\"notes\">\n");
            for note in &self.notes {
                let _ = writeln!(out, "<li>{}</li>", escape(note));
            }
            out.push_str("</ul>\n");
        }
    }

    fn pictures(&self, out: &mut String) {
        if self.shots.is_empty() {
            return;
        }
        out.push_str("<section>\n<h2>Pictures</h2>\n<div class=\"shots\">\n");
        for shot in &self.shots {
            let caption = escape(&shot.caption);
            let _ = write!(
                out,
                "<figure><img src=\"{}\" alt=\"{caption}\"><figcaption>{caption}",
                escape(&shot.address)
            );
            if let Some(legend) = &shot.legend {
                let _ = write!(
                    out,
                    "<span class=\"legend\"><span>{}</span><span class=\"ramp\" style=\"background:{}\"></span><span>{}</span></span>\
                     <span class=\"label\">{}</span>",
                    digits(legend.range.0),
                    legend.map.css_gradient(),
                    digits(legend.range.1),
                    escape(&legend.label)
                );
            }
            out.push_str("</figcaption></figure>\n");
        }
        out.push_str("</div>\n</section>\n");
    }

    fn certificate(&self, out: &mut String) {
        if self.figures.is_empty() {
            return;
        }
        out.push_str(
            "<section>\n<h2>The certificate, figure by figure</h2>\n<dl class=\"figures\">\n",
        );
        for f in &self.figures {
            let (class, mark) = match f.ok {
                Some(true) => ("good", "✓"),
                Some(false) => ("bad", "✗"),
                None => ("plain", "·"),
            };
            let limit = if f.limit.is_empty() {
                String::new()
            } else {
                format!("<small>{}</small>", escape(&f.limit))
            };
            let _ = writeln!(
                out,
                "<div class=\"{class}\"><dt><span class=\"mark\">{mark}</span> <code>{}</code> <b>{}</b> {limit}</dt><dd>{}</dd></div>",
                f.key,
                escape(&f.value),
                escape(&f.meaning)
            );
        }
        out.push_str("</dl>\n</section>\n");
    }

    fn plots_and_tables(&self, out: &mut String) {
        if !self.plots.is_empty() {
            out.push_str("<section>\n<h2>How it went</h2>\n<div class=\"plots\">\n");
            for (i, plot) in self.plots.iter().enumerate() {
                let _ = writeln!(out, "<div>{}</div>", plot.to_inline_svg(&i.to_string()));
            }
            out.push_str("</div>\n</section>\n");
        }
        for table in &self.tables {
            let _ = writeln!(
                out,
                "<section>\n<h2>{}</h2>\n<div class=\"wide\"><table>",
                escape(&table.title)
            );
            let row = |cells: &[String], tag: &str| {
                let cells: Vec<String> =
                    cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
                format!("<tr>{}</tr>\n", cells.concat())
            };
            if !table.header.is_empty() {
                let _ = write!(out, "<thead>{}</thead>", row(&table.header, "th"));
            }
            out.push_str("<tbody>\n");
            for cells in table.rows.iter().take(MOST_ROWS) {
                out.push_str(&row(cells, "td"));
            }
            out.push_str("</tbody></table></div>\n");
            if table.rows.len() > MOST_ROWS {
                let _ = writeln!(
                    out,
                    "<p>… and {} rows more in the files.</p>",
                    table.rows.len() - MOST_ROWS
                );
            }
            out.push_str("</section>\n");
        }
    }

    fn times(&self, out: &mut String) {
        let total: f64 = self.timings.iter().map(|t| t.1).sum();
        if self.timings.is_empty() || total <= 0.0 {
            return;
        }
        out.push_str("<section>\n<h2>Where the time went</h2>\n<div class=\"times\">\n");
        for (name, seconds) in &self.timings {
            let _ = writeln!(
                out,
                "<span>{}</span><span class=\"bar\"><span style=\"width:{:.2}%\"></span></span><span>{}</span>",
                escape(name),
                100.0 * seconds / total,
                duration(*seconds)
            );
        }
        out.push_str("</div>\n</section>\n");
    }

    fn asked(&self, out: &mut String) {
        if self.asked.is_empty() && self.scene.is_none() {
            return;
        }
        out.push_str("<section>\n<h2>What was asked</h2>\n");
        if !self.asked.is_empty() {
            out.push_str("<table class=\"pairs\"><tbody>\n");
            for (name, value) in &self.asked {
                let _ =
                    writeln!(out, "<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(value));
            }
            out.push_str("</tbody></table>\n");
        }
        if let Some(scene) = &self.scene {
            let lines: Vec<String> = scene.lines().map(escape).collect();
            let _ = writeln!(
                out,
                "<details><summary>the scene file</summary><pre>{}</pre></details>",
                lines.join("\n")
            );
        }
        out.push_str("</section>\n");
    }

    fn again(&self, out: &mut String) {
        out.push_str("<section>\n<h2>To make it again</h2>\n");
        let _ = writeln!(out, "<pre class=\"command\">{}</pre>", escape(&self.command));
        let _ = writeln!(
            out,
            "<p>{}. The same input gives the same numbers to the last bit, on one thread or many.</p>",
            escape(&self.version)
        );
        if !self.files.is_empty() {
            out.push_str("<table class=\"pairs\"><tbody>\n");
            for (name, what) in &self.files {
                let _ = writeln!(
                    out,
                    "<tr><th><code>{}</code></th><td>{}</td></tr>",
                    escape(name),
                    escape(what)
                );
            }
            out.push_str("</tbody></table>\n");
        }
        out.push_str("</section>\n");
    }
}
