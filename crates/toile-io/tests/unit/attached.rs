use std::path::Path;
use toile_io::{Attached, MeshData, SceneFormat, load_colliders, load_shells, parse_scene_at};

const SCENE: &str = r#"
    [[shell]]
    mesh = "cloth"
    rest = "made"
    thickness = 1e-3
    areal_density = 0.2
    material = { model = "koiter", young = 1e6, poisson = 0.3 }
    [[collider]]
    mesh = "body"
"#;

fn triangle(height: f64) -> MeshData {
    MeshData {
        positions: vec![[0.0, 0.0, height], [1.0, 0.0, height], [0.0, 1.0, height]],
        faces: vec![[0, 1, 2]],
        ..MeshData::default()
    }
}

#[test]
fn meshes_in_memory_serve_like_files() {
    let mut attached = Attached::default();
    attached.add_mesh("cloth", triangle(2.0));
    attached.add_mesh("made", triangle(3.0));
    attached.add_mesh("body", triangle(0.5));
    let scene = parse_scene_at(SCENE, SceneFormat::Toml, None, attached).unwrap();
    let shells = load_shells(&scene).unwrap();
    assert_eq!(shells[0].shell.positions[1].z, 2.0);
    assert_eq!(shells[0].shell.rest_positions[1].z, 3.0);
    assert_eq!(load_colliders(&scene).unwrap().len(), 1);
}

#[test]
fn what_is_not_attached_must_be_a_file() {
    let mut attached = Attached::default();
    attached.add_mesh("cloth", triangle(2.0));
    attached.add_mesh("body", triangle(0.5));
    let place = Some(Path::new("folder/scene.toml"));
    let error = parse_scene_at(SCENE, SceneFormat::Toml, place, attached).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("`made` does not exist") && said.contains("folder"), "{said}");
    assert!(!said.contains("`cloth`"), "{said}");
}
