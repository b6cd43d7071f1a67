use toile_report::picture::{ColourMap, Point};
use toile_report::stage::{Field, Touch};

#[test]
fn used_friction_is_that_of_the_cone() {
    let touch = |force: Point| Touch {
        point: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
        force,
        friction: 0.5,
        slips: false,
    };
    assert_eq!(touch([0.0, 0.0, 4.0]).used(), 0.0);
    assert!((touch([0.6, 0.8, 4.0]).used() - 0.5).abs() < 1e-15);
    assert_eq!(touch([1.0, 0.0, -1.0]).used(), 10.0, "a pull is not friction");
    assert_eq!(touch([3.0, 4.0, 2.0]).parts(), [2.0, 5.0]);
}

#[test]
fn ranges_leave_out_what_is_not_finite() {
    let mut field =
        Field { name: "f", label: "f", values: vec![1.0, f64::NAN, 3.0], map: ColourMap::Amount };
    assert_eq!(field.range(), (0.0, 3.0));
    field.map = ColourMap::Balance;
    assert_eq!(field.range(), (-3.0, 3.0));
    field.values = vec![f64::NAN];
    assert_eq!(field.range(), (0.0, 1.0));
}
