use toile_io::{Axes, Up};

const CM_Y_UP: Axes = Axes { up: Up::Y, scale: 0.01 };

#[test]
fn y_up_is_a_rotation_and_not_a_mirror() {
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        .map(|e| CM_Y_UP.direction_to_internal(e));
    assert_eq!(y, [0.0, 0.0, 1.0], "up must become +z");
    let cross = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
    assert_eq!(cross, z, "right-handed axes must stay right-handed");
}

#[test]
fn reading_then_writing_gives_the_same_point() {
    for up in [Up::Y, Up::Z] {
        for scale in [1.0, 0.01, 0.0254] {
            let axes = Axes { up, scale };
            let p = [12.5, -3.0, 170.25];
            let back = axes.to_file(axes.to_internal(p));
            for i in 0..3 {
                assert!((back[i] - p[i]).abs() <= 1e-15 * p[i].abs(), "{back:?}");
            }
        }
    }
    assert_eq!(CM_Y_UP.to_internal([0.0, 170.0, 0.0]), [0.0, -0.0, 1.7]);
}

#[test]
fn a_turned_box_keeps_least_corner_first() {
    let [low, high] = CM_Y_UP.box_to_internal([[-1.0, 0.9, -2.0], [1.0, 1.1, 3.0]]);
    assert_eq!(low, [-1.0, -3.0, 0.9]);
    assert_eq!(high, [1.0, 2.0, 1.1]);
}
