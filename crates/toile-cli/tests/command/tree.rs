//! Trees of rods in contact and discrete rods in motion, as a user asks for them.

use std::fs;
use std::path::PathBuf;

use crate::common::{Folder, code, said, toile};

const TREE: &str = r#"
[[rod]]
elements = 8
length = 0.2
bending_stiffness = [5e-7, 5e-7]
twisting_stiffness = 3.5e-7
linear_density = 2e-5
clamp = { position = [0, 0, 0.03], d1 = [0, 1, 0], d2 = [0, 0, 1], d3 = [1, 0, 0] }

[[rod]]
elements = 5
length = 0.1
bending_stiffness = [3e-7, 3e-7]
twisting_stiffness = 2e-7
linear_density = 2e-5
parent = { rod = 0, at = 0.5, d1 = [0, 0, -1], d2 = [0, 1, 0], d3 = [1, 0, 0] }

[[collider]]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
friction = 0.4
gap = 0.0

[self_contact]
friction = 0.4
"#;

const TIME: &str = "[time]\nstep = 0.005\nduration = 2.0\nframe = 2.0\ndamping = 8.0\n";

fn points(path: PathBuf) -> Vec<[f64; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let point = |l: &str| {
        let mut words = l[2..].split(' ').map(|w| w.parse().unwrap());
        std::array::from_fn(|_| words.next().unwrap())
    };
    text.lines().filter(|l| l.starts_with("v ")).map(point).collect()
}

fn apart(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f64::max)
}

/// A trunk with a bough lies down on a floor: `drape` certifies that it rests, nothing is inside the floor, and what is moved from the natural
/// shape by `simulate` comes to lie there too.
#[test]
fn a_tree_lies_down_on_a_floor() {
    let folder = Folder::new();
    folder.write("tree.toml", TREE);
    let output = toile(&folder, &["drape", "tree.toml", "--out", "rest", "--drift", "0.2"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let certificate: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.0.join("rest/certificate.json")).unwrap()).unwrap();
    assert!(certificate["contacts"].as_u64().unwrap() >= 2, "{certificate}");
    assert!(certificate["drift"].as_f64().unwrap() < 1e-4, "{certificate}");
    let lines = fs::read_to_string(folder.0.join("rest/contacts.jsonl")).unwrap();
    // Trunk and bough both touch.
    assert!(lines.contains("\"fibre\": 0") && lines.contains("\"fibre\": 1"), "{lines}");
    folder.write("moving.toml", &format!("{TREE}{TIME}"));
    let output = toile(&folder, &["simulate", "moving.toml", "--out", "moving"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let end = points(folder.0.join("moving/frame_00001.obj"));
    assert!(end.iter().all(|p| p[2] > 4.9e-4), "{end:?}");
    let tip = |rod: usize| -> [f64; 3] {
        let text = fs::read_to_string(folder.0.join(format!("rest/rod_{rod}.csv"))).unwrap();
        let mut cells = text.lines().last().unwrap().split(',').skip(1);
        std::array::from_fn(|_| cells.next().unwrap().parse().unwrap())
    };
    // How far it slid before it lay still depends on the way.
    let (trunk, bough) = (apart(&end[8], &tip(0)), apart(&end[end.len() - 1], &tip(1)));
    assert!(trunk < 5e-3 && bough < 5e-3, "{trunk:e} {bough:e}");
}

/// Let go in its natural shape, a curl of nodes comes to rest where `drape` has it; growing from others and drawing are refused in words.
#[test]
fn a_discrete_rod_moves() {
    let folder = Folder::new();
    let curl = r#"
[[rod]]
model = "discrete"
elements = 16
length = 0.3
bending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7
linear_density = 2.0e-5
natural_curvature = { k1 = [20.0], k2 = [0.0], twist = [8.0] }
clamp = { position = [0, 0, 0], d1 = [1, 0, 0], d2 = [0, -1, 0], d3 = [0, 0, -1] }
"#;
    folder.write("rest.toml", curl);
    let output = toile(&folder, &["drape", "rest.toml", "--out", "rest", "--stations", "17"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    folder.write("moving.toml", &format!("{curl}{TIME}"));
    let output = toile(&folder, &["simulate", "moving.toml", "--out", "moving"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let [start, end] =
        ["00000", "00001"].map(|n| points(folder.0.join(format!("moving/frame_{n}.obj"))));
    let text = fs::read_to_string(folder.0.join("rest/rod_0.csv")).unwrap();
    let mut moved = 0.0f64;
    for ((line, a), b) in text.lines().skip(1).zip(&start).zip(&end) {
        let mut cells = line.split(',').skip(1);
        let there: [f64; 3] = std::array::from_fn(|_| cells.next().unwrap().parse().unwrap());
        assert!(apart(b, &there) < 1e-5, "{b:?} {there:?}");
        moved = moved.max(apart(a, b));
    }
    assert!(moved > 0.01, "{moved}");
    // On a floor it lies as a rod of clothoids does.
    let floor = "[[collider]]\nplane = { point = [0, 0, -0.1], normal = [0, 0, 1] }\nfriction = 0.4\ngap = 0.0\n";
    folder.write("floor.toml", &format!("{curl}{floor}"));
    let smooth = curl.replace("\"discrete\"", "\"super-clothoid\"");
    folder.write("smooth.toml", &format!("{smooth}{floor}"));
    let [nodes, clothoids] = ["floor", "smooth"].map(|name| {
        let scene = format!("{name}.toml");
        let output = toile(&folder, &["drape", &scene, "--out", name, "--drift", "0.2"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        let rows = fs::read_to_string(folder.0.join(name).join("rod_0.csv")).unwrap();
        let point = |l: &str| -> [f64; 3] {
            let mut cells = l.split(',').skip(1).map(|c| c.parse().unwrap());
            std::array::from_fn(|_| cells.next().unwrap())
        };
        rows.lines().skip(1).map(point).collect::<Vec<_>>()
    });
    let off = nodes.iter().zip(&clothoids).map(|(a, b)| apart(a, b)).fold(0.0, f64::max);
    assert!(off < 0.02 * 0.3 && nodes[20][2] < -0.09, "{off}: {:?}", nodes[20]);
    folder.write("strand.obj", "v 0 0 0\nv 0 0 -0.1\nv 0 0 -0.2\nl 1 2 3\n");
    let hair = "[[hair]]\nstrands = \"strand.obj\"\nmodel = \"discrete\"\nbending_stiffness = [1e-6, 1e-6]\n\
                twisting_stiffness = 7e-7\nlinear_density = 2e-5\n";
    folder.write("hair.toml", hair);
    let output = toile(&folder, &["invert", "hair.toml", "--out", "hair"]);
    let text = said(&output);
    assert!(code(&output) == 2 && text.contains("not fitted by nodes"), "{text}");
}

/// The points of a rod as it was draped, as a file of one polyline.
fn drawn(folder: &Folder, rod: usize) {
    let rows = fs::read_to_string(folder.0.join(format!("rest/rod_{rod}.csv"))).unwrap();
    let mut text = String::new();
    for line in rows.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        text += &format!("v {} {} {}\n", cells[1], cells[2], cells[3]);
    }
    let numbers: Vec<String> = (1..rows.lines().count()).map(|i| i.to_string()).collect();
    folder.write(&format!("rod_{rod}.obj"), &format!("{text}l {}\n", numbers.join(" ")));
}

const DRAWN: &str = r#"
[[rod]]
elements = 12
bending_stiffness = [5e-7, 5e-7]
twisting_stiffness = 3.5e-7
linear_density = 2e-5
curve = "rod_0.obj"

[[rod]]
elements = 8
bending_stiffness = [3e-7, 3e-7]
twisting_stiffness = 2e-7
linear_density = 2e-5
curve = "rod_1.obj"
parent = { rod = 0 }
"#;

/// A drawn tree: natures that hold it, free and on a floor; draped, the free one comes back; a bough that begins elsewhere is refused, and so is a tree
/// that is drawn in part.
#[test]
fn a_drawn_tree_is_inverted() {
    let folder = Folder::new();
    let (rods, ground) = TREE.split_at(TREE.find("[[collider]]").unwrap());
    for (name, floor) in [("free", ""), ("lying", ground)] {
        folder.write("tree.toml", &format!("{rods}{floor}"));
        let args = ["drape", "tree.toml", "--out", "rest", "--stations", "81"];
        let output = toile(&folder, &args);
        assert_eq!(code(&output), 0, "{}", said(&output));
        (0..2).for_each(|rod| drawn(&folder, rod));
        folder.write("drawn.toml", &format!("{DRAWN}{floor}"));
        let output = toile(&folder, &["invert", "drawn.toml", "--out", name]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        let certificate: serde_json::Value = serde_json::from_slice(
            &fs::read(folder.0.join(name).join("certificate.json")).unwrap(),
        )
        .unwrap();
        assert!(certificate["residual"].as_f64().unwrap() < 1e-9, "{certificate}");
        assert!(certificate["target_error_max"].as_f64().unwrap() < 1e-4, "{certificate}");
        if floor.is_empty() {
            let scene = folder.0.join("free/inverted.toml");
            let scene = scene.to_str().unwrap();
            let output = toile(&folder, &["drape", scene, "--out", "back", "--stations", "81"]);
            assert_eq!(code(&output), 0, "{}", said(&output));
            for rod in 0..2 {
                let tip = |place: &str| -> Vec<f64> {
                    let path = folder.0.join(place).join(format!("rod_{rod}.csv"));
                    let text = fs::read_to_string(path).unwrap();
                    let last = text.lines().last().unwrap().to_string();
                    last.split(',').skip(1).take(3).map(|c| c.parse().unwrap()).collect()
                };
                let (a, b) = (tip("rest"), tip("back"));
                let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-4, "rod {rod}: {a:?} {b:?}");
            }
        } else {
            assert!(certificate["drift"].as_f64().unwrap() < 1e-4, "{certificate}");
            assert!(certificate["contacts"].as_u64().unwrap() >= 2, "{certificate}");
        }
    }
    let refused = |scene: &str, what: &str| {
        folder.write("bad.toml", scene);
        let output = toile(&folder, &["invert", "bad.toml", "--out", "bad"]);
        let text = said(&output);
        assert!(code(&output) == 2 && text.contains(what), "{text}");
    };
    refused(&DRAWN.replace("{ rod = 0 }", "{ rod = 1 }"), "which is not before it");
    refused(
        &DRAWN.replace("{ rod = 0 }", "{ rod = 0, at = 0.1 }"),
        "draw its first point on that rod",
    );
    refused(&DRAWN.replace("curve = \"rod_0.obj\"", ""), "has no `length`");
    folder.write("bad.toml", &rods.replace("at = 0.5, ", ""));
    let output = toile(&folder, &["drape", "bad.toml", "--out", "bad"]);
    assert!(code(&output) == 2 && said(&output).contains("`at` is missing"), "{}", said(&output));
}
