//! Files that hold text, and those that should.

use std::path::Path;

/// The text of a file of at most `most` bytes, or in words what is wrong with it and what to do.
pub(crate) fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let unread = |e: std::io::Error| format!("cannot be read: {e}; check the name and the folder");
    let meta = std::fs::metadata(path).map_err(unread)?;
    if !meta.is_file() {
        return Err("is not a file; give the path of one".into());
    }
    if meta.len() > most {
        return Err(format!("{} bytes, more than the {most} that are read", meta.len()));
    }
    as_text(std::fs::read(path).map_err(unread)?)
}

/// Bytes as text, or where they are none.
pub(crate) fn as_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
        format!(
            "byte {} (line {line}) is not UTF-8 text; if this is a binary file give the text it was made from, else save it as UTF-8",
            at + 1
        )
    })
}
