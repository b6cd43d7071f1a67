//! From a plot to SVG text.

use super::axis::{self, Scale, Tick};
use super::{Marker, Plot, Series, SlopeTriangle, Stroke};
use std::fmt::Write;

/// Colours that people with any colour vision tell apart (Okabe and Ito 2008), darkest first.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const INK: &str = "#222222";
const TEXT: f64 = 14.0;

fn colour_of(series: &Series, place: usize) -> &'static str {
    COLOURS[series.colour.unwrap_or(place) % COLOURS.len()]
}

/// Rough width of a text of a sans-serif font \[px\]; the real one needs the font.
fn text_width(text: &str, size: f64) -> f64 {
    0.56 * size * text.chars().count() as f64
}

/// A rectangle \[px\], y downwards.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// The frame and the ranges it shows.
struct View {
    frame: Frame,
    x: (Scale, f64, f64),
    y: (Scale, f64, f64),
}

impl View {
    /// Where (x, y) lies, or `None` if an axis cannot show it. Clamped to a few frames away: far numbers upset renderers.
    fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let fraction = |(scale, low, high): (Scale, f64, f64), v: f64| {
            let [a, b] = [low, high].map(|v| scale.forward(v));
            scale.admits(v).then(|| ((scale.forward(v) - a) / (b - a)).clamp(-10.0, 10.0))
        };
        let f = self.frame;
        let (u, v) = (fraction(self.x, x)?, fraction(self.y, y)?);
        Some((f.left + u * (f.right - f.left), f.bottom - v * (f.bottom - f.top)))
    }
}

pub(super) fn svg(plot: &Plot) -> String {
    let clean = |v: f64| if v.is_finite() { v.clamp(200.0, 10_000.0) } else { 600.0 };
    let (width, height) = (clean(plot.size.0), clean(plot.size.1));
    let x_range = {
        let bands = plot.bands.iter().flat_map(|b| b.points.iter().map(|p| p.0));
        axis::fit(
            &plot.x,
            plot.series.iter().flat_map(|s| s.points.iter().map(|p| p.0)).chain(bands),
        )
    };
    let y_range = {
        let bands = plot.bands.iter().flat_map(|b| b.points.iter().flat_map(|p| [p.1, p.2]));
        axis::fit(
            &plot.y,
            plot.series.iter().flat_map(|s| s.points.iter().map(|p| p.1)).chain(bands),
        )
    };
    let y_ticks = axis::ticks(plot.y.scale, y_range.0, y_range.1, (height / 75.0) as usize);
    let x_ticks = axis::ticks(plot.x.scale, x_range.0, x_range.1, (width / 100.0) as usize);
    let widest =
        y_ticks.iter().filter_map(|t| t.label.as_ref()).map(label_width).fold(20.0, f64::max);
    let view = View {
        frame: Frame {
            left: widest + 44.0,
            right: width - 24.0,
            top: if plot.verdict.is_some() { 66.0 } else { 46.0 },
            bottom: height - 58.0,
        },
        x: (plot.x.scale, x_range.0, x_range.1),
        y: (plot.y.scale, y_range.0, y_range.1),
    };
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"'DejaVu Sans', 'Helvetica Neue', Arial, sans-serif\" font-size=\"{TEXT}\" fill=\"{INK}\"{}>",
        cursor_room(plot, &view)
    );
    let _ = writeln!(out, "<title>{}</title>", escape(&plot.title));
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
    heading(&mut out, plot, width);
    grid(&mut out, plot, &view, &x_ticks, &y_ticks);
    slopes(&mut out, plot, &view);
    data(&mut out, plot, &view);
    axes(&mut out, plot, &view, &x_ticks, &y_ticks, height);
    legend(&mut out, plot, &view);
    out.push_str("</svg>\n");
    out
}

/// What a page needs to draw a cursor at a value of a linear axis x: its name, the frame (left, top, right, bottom) and the values at its sides.
fn cursor_room(plot: &Plot, view: &View) -> String {
    let (scale, low, high) = view.x;
    if scale != Scale::Linear {
        return String::new();
    }
    let Frame { left, right, top, bottom } = view.frame;
    format!(
        " data-over=\"{}\" data-window=\"{left:.1} {top:.1} {right:.1} {bottom:.1} {low} {high}\"",
        escape(&plot.x.label)
    )
}

fn heading(out: &mut String, plot: &Plot, width: f64) {
    // A long title shrinks rather than leaving the page.
    let size = (17.0 * (0.95 * width / text_width(&plot.title, 18.0).max(1.0)).min(1.0)).max(9.0);
    text(
        out,
        width / 2.0,
        28.0,
        "middle",
        &format!("font-size=\"{size:.1}\" font-weight=\"bold\""),
        &plot.title,
    );
    if let Some(verdict) = &plot.verdict {
        let words = &verdict.words;
        let size =
            (TEXT * (0.95 * width / text_width(words, TEXT + 1.0).max(1.0)).min(1.0)).max(9.0);
        let style =
            format!("font-size=\"{size:.1}\" style=\"fill:{}\"", verdict_colour(verdict.ok));
        text(out, width / 2.0, 51.0, "middle", &style, words);
    }
}

fn verdict_colour(ok: bool) -> &'static str {
    if ok { "#1a7f37" } else { "#b3261e" }
}

fn grid(out: &mut String, plot: &Plot, view: &View, x_ticks: &[Tick], y_ticks: &[Tick]) {
    let f = view.frame;
    let background = match &plot.verdict {
        Some(v) if v.ok => "#f4faf5",
        Some(_) => "#fdf4f3",
        None => "#fafafa",
    };
    let (w, h) = (f.right - f.left, f.bottom - f.top);
    let _ = writeln!(
        out,
        "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" fill=\"{background}\"/>",
        f.left, f.top
    );
    for (ticks, vertical) in [(x_ticks, true), (y_ticks, false)] {
        for tick in ticks.iter().filter(|t| t.label.is_some()) {
            let at = if vertical {
                view.place(tick.value, view.y.1)
            } else {
                view.place(view.x.1, tick.value)
            };
            let Some((x, y)) = at else { continue };
            let (a, b) =
                if vertical { ((x, f.top), (x, f.bottom)) } else { ((f.left, y), (f.right, y)) };
            segment(out, a, b, "stroke=\"#dddddd\" stroke-width=\"1\"");
        }
    }
}

fn axes(
    out: &mut String,
    plot: &Plot,
    view: &View,
    x_ticks: &[Tick],
    y_ticks: &[Tick],
    height: f64,
) {
    let f = view.frame;
    let (w, h) = (f.right - f.left, f.bottom - f.top);
    let _ = writeln!(
        out,
        "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.2\"/>",
        f.left, f.top
    );
    let stroke = format!("stroke=\"{INK}\" stroke-width=\"1\"");
    let mut free_from = f64::NEG_INFINITY;
    for tick in x_ticks {
        let Some((x, _)) = view.place(tick.value, view.y.1) else { continue };
        let length = if tick.label.is_some() { 7.0 } else { 4.0 };
        segment(out, (x, f.bottom), (x, f.bottom - length), &stroke);
        if let Some(label) = &tick.label {
            // A label that would touch its neighbour is dropped; its tick stays.
            let half = 0.5 * label_width(label);
            if x - half > free_from {
                tick_label(out, x, f.bottom + 20.0, "middle", label);
                free_from = x + half + 4.0;
            }
        }
    }
    for tick in y_ticks {
        let Some((_, y)) = view.place(view.x.1, tick.value) else { continue };
        let length = if tick.label.is_some() { 7.0 } else { 4.0 };
        segment(out, (f.left, y), (f.left + length, y), &stroke);
        if let Some(label) = &tick.label {
            tick_label(out, f.left - 8.0, y + 5.0, "end", label);
        }
    }
    text(out, 0.5 * (f.left + f.right), height - 14.0, "middle", "font-size=\"15\"", &plot.x.label);
    let middle = 0.5 * (f.top + f.bottom);
    let turn = format!("font-size=\"15\" transform=\"rotate(-90 20 {middle:.2})\"");
    text(out, 20.0, middle, "middle", &turn, &plot.y.label);
}

fn data(out: &mut String, plot: &Plot, view: &View) {
    let f = view.frame;
    let (w, h) = (f.right - f.left, f.bottom - f.top);
    let _ = writeln!(
        out,
        "<clipPath id=\"frame\"><rect x=\"{:.2}\" y=\"{:.2}\" width=\"{w:.2}\" height=\"{h:.2}\"/></clipPath>",
        f.left, f.top
    );
    out.push_str("<g clip-path=\"url(#frame)\">\n");
    for band in &plot.bands {
        let edge = |upper: bool| {
            band.points
                .iter()
                .filter_map(move |&(x, low, high)| view.place(x, if upper { high } else { low }))
        };
        let back: Vec<_> = edge(false).collect();
        let outline: Vec<_> = edge(true).chain(back.into_iter().rev()).collect();
        if outline.len() > 2 {
            let _ = writeln!(
                out,
                "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.15\"/>",
                path(&outline),
                COLOURS[0]
            );
        }
    }
    for (i, series) in plot.series.iter().enumerate() {
        let colour = colour_of(series, i);
        if let Some(stroke) = series.stroke {
            for piece in pieces(series, view) {
                let dash = dash(stroke);
                let _ = writeln!(
                    out,
                    "<polyline class=\"line\" points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dash}/>",
                    path(&piece)
                );
            }
        }
    }
    out.push_str("</g>\n");
    // Markers above all lines, and not clipped: half a marker on the frame looks like a mistake.
    for (i, series) in plot.series.iter().enumerate() {
        let Some(shape) = series.marker else { continue };
        for &(x, y) in &series.points {
            if let Some(at) = view.place(x, y).filter(|&at| inside(at, f, 0.5)) {
                marker(out, shape, at, colour_of(series, i));
            }
        }
    }
}

fn inside((x, y): (f64, f64), f: Frame, slack: f64) -> bool {
    x >= f.left - slack && x <= f.right + slack && y >= f.top - slack && y <= f.bottom + slack
}

/// Runs of drawable points.
fn pieces(series: &Series, view: &View) -> Vec<Vec<(f64, f64)>> {
    let mut out: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for &(x, y) in &series.points {
        match view.place(x, y) {
            Some(at) => out.last_mut().expect("starts with one piece").push(at),
            None => out.push(Vec::new()),
        }
    }
    out.retain(|piece| piece.len() > 1);
    out
}

fn slopes(out: &mut String, plot: &Plot, view: &View) {
    if (plot.x.scale, plot.y.scale) != (Scale::Log, Scale::Log) {
        return;
    }
    for t in &plot.slopes {
        let Some([left, corner, right]) = triangle(t, view) else { continue };
        let _ = writeln!(
            out,
            "<polygon class=\"slope\" points=\"{}\" fill=\"#eeeeee\" stroke=\"{INK}\" stroke-width=\"1\"/>",
            path(&[left, corner, right])
        );
        let small = "font-size=\"12\"";
        text(out, 0.5 * (left.0 + right.0), corner.1 + 14.0, "middle", small, "1");
        let slope = format!("{}", (t.slope.abs() * 100.0).round() / 100.0);
        let middle = 0.5 * (left.1 + right.1) + 4.0;
        let (x, anchor) =
            if t.slope < 0.0 { (corner.0 - 6.0, "end") } else { (corner.0 + 6.0, "start") };
        text(out, x, middle, anchor, small, &slope);
    }
}

/// Left end, right angle and right end [px], if all lie inside the frame with room for the figures.
fn triangle(t: &SlopeTriangle, view: &View) -> Option<[(f64, f64); 3]> {
    if t.ratio.is_nan() || t.ratio <= 1.0 {
        return None;
    }
    let end = (t.at.0 * t.ratio, t.at.1 * t.ratio.powf(t.slope));
    let (left, right) = (view.place(t.at.0, t.at.1)?, view.place(end.0, end.1)?);
    let corner = if t.slope < 0.0 { (left.0, right.1) } else { (right.0, left.1) };
    let points = [left, corner, right];
    points.iter().all(|&p| inside(p, view.frame, -8.0)).then_some(points)
}

/// One line of the legend: its swatch by kind.
enum Entry<'a> {
    Band(&'a str),
    Series(&'a Series, &'static str),
}

/// In the corner that hides the least data.
fn legend(out: &mut String, plot: &Plot, view: &View) {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (i, s) in plot.series.iter().enumerate().filter(|(_, s)| !s.name.is_empty()) {
        entries.push(Entry::Series(s, colour_of(s, i)));
    }
    entries.extend(plot.bands.iter().filter(|b| !b.name.is_empty()).map(|b| Entry::Band(&b.name)));
    if entries.is_empty() {
        return;
    }
    let name = |e: &Entry<'_>| match e {
        Entry::Band(name) => name.to_string(),
        Entry::Series(s, _) => s.name.clone(),
    };
    let size = 13.0;
    let width =
        52.0 + entries.iter().map(|e| 1.12 * text_width(&name(e), size)).fold(0.0, f64::max);
    let height = 12.0 + 20.0 * entries.len() as f64;
    let (left, top) = quietest_corner(plot, view, width, height);
    let _ = writeln!(
        out,
        "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" rx=\"3\" fill=\"#ffffff\" \
         fill-opacity=\"0.9\" stroke=\"#bbbbbb\"/>"
    );
    for (i, entry) in entries.iter().enumerate() {
        let y = top + 16.0 + 20.0 * i as f64;
        let (a, b) = ((left + 8.0, y), (left + 36.0, y));
        match entry {
            Entry::Band(_) => {
                let _ = writeln!(
                    out,
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"28\" height=\"12\" fill=\"{}\" fill-opacity=\"0.15\"/>",
                    a.0,
                    y - 6.0,
                    COLOURS[0]
                );
            }
            Entry::Series(s, colour) => {
                if let Some(stroke) = s.stroke {
                    segment(
                        out,
                        a,
                        b,
                        &format!("stroke=\"{colour}\" stroke-width=\"2\"{}", dash(stroke)),
                    );
                }
                if let Some(shape) = s.marker {
                    marker(out, shape, (0.5 * (a.0 + b.0), y), colour);
                }
            }
        }
        text(out, left + 43.0, y + 4.5, "start", "font-size=\"13\"", &name(entry));
    }
}

fn quietest_corner(plot: &Plot, view: &View, width: f64, height: f64) -> (f64, f64) {
    let f = view.frame;
    let mut ink: Vec<(f64, f64)> = Vec::new();
    for s in &plot.series {
        if s.stroke.is_some() {
            for piece in pieces(s, view) {
                for w in piece.windows(2) {
                    // Long segments count along their length.
                    let length = (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1);
                    let parts = (length / 10.0).ceil().clamp(1.0, 100.0) as usize;
                    ink.extend((0..=parts).map(|i| {
                        let t = i as f64 / parts as f64;
                        (w[0].0 + t * (w[1].0 - w[0].0), w[0].1 + t * (w[1].1 - w[0].1))
                    }));
                }
            }
        }
        if s.marker.is_some() {
            // A hidden measurement is worse than a hidden piece of line.
            ink.extend(s.points.iter().filter_map(|p| view.place(p.0, p.1)).flat_map(|p| [p; 5]));
        }
    }
    for t in &plot.slopes {
        ink.extend(triangle(t, view).into_iter().flatten().flat_map(|p| [p; 20]));
    }
    let (near_x, far_x) = (f.left + 14.0, f.right - 12.0 - width);
    let (near_y, far_y) = (f.top + 12.0, f.bottom - 14.0 - height);
    [(near_x, near_y), (far_x, near_y), (far_x, far_y), (near_x, far_y)]
        .into_iter()
        .map(|(left, top)| {
            let cover = Frame { left, right: left + width, top, bottom: top + height };
            ((left, top), ink.iter().filter(|&&p| inside(p, cover, 6.0)).count())
        })
        .min_by_key(|(_, count)| *count)
        .map_or((near_x, near_y), |(corner, _)| corner)
}

fn marker(out: &mut String, shape: Marker, (x, y): (f64, f64), colour: &str) {
    let style = format!("fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.8\"");
    let _ = match shape {
        Marker::Circle => writeln!(
            out,
            "<circle class=\"marker\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4.5\" {style}/>"
        ),
        Marker::Square => {
            let (l, t) = (x - 4.2, y - 4.2);
            writeln!(
                out,
                "<rect class=\"marker\" x=\"{l:.2}\" y=\"{t:.2}\" width=\"8.4\" height=\"8.4\" {style}/>"
            )
        }
        Marker::Triangle => {
            let points = path(&[(x, y - 5.6), (x + 5.2, y + 3.8), (x - 5.2, y + 3.8)]);
            writeln!(out, "<polygon class=\"marker\" points=\"{points}\" {style}/>")
        }
        Marker::Diamond => {
            let points = path(&[(x, y - 5.8), (x + 5.8, y), (x, y + 5.8), (x - 5.8, y)]);
            writeln!(out, "<polygon class=\"marker\" points=\"{points}\" {style}/>")
        }
        Marker::Cross => {
            let (l, r, t, b) = (x - 4.2, x + 4.2, y - 4.2, y + 4.2);
            writeln!(
                out,
                "<path class=\"marker\" d=\"M{l:.2} {t:.2}L{r:.2} {b:.2}M{l:.2} {b:.2}L{r:.2} {t:.2}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.2\"/>"
            )
        }
    };
}

fn dash(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Solid => "",
        Stroke::Dashed => " stroke-dasharray=\"7 5\"",
    }
}

fn segment(out: &mut String, a: (f64, f64), b: (f64, f64), style: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" {style}/>",
        a.0, a.1, b.0, b.1
    );
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, style: &str, content: &str) {
    let content = escape(content);
    let _ = writeln!(
        out,
        "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\" {style}>{content}</text>"
    );
}

fn label_width((text, power): &(String, Option<String>)) -> f64 {
    text_width(text, TEXT) + power.as_ref().map_or(0.0, |p| text_width(p, 10.5) + 1.0)
}

fn tick_label(
    out: &mut String,
    x: f64,
    y: f64,
    anchor: &str,
    (text, power): &(String, Option<String>),
) {
    let power = power
        .as_ref()
        .map_or(String::new(), |p| format!("<tspan dy=\"-6\" font-size=\"10.5\">{p}</tspan>"));
    let _ = writeln!(
        out,
        "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\">{text}{power}</text>"
    );
}

fn path(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (x, y) in points {
        let _ = write!(out, "{x:.2},{y:.2} ");
    }
    out.truncate(out.trim_end().len());
    out
}

/// Text for SVG and HTML: reserved characters named, control characters (illegal in XML) dropped.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
