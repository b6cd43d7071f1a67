//! Job lists: one scene, many variants of it.
//!
//! A list names scenes, files to put at a key and values to put at keys; [`plan_jobs`] makes every combination a [`Job`] with a scene of its own,
//! whose paths are absolute, so that a job can be run anywhere and by anything.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::attached::Attached;
use crate::scene::{MeshSource, Rest, Scene};
use crate::scene_load::{SceneFormat, load_scene, parse_scene_at};
use crate::scene_rod::NaturalSource;
use crate::text::read_text;

/// Jobs a list may have; beyond it a folder of folders is no way to keep results.
const MOST_JOBS: usize = 1_000_000;

/// What is wrong with a job list.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}; {remedy}", path.display())]
pub struct JobError {
    /// The list.
    pub path: PathBuf,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// A job list as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    command: JobCommand,
    scene: OneOrMany,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    retries: u32,
    timeout: Option<f64>,
    #[serde(default)]
    meshes: toml::Table,
    #[serde(default)]
    grid: toml::Table,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// What is asked of every scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobCommand {
    /// Its equilibrium.
    Drape,
    /// Its rest shape.
    Invert,
    /// Its motion.
    Simulate,
}

impl JobCommand {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            JobCommand::Drape => "drape",
            JobCommand::Invert => "invert",
            JobCommand::Simulate => "simulate",
        }
    }
}

/// All jobs of a list.
#[derive(Clone, Debug)]
pub struct JobList {
    /// What is asked of every scene.
    pub command: JobCommand,
    /// More words for the command.
    pub arguments: Vec<String>,
    /// Times a job that crashed is tried again.
    pub retries: u32,
    /// Longest time for a job \[s\].
    pub timeout: Option<f64>,
    /// Keys that differ between jobs, as columns of a table.
    pub columns: Vec<String>,
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// One scene of a list.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name: its number in the list.
    pub name: String,
    /// Its values, one for each column.
    pub values: Vec<Value>,
    /// The scene as TOML, paths absolute.
    pub scene: String,
    /// Fingerprint of the scene, the files it names and the command: a result with the same one need not be made again.
    pub fingerprint: String,
}

/// Largest list that is read.
const LARGEST_LIST: u64 = 64 << 20;

/// Reads a job list and makes its jobs. Every scene is checked.
pub fn plan_jobs(path: impl AsRef<Path>) -> Result<JobList, JobError> {
    let path = path.as_ref();
    let fail =
        |what: String, remedy: &str| JobError { path: path.into(), what, remedy: remedy.into() };
    let text = read_text(path, LARGEST_LIST)
        .map_err(|what| fail(what, "give a job list, see `toile batch --help`"))?;
    let written: Written =
        toml::from_str(&text).map_err(|e| fail(e.to_string(), "see `toile batch --help`"))?;
    if written.timeout.is_some_and(|t| !(t > 0.0 && t.is_finite())) {
        return Err(fail("`timeout` must be a positive time".into(), "give seconds"));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let scenes = match &written.scene {
        OneOrMany::One(one) => vec![one.clone()],
        OneOrMany::Many(many) => many.clone(),
    };
    // One list of (column, choices) for everything that varies.
    let mut choices: Vec<(String, Vec<Value>)> = Vec::new();
    if scenes.len() != 1 {
        let all = scenes.iter().map(|s| Value::from(s.as_str())).collect();
        choices.push(("scene".into(), all));
    }
    for (key, pattern) in &written.meshes {
        let Some(pattern) = pattern.as_str() else {
            return Err(fail(
                format!("meshes.\"{key}\" is no text"),
                "give files such as \"garments/*.obj\"",
            ));
        };
        let files = matching(&folder.join(pattern)).map_err(|e| fail(e, "check the folder"))?;
        if files.is_empty() {
            let what = format!("no file matches {pattern:?}");
            return Err(fail(
                what,
                "patterns are relative to the job list, with * in the name of the file",
            ));
        }
        choices.push((key.clone(), files));
    }
    for (key, values) in &written.grid {
        let Some(values) = values.as_array().filter(|v| !v.is_empty()) else {
            return Err(fail(
                format!("grid.\"{key}\" is no list of values"),
                "for example [0.3, 0.5]",
            ));
        };
        choices.push((key.clone(), values.iter().map(to_json).collect()));
    }
    let count = choices.iter().try_fold(1usize, |n, (_, c)| n.checked_mul(c.len()));
    let Some(count) = count.filter(|n| (1..=MOST_JOBS).contains(n)) else {
        return Err(fail(
            format!("the list has no job or more than {MOST_JOBS}"),
            "give a scene, or split the grid",
        ));
    };
    let loaded = scenes
        .iter()
        .map(|s| {
            load_scene(folder.join(s))
                .map_err(|e| fail(format!("scene {s}: {e}"), "mend the scene"))
        })
        .collect::<Result<Vec<Scene>, _>>()?;
    let words = format!("{} {}", written.command.word(), written.arguments.join(" "));
    let width = count.saturating_sub(1).to_string().len().max(4);
    let mut known = Known::default();
    let mut jobs = Vec::with_capacity(count);
    for index in 0..count {
        // The last key varies fastest.
        let mut rest = index;
        let mut values = vec![Value::Null; choices.len()];
        for (k, (_, of)) in choices.iter().enumerate().rev() {
            values[k] = of[rest % of.len()].clone();
            rest /= of.len();
        }
        let base = values
            .first()
            .filter(|_| scenes.len() != 1)
            .and_then(|v| scenes.iter().position(|s| v == s.as_str()))
            .unwrap_or(0);
        let name = format!("{index:0width$}");
        let changes = choices.iter().zip(&values).filter(|((key, _), _)| key != "scene");
        let scene = variant(&loaded[base], changes.map(|((key, _), v)| (key.as_str(), v)))
            .map_err(|what| {
                fail(format!("job {name}: {what}"), "check keys and values of the list")
            })?;
        let text = scene.to_toml().map_err(|e| fail(e.to_string(), "this is a fault of toile"))?;
        let fingerprint = known
            .fingerprint(&words, &text, &scene)
            .map_err(|what| fail(format!("job {name}: {what}"), "check the file"))?;
        jobs.push(Job { name, values, scene: text, fingerprint });
    }
    Ok(JobList {
        command: written.command,
        arguments: written.arguments,
        retries: written.retries,
        timeout: written.timeout,
        columns: choices.into_iter().map(|(key, _)| key).collect(),
        jobs,
    })
}

fn to_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(v) => Value::from(v.as_str()),
        toml::Value::Integer(v) => Value::from(*v),
        toml::Value::Float(v) => Value::from(*v),
        toml::Value::Boolean(v) => Value::from(*v),
        toml::Value::Datetime(v) => Value::from(v.to_string()),
        toml::Value::Array(v) => Value::Array(v.iter().map(to_json).collect()),
        toml::Value::Table(v) => {
            Value::Object(v.iter().map(|(k, v)| (k.clone(), to_json(v))).collect::<Map<_, _>>())
        }
    }
}

/// Files whose name matches a pattern with `*`, sorted.
fn matching(pattern: &Path) -> Result<Vec<Value>, String> {
    let name = pattern.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let folder = pattern.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries =
        fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        let fits = path.file_name().and_then(|n| n.to_str()).is_some_and(|n| fits(n, name));
        if fits && path.is_file() {
            found.push(absolute(&path));
        }
    }
    found.sort();
    Ok(found.iter().map(|p| Value::from(p.to_string_lossy().into_owned())).collect())
}

/// Whether a name matches a pattern in which `*` stands for anything.
pub fn fits(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some(at) = rest.find(before) else { return false };
            rest = &rest[at + str::len(before)..];
        }
    }
    match last {
        None => rest.is_empty(),
        Some(end) => rest.ends_with(end),
    }
}

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A scene with other values at keys such as `shell[0].material.young`, its paths absolute.
fn variant<'a>(
    base: &Scene,
    changes: impl Iterator<Item = (&'a str, &'a Value)>,
) -> Result<Scene, String> {
    let mut table = serde_json::to_value(base).map_err(|e| e.to_string())?;
    for (key, value) in changes {
        set(&mut table, key, value)?;
    }
    let text = table.to_string();
    let path = base.source.path();
    let mut scene = parse_scene_at(&text, SceneFormat::Json, path, Attached::default())
        .map_err(|e| e.to_string())?;
    scene.make_paths_absolute();
    Ok(scene)
}

/// Sets a value at a key; tables on the way are made, places of lists must exist.
fn set(table: &mut Value, key: &str, value: &Value) -> Result<(), String> {
    let mut at = table;
    for step in key.split('.') {
        let (name, places) = step.split_once('[').map_or((step, ""), |(n, p)| (n, p));
        let Some(entries) = at.as_object_mut().filter(|_| !name.is_empty()) else {
            return Err(format!(
                "`{key}` is no key of the scene; write for example shell[0].material.young"
            ));
        };
        at = entries.entry(name).or_insert_with(|| Value::Object(Map::new()));
        for place in places.split('[').filter(|p| !p.is_empty()) {
            let index = place.strip_suffix(']').and_then(|p| p.parse::<usize>().ok());
            let found = index.and_then(|i| at.get_mut(i));
            at = found.ok_or_else(|| format!("`{key}`: the scene has no {name}[{}", place))?;
        }
    }
    *at = value.clone();
    Ok(())
}

impl Scene {
    /// Makes every path of the scene independent of where the scene lies.
    pub fn make_paths_absolute(&mut self) {
        for path in self.clone().paths() {
            let whole = absolute(&self.resolve(&path)).to_string_lossy().into_owned();
            for place in self.paths_mut() {
                if *place == path {
                    place.clone_from(&whole);
                }
            }
        }
    }

    /// Files the scene names.
    fn paths(&mut self) -> Vec<String> {
        let mut all: Vec<String> = self.paths_mut().into_iter().map(|p| p.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    fn paths_mut(&mut self) -> Vec<&mut String> {
        let mut all: Vec<&mut String> = self.contact_forces.iter_mut().collect();
        for shell in &mut self.shells {
            if let MeshSource::File(path) = &mut shell.mesh {
                all.push(path);
            }
            if let Some(Rest::File(path)) = &mut shell.rest {
                all.push(path);
            }
            all.extend(&mut shell.stitches);
        }
        for rod in &mut self.rods {
            all.extend(&mut rod.curve);
            all.extend(&mut rod.rest);
            if let Some(NaturalSource::File(path)) = &mut rod.natural_curvature {
                all.push(path);
            }
        }
        for hair in &mut self.hair {
            all.push(&mut hair.strands);
            all.extend(&mut hair.rest);
        }
        for collider in &mut self.colliders {
            all.extend(&mut collider.mesh);
            if let Some(motion) = &mut collider.motion {
                all.extend(motion.sequence.iter_mut().map(|k| &mut k.mesh));
            }
        }
        all
    }
}

/// Fingerprints of files that were read.
#[derive(Default)]
struct Known(std::collections::BTreeMap<String, u64>);

impl Known {
    fn fingerprint(&mut self, words: &str, text: &str, scene: &Scene) -> Result<String, String> {
        let mut hash = fnv(fnv(OFFSET, words.as_bytes()), text.as_bytes());
        for path in scene.clone().paths() {
            let one = match self.0.get(&path) {
                Some(one) => *one,
                None => {
                    let bytes = fs::read(&path).map_err(|e| format!("{path}: {e}"))?;
                    let one = fnv(OFFSET, &bytes);
                    self.0.insert(path, one);
                    one
                }
            };
            hash = fnv(hash, &one.to_le_bytes());
        }
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = write!(text, "{hash:016x}");
        Ok(text)
    }
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// Fowler–Noll–Vo, 1a, 64 bits: tells files apart, keeps no secrets.
fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}
