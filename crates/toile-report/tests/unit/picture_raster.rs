use toile_report::picture::{ColourMap, Paint, Picture, PictureMesh, Point, View, bounds, render};

const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

fn square(x: f64) -> [Point; 4] {
    [[x, -1.0, -1.0], [x, 1.0, -1.0], [x, 1.0, 1.0], [x, -1.0, 1.0]]
}

/// Seen along −x from far away on the x axis.
fn from_x() -> View {
    View { width: 40, height: 30, azimuth: 0.0, elevation: 0.0, ..View::default() }
}

fn mesh(positions: &[Point]) -> PictureMesh<'_> {
    PictureMesh { positions, faces: &SQUARE, paint: Paint::Cloth }
}

fn center(p: &Picture) -> [u8; 4] {
    let at = 4 * (p.height / 2 * p.width + p.width / 2);
    std::array::from_fn(|k| p.pixels[at + k])
}

#[test]
fn front_and_back_have_their_own_colours() {
    let points = square(0.0);
    let front = render(&[mesh(&points)], &from_x());
    let behind = View { azimuth: std::f64::consts::PI, ..from_x() };
    let back = render(&[mesh(&points)], &behind);
    let (f, b) = (center(&front), center(&back));
    assert!(f[2] > f[0], "front is blue: {f:?}");
    assert!(b[0] > b[2], "back is warm: {b:?}");
    assert_eq!(front.pixels[..4], [247, 247, 250, 255], "the corner is background");
    let clear = render(&[mesh(&points)], &View { background: None, ..from_x() });
    assert_eq!(clear.pixels[..4], [0; 4], "the page shows through");
    assert_eq!(center(&clear), f);
}

#[test]
fn the_nearer_mesh_hides_the_other() {
    let (near, far) = (square(1.0), square(-1.0));
    let values = [0.0, 1.0, 0.0, 1.0];
    let paint = Paint::Field(&values, (0.0, 1.0), ColourMap::Amount);
    let marked = PictureMesh { paint, ..mesh(&far) };
    let hidden = render(&[mesh(&near), marked], &from_x());
    assert_eq!(hidden, render(&[mesh(&near)], &from_x()));
    assert_eq!(hidden, render(&[marked, mesh(&near)], &from_x()), "whatever the order");
}

#[test]
fn the_focus_alone_sets_the_scale() {
    let (points, far) = (square(0.0), square(0.0).map(|p| p.map(|c| 10.0 * c)));
    let grey = PictureMesh { paint: Paint::Plain([0.5; 3]), ..mesh(&far) };
    let view = View { focus: bounds(&points), background: None, ..from_x() };
    let both = render(&[mesh(&points), grey], &view);
    assert!(both.pixels.iter().skip(3).step_by(4).all(|a| *a == 255), "the large one fills it");
}

#[test]
fn from_straight_above_it_is_not_empty() {
    let points: Vec<Point> = square(0.0).iter().map(|p| [p[1], p[2], 0.0]).collect();
    let view = View { elevation: std::f64::consts::FRAC_PI_2, ..from_x() };
    let c = center(&render(&[mesh(&points)], &view));
    assert!(c[2] > c[0], "{c:?}");
}

#[test]
fn bad_faces_and_points_are_left_out() {
    let mut points = square(0.0).to_vec();
    points.push([f64::NAN, 0.0, 0.0]);
    let faces = [[0, 1, 2], [0, 2, 3], [0, 1, 4], [0, 1, 99]];
    let bad = PictureMesh { positions: &points, faces: &faces, paint: Paint::Cloth };
    assert_eq!(
        center(&render(&[bad], &from_x())),
        center(&render(&[mesh(&points[..4])], &from_x()))
    );
    let nothing = render(&[], &from_x());
    assert_eq!(nothing.pixels.len(), 40 * 30 * 4);
}
