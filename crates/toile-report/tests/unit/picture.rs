use std::io;
use toile_report::picture::{Paint, PictureMesh, View, bounds, png_to, render};

#[test]
fn png_reads_back() {
    let points = [[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0]];
    let mesh = PictureMesh { positions: &points, faces: &[[0, 1, 2]], paint: Paint::Cloth };
    let view = View { width: 40, height: 30, background: None, ..View::default() };
    let picture = render(&[mesh], &view);
    let mut bytes = Vec::new();
    png_to(&mut bytes, &picture).unwrap();
    let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; picture.pixels.len()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (40, 30));
    assert_eq!(pixels, picture.pixels);
}

#[test]
fn boxes_hold_what_is_finite() {
    let points = [[1.0, 2.0, 3.0], [f64::NAN, 0.0, 9.0], [-1.0, 5.0, 0.0]];
    assert_eq!(bounds(&points), Some([[-1.0, 2.0, 0.0], [1.0, 5.0, 3.0]]));
    assert_eq!(bounds(&points[1..2]), None);
}
