//! Running the built binary on scenes in folders of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes away with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let k = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("toile-cli-{}-{k}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs and checks that nothing panicked.
pub(crate) fn toile(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toile"));
    let output = command.current_dir(&folder.0).args(args).output().unwrap();
    let text = said(&output);
    assert!(!text.contains("panicked") && !text.contains("RUST_BACKTRACE"), "{args:?}: {text}");
    output
}

/// Everything the command said.
pub(crate) fn said(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    format!("{out}{err}")
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// The lines `v x y z` of an OBJ.
pub(crate) fn vertices(path: impl AsRef<Path>) -> Vec<[f64; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let number = |word: Option<&str>| word.unwrap().parse().unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("v "))
        .map(|rest| {
            let mut words = rest.split_whitespace();
            [number(words.next()), number(words.next()), number(words.next())]
        })
        .collect()
}

/// The lines `f …` of an OBJ.
pub(crate) fn faces(path: impl AsRef<Path>) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| line.starts_with("f ")).map(String::from).collect()
}

/// An OBJ of an n × n grid over the unit square, mapped by `place`.
pub(crate) fn grid(n: usize, place: impl Fn(f64, f64) -> [f64; 3]) -> String {
    let mut text = String::new();
    let at = |i: usize| i as f64 / (n - 1) as f64;
    for j in 0..n {
        for i in 0..n {
            let [x, y, z] = place(at(i), at(j));
            text += &format!("v {x:?} {y:?} {z:?}\n");
        }
    }
    for j in 0..n - 1 {
        for i in 0..n - 1 {
            let a = j * n + i + 1;
            let (b, c, d) = (a + 1, a + n + 1, a + n);
            text += &if (i + j) % 2 == 0 {
                format!("f {a} {b} {c}\nf {a} {c} {d}\n")
            } else {
                format!("f {a} {b} {d}\nf {b} {c} {d}\n")
            };
        }
    }
    text
}

/// A scene of one shell; `lines` hold its mesh and pins.
pub(crate) fn scene(lines: &str) -> String {
    format!("[[shell]]\n{SHEET}{lines}\n")
}

/// Thickness, density and material of a sheet that is easy to drape.
pub(crate) const SHEET: &str = "thickness = 1e-3\nareal_density = 0.2\n\
    material = { model = \"koiter\", young = 1e6, poisson = 0.3 }\n";
