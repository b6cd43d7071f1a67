use toile_report::plot::{Axis, Judgement, Marker, Plot, Series, SlopeTriangle};

fn plot() -> Plot {
    Plot::new("a < b & \"c\"", Axis::linear("s/L"), Axis::log("H/W"))
        .with(Series::line(
            "curve <1>",
            vec![(0.0, 1.0), (1.0, 10.0), (2.0, -3.0), (3.0, 100.0), (4.0, 200.0)],
        ))
        .with(Series::markers("points", Marker::Square, vec![(1.0, 9.0), (2.0, f64::NAN)]))
}

#[test]
fn text_is_escaped() {
    let svg = plot().to_svg();
    assert!(svg.contains("a &lt; b &amp; &quot;c&quot;") && svg.contains("curve &lt;1&gt;"));
    assert!(!svg.contains("<1>"));
}

#[test]
fn impossible_points_break_the_line_and_are_not_drawn() {
    let svg = plot().to_svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    // Two pieces on either side of the negative value, and one square in the plot plus one in the legend.
    assert_eq!(svg.matches("class=\"line\"").count(), 2);
    assert_eq!(svg.matches("class=\"marker\"").count(), 2);
}

#[test]
fn points_land_where_the_axes_say() {
    let axis = |label: &str| Axis { range: Some((0.0, 10.0)), ..Axis::linear(label) };
    let at = |x: f64, y: f64| {
        let svg = Plot::new("", axis("x"), axis("y"))
            .with(Series::markers("", Marker::Circle, vec![(x, y)]))
            .to_svg();
        let tail = svg.split("class=\"marker\" cx=\"").nth(1).unwrap().to_owned();
        let mut numbers = tail.split('"');
        let cx: f64 = numbers.next().unwrap().parse().unwrap();
        let cy: f64 = numbers.nth(1).unwrap().parse().unwrap();
        (cx, cy)
    };
    let (a, b, middle) = (at(0.0, 0.0), at(10.0, 10.0), at(5.0, 5.0));
    assert!(a.0 < b.0 && a.1 > b.1, "right is larger x, up is larger y");
    assert!(
        (middle.0 - 0.5 * (a.0 + b.0)).abs() < 0.02 && (middle.1 - 0.5 * (a.1 + b.1)).abs() < 0.02
    );
}

#[test]
fn empty_and_constant_data_still_give_a_plot() {
    for points in [
        vec![],
        vec![(1.0, 1.0)],
        vec![(0.0, 0.0); 3],
        vec![(f64::NAN, f64::INFINITY)],
        vec![(1e300, -1e300)],
    ] {
        for axes in [(Axis::linear("x"), Axis::linear("y")), (Axis::log("x"), Axis::log("y"))] {
            let svg =
                Plot::new("t", axes.0, axes.1).with(Series::line("l", points.clone())).to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.ends_with("</svg>\n"));
            assert!(svg.len() < 100_000, "{} characters", svg.len());
        }
    }
}

#[test]
fn slope_triangle_lies_under_its_curve() {
    let curve: Vec<(f64, f64)> =
        (1..=8).map(|n| (f64::from(n), 0.1 * f64::from(n).powi(-4))).collect();
    let t = SlopeTriangle::below(&curve, -4.0).unwrap();
    for x in [t.at.0, t.at.0 * t.ratio] {
        let hypotenuse = t.at.1 * (x / t.at.0).powf(t.slope);
        assert!(hypotenuse < 0.1 * x.powi(-4), "{t:?}");
    }
    let plot = |triangle| {
        Plot::new("", Axis::log("n"), Axis::log("error"))
            .with(Series::line("e", curve.clone()))
            .with_slope(triangle)
    };
    assert!(plot(t).to_svg().contains("class=\"slope\""));
    // One that does not fit into the frame is left out.
    assert!(!plot(SlopeTriangle { at: (1e9, 1.0), ..t }).to_svg().contains("class=\"slope\""));
    assert!(SlopeTriangle::below(&[(1.0, 1.0)], 2.0).is_none());
}

#[test]
fn verdict_is_printed_in_words() {
    let verdict = Judgement { ok: false, words: "KO: 20 % off at Γ = 10".into() };
    let svg = plot().with_verdict(verdict).to_svg();
    assert!(svg.contains("KO: 20 % off at Γ = 10"));
}
