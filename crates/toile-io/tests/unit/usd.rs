use std::io;
use toile_io::{Up, UsdMesh, UsdStage, usda_to};

#[test]
fn a_moving_triangle_is_written_with_time_samples() {
    let faces = [[0, 1, 2]];
    let meshes = [UsdMesh { name: "2 coats", faces: &faces, points: 3 }];
    let stage = UsdStage { up: Up::Y, unit: 0.01, rate: 20.0, times: &[0.0, 0.05] };
    let mut frames =
        |_: usize, f: usize| Ok(vec![[0.0, f as f64, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]);
    let mut out = Vec::new();
    usda_to(&mut out, &stage, &meshes, &mut frames).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("upAxis = \"Y\"") && text.contains("metersPerUnit = 0.01"), "{text}");
    assert!(text.contains("def Mesh \"_2_coats\""), "{text}");
    assert!(text.contains("1.0: [(0.0, 1.0, 0.1), (1.0, 0.0, 0.0), (0.0, 0.0, 2.0)],"), "{text}");
    assert!(text.contains("1.0: [(0.0, 0.0, 0.0), (1.0, 1.0, 2.0)],"), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

#[test]
fn numbers_that_are_none_are_refused() {
    let meshes = [UsdMesh { name: "a", faces: &[], points: 1 }];
    let stage = UsdStage { up: Up::Z, unit: 1.0, rate: 24.0, times: &[0.0] };
    let mut frames = |_: usize, _: usize| Ok(vec![[f64::NAN, 0.0, 0.0]]);
    assert!(usda_to(io::sink(), &stage, &meshes, &mut frames).is_err());
}
