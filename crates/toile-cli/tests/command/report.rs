//! `report.html` and the record for the viewer, from every command that solves.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, code, said, scene, toile};

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.0.join(name)).unwrap()
}

/// Arrays named by an index exist and have the lengths it tells.
fn check_record(folder: &Folder, out: &str) -> Value {
    let index: Value = serde_json::from_str(&read(folder, &format!("{out}/view.json"))).unwrap();
    let floats = |name: &Value| {
        let path = folder.0.join(out).join("view").join(name.as_str().unwrap());
        fs::metadata(path).unwrap().len() as usize / 4
    };
    for layer in index["layers"].as_array().unwrap() {
        let count = layer["count"].as_u64().unwrap() as usize;
        assert_eq!(floats(&layer["positions"]), 3 * count);
        for field in layer["fields"].as_array().unwrap() {
            assert_eq!(floats(&field["file"]), count);
        }
        if let Some(triangles) = layer["triangles"].as_u64() {
            assert_eq!(floats(&layer["faces"]), 3 * triangles as usize);
        }
    }
    for body in index["bodies"].as_array().unwrap() {
        assert_eq!(floats(&body["positions"]), 3 * body["count"].as_u64().unwrap() as usize);
    }
    assert_eq!(index["state"], "done");
    index
}

/// A page that needs nothing else.
fn check_page(html: &str) {
    assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
    let own = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!own.contains("http://") && !own.contains("https://") && !own.contains("<script"));
}

#[test]
fn a_drape_is_told_on_one_page() {
    let folder = Folder::new();
    let text =
        scene("mesh = { generate = \"sheet\", n = 7, size = 1.0 }\npins = { vertices = [0, 6] }");
    folder.write("my <scene>.toml", &text);
    let output = toile(&folder, &["drape", "my <scene>.toml", "--out", "r", "-q"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let html = read(&folder, "r/report.html");
    check_page(&html);
    assert!(html.contains("<strong>certified</strong>"));
    assert!(html.contains("drape my &lt;scene&gt;.toml") && !html.contains("<scene>"));
    assert!(html.contains("toile drape &#39;my &lt;scene&gt;.toml&#39; --out r -q"), "the command");
    assert!(html.contains("coloured by stretch") && html.contains("data:image/png;base64,"));
    assert!(html.contains("Convergence") && html.contains("factorisation"));
    assert!(html.contains("49 vertices, 72 faces, 2 held"));
    let index = check_record(&folder, "r");
    assert_eq!(index["verdict"]["ok"], true);
    assert_eq!(index["layers"][0]["name"], "equilibrium");
    assert!(index["frames"].is_null());
    // What is not certified is told so.
    let output =
        toile(&folder, &["drape", "my <scene>.toml", "--out", "r", "-q", "--max-steps", "1"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(read(&folder, "r/report.html").contains("<strong>not certified</strong>"));
    assert_eq!(check_record(&folder, "r")["verdict"]["ok"], false);
}

#[test]
fn motion_is_recorded_frame_by_frame_and_goes_on_after_a_resume() {
    let folder = Folder::new();
    let head = scene("mesh = { generate = \"sheet\", n = 4, size = 0.2 }");
    let rest = "[[collider]]\nplane = { point = [0, 0, -0.0011] }\nfriction = 0.5\ngap = 1e-3\n\
                motion = { velocity = [0, 0, 0.0] }\n[time]\nstep = 0.01\nframe = 0.02\nduration = ";
    folder.write("s.toml", &format!("{head}{rest}0.04\n"));
    let output = toile(&folder, &["simulate", "s.toml", "--out", "m", "-q"]);
    assert!(code(&output) < 2, "{}", said(&output));
    let index = check_record(&folder, "m");
    assert_eq!(index["frames"]["times"].as_array().unwrap().len(), 3);
    let frame = |k: usize| {
        let contacts = index["frames"]["contacts"][k].as_u64().unwrap() as usize;
        let length = fs::metadata(folder.0.join(format!("m/view/frame_{k:05}.bin"))).unwrap().len();
        (length as usize / 4, 16 * 3 + 5 * 16 + 11 * contacts + 12)
    };
    assert_eq!(frame(2).0, frame(2).1, "positions, five fields, contacts, one body");
    check_page(&read(&folder, "m/report.html"));
    assert!(read(&folder, "m/report.html").contains("Energies"));
    folder.write("s.toml", &format!("{head}{rest}0.08\n"));
    let output = toile(&folder, &["simulate", "s.toml", "--out", "m", "-q", "--resume"]);
    assert!(code(&output) < 2, "{}", said(&output));
    let index = check_record(&folder, "m");
    let times: Vec<f64> =
        index["frames"]["times"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
    assert_eq!(times.len(), 5, "{times:?}");
    assert!(times.windows(2).all(|w| w[1] > w[0]), "{times:?}");
}

#[test]
fn friction_and_protocols_have_their_pages() {
    let folder = Folder::new();
    folder
        .write("p.json", r#"{"mu": 0.5, "W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "b": [-1, 2, 0]}"#);
    let output = toile(&folder, &["friction", "p.json", "--out", "f", "-q"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let html = read(&folder, "f/report.html");
    check_page(&html);
    assert!(html.contains("<strong>solved</strong>") && html.contains("Use of the friction cones"));
    let output = toile(&folder, &["validate", "frequencies", "--quick", "--out", "v", "-q"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let html = read(&folder, "v/report.html");
    check_page(&html);
    assert!(html.contains("<strong>OK</strong>") && html.contains("validate frequencies"));
    assert!(html.contains("<svg") && html.contains("Everything that was measured"));
}
