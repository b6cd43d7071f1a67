//! A record for the viewer in the folder of a result: `view.json` and arrays in `view/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toile::io::atomic_write;
use toile::report::record::{INDEX, Recorder, Store, is_array_name};

use crate::view::Teller;

/// Folder of the arrays.
pub(crate) const ARRAYS: &str = "view";

/// A record that goes into a folder.
pub(crate) type Record = Recorder<FolderStore>;

/// Writes arrays and index into a folder, and tells who watches.
#[derive(Clone)]
pub(crate) struct FolderStore {
    out: PathBuf,
    changed: Option<Teller>,
}

impl FolderStore {
    /// A store in `out`; what an earlier record left there goes, unless it is `kept`.
    pub(crate) fn open(out: &Path, kept: bool, changed: Option<Teller>) -> io::Result<Self> {
        let arrays = out.join(ARRAYS);
        fs::create_dir_all(&arrays)?;
        if !kept {
            // The index goes first: it must not name what is gone.
            let _ = fs::remove_file(out.join(INDEX));
            for entry in fs::read_dir(&arrays)?.flatten() {
                if entry.file_name().to_str().is_some_and(is_array_name) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        Ok(Self { out: out.into(), changed })
    }
}

impl Store for FolderStore {
    fn array(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.out.join(ARRAYS).join(name);
        atomic_write(path, |w| w.write_all(bytes)).map_err(io::Error::other)
    }

    fn index(&mut self, text: &str) -> io::Result<()> {
        let path = self.out.join(INDEX);
        atomic_write(path, |w| w.write_all(text.as_bytes())).map_err(io::Error::other)?;
        if let Some(changed) = &self.changed {
            changed();
        }
        Ok(())
    }
}
