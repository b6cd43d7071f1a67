//! What is printed.

use serde_json::Value;
pub(crate) use toile::io::Object;

/// Prints a line; a reader that has gone away is no error.
pub(crate) fn print(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a line on standard error, likewise.
pub(crate) fn tell(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints any value with indentation.
pub(crate) fn print_pretty(value: &Value) {
    print(&format!("{value:#}"));
}
