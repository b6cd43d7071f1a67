//! `toile export`.

use std::fs;

use crate::common::{Folder, code, said, toile};

const SCENE: &str = r#"
    [[shell]]
    mesh = { generate = "sheet", n = 4, size = 0.3 }
    thickness = 1e-3
    areal_density = 0.2
    material = { model = "koiter", young = 1e5, poisson = 0.3 }
    pins = { vertices = [12, 15] }
    [[shell]]
    mesh = { generate = "rectangle", width = 0.2, height = 0.1, nx = 2, ny = 1 }
    thickness = 1e-3
    areal_density = 0.2
    material = { model = "koiter", young = 1e5, poisson = 0.3 }
    pins = { vertices = [0] }
    [time]
    step = 0.01
    duration = 0.05
    frame = 0.02
"#;

#[test]
fn moving_shells_come_out_in_every_format() {
    let folder = Folder::new();
    folder.write("scene.toml", SCENE);
    toile(&folder, &["simulate", "scene.toml", "--out", "motion", "--quiet"]);
    for format in ["pc2", "mdd", "usda", "vtk"] {
        let run = toile(&folder, &["export", "motion", "--format", format]);
        assert_eq!(code(&run), 0, "{format}: {}", said(&run));
        assert!(said(&run).contains("4 frame(s) of 2 shell(s), 22 vertices"), "{}", said(&run));
    }
    let out = folder.0.join("motion");
    let size = |name: &str| fs::metadata(out.join(name)).unwrap().len();
    assert_eq!(size("shell_0.pc2"), 32 + 4 * 16 * 12);
    assert_eq!(size("shell_1.mdd"), 8 + 4 * 4 + 4 * 6 * 12);
    let usd = fs::read_to_string(out.join("shapes.usda")).unwrap();
    assert!(
        usd.contains("def Mesh \"shell_1\"") && usd.contains("timeCodesPerSecond = 50"),
        "{usd}"
    );
    // The last frame comes after half a frame's time: its code says so.
    assert!(usd.contains("\n            2.5: ["), "{usd}");
    let series = fs::read_to_string(out.join("shapes.pvd")).unwrap();
    assert!(
        series.contains("timestep=\"0.05\"") && series.contains("shapes_00003.vtp"),
        "{series}"
    );
}

#[test]
fn folders_without_shapes_are_told() {
    let folder = Folder::new();
    let run = toile(&folder, &["export", ".", "--format", "usda"]);
    assert!(code(&run) == 2 && said(&run).contains("holds no frame_00000.obj"), "{}", said(&run));
    let run = toile(&folder, &["export", "no-such-folder", "--format", "usda"]);
    assert!(code(&run) == 2 && said(&run).contains("cannot read the folder"), "{}", said(&run));
}
