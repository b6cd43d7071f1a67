//! Flat JSON objects whose keys keep the order they were written in.

use serde_json::Value;

/// Keys and values, in order.
#[derive(Default)]
pub(crate) struct Object(Vec<(String, Value)>);

impl Object {
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    fn entry((key, value): &(String, Value)) -> String {
        format!("{}: {value}", Value::from(key.as_str()))
    }

    /// On one line.
    pub(crate) fn line(&self) -> String {
        let entries: Vec<String> = self.0.iter().map(Self::entry).collect();
        format!("{{{}}}", entries.join(", "))
    }

    /// One key per line.
    pub(crate) fn pretty(&self) -> String {
        let entries: Vec<String> = self.0.iter().map(|e| format!("  {}", Self::entry(e))).collect();
        format!("{{\n{}\n}}", entries.join(",\n"))
    }
}

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
