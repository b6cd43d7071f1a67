use std::fs;

use toile_contact::ContactKey;
use toile_geometry::Vec3;
use toile_io::{load_contact_forces, load_scene, write_contact_forces};

/// All kinds of contacts come back to the bit, in a scene whose files have another axis up; those of another mesh and damaged ones are refused in words.
#[test]
fn contact_forces_come_back_and_belong_to_one_mesh() {
    let folder = std::env::temp_dir().join(format!("toile-forces-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let text = "up = \"y\"\ncontact_forces = \"forces.csv\"\n\n[[shell]]\nmesh = { generate = \"sheet\", n = 3, size = 1.0 }\n\
                thickness = 1e-3\nareal_density = 0.1\nmaterial = { model = \"koiter\", young = 1e6, poisson = 0.3 }\n";
    fs::write(folder.join("scene.toml"), text).unwrap();
    let missing = load_scene(folder.join("scene.toml")).unwrap_err().to_string();
    assert!(missing.contains("forces.csv") && missing.contains("does not exist"), "{missing}");
    let forces = vec![
        (ContactKey::VertexCollider { vertex: 4, collider: 1 }, Vec3::new(0.1, -0.2, 1.0 / 3.0)),
        (ContactKey::FaceCollider { face: 2, collider: 0, feature: 7 }, Vec3::new(1e-9, 0.0, 2.0)),
        (ContactKey::EdgeCollider { edge: 3, collider: 0, feature: 5 }, Vec3::new(0.0, 1e5, -0.1)),
        (ContactKey::VertexFace { vertex: 1, face: 6 }, Vec3::new(0.7, 0.1, 0.2)),
        (ContactKey::EdgeEdge { first: 2, second: 9 }, Vec3::new(-0.7, 0.1, 0.2)),
    ];
    let file = folder.join("forces.csv");
    fs::write(&file, "").unwrap();
    let scene = load_scene(folder.join("scene.toml")).unwrap();
    write_contact_forces(&file, &scene, [9, 8], forces.clone()).unwrap();
    assert_eq!(load_contact_forces(&scene, [9, 8]).unwrap(), forces);
    // In the axes of the files: what is up stands second.
    let first = fs::read_to_string(&file).unwrap().lines().nth(2).unwrap().to_string();
    assert!(first.starts_with("vertex-collider,4,1,0,0.1,0.333"), "{first}");
    let other = load_contact_forces(&scene, [9, 7]).unwrap_err().to_string();
    assert!(other.contains("another mesh") && other.contains("7 faces"), "{other}");
    let whole = fs::read_to_string(&file).unwrap();
    for (from, to) in
        [("edge-edge", "edge-sledge"), ("0.1,", "NaN,"), (",0.7", ""), ("mesh", "mash")]
    {
        fs::write(&file, whole.replacen(from, to, 1)).unwrap();
        let words = load_contact_forces(&scene, [9, 8]).unwrap_err().to_string();
        assert!(words.contains("take this line out"), "{words}");
    }
    // Cut off, of another kind, or with an empty line where the mesh is named.
    let headless = whole.split_once('\n').unwrap().1;
    let gap = whole.replacen("mesh,9,8", "\nmesh,9,7", 1);
    for text in ["", "contact,a,b,c,fx,fy,fz\n", "vertex,nan,1,2\n", headless, &gap] {
        fs::write(&file, text).unwrap();
        let words = load_contact_forces(&scene, [9, 8]).unwrap_err().to_string();
        assert!(words.contains("take this line out"), "{text:?}: {words}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
