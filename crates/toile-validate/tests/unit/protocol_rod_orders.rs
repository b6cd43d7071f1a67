use toile_validate::protocol::{RodSettings, rod_orders};

#[test]
fn errors_fall_with_the_second_and_fourth_power() {
    let quick = RodSettings { elements: vec![20, 40], ..RodSettings::quick() };
    let outcome = rod_orders(&quick, &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok, "{outcome}\n{}", outcome.csv());
}
