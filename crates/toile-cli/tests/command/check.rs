//! `toile check`: words, and an exit code by severity.

use crate::common::{Folder, SHEET, code, grid, said, scene, toile};

#[test]
fn a_sound_mesh_is_in_order_and_a_large_one_is_suspected() {
    let folder = Folder::new();
    folder.write("good.obj", &grid(5, |u, v| [u, v, 0.0]));
    let good = toile(&folder, &["check", "good.obj"]);
    assert_eq!(code(&good), 0, "{}", said(&good));
    assert!(said(&good).contains("25 vertices") && said(&good).contains("in order"));

    folder.write("cm.obj", &grid(5, |u, v| [170.0 * u, 170.0 * v, 0.0]));
    let large = toile(&folder, &["check", "cm.obj"]);
    assert_eq!(code(&large), 1, "{}", said(&large));
    assert!(said(&large).contains("scale = 0.01"), "{}", said(&large));
    let told = toile(&folder, &["check", "cm.obj", "--scale", "0.01"]);
    assert_eq!(code(&told), 0, "{}", said(&told));
}

#[test]
fn faces_the_wrong_way_round_and_three_at_an_edge_are_warnings_and_mended() {
    let folder = Folder::new();
    let turned = grid(3, |u, v| [u, v, 0.0]).replacen("f 1 2 5", "f 2 1 5", 1);
    folder.write("turned.obj", &turned);
    let output = toile(&folder, &["check", "turned.obj"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("other way round"), "{}", said(&output));

    let fan = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n";
    folder.write("fan.obj", fan);
    let output = toile(&folder, &["check", "fan.obj", "--json"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["severity"], "warning", "{json}");
    assert!(said(&output).contains("edge 0–1") && said(&output).contains("is mended"), "{json}");
    let missing = toile(&folder, &["check", "none.obj"]);
    assert_eq!(code(&missing), 2);
    assert!(said(&missing).contains("none.obj"));
}

#[test]
fn a_scene_is_judged_by_its_material_and_pins() {
    let folder = Folder::new();
    let mesh = "mesh = { generate = \"sheet\", n = 9, size = 1 }";
    let check = |text: &str| {
        folder.write("scene.toml", text);
        let output = toile(&folder, &["check", "scene.toml"]);
        (code(&output), said(&output))
    };
    let sound = scene(&format!("{mesh}\npins = {{ vertices = [72, 80] }}"));
    let (status, text) = check(&sound);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("2 of 81 vertices are held") && text.contains("softness"), "{text}");

    let (status, text) = check(&sound.replace("poisson = 0.3", "poisson = 0.5"));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("rubber"), "{text}");
    let (status, text) = check(&sound.replace("thickness = 1e-3", "thickness = 0.5"));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("not a thin sheet"), "{text}");
    let (status, text) = check(&sound.replace("young = 1e6", "young = 1e3"));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("under its own weight"), "{text}");
    let (status, text) = check(&sound.replace("[72, 80]", "[72]"));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("one vertex alone"), "{text}");
    let (status, text) = check(&scene(mesh));
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("nothing holds"), "{text}");
    // On a table it may lie.
    let table = "[[collider]]\nplane = { point = [0, 0, -0.1] }\nfriction = 0.5\n";
    let (status, text) = check(&format!("{}{table}", scene(mesh)));
    assert_eq!(status, 0, "{text}");
    let (status, text) = check(&format!("gravity = [0, 9.81, 0]\n{sound}"));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("does not point down"), "{text}");
    // A second shell that is wrong does not hide what is said about the first.
    let (status, text) = check(&format!("{sound}[[shell]]\nmesh = \"gone.obj\"\n{SHEET}"));
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("gone.obj"), "{text}");
}

#[test]
fn friction_problems_are_known_and_meshes_are_no_scenes() {
    let folder = Folder::new();
    folder.write("p.json", r#"{"mu": 0.5, "W": [[1, 0], [0, 1]], "b": [-1, 2], "dimension": 2}"#);
    let output = toile(&folder, &["check", "p.json"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("1 contacts of 2 components"), "{}", said(&output));
    folder.write("q.json", r#"{"mu": 0.5, "W": [[1, 0], [7, 1]], "b": [-1, 2], "dimension": 2}"#);
    let output = toile(&folder, &["check", "q.json"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("symmetric"), "{}", said(&output));
    folder.write("words.hdf5", "words");
    let output = toile(&folder, &["check", "words.hdf5"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("no HDF5 signature"), "{}", said(&output));

    folder.write("dress.obj", &grid(3, |u, v| [u, v, 0.0]));
    let output = toile(&folder, &["simulate", "dress.obj", "--out", "out"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("it is a mesh, not a scene"), "{}", said(&output));
    // Cloth of 170 m is moved, and its unit doubted.
    let large =
        "mesh = { generate = \"sheet\", n = 3, size = 170.0 }\npins = { vertices = [0, 2] }";
    let time = "[time]\nstep = 0.01\nduration = 0.01\n";
    folder.write("large.toml", &format!("{}{time}", scene(large)));
    let output = toile(&folder, &["simulate", "large.toml", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("scale = 0.01"), "{}", said(&output));
    let output = toile(&folder, &["simulate", "large.toml", "--out", "out", "--resume"]);
    assert!(said(&output).contains("nothing left to do at 0.0100 s"), "{}", said(&output));
}

#[test]
fn the_schema_is_json_and_knows_shells() {
    let folder = Folder::new();
    let output = toile(&folder, &["schema"]);
    assert_eq!(code(&output), 0);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(schema["properties"]["shell"].is_object(), "{schema}");
}

/// Strands in a file alone, in words: what is left out, what looks like other units, what cannot be read.
#[test]
fn strands_are_diagnosed_in_words() {
    let folder = Folder::new();
    let check = |name: &str, text: &str| {
        folder.write(name, text);
        let output = toile(&folder, &["check", name]);
        (code(&output), said(&output))
    };
    let (status, text) = check("good.obj", "v 0 0 0\nv 0 0 -0.1\nv 0.01 0 -0.2\nl 1 2 3\n");
    assert!(status == 0 && text.contains("1 strand(s) of 3 to 3 points"), "{text}");
    let bad = "v 0 0 0\nv 0 0 -0.1\nv 0 0 -0.1\nv 0.01 0 -0.2\nl 1 2 3 4\nl 1\nl 2 3\nl 1 2 3 4\n";
    let (status, text) = check("bad.obj", bad);
    assert_eq!(status, 1, "{text}");
    for expected in [
        "fewer than two points (1)",
        "no length and are left out",
        "repeat the one before",
        "exact copies of others (3)",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let (status, text) = check("back.obj", "v 0 0 0\nv 0 0 -0.1\nv 0 0 -0.05\nl 1 2 3\n");
    assert!(status == 1 && text.contains("turn back on themselves"), "{text}");
    let (status, text) = check("cm.obj", "v 0 0 0\nv 0 0 -20\nv 1 0 -30\nl 1 2 3\n");
    assert!(status == 1 && text.contains("scale = 0.01"), "{text}");
    let told = toile(&folder, &["check", "cm.obj", "--scale", "0.01"]);
    assert_eq!(code(&told), 0, "{}", said(&told));
    let (status, text) = check("nan.obj", "v 0 0 0\nv nan 0 -0.2\nl 1 2\n");
    assert!(status == 2 && text.contains("finite"), "{text}");
    let (status, text) = check("cut.hair", "HAIR");
    assert!(status == 2 && text.contains("ends too early"), "{text}");
}

/// Hair and rods of a scene among its colliders.
#[test]
fn fibres_are_judged_among_colliders() {
    let folder = Folder::new();
    let head =
        "[[collider]]\nsphere = { center = [0, 0, 0], radius = 0.1 }\nfriction = 0.3\ngap = 0.0\n";
    let hair = "[[hair]]\nstrands = \"hair.obj\"\nbending_stiffness = [1e-6, 1e-6]\ntwisting_stiffness = 7e-7\n\
                linear_density = 2e-5\nradius = 5e-4\n";
    let check = |scene: &str| {
        folder.write("scene.toml", scene);
        let output = toile(&folder, &["check", "scene.toml"]);
        (code(&output), said(&output))
    };
    folder.write("hair.obj", "v 0 0 0.098\nv 0 0 0.12\nv 0 0.02 0.15\nl 1 2 3\n");
    let (status, text) = check(&format!("{hair}{head}"));
    assert!(status == 0 && text.contains("start inside a collider (0)"), "{text}");
    assert!(text.contains("bends under its weight over 172"), "{text}");
    folder.write("hair.obj", "v 0 0 0.1\nv 0 0 0.15\nv 0 0.02 0.05\nv 0 0.2 0\nl 1 2 3 4\n");
    let (status, text) = check(&format!("{hair}{head}"));
    assert!(status == 2 && text.contains("go through a collider, up to 46"), "{text}");
    folder.write("hair.obj", "v 0 0 0.11\nv 0 0 0.05\nv 0 0 -0.15\nl 1 2 3\n");
    let (status, text) = check(&format!("{hair}{head}"));
    assert!(status == 2 && text.contains("start outside a collider and go into it"), "{text}");
    folder.write("hair.obj", "v 0 0 0.01\nv 0 0 0.05\nl 1 2\n");
    let (status, text) = check(&format!("{hair}{head}"));
    assert!(status == 1 && text.contains("from end to end"), "{text}");
    let soft = hair.replace("[1e-6, 1e-6]", "[1e-15, 1e-15]");
    let (status, text) = check(&soft);
    assert!(status == 1 && text.contains("hangs like a chain"), "{text}");
    assert!(text.contains("round fibres have about 0.7"), "{text}");
    let rod = "[[rod]]\nlength = 0.3\nbending_stiffness = [1e-6, 1e-6]\ntwisting_stiffness = 7e-7\nlinear_density = 2e-5\n\
               clamp = { position = [-0.15, 0, 0], d1 = [0, 1, 0], d2 = [0, 0, 1], d3 = [1, 0, 0] }\n";
    let (status, text) = check(&format!("{rod}{head}"));
    assert!(status == 2 && text.contains("1 rod(s) go through a collider"), "{text}");
}

/// Cloth and body that cannot belong together are noticed before anything is computed.
#[test]
fn how_cloth_lies_on_its_body_is_told() {
    let folder = Folder::new();
    let shell = |mesh: &str| {
        format!(
            "[[shell]]\nmesh = \"{mesh}\"\nthickness = 1e-3\nareal_density = 0.2\n\
             material = {{ model = \"koiter\", young = 1e6, poisson = 0.3 }}\n"
        )
    };
    let on_mesh = "[[collider]]\nmesh = \"body.obj\"\nfriction = 0.5\n";
    let on_ball =
        "[[collider]]\nsphere = { center = [0.5, 0.5, -0.5], radius = 0.5 }\nfriction = 0.5\n";
    folder
        .write("body.obj", &grid(9, |u, v| [u, v, -0.2 * ((u - 0.5).powi(2) + (v - 0.5).powi(2))]));
    folder.write("small.obj", &grid(5, |u, v| [0.5 + 0.04 * u, 0.5 + 0.04 * v, 0.002]));
    folder.write("near.obj", &grid(5, |u, v| [0.4 + 0.2 * u, 0.4 + 0.2 * v, 0.001]));
    folder.write("deep.obj", &grid(5, |u, v| [u, v, -0.3]));
    folder.write("high.obj", &grid(5, |u, v| [u, v, 0.7]));
    let check = |mesh: &str, collider: &str| {
        folder.write("scene.toml", &format!("{}{collider}", shell(mesh)));
        let output = toile(&folder, &["check", "scene.toml"]);
        (code(&output), said(&output))
    };
    let (exit, words) = check("small.obj", on_mesh);
    assert!(exit == 1 && words.contains("are both in one unit (`scale`)"), "{words}");
    let (exit, words) = check("deep.obj", on_ball);
    assert!(exit == 1 && words.contains("the same axis up"), "{words}");
    let (exit, words) = check("near.obj", on_ball);
    assert!(exit == 0 && words.contains("of 25 vertices touch colliders"), "{words}");
    let (exit, words) = check("high.obj", on_ball);
    assert!(exit == 0 && words.contains("it can fall on them, but `invert` needs it"), "{words}");
}
