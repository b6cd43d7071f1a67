//! A file appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toile_io::{ObjWriter, atomic_write, write_obj};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-atomic-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What a full disk does: some bytes arrive, then no more.
fn half_then_full(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&vec![b'x'; 200_000])?;
    Err(io::Error::new(io::ErrorKind::StorageFull, "No space left on device"))
}

#[test]
fn a_failure_leaves_nothing_and_keeps_the_old_file() {
    let folder = folder("failure");
    let path = folder.join("result.obj");
    let error = atomic_write(&path, half_then_full).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot write {}: No space left on device; free some space or choose another disk; \
             an older file of that name is untouched",
            path.display()
        )
    );
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    fs::write(&path, "old").unwrap();
    atomic_write(&path, half_then_full).unwrap_err();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(&folder), ["result.obj"]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_panic_leaves_nothing() {
    let folder = folder("panic");
    let path = folder.join("result.obj");
    let caught = std::panic::catch_unwind(|| {
        let _ = atomic_write(&path, |out| {
            out.write_all(b"half")?;
            panic!("as a bug would")
        });
    });
    assert!(caught.is_err());
    assert!(names(&folder).is_empty());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn data_that_cannot_be_written_leaves_nothing() {
    let folder = folder("nan");
    let path = folder.join("a.obj");
    let positions = [[0.0; 3], [f64::INFINITY, 0.0, 0.0]];
    let error = write_obj(&path, &positions, &[], &ObjWriter::default()).unwrap_err();
    assert!(error.to_string().ends_with("the data must be mended first"), "{error}");
    assert!(names(&folder).is_empty());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn success_replaces_the_old_file() {
    let folder = folder("success");
    let path = folder.join("a.txt");
    for text in ["first, and longer", "second"] {
        atomic_write(&path, |out| out.write_all(text.as_bytes())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(names(&folder), ["a.txt"]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_missing_folder_is_named() {
    let error = atomic_write("no/such/folder/a.txt", |_| Ok(())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write no/such/folder/a.txt: No such file or directory (os error 2); \
         create its folder first"
    );
    let error = atomic_write(std::env::temp_dir(), |_| Ok(())).unwrap_err();
    assert!(error.to_string().ends_with("it is a folder; give the name of a file"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_are_not_replaced() {
    let folder = folder("links");
    let (real, link) = (folder.join("real.txt"), folder.join("link.txt"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    atomic_write(&link, |out| out.write_all(b"new")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    fs::remove_dir_all(&folder).unwrap();

    let full = Path::new("/dev/full");
    if full.exists() {
        let error = atomic_write(full, |out| out.write_all(b"much")).unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        assert!(full.exists() && !full.is_file());
    }
}
