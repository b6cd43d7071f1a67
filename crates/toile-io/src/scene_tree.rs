//! TOML and JSON as one tree that remembers where everything stood.

use crate::attached::Attached;
use crate::scene_error::Diagnostic;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// A value and the bytes it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Tree,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Date,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Tree::Table(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
            _ => None,
        }
    }

    /// The value for messages.
    pub(crate) fn describe(&self) -> String {
        let short = |text: &str| crate::error::excerpt(text.as_bytes());
        match &self.value {
            Tree::Null => "null".into(),
            Tree::Bool(v) => v.to_string(),
            Tree::Int(v) => v.to_string(),
            Tree::Float(v) => format!("{v:?}"),
            Tree::Text(v) => format!("\"{}\"", short(v)),
            Tree::Date => "a date".into(),
            Tree::List(v) => format!("a list of {}", v.len()),
            Tree::Table(_) => "a table".into(),
        }
    }

    /// The plain value; null and dates are refused before this is called.
    pub(crate) fn to_toml(&self) -> toml::Value {
        match &self.value {
            Tree::Null | Tree::Date => toml::Value::String(String::new()),
            Tree::Bool(v) => toml::Value::Boolean(*v),
            Tree::Int(v) => toml::Value::Integer(*v),
            Tree::Float(v) => toml::Value::Float(*v),
            Tree::Text(v) => toml::Value::String(v.clone()),
            Tree::List(v) => toml::Value::Array(v.iter().map(Node::to_toml).collect()),
            Tree::Table(v) => {
                toml::Value::Table(v.iter().map(|e| (e.key.clone(), e.node.to_toml())).collect())
            }
        }
    }
}

/// The text of a scene and where each key stands in it, for messages; and what it names that lies in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneSource {
    path: Option<PathBuf>,
    text: String,
    root: Option<Node>,
    pub(crate) attached: Attached,
}

impl SceneSource {
    pub(crate) fn new(path: Option<&Path>, text: &str, root: Node) -> SceneSource {
        SceneSource {
            path: path.map(Path::to_path_buf),
            text: text.into(),
            root: Some(root),
            attached: Attached::default(),
        }
    }

    /// The scene file, None for a scene made in memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The content of the scene file.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn file_name(path: Option<&Path>) -> String {
        path.map_or("scene".into(), |p| p.display().to_string())
    }

    /// A problem at a key such as `shell[0].pins`; the nearest enclosing key that is written marks it.
    pub fn diagnostic_at(
        &self,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let span = self.root.as_ref().map_or(0..0, |root| locate(root, key));
        Diagnostic::new(&Self::file_name(self.path()), &self.text, span, message, help)
    }
}

fn locate(root: &Node, key: &str) -> Range<usize> {
    let mut node = root;
    for step in key.split(['.', '[']).filter(|s| !s.is_empty()) {
        let next = match (&node.value, step.trim_end_matches(']').parse::<usize>()) {
            (Tree::List(items), Ok(i)) => items.get(i),
            _ => node.get(step),
        };
        match next {
            Some(n) => node = n,
            None => break,
        }
    }
    node.span.clone()
}

/// A syntax error: its place, what, and what to do.
pub(crate) type SyntaxError = (Range<usize>, String, String);

/// Reads TOML.
pub(crate) fn from_toml(text: &str) -> Result<Node, SyntaxError> {
    match DeTable::parse(text) {
        Ok(table) => {
            let span = table.span();
            Ok(Node { span: span.start..span.start, value: table_tree(table.into_inner()) })
        }
        Err(e) => {
            let number = e.message().contains("mantissa");
            let help = match number {
                true => "a number has a digit before its point, as in 0.25; strings need quotes",
                false => "strings need quotes, and a table is `[name]` or `{ key = value }`",
            };
            let message = format!("not valid TOML: {}", e.message());
            Err((e.span().unwrap_or(0..0), message, help.into()))
        }
    }
}

fn table_tree(table: DeTable<'_>) -> Tree {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| Entry {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            node: Node { span: value.span(), value: value_tree(value.into_inner()) },
        })
        .collect();
    entries.sort_by_key(|e| e.key_span.start);
    Tree::Table(entries)
}

fn value_tree(value: DeValue<'_>) -> Tree {
    match value {
        DeValue::String(v) => Tree::Text(v.into_owned()),
        DeValue::Integer(v) => match i64::from_str_radix(v.as_str(), v.radix()) {
            Ok(i) => Tree::Int(i),
            Err(_) => Tree::Float(v.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(v) => Tree::Float(v.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(v) => Tree::Bool(v),
        DeValue::Datetime(_) => Tree::Date,
        DeValue::Array(v) => Tree::List(
            v.into_iter()
                .map(|item| Node { span: item.span(), value: value_tree(item.into_inner()) })
                .collect(),
        ),
        DeValue::Table(v) => table_tree(v),
    }
}

/// Reads JSON.
pub(crate) fn from_json(text: &str) -> Result<Node, SyntaxError> {
    // The library checks the syntax and the depth; what is left is to note the places.
    if let Err(e) = serde_json::from_str::<serde_json::Value>(text) {
        let line_start: usize =
            text.split_inclusive('\n').take(e.line().saturating_sub(1)).map(str::len).sum();
        let at = line_start + e.column().saturating_sub(1);
        let message = e.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message);
        return Err((
            at..at + 1,
            format!("not valid JSON: {what}"),
            "keys and texts need double quotes, and no comma follows the last entry".into(),
        ));
    }
    let mut json = Json { text, at: 0 };
    Ok(json.value())
}

/// A walk over text that is known to be valid JSON.
struct Json<'a> {
    text: &'a str,
    at: usize,
}

impl Json<'_> {
    /// Next byte that is not blank; 0 at the end.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn string(&mut self) -> (String, Range<usize>) {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.at += 1;
        while let Some(&c) = bytes.get(self.at) {
            self.at += if c == b'\\' { 2 } else { 1 };
            if c == b'"' {
                break;
            }
        }
        let span = start..self.at.min(bytes.len());
        let text = self.text.get(span.clone()).unwrap_or_default();
        (serde_json::from_str(text).unwrap_or_default(), span)
    }

    fn value(&mut self) -> Node {
        let first = self.peek();
        let start = self.at;
        let value = match first {
            b'"' => Tree::Text(self.string().0),
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !matches!(self.peek(), b']' | 0) {
                    items.push(self.value());
                    if self.peek() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Tree::List(items)
            }
            b'{' => {
                self.at += 1;
                let mut entries = Vec::new();
                while !matches!(self.peek(), b'}' | 0) {
                    let (key, key_span) = self.string();
                    self.peek();
                    self.at += 1; // the colon
                    let node = self.value();
                    entries.push(Entry { key, key_span, node });
                    if self.peek() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Tree::Table(entries)
            }
            _ => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let end = rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
                let word = &rest[..end];
                self.at += end.max(1);
                match word {
                    "null" => Tree::Null,
                    "true" => Tree::Bool(true),
                    "false" => Tree::Bool(false),
                    number => match number.parse() {
                        Ok(i) => Tree::Int(i),
                        Err(_) => Tree::Float(number.parse().unwrap_or(f64::NAN)),
                    },
                }
            }
        };
        Node { span: start..self.at.min(self.text.len()), value }
    }
}
