//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that could not be written; nothing of it was left behind.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}; {}", path.display(), remedy(source))]
pub struct WriteError {
    /// The file as it was asked for.
    pub path: PathBuf,
    /// What the system said, or what the data did not allow.
    pub source: io::Error,
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "create its folder first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder you may write to"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space or choose another disk; an older file of that name is untouched"
        }
        io::ErrorKind::IsADirectory => "give the name of a file",
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => "the data must be mended first",
        _ => "an older file of that name is untouched",
    }
}

/// Removes the temporary unless it was renamed, also when the caller's closure panics.
struct Temporary {
    path: PathBuf,
    keep: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep {
            // Nothing more can be done about a failure here, and the first error matters more.
            let _ = fs::remove_file(&self.path);
        }
    }
}

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes a file through `write` so that readers see the old content or the whole new one.
///
/// The data goes to a temporary in the same folder, is flushed to the disk and renamed. On failure
/// (of `write`, a full disk, a missing folder) the temporary is removed and an older file stays as it
/// was. A link is followed; a device or pipe is written directly, since it cannot be replaced.
pub fn atomic_write<F>(path: impl AsRef<Path>, write: F) -> Result<(), WriteError>
where
    F: FnOnce(&mut dyn Write) -> io::Result<()>,
{
    let path = path.as_ref();
    write_whole(path, write).map_err(|source| WriteError { path: path.to_path_buf(), source })
}

fn write_whole<F>(asked: &Path, write: F) -> io::Result<()>
where
    F: FnOnce(&mut dyn Write) -> io::Result<()>,
{
    // Renaming onto a link would replace the link instead of the file it names.
    let target = fs::canonicalize(asked).unwrap_or_else(|_| asked.to_path_buf());
    let existing = fs::metadata(&target).ok();
    if let Some(meta) = &existing {
        if meta.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        if !meta.is_file() {
            let mut out = BufWriter::new(OpenOptions::new().write(true).open(&target)?);
            write(&mut out)?;
            return out.flush();
        }
    }
    let Some(name) = target.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path does not name a file"));
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    let path = target.with_file_name(hidden);
    let file = File::create_new(&path)?;
    let mut temporary = Temporary { path, keep: false };
    if let Some(meta) = existing {
        file.set_permissions(meta.permissions())?;
    }
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()?;
    drop(out);
    fs::rename(&temporary.path, &target)?;
    temporary.keep = true;
    Ok(())
}

/// An error for data a format cannot hold.
pub(crate) fn invalid_data(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}
