//! `toile drape`: the road from files to certified files.

use std::fs;

use crate::common::{Folder, SHEET, code, faces, grid, said, scene, toile, vertices};

const N: usize = 9;

/// Lying 1 m square, held at two corners.
fn lying() -> String {
    grid(N, |u, v| [u, v, 0.0])
}

fn held(mesh: &str) -> String {
    scene(&format!("mesh = \"{mesh}\"\npins = {{ vertices = [{}, {}] }}", N * (N - 1), N * N - 1))
}

#[test]
fn a_drape_is_certified_and_keeps_the_order_of_the_input() {
    let folder = Folder::new();
    folder.write("sheet.obj", &lying());
    folder.write("scene.toml", &held("sheet.obj"));
    let output = toile(&folder, &["drape", "scene.toml", "--out", "deep/er"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let out = folder.0.join("deep/er");
    let (before, after) =
        (vertices(folder.0.join("sheet.obj")), vertices(out.join("equilibrium.obj")));
    assert_eq!(before.len(), after.len());
    assert_eq!(faces(folder.0.join("sheet.obj")), faces(out.join("equilibrium.obj")));
    for pin in [N * (N - 1), N * N - 1] {
        assert_eq!(before[pin], after[pin], "a pin moved");
    }
    assert!(after[0][2] < -0.8, "the free corner hangs: {:?}", after[0]);
    for name in
        ["equilibrium.ply", "equilibrium.vtp", "equilibrium.glb", "certificate.json", "log.jsonl"]
    {
        assert!(fs::metadata(out.join(name)).unwrap().len() > 100, "{name}");
    }
    let ply = fs::read(out.join("equilibrium.ply")).unwrap();
    let head = String::from_utf8_lossy(&ply[..400]).into_owned();
    for field in ["stretch", "bending", "stress", "residual"] {
        assert!(head.contains(&format!("property double {field}\n")), "{head}");
    }
    let text = fs::read_to_string(out.join("certificate.json")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(certificate["verdict"], "certified", "{text}");
    assert!(certificate["residual"].as_f64().unwrap() <= 1e-8, "{text}");
    assert!(certificate["stability"].as_f64().unwrap() > 0.0, "{text}");
    for key in ["cone_gap", "cone_margin", "penetration", "drift", "target_error_max"] {
        assert!(certificate[key].is_null(), "{key} in {text}");
    }
    let log = fs::read_to_string(out.join("log.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len() as u64 - 1, certificate["steps"].as_u64().unwrap());
    assert!(lines[0]["energy"].is_number() && lines[lines.len() - 1]["factorisation"].is_number());
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let folder = Folder::new();
    folder.write(
        "scene.toml",
        &scene(
            // Large enough for threads to share its factorisations.
            "mesh = { generate = \"sheet\", n = 33, size = 1 }\npins = { vertices = [1056, 1088] }",
        ),
    );
    for threads in ["1", "2"] {
        let output =
            toile(&folder, &["drape", "scene.toml", "--out", threads, "--threads", threads, "-q"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        assert_eq!(said(&output), "", "--quiet speaks");
    }
    for name in ["equilibrium.obj", "equilibrium.ply", "certificate.json"] {
        let read = |threads: &str| fs::read(folder.0.join(threads).join(name)).unwrap();
        assert!(read("1") == read("2"), "{name} differs");
    }
}

#[test]
fn centimetres_with_y_up_give_the_same_shape() {
    let folder = Folder::new();
    folder.write("metres.obj", &lying());
    // (x, y, z) with z up is (x, z, −y) with y up; numbers in centimetres.
    folder.write("centimetres.obj", &grid(N, |u, v| [100.0 * u, 0.0, -100.0 * v]));
    folder.write("metres.toml", &format!("gravity = [0.3, 0.0, -9.0]\n{}", held("metres.obj")));
    let text = format!(
        "up = \"y\"\ngravity = [0.3, -9.0, 0.0]\n{}scale = 0.01\n",
        held("centimetres.obj")
    );
    folder.write("centimetres.toml", &text);
    for name in ["metres", "centimetres"] {
        let output = toile(&folder, &["drape", &format!("{name}.toml"), "--out", name]);
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
    let read = |name: &str| vertices(folder.0.join(name).join("equilibrium.obj"));
    for (a, b) in read("metres").iter().zip(read("centimetres")) {
        let back = [0.01 * b[0], -0.01 * b[2], 0.01 * b[1]];
        for k in 0..3 {
            assert!((a[k] - back[k]).abs() < 1e-6, "{a:?} against {back:?}");
        }
    }
}

#[test]
fn two_shells_come_out_apart_and_joined() {
    let folder = Folder::new();
    folder.write("sheet.obj", &lying());
    let second = "[[shell]]\nmesh = { generate = \"sheet\", n = 5, size = 0.5 }\npins = { vertices = [0, 4] }\n";
    folder.write("scene.toml", &format!("{}{second}{SHEET}", held("sheet.obj")));
    let output = toile(&folder, &["drape", "scene.toml", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let count = |name: &str| vertices(folder.0.join("out").join(name)).len();
    assert_eq!(
        [count("equilibrium_0.obj"), count("equilibrium_1.obj"), count("equilibrium.obj")],
        [81, 25, 106]
    );
}

#[test]
fn a_flat_pattern_in_texture_coordinates_is_a_rest_shape() {
    let folder = Folder::new();
    // Started squeezed to 90 %; the pattern knows the true size.
    let mut text = String::new();
    let squeezed = grid(N, |u, v| [0.9 * u, 0.9 * v, 0.0]);
    for line in squeezed.lines() {
        if let Some(rest) = line.strip_prefix("f ") {
            let corners: Vec<String> = rest.split(' ').map(|v| format!("{v}/{v}")).collect();
            text += &format!("f {}\n", corners.join(" "));
        } else {
            text += &format!("{line}\n");
        }
    }
    for line in lying().lines().filter(|l| l.starts_with("v ")) {
        let words: Vec<&str> = line.split(' ').collect();
        text += &format!("vt {} {}\n", words[1], words[2]);
    }
    folder.write("sheet.obj", &text);
    folder.write("scene.toml", &format!("{}rest = \"uv\"\n", held("sheet.obj")));
    let output = toile(&folder, &["drape", "scene.toml", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let after = vertices(folder.0.join("out/equilibrium.obj"));
    let side = |a: usize, b: usize| {
        (0..3).map(|k| (after[a][k] - after[b][k]).powi(2)).sum::<f64>().sqrt()
    };
    // Not 0.9/8: an edge far from the pins has its length of the pattern.
    assert!((side(0, N) * 8.0 - 1.0).abs() < 0.02, "{}", side(0, N) * 8.0);
}

#[test]
fn what_cannot_move_is_certified_as_it_is() {
    let folder = Folder::new();
    folder.write("sheet.obj", &lying());
    folder.write(
        "scene.toml",
        &scene("mesh = \"sheet.obj\"\npins = { box = [[-1, -1, -1], [2, 2, 2]] }"),
    );
    let output = toile(&folder, &["drape", "scene.toml", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("every vertex is pinned"), "{}", said(&output));
    assert_eq!(
        vertices(folder.0.join("out/equilibrium.obj")),
        vertices(folder.0.join("sheet.obj"))
    );
}

#[test]
fn too_few_steps_still_write_the_best_shape() {
    let folder = Folder::new();
    folder.write("sheet.obj", &lying());
    folder.write("scene.toml", &held("sheet.obj"));
    let args = ["drape", "scene.toml", "--out", "out", "--max-steps", "2", "--json"];
    let output = toile(&folder, &args);
    assert_eq!(code(&output), 1, "{}", said(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["verdict"], "not certified");
    assert_eq!(json["steps"], 2);
    assert!(json["reason"].as_str().unwrap().contains("do not balance"), "{json}");
    assert_eq!(vertices(folder.0.join("out/equilibrium.obj")).len(), N * N);
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_the_best_shape_so_far() {
    let folder = Folder::new();
    let text =
        "mesh = { generate = \"sheet\", n = 49, size = 1 }\npins = { vertices = [2352, 2400] }";
    folder.write("scene.toml", &scene(text));
    // The folder appears once the program listens to signals, and long before it is done.
    let interrupt = "\"$0\" drape scene.toml --out out -q & id=$!; while [ ! -d out ]; do sleep 0.05; done; \
        kill -INT $id; wait $id";
    let output = std::process::Command::new("bash")
        .args(["-c", interrupt, env!("CARGO_BIN_EXE_toile")])
        .current_dir(&folder.0)
        .output();
    let Ok(output) = output else { return }; // no bash here: nothing to test
    assert_eq!(code(&output), 1, "{}", said(&output));
    let text = fs::read_to_string(folder.0.join("out/certificate.json")).unwrap();
    assert!(text.contains("stopped on request"), "{text}");
    assert_eq!(vertices(folder.0.join("out/equilibrium.obj")).len(), 49 * 49);
}

#[test]
fn a_drape_on_a_table_says_for_how_long_it_was_watched() {
    let folder = Folder::new();
    let table = "[[collider]]\nplane = { point = [0, 0, -1e-3] }\nfriction = 0.4\n";
    let sheet = scene("mesh = { generate = \"sheet\", n = 4, size = 0.2 }");
    folder.write("scene.toml", &format!("{sheet}\n{table}"));
    let output = toile(&folder, &["drape", "scene.toml", "--out", "out", "--drift", "0.05"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("simulated for 0.05 s it moves by"), "{text}");
    assert!(text.contains("  size       283 mm"), "lengths read well: {text}");
}
