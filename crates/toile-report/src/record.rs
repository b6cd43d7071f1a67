//! What the viewer reads: an index as JSON, and numbers as little-endian arrays beside it.
//!
//! The index (`view.json`) names layers, bodies, fields, frames, plots and the certificate; every array has a file of its own
//! name, so that a page fetches what it shows and nothing else. Positions are `f32` triples in metres with z up, faces `u32`
//! triples, fields one `f32` per position, contacts eleven `f32` each: point, normal, force \[N\], friction, slips (0 or 1).
//!
//! A frame is one array: the positions of the moving layer, then its fields, then the contacts, then every moving body
//! (a rigid one as the rows of a 3 × 4 matrix from where it was at first, a deforming one as positions).

use std::io;

use serde_json::{Value, json};

use crate::figures::Figure;
use crate::page::Verdict;
use crate::picture::{ColourMap, Point};
use crate::plot::Plot;
use crate::stage::{Field, Form, Stage, Touch};

/// Version of the format.
pub const VERSION: u32 = 1;
/// Name of the index.
pub const INDEX: &str = "view.json";

/// Where a record goes: a folder, or memory.
pub trait Store {
    /// Keeps an array; the name is made of small letters, digits, `_` and ends in `.bin`.
    fn array(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Keeps the index, in place of the one before.
    fn index(&mut self, text: &str) -> io::Result<()>;
}

/// Whether a name is one that a record uses, and so safe as the name of a file.
pub fn is_array_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.len() <= 64
        && name.strip_suffix(".bin").is_some_and(|s| !s.is_empty() && s.chars().all(allowed))
}

/// How far the command is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// It runs.
    Running,
    /// It ended.
    #[default]
    Done,
}

/// How a body moves from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyMotion<'a> {
    /// Rows of a 3 × 4 matrix: turn and shift since the first frame.
    Rigid([f64; 12]),
    /// New positions.
    Deforming(&'a [Point]),
}

/// One moment.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time or number, as the label of the frames says.
    pub time: f64,
    /// Positions of the moving layer.
    pub positions: &'a [Point],
    /// Fields of the moving layer, the same in every frame.
    pub fields: &'a [Field],
    /// Contacts.
    pub touches: &'a [Touch],
    /// Every body that moves: its place in the stage and where it is, the same bodies in every frame.
    pub bodies: &'a [(usize, BodyMotion<'a>)],
}

/// Collects a record and gives it to a store.
#[derive(Debug)]
pub struct Recorder<S> {
    store: S,
    head: Vec<(&'static str, Value)>,
    layers: Vec<Value>,
    bodies: Vec<Value>,
    touches: Value,
    scale: f64,
    frames: Option<Frames>,
}

/// What is common to all frames, and one entry each.
#[derive(Debug)]
struct Frames {
    label: String,
    layer: usize,
    times: Vec<f64>,
    contacts: Vec<usize>,
    fields: Vec<(Value, (f64, f64))>,
    bodies: Vec<Value>,
    largest_force: f64,
    result_follows: bool,
}

fn floats(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(|v| (v as f32).to_le_bytes()).collect()
}

fn map_name(map: ColourMap) -> &'static str {
    match map {
        ColourMap::Amount => "amount",
        ColourMap::Balance => "balance",
    }
}

fn pushed(bytes: &mut Vec<u8>, touch: &Touch) {
    let numbers = touch.point.iter().chain(&touch.normal).chain(&touch.force);
    bytes.extend(floats(numbers.copied()));
    bytes.extend(floats([touch.friction, f64::from(u8::from(touch.slips))]));
}

/// JSON has no infinity.
fn number(v: f64) -> Value {
    if v.is_finite() { json!(v) } else { Value::Null }
}

impl<S: Store> Recorder<S> {
    /// An empty record of a command.
    pub fn new(store: S, title: &str, command: &str, version: &str) -> Self {
        let head = vec![
            ("format", json!("toile-view")),
            ("version", json!(VERSION)),
            ("title", json!(title)),
            ("command", json!(command)),
            ("toile", json!(version)),
        ];
        Self {
            store,
            head,
            layers: Vec::new(),
            bodies: Vec::new(),
            touches: Value::Null,
            scale: 0.0,
            frames: None,
        }
    }

    /// What it is stored in.
    pub fn store(&self) -> &S {
        &self.store
    }

    fn set(&mut self, key: &'static str, value: Value) {
        match self.head.iter_mut().find(|(k, _)| *k == key) {
            Some(entry) => entry.1 = value,
            None => self.head.push((key, value)),
        }
    }

    /// Puts everything there is to see, in place of what was there before; frames stay.
    pub fn stage(&mut self, stage: &Stage) -> io::Result<()> {
        self.layers.clear();
        self.bodies.clear();
        for (i, layer) in stage.layers.iter().enumerate() {
            let positions = format!("layer_{i}.bin");
            self.store.array(&positions, &floats(layer.positions.iter().flatten().copied()))?;
            let mut value = json!({
                "name": layer.name, "count": layer.positions.len(), "positions": positions,
            });
            match &layer.form {
                Form::Surface(faces) => {
                    // Layers of one surface share its triangles.
                    let same = |l: &crate::stage::Layer| match &l.form {
                        Form::Surface(other) => std::sync::Arc::ptr_eq(other, faces),
                        Form::Strands { .. } => false,
                    };
                    let first = stage.layers.iter().position(same).unwrap_or(i);
                    let name = format!("faces_{first}.bin");
                    if first == i {
                        self.store.array(&name, &words(faces.iter().flatten().copied()))?;
                    }
                    value["faces"] = json!(name);
                    value["triangles"] = json!(faces.len());
                }
                Form::Strands { starts, radius } => {
                    let name = format!("starts_{i}.bin");
                    self.store.array(&name, &words(starts.iter().copied()))?;
                    value["starts"] = json!(name);
                    value["strands"] = json!(starts.len());
                    value["radius"] = number(*radius);
                }
            }
            let mut fields = Vec::new();
            for (k, field) in layer.fields.iter().enumerate() {
                let name = format!("layer_{i}_field_{k}.bin");
                self.store.array(&name, &floats(field.values.iter().copied()))?;
                let mut entry = field_entry(field);
                let (low, high) = field.range();
                entry["file"] = json!(name);
                entry["range"] = json!([number(low), number(high)]);
                fields.push(entry);
            }
            value["fields"] = Value::Array(fields);
            self.layers.push(value);
        }
        for (i, body) in stage.bodies.iter().enumerate() {
            let (positions, faces) = (format!("body_{i}.bin"), format!("body_{i}_faces.bin"));
            self.store.array(&positions, &floats(body.positions.iter().flatten().copied()))?;
            self.store.array(&faces, &words(body.faces.iter().flatten().copied()))?;
            self.bodies.push(json!({
                "name": body.name, "count": body.positions.len(), "positions": positions, "faces": faces,
            }));
        }
        let mut bytes = Vec::new();
        for touch in &stage.touches {
            pushed(&mut bytes, touch);
        }
        self.touches = if stage.touches.is_empty() {
            Value::Null
        } else {
            self.store.array("touches.bin", &bytes)?;
            json!({ "file": "touches.bin", "count": stage.touches.len() })
        };
        self.scale = stage.metres_per_newton();
        Ok(())
    }

    /// Begins a sequence of frames of a layer. Where the result follows, the layer itself is what comes after the last
    /// frame; else the last frame is the end.
    pub fn begin_frames(&mut self, label: &str, layer: usize, result_follows: bool) {
        self.frames = Some(Frames {
            label: label.into(),
            layer,
            times: Vec::new(),
            contacts: Vec::new(),
            fields: Vec::new(),
            bodies: Vec::new(),
            largest_force: 0.0,
            result_follows,
        });
    }

    /// Goes on after the first `keep` frames of a sequence that an index tells of; `false` if it does not.
    pub fn continue_frames(&mut self, index: &str, keep: usize) -> bool {
        let Some(frames) = &mut self.frames else { return false };
        let Ok(index) = serde_json::from_str::<Value>(index) else { return false };
        let old = &index["frames"];
        let numbers = |key: &str| -> Option<Vec<f64>> {
            old[key].as_array()?.iter().map(Value::as_f64).collect()
        };
        let (Some(times), Some(contacts)) = (numbers("times"), numbers("contacts")) else {
            return false;
        };
        if times.len() < keep || contacts.len() < keep {
            return false;
        }
        frames.times = times[..keep].to_vec();
        frames.contacts = contacts[..keep].iter().map(|c| *c as usize).collect();
        let field = |entry: &Value| {
            let end = |k: usize| entry["range"][k].as_f64().unwrap_or(0.0);
            (entry.clone(), (end(0), end(1)))
        };
        frames.fields = old["fields"].as_array().into_iter().flatten().map(field).collect();
        frames.bodies = old["bodies"].as_array().cloned().unwrap_or_default();
        frames.largest_force = index["largest_force"].as_f64().unwrap_or(0.0);
        true
    }

    /// Adds a frame; without [`Recorder::begin_frames`] nothing happens.
    pub fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let Some(frames) = &mut self.frames else { return Ok(()) };
        let mut bytes = floats(frame.positions.iter().flatten().copied());
        if frames.times.is_empty() {
            frames.fields = frame.fields.iter().map(|f| (field_entry(f), f.range())).collect();
            let kind = |(body, motion): &(usize, BodyMotion<'_>)| match motion {
                BodyMotion::Rigid(_) => json!({ "body": body, "kind": "rigid" }),
                BodyMotion::Deforming(_) => json!({ "body": body, "kind": "deforming" }),
            };
            frames.bodies = frame.bodies.iter().map(kind).collect();
        }
        for (field, (_, range)) in frame.fields.iter().zip(&mut frames.fields) {
            bytes.extend(floats(field.values.iter().copied()));
            let (low, high) = field.range();
            *range = (range.0.min(low), range.1.max(high));
        }
        for touch in frame.touches {
            pushed(&mut bytes, touch);
            frames.largest_force = frames.largest_force.max(crate::stage::norm(touch.force));
        }
        for (_, motion) in frame.bodies {
            match motion {
                BodyMotion::Rigid(rows) => bytes.extend(floats(*rows)),
                BodyMotion::Deforming(p) => bytes.extend(floats(p.iter().flatten().copied())),
            }
        }
        let name = format!("frame_{:05}.bin", frames.times.len());
        self.store.array(&name, &bytes)?;
        frames.times.push(frame.time);
        frames.contacts.push(frame.touches.len());
        Ok(())
    }

    /// Says that the frames are those of another layer, after the stage has changed.
    pub fn move_frames(&mut self, layer: usize) {
        if let Some(frames) = &mut self.frames {
            frames.layer = layer;
        }
    }

    /// Number of frames so far.
    pub fn frame_count(&self) -> usize {
        self.frames.as_ref().map_or(0, |f| f.times.len())
    }

    /// Says what came out.
    pub fn verdict(&mut self, verdict: Option<&Verdict>) {
        let value = verdict
            .map_or(Value::Null, |v| json!({ "ok": v.ok, "word": v.word, "reason": v.reason }));
        self.set("verdict", value);
    }

    /// The certificate in words.
    pub fn figures(&mut self, figures: &[Figure]) {
        let one = |f: &Figure| {
            json!({
                "key": f.key, "value": f.value, "ok": f.ok, "limit": f.limit, "meaning": f.meaning,
            })
        };
        self.set("figures", figures.iter().map(one).collect());
    }

    /// The plots, drawn.
    pub fn plots(&mut self, plots: &[Plot]) {
        let one = |(i, plot): (usize, &Plot)| json!({ "title": plot.title, "svg": plot.to_inline_svg(&i.to_string()) });
        self.set("plots", plots.iter().enumerate().map(one).collect());
    }

    /// Seconds by part, what was asked, and what was noticed.
    pub fn details(
        &mut self,
        timings: &[(String, f64)],
        asked: &[(String, String)],
        notes: &[String],
    ) {
        self.set("timings", json!(timings));
        self.set("asked", json!(asked));
        self.set("notes", json!(notes));
    }

    /// Writes the index.
    pub fn flush(&mut self, progress: Progress, doing: &str) -> io::Result<()> {
        let mut index = serde_json::Map::new();
        for (key, value) in &self.head {
            index.insert((*key).into(), value.clone());
        }
        let state = if progress == Progress::Running { "running" } else { "done" };
        index.insert("state".into(), json!(state));
        index.insert("doing".into(), json!(doing));
        index.insert("layers".into(), Value::Array(self.layers.clone()));
        index.insert("bodies".into(), Value::Array(self.bodies.clone()));
        index.insert("touches".into(), self.touches.clone());
        let frames = self.frames.as_ref().filter(|f| !f.times.is_empty());
        let size_of_largest = frames.filter(|f| f.largest_force > 0.0).map(|f| f.largest_force);
        index.insert("metres_per_newton".into(), number(self.scale));
        index.insert("largest_force".into(), size_of_largest.map_or(Value::Null, number));
        index.insert(
            "frames".into(),
            frames.map_or(Value::Null, |f| {
                let fields: Vec<Value> = f
                    .fields
                    .iter()
                    .map(|(entry, (low, high))| {
                        let mut entry = entry.clone();
                        entry["range"] = json!([number(*low), number(*high)]);
                        entry
                    })
                    .collect();
                json!({
                    "label": f.label, "layer": f.layer, "times": f.times, "contacts": f.contacts,
                    "fields": fields, "bodies": f.bodies, "result_follows": f.result_follows,
                })
            }),
        );
        self.store.index(&format!("{:#}\n", Value::Object(index)))
    }
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn field_entry(field: &Field) -> Value {
    json!({ "name": field.name, "label": field.label, "map": map_name(field.map) })
}
