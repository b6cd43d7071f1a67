//! Bad input: exit code 2 and words that help, never a panic.

use crate::common::{Folder, code, grid, said, scene, toile};

/// Runs a drape that must be refused, and asks for words in the message.
fn refused(folder: &Folder, scene: &str, words: &[&str]) {
    folder.write("scene.toml", scene);
    let output = toile(folder, &["drape", "scene.toml", "--out", "out"]);
    let text = said(&output);
    assert_eq!(code(&output), 2, "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
}

const SMALL: &str = "mesh = { generate = \"sheet\", n = 3, size = 1 }";

#[test]
fn scenes_that_cannot_be_used() {
    let folder = Folder::new();
    let missing = toile(&folder, &["drape", "nowhere.toml", "--out", "out"]);
    assert_eq!(code(&missing), 2);
    assert!(said(&missing).contains("nowhere.toml"), "{}", said(&missing));
    let directory = toile(&folder, &["drape", ".", "--out", "out"]);
    assert_eq!(code(&directory), 2);
    assert!(said(&directory).contains("not a regular file"), "{}", said(&directory));
    refused(&folder, "", &["no shell"]);
    refused(&folder, &scene("mesh = \"no.obj\""), &["no.obj", "does not exist"]);
    refused(&folder, &scene(SMALL), &["nothing holds this shell", "pins ="]);
    let one = |pins: &str| scene(&format!("{SMALL}\npins = {pins}"));
    refused(&folder, &one("{ vertices = [9] }"), &["vertex 9 does not exist", "0 to 8"]);
    refused(&folder, &one("{ box = [[5, 5, 5], [6, 6, 6]] }"), &["no vertex lies in the box"]);
    refused(&folder, &one("{ vertices = [0] }\nthicknes = 2"), &["thickness"]);
    folder.write("s.obj", "stitch 1 20 3 0.5\n");
    let sewn = one("{ vertices = [0] }\nstitches = \"s.obj\"");
    refused(&folder, &sewn, &["stitches", "names vertex 20", "9 vertices"]);
    folder.write("s.obj", "# no stitch\n");
    refused(&folder, &sewn, &["no stitches", "stitch i a b w"]);
    let soft = scene(&format!("{SMALL}\npins = {{ vertices = [0, 2] }}"))
        .replace("poisson = 0.3", "poisson = 0.3, bending = 0.0");
    refused(&folder, &soft, &["stiffness", "positive"]);
}

#[test]
fn binary_files_are_told_from_text() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("bin.toml"), b"[[shell]]\nmesh = \"\xff\xfe\x00\"\n").unwrap();
    for args in [
        ["drape", "bin.toml", "--out", "out"].as_slice(),
        &["batch", "bin.toml", "--out", "out"],
        &["identify", "bin.toml", "bin.toml", "--out", "out"],
    ] {
        let output = toile(&folder, args);
        let text = said(&output);
        assert_eq!(code(&output), 2, "{text}");
        for word in ["bin.toml", "byte 19 (line 2) is not UTF-8 text", "save it as UTF-8"] {
            assert!(text.contains(word), "`{word}` is missing in: {text}");
        }
    }
}

#[test]
fn meshes_that_are_no_surface() {
    let folder = Folder::new();
    let with = |mesh: &str| {
        folder.write("m.obj", mesh);
        scene("mesh = \"m.obj\"\npins = { vertices = [0, 1] }")
    };
    refused(&folder, &with(""), &["m.obj"]);
    refused(&folder, &with("v 0 0 0\nv 1 0 0\nv 0 1 0\n"), &["no faces"]);
    refused(&folder, &with("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), &["m.obj", "line 1"]);
    refused(&folder, &with("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"), &["no area"]);
    // Two pieces, one of them without a pin.
    let loose = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf 1 2 3\nf 4 5 6\n";
    refused(&folder, &with(loose), &["a piece of 3 vertices", "vertex 3"]);
}

#[test]
fn rest_shapes_that_do_not_fit() {
    let folder = Folder::new();
    folder.write("m.obj", &grid(3, |u, v| [u, v, 0.0]));
    folder.write("few.obj", &grid(2, |u, v| [u, v, 0.0]));
    let other = grid(3, |u, v| [u, v, 0.0]).replace("f 1 2 5\nf 1 5 4\n", "f 1 2 4\nf 2 5 4\n");
    folder.write("other.obj", &other);
    let with = |rest: &str| {
        scene(&format!("mesh = \"m.obj\"\nrest = \"{rest}\"\npins = {{ vertices = [0, 1] }}"))
    };
    refused(&folder, &with("few.obj"), &["4 vertices and the mesh 9"]);
    refused(&folder, &with("other.obj"), &["other faces"]);
    refused(&folder, &with("uv"), &["texture coordinates", "vt"]);
    let seam = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvt 3 0\nvt 4 0\nvt 4 1\n\
        f 1/1 2/2 3/3\nf 2/4 4/6 3/5\n";
    folder.write("m.obj", seam);
    refused(&folder, &with("uv"), &["seam", "vertex 1"]);
    let folded = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvt 0.1 0.1\n\
        f 1/1 2/2 3/3\nf 2/2 4/4 3/3\n";
    folder.write("m.obj", folded);
    refused(&folder, &with("uv"), &["folds over itself"]);
}

#[test]
fn folders_and_numbers_that_cannot_be_used() {
    let folder = Folder::new();
    folder.write("scene.toml", &scene(&format!("{SMALL}\npins = {{ vertices = [0, 2] }}")));
    folder.write("file", "");
    for out in ["file", "file/below"] {
        let output = toile(&folder, &["drape", "scene.toml", "--out", out]);
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert!(said(&output).contains("--out"), "{}", said(&output));
    }
    for arguments in [
        &["--tolerance", "-1"][..],
        &["--tolerance", "nan"],
        &["--threads", "0"],
        &["--max-steps", "many"],
    ] {
        let mut all = vec!["drape", "scene.toml", "--out", "out"];
        all.extend(arguments);
        let output = toile(&folder, &all);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
    }
    assert_eq!(code(&toile(&folder, &["drape", "scene.toml"])), 2, "--out is needed");
}
