use toile_report::picture::{Point, arrow, bounds, tube};

#[test]
fn arrows_reach_from_start_to_end() {
    let solid = arrow([1.0, 2.0, 3.0], [0.0, 0.0, 2.0], 0.1);
    let [low, high] = bounds(&solid.positions).unwrap();
    assert!((low[2] - 3.0).abs() < 1e-12 && (high[2] - 5.0).abs() < 1e-12);
    assert!((high[0] - 1.24).abs() < 0.01, "{high:?}");
    assert!(arrow([0.0; 3], [0.0; 3], 0.1).faces.is_empty());
    assert!(arrow([0.0; 3], [f64::NAN; 3], 0.1).faces.is_empty());
}

#[test]
fn tubes_keep_their_radius_around_bends() {
    let circle: Vec<Point> = (0..=40)
        .map(|i| {
            let t = f64::from(i) * 0.15;
            [t.cos(), t.sin(), 0.0]
        })
        .collect();
    let solid = tube(&circle, 0.05, 8);
    assert_eq!(solid.positions.len(), 41 * 8);
    assert_eq!(solid.faces.len(), 40 * 16);
    for (i, p) in solid.positions.iter().enumerate() {
        let d: [f64; 3] = std::array::from_fn(|k| p[k] - circle[i / 8][k]);
        let distance = d.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((distance - 0.05).abs() < 1e-12);
    }
    assert!(tube(&[[0.0; 3], [0.0; 3]], 1.0, 6).faces.is_empty());
}
