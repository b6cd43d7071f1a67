use toile_report::plot::{Axis, Plot, Series};

#[test]
fn takes_the_colours_of_the_page_and_a_name_of_its_own() {
    let plot = Plot::new("colour #222222", Axis::linear("x"), Axis::linear("y"))
        .with(Series::line("a", vec![(0.0, 0.0), (1.0, 1.0)]));
    let svg = plot.to_inline_svg("7 a<");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox="));
    assert!(svg.contains("stroke=\"var(--series-0, #0072b2)\""));
    assert!(svg.contains("id=\"frame-7a\"") && svg.contains("url(#frame-7a)"));
    assert!(svg.contains(">colour #222222<"), "text is left alone");
    assert!(!svg.contains("\"#"), "no colour is left");
}
