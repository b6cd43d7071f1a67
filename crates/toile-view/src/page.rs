//! The page, as it was built into this crate.

// FILES: names and contents, put together by build.rs.
include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Whether the page was there when this crate was built: `viewer/build.sh` makes it.
pub fn is_built() -> bool {
    file("index.html").is_some()
}

/// A file of the page with its type.
pub(crate) fn file(path: &str) -> Option<(&'static [u8], &'static str)> {
    let kind = match path.rsplit('.').next()? {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    };
    FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| (*bytes, kind))
}
