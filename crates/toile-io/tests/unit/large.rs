//! Time grows with the length of the input and with nothing else, on files made to hurt.

use std::time::Instant;
use toile_io::{MeshFormat, SceneFormat, parse_mesh, parse_scene};

/// About this many bytes each; a quadratic reader would need minutes.
const LENGTH: usize = 1_000_000;

fn repeated(head: &str, piece: &str, tail: &str) -> String {
    format!("{head}{}{tail}", piece.repeat(LENGTH / piece.len()))
}

/// Up to three times: on a busy machine a second of work takes many.
fn quick(what: &str, work: impl Fn()) {
    let timed = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let seconds = (0..2).fold(timed(), |s, _| if s < 4.0 { s } else { s.min(timed()) });
    assert!(seconds < 4.0, "{what} took {seconds:.1} s");
}

#[test]
fn hostile_meshes_of_megabytes_take_a_moment() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let names: String = (0..16).map(|i| format!(" n{i}")).collect();
    for (what, text) in [
        ("one polygon", repeated(&format!("{triangle}f"), " 1", "\n")),
        ("sixteen groups", repeated(&format!("{triangle}g{names}\n"), "f 1 2 3\n", "")),
        ("one continued line", repeated(&format!("{triangle}f 1 2 3"), " \\\n", "\n")),
        ("groups again and again", repeated(triangle, "g a\nf 1 2 3\ng b\n", "")),
        ("relative indices", repeated(triangle, "v 1 1 1\nf -1 -2 -3\n", "")),
        ("unknown words", repeated(triangle, "xyz 1\n", "f 1 2 3\n")),
    ] {
        quick(what, || {
            parse_mesh(text.as_bytes(), MeshFormat::Obj).unwrap();
        });
    }
    let solid = "solid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\n";
    quick("one solid again and again", || {
        parse_mesh(repeated("", solid, "").as_bytes(), MeshFormat::Stl).unwrap();
    });
    let header = "ply\nformat ascii 1.0\nelement vertex 3\nproperty int x\nproperty int y\nproperty int z\n\
                  element face 1\nproperty list int int vertex_indices\nend_header\n0 0 0 1 0 0 0 1 0\n";
    quick("one polygon in PLY", || {
        let head = format!("{header}{}", LENGTH / 2);
        parse_mesh(repeated(&head, " 1", "\n").as_bytes(), MeshFormat::Ply).unwrap();
    });
    let nodes = repeated("{\"nodes\":[", "{\"children\":[1]},", "{}]}");
    quick("nodes without end", || {
        parse_mesh(nodes.as_bytes(), MeshFormat::Gltf).unwrap_err();
    });
    let chain: Vec<String> = (1..100_000).map(|i| format!("{{\"children\":[{i}]}}")).collect();
    let chain = format!("{{\"nodes\":[{},{{}}]}}", chain.join(","));
    quick("a deep tree", || {
        let error = parse_mesh(chain.as_bytes(), MeshFormat::Gltf).unwrap_err().to_string();
        assert!(error.contains("no faces"), "{error}");
    });
}

#[test]
fn hostile_scenes_of_megabytes_take_a_moment() {
    let keys: String = (0..LENGTH / 12).map(|i| format!("key{i} = 1\n")).collect();
    let json_keys: Vec<String> = (0..LENGTH / 12).map(|i| format!("\"k{i}\":1")).collect();
    for (what, text, format) in [
        ("unknown keys", keys, SceneFormat::Toml),
        ("unknown keys in JSON", format!("{{{}}}", json_keys.join(",")), SceneFormat::Json),
        ("empty shells", repeated("", "[[shell]]\n", ""), SceneFormat::Toml),
        ("one long word", repeated("", "a", " = 1"), SceneFormat::Toml),
        ("one long line", repeated("up = [", "1,", "]"), SceneFormat::Toml),
        ("a long text", repeated("up = \"", "é", "\""), SceneFormat::Toml),
    ] {
        quick(what, || {
            let error = parse_scene(&text, format).unwrap_err();
            assert!(error.problems().len() <= 20);
            assert!(error.to_string().len() < 20_000, "{what}: {}", error.to_string().len());
        });
    }
}
