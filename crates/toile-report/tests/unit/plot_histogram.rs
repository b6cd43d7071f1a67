use toile_report::plot::Plot;

#[test]
fn every_value_is_counted_once() {
    let values = [0.0, 0.1, 0.3, 0.3, 1.0, 7.0, -1.0, f64::NAN];
    let plot = Plot::histogram("t", "x", values, (0.0, 1.0), 4);
    let tops: Vec<f64> = plot.bands[0].points.iter().step_by(2).map(|p| p.2).collect();
    assert_eq!(tops, [3.0, 2.0, 0.0, 2.0], "what is outside goes to the ends");
    let flat = Plot::histogram("t", "x", [2.0, 2.0], (2.0, 2.0), 4);
    assert!(!flat.to_svg().contains("NaN"));
}
