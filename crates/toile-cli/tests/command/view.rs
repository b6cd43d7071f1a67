//! `toile view`: what is shown, and what is said where nothing can be.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::common::{Folder, code, said, scene, toile};

fn start(folder: &Folder, args: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toile"))
        .current_dir(&folder.0)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().into())
}

fn get(address: &str, path: &str) -> String {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, root) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{root}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

fn sheet(folder: &Folder) {
    let text =
        scene("mesh = { generate = \"sheet\", n = 5, size = 1.0 }\npins = { vertices = [0, 4] }");
    folder.write("s.toml", &text);
}

#[test]
fn a_result_and_a_scene_are_served_until_they_are_ended() {
    let folder = Folder::new();
    sheet(&folder);
    let output = toile(&folder, &["drape", "s.toml", "--out", "r", "-q"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    if !toile_view::is_built() {
        // Without the page the report is shown, and what to run is told.
        let output = toile(&folder, &["view", "r", "--no-open"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        assert!(said(&output).contains("viewer/build.sh") && said(&output).contains("report.html"));
        return;
    }
    for (what, word) in [("r", "\"equilibrium\""), ("s.toml", "\"not solved yet\"")] {
        let (mut child, address) = start(&folder, &["view", what, "--no-open"]);
        assert!(get(&address, "api/index").contains(word), "{what}");
        assert!(get(&address, "").contains("<canvas"), "the page");
        assert!(get(&address, "api/array/layer_0.bin").starts_with("HTTP/1.1 200"));
        assert!(get(&address, "api/array/..%2fview.json").starts_with("HTTP/1.1 4"));
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn what_is_missing_is_told_in_words() {
    let folder = Folder::new();
    let output = toile(&folder, &["view", "nowhere", "--no-open"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("nowhere does not exist"), "{}", said(&output));
    fs::create_dir(folder.0.join("empty")).unwrap();
    let output = toile(&folder, &["view", "empty", "--no-open"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("holds no result of toile"), "{}", said(&output));
    folder.write("bad.toml", "[[shell]]\nmesh = 3\n");
    let output = toile(&folder, &["view", "bad.toml", "--no-open"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    // A folder with a report only has that shown.
    folder
        .write("p.json", r#"{"mu": 0.5, "W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "b": [-1, 2, 0]}"#);
    let output = toile(&folder, &["friction", "p.json", "--out", "f", "-q"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = toile(&folder, &["view", "f", "--no-open"]);
    assert_eq!(code(&output), 0);
    assert!(said(&output).trim_end().ends_with("report.html"), "{}", said(&output));
    let output = toile(&folder, &["simulate", "x.toml", "--out", "m", "--no-open"]);
    assert_eq!(code(&output), 2, "--no-open goes with --view");
}
