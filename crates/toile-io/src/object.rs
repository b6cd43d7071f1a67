//! Flat JSON objects whose keys keep the order they were written in.

use serde_json::Value;

/// Keys and values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Value)>);

impl Object {
    /// The same with one more entry.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    fn entry((key, value): &(String, Value)) -> String {
        format!("{}: {value}", Value::from(key.as_str()))
    }

    /// On one line.
    pub fn line(&self) -> String {
        let entries: Vec<String> = self.0.iter().map(Self::entry).collect();
        format!("{{{}}}", entries.join(", "))
    }

    /// One key per line.
    pub fn pretty(&self) -> String {
        let entries: Vec<String> = self.0.iter().map(|e| format!("  {}", Self::entry(e))).collect();
        format!("{{\n{}\n}}", entries.join(",\n"))
    }
}
