//! What is given out: the record of a result, from a folder or from memory.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

/// A record: an index, arrays by name, and perhaps a report.
pub trait Content: Send + Sync + 'static {
    /// The index, JSON.
    fn index(&self) -> io::Result<Vec<u8>>;
    /// An array; the name has been checked to be a plain one.
    fn array(&self, name: &str) -> io::Result<Vec<u8>>;
    /// The report, HTML.
    fn report(&self) -> io::Result<Vec<u8>>;
    /// Whether there is a report.
    fn has_report(&self) -> bool;
}

/// A record in the folder of a result.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The record in `path`; whether it is there is seen when it is asked for.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().into() }
    }

    /// Whether there is a record.
    pub fn has_record(&self) -> bool {
        self.path.join("view.json").is_file()
    }

    /// The report, if there is one.
    pub fn report_path(&self) -> Option<PathBuf> {
        Some(self.path.join("report.html")).filter(|p| p.is_file())
    }
}

impl Content for Folder {
    fn index(&self) -> io::Result<Vec<u8>> {
        fs::read(self.path.join("view.json"))
    }

    fn array(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path.join("view").join(name))
    }

    fn report(&self) -> io::Result<Vec<u8>> {
        fs::read(self.path.join("report.html"))
    }

    fn has_report(&self) -> bool {
        self.report_path().is_some()
    }
}

/// A record in memory; copies are the same record.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    held: Arc<RwLock<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    index: Vec<u8>,
    arrays: HashMap<String, Vec<u8>>,
}

impl Memory {
    /// Keeps the index.
    pub fn set_index(&self, text: &str) {
        self.write().index = text.into();
    }

    /// Keeps an array.
    pub fn set_array(&self, name: &str, bytes: &[u8]) {
        self.write().arrays.insert(name.into(), bytes.into());
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Held> {
        // What was written before a panic elsewhere is whole.
        self.held.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Content for Memory {
    fn index(&self) -> io::Result<Vec<u8>> {
        Ok(self.read().index.clone())
    }

    fn array(&self, name: &str) -> io::Result<Vec<u8>> {
        let found = self.read().arrays.get(name).cloned();
        found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn report(&self) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn has_report(&self) -> bool {
        false
    }
}
