//! The JSON schema of scenes, and the check of a file against it that keeps the places.

use crate::scene::Scene;
use crate::scene_error::Diagnostic;
use crate::scene_tree::{Node, Tree};
use crate::suggest::nearest;
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = schemars::schema_for!(Scene).to_value();
    plain_descriptions(&mut schema);
    schema
});

/// Descriptions come from doc comments, which must write `\[m\]` and break their lines.
fn plain_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace("\\[", "[").replace("\\]", "]").replace('\n', " ");
            }
            map.values_mut().for_each(plain_descriptions);
        }
        Value::Array(list) => list.iter_mut().for_each(plain_descriptions),
        _ => {}
    }
}

/// The JSON schema (draft 2020-12) of scene files, for editors.
pub fn scene_schema() -> Value {
    SCHEMA.clone()
}

/// Problems shown at once.
const MOST: usize = 20;

/// All places where the tree breaks the schema, in the order of the file.
pub(crate) fn check(root: &Node, file: &str, text: &str) -> Vec<Diagnostic> {
    let mut checker = Checker { file, text, found: Vec::new() };
    checker.node(root, &SCHEMA, "the scene", "the scene");
    checker.found.sort_by_key(|(at, _)| *at);
    checker.found.into_iter().map(|(_, d)| d).collect()
}

struct Checker<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<(usize, Diagnostic)>,
}

/// Follows a reference into the definitions.
fn resolve(schema: &'static Value) -> &'static Value {
    let mut schema = schema;
    while let Some(reference) = schema["$ref"].as_str() {
        match SCHEMA.pointer(reference.trim_start_matches('#')) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// The alternatives of a schema, without null.
fn branches(schema: &'static Value) -> Vec<&'static Value> {
    let schema = resolve(schema);
    match schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        Some(list) => list.iter().flat_map(branches).filter(|s| s["type"] != "null").collect(),
        None => vec![schema],
    }
}

/// The texts a schema allows, if it lists them.
fn constants(schema: &'static Value) -> Vec<&'static str> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    listed.chain(schema.get("const")).filter_map(Value::as_str).collect()
}

fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::String(t) => t == name,
        Value::Array(list) => list.iter().any(|t| t == name),
        _ => false,
    }
}

fn accepts(schema: &'static Value, node: &Node) -> bool {
    match &node.value {
        Tree::Null | Tree::Date => false,
        Tree::Bool(_) => has_type(schema, "boolean"),
        Tree::Int(_) => has_type(schema, "integer") || has_type(schema, "number"),
        Tree::Float(_) => has_type(schema, "number"),
        Tree::Text(_) => has_type(schema, "string"),
        Tree::List(_) => has_type(schema, "array"),
        Tree::Table(_) => has_type(schema, "object"),
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    words.join(", ")
}

/// What a schema wants, in words.
fn wanted(schema: &'static Value) -> String {
    let texts = constants(schema);
    if !texts.is_empty() {
        return format!("one of {}", quoted(&texts));
    }
    for (name, words) in [
        ("boolean", "true or false"),
        ("integer", "a whole number"),
        ("number", "a number"),
        ("string", "a text in quotes"),
        ("object", "a table"),
    ] {
        if has_type(schema, name) {
            return words.into();
        }
    }
    let items = branches(&schema["items"]);
    let inner = items.first().map_or(String::new(), |s| wanted(s));
    let plural = match inner.as_str() {
        "a number" => "numbers".into(),
        "a whole number" => "whole numbers".into(),
        "a table" => "tables".into(),
        other => format!("lists, each {other}"),
    };
    match schema["minItems"].as_u64() {
        Some(n) => format!("a list of {n} {plural}"),
        None => format!("a list of {plural}"),
    }
}

impl Checker<'_> {
    fn report(&mut self, span: &Range<usize>, message: String, help: String) {
        if self.found.len() < MOST {
            let problem = Diagnostic::new(self.file, self.text, span.clone(), message, help);
            self.found.push((span.start, problem));
        }
    }

    /// Checks a value called `name`; `context` is how its own keys speak of it.
    fn node(&mut self, node: &Node, schema: &'static Value, name: &str, context: &str) {
        if self.found.len() >= MOST {
            return;
        }
        let about = schema["description"].as_str().unwrap_or_default();
        let branches = branches(schema);
        let texts: Vec<&str> = branches.iter().flat_map(|s| constants(s)).collect();
        if !texts.is_empty() {
            return self.choice(node, &texts, name);
        }
        let fitting: Vec<&'static Value> =
            branches.iter().copied().filter(|s| accepts(s, node)).collect();
        match fitting[..] {
            [] => {
                let mut all: Vec<String> = branches.iter().map(|s| wanted(s)).collect();
                all.dedup();
                let found = node.describe();
                let message = format!("{name} must be {}, found {found}", all.join(" or "));
                let single = all == ["a list of tables"] && matches!(node.value, Tree::Table(_));
                let help = if single {
                    format!("write `[[{}]]`, with double brackets", name.trim_matches('`'))
                } else {
                    about.into()
                };
                self.report(&node.span, message, help);
            }
            [only] => self.shape(node, only, name, context),
            _ => self.tagged(node, &fitting, name, context),
        }
    }

    /// A text out of a list.
    fn choice(&mut self, node: &Node, texts: &[&'static str], name: &str) {
        let help = match &node.value {
            Tree::Text(t) if texts.contains(&t.as_str()) => return,
            Tree::Text(t) => match nearest(t, texts.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => String::new(),
            },
            _ => "write it in quotes".into(),
        };
        let found = node.describe();
        let message = format!("{name} must be one of {}, found {found}", quoted(texts));
        self.report(&node.span, message, help);
    }

    /// A table whose kind is told by one key, such as `model`.
    fn tagged(&mut self, node: &Node, fitting: &[&'static Value], name: &str, context: &str) {
        let properties = |s: &'static Value| s["properties"].as_object();
        let tag = properties(fitting[0]).and_then(|p| {
            p.iter().map(|(key, _)| key).find(|key| {
                fitting.iter().all(|s| s["properties"][key.as_str()].get("const").is_some())
            })
        });
        let Some(tag) = tag else {
            return self.shape(node, fitting[0], name, context);
        };
        let values: Vec<&str> = fitting
            .iter()
            .filter_map(|s| s["properties"][tag.as_str()]["const"].as_str())
            .collect();
        match node.get(tag) {
            None => {
                let message = format!("{name} has no `{tag}`");
                self.report(
                    &node.span,
                    message,
                    format!("add `{tag} = …`, one of {}", quoted(&values)),
                );
            }
            Some(value) => {
                let chosen = fitting.iter().find(|s| {
                    matches!(&value.value, Tree::Text(t) if s["properties"][tag.as_str()]["const"] == t.as_str())
                });
                match (chosen, &value.value) {
                    (Some(schema), Tree::Text(t)) => {
                        let context = format!("{name} of {tag} \"{t}\"");
                        self.shape(node, schema, name, &context);
                    }
                    _ => self.choice(value, &values, &format!("`{tag}`")),
                }
            }
        }
    }

    /// A value whose type is right already.
    fn shape(&mut self, node: &Node, schema: &'static Value, name: &str, context: &str) {
        match &node.value {
            Tree::Table(_) => self.table(node, schema, context),
            Tree::List(items) => {
                let count = items.len() as u64;
                let (least, most) = (schema["minItems"].as_u64(), schema["maxItems"].as_u64());
                if least.is_some_and(|n| count < n) || most.is_some_and(|n| count > n) {
                    let message =
                        format!("{name} must be {}, found {count} of them", wanted(schema));
                    return self.report(&node.span, message, String::new());
                }
                let plain = name.trim_matches('`');
                for (i, item) in items.iter().enumerate() {
                    let (name, context) = match item.value {
                        Tree::Table(_) => (format!("[[{plain}]]"), format!("[[{plain}]]")),
                        _ => (format!("`{plain}[{i}]`"), String::new()),
                    };
                    self.node(item, &schema["items"], &name, &context);
                }
            }
            Tree::Int(v) => {
                let least = schema["minimum"].as_i64();
                let most = schema["maximum"].as_i64().or(match schema["format"].as_str() {
                    Some("uint32") => Some(i64::from(u32::MAX)),
                    _ => None,
                });
                if least.is_some_and(|n| *v < n) || most.is_some_and(|n| *v > n) {
                    let message = format!("{name} is {v}, out of range");
                    let most = most.map_or(String::new(), |n| format!(" to {n}"));
                    self.report(
                        &node.span,
                        message,
                        format!("give a whole number from {}{most}", least.unwrap_or(0)),
                    );
                }
            }
            _ => {}
        }
    }

    fn table(&mut self, node: &Node, schema: &'static Value, context: &str) {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        let properties: &'static Map<String, Value> =
            schema["properties"].as_object().unwrap_or(&NONE);
        let Tree::Table(entries) = &node.value else { return };
        let mut meant = Vec::new();
        for (i, entry) in entries.iter().enumerate() {
            if self.found.len() >= MOST {
                return; // a damaged file may have very many keys
            }
            let key = entry.key.as_str();
            match properties.get(key) {
                Some(schema) => {
                    let name = format!("`{key}`");
                    self.node(&entry.node, schema, &name, &name);
                }
                None => {
                    let known = properties.keys().map(String::as_str);
                    let list: Vec<&str> = known.clone().collect();
                    let near = nearest(key, known);
                    meant.extend(near);
                    let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
                    let shown = crate::error::excerpt(key.as_bytes());
                    let message = format!("unknown key `{shown}` in {context}");
                    self.report(
                        &entry.key_span,
                        message,
                        format!("{near}known keys: {}", list.join(", ")),
                    );
                }
            }
            // Only JSON lets a key come twice; TOML refuses it itself.
            if entries[..i.min(64)].iter().any(|e| e.key == key) {
                let message =
                    format!("`{}` comes twice in {context}", crate::error::excerpt(key.as_bytes()));
                self.report(&entry.key_span, message, "remove one of them".into());
            }
        }
        for required in
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
        {
            // A misspelt key was reported already.
            if !entries.iter().any(|e| e.key == required) && !meant.contains(&required) {
                let about = properties.get(required).and_then(|s| s["description"].as_str());
                let about = about.unwrap_or_default();
                self.report(
                    &node.span,
                    format!("{context} has no `{required}`"),
                    format!("add `{required} = …`: {about}"),
                );
            }
        }
    }
}
