use toile_report::plot::{Scale, ticks};

fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
    ticks(scale, low, high, 6)
        .into_iter()
        .filter_map(|t| t.label)
        .map(|(text, power)| power.map_or(text.clone(), |p| format!("{text}^{p}")))
        .collect()
}

#[test]
fn linear_ticks_fall_on_round_numbers() {
    assert_eq!(
        labels(Scale::Linear, 0.0, 1.0),
        ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|t| if t == "0.0" { "0" } else { t })
    );
    assert_eq!(labels(Scale::Linear, -3.0, 31.0), ["0", "5", "10", "15", "20", "25", "30"]);
    assert_eq!(labels(Scale::Linear, -0.02, 0.03), ["−0.02", "−0.01", "0", "0.01", "0.02", "0.03"]);
    assert_eq!(
        labels(Scale::Linear, 0.0, 2.5e7),
        ["0", "5·10^6", "1.0·10^7", "1.5·10^7", "2.0·10^7", "2.5·10^7"]
    );
}

#[test]
fn log_ticks_fall_on_powers_of_ten() {
    assert_eq!(labels(Scale::Log, 0.01, 1e3), ["10^−2", "10^−1", "1", "10", "10^2", "10^3"]);
    assert_eq!(labels(Scale::Log, 0.1, 2.0), ["0.1", "0.2", "0.5", "1", "2"]);
    assert!(labels(Scale::Log, 1e-16, 1.0).len() <= 8);
    // Less than a factor of three: as on a linear axis.
    assert_eq!(labels(Scale::Log, 10.0, 15.0), ["10", "11", "12", "13", "14", "15"]);
}

#[test]
fn ticks_stay_inside_and_never_run_away() {
    for (low, high) in [(1.0, 1.0 + 1e-15), (1e200, 1e201), (-1e-200, 1e-200), (0.3, 0.7)] {
        let ticks = ticks(Scale::Linear, low, high, 6);
        assert!(ticks.len() < 200);
        assert!(
            ticks
                .iter()
                .all(|t| t.value >= low - 1e-6 * (high - low).max(1e-10) && t.value.is_finite())
        );
    }
    assert!(
        ticks(Scale::Log, -1.0, 1.0, 6).is_empty()
            && ticks(Scale::Linear, f64::NAN, 1.0, 6).is_empty()
    );
    assert!(ticks(Scale::Log, 1e-280, 1e280, 6).len() < 1000);
}
