//! Takes the files of the page, where it was built, into the crate: a table of names and contents.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=page");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("page");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort();
    let mut table = String::from("const FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        let _ = writeln!(table, "    ({name:?}, include_bytes!({path:?})),");
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("page.rs");
    fs::write(out, table).expect("cargo gives a folder to write to");
}

/// Files below a folder, by their names in addresses; what is hidden is left out. No folder, no files.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if hidden {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else if let Ok(name) = path.strip_prefix(root) {
            let parts: Vec<String> =
                name.iter().map(|p| p.to_string_lossy().into_owned()).collect();
            files.push((parts.join("/"), path));
        }
    }
}
