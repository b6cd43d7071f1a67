//! `toile batch`: many scenes over several processes.

use std::fs;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use toile::io::{Cell, Job, JobList, Object, atomic_write, plan_jobs, write_csv};

use crate::args::{BatchArgs, Global};
use crate::drape::make_folder;
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::{Failure, Outcome, json};

pub(crate) fn run(args: &BatchArgs, global: &Global) -> Result<Outcome, Failure> {
    let list = plan_jobs(&args.jobs)?;
    if args.list {
        list.jobs.iter().for_each(|job| json::print(&job.name));
        return Ok(Outcome::Good);
    }
    for name in &args.only {
        if !list.jobs.iter().any(|job| job.name == *name) {
            let (first, last) = (&list.jobs[0].name, &list.jobs[list.jobs.len() - 1].name);
            return Err(Failure(format!("there is no job {name}; they go from {first} to {last}")));
        }
    }
    catch_interrupts();
    make_folder(&args.out)?;
    let wanted: Vec<&Job> = list
        .jobs
        .iter()
        .filter(|job| args.only.is_empty() || args.only.contains(&job.name))
        .filter(|job| args.restart || kept(&args.out, job).is_none())
        .collect();
    let clock = Instant::now();
    let ran = if args.collect { 0 } else { run_all(&list, &wanted, args, global)? };
    let rows = collect(&list, &args.out)?;
    let count = |state: &str| rows.iter().filter(|r| r.state == state).count();
    let (certified, doubtful) = (count("certified"), count("not certified"));
    let finished = count("finished");
    let (failed, missing) = (count("failed"), count("missing"));
    let counts = [
        (certified, "certified"),
        (doubtful, "not certified"),
        (finished, "simulated"),
        (failed, "failed"),
        (missing, "not done"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let text = format!(
        "{} jobs: {}; {ran} ran in {:.1} s; summary.csv and summary.json in {}",
        rows.len(),
        told.join(", "),
        clock.elapsed().as_secs_f64(),
        args.out.display()
    );
    if global.json {
        let line = Object::default()
            .with("jobs", rows.len())
            .with("certified", certified)
            .with("not_certified", doubtful)
            .with("finished", finished)
            .with("failed", failed)
            .with("missing", missing)
            .with("ran", ran)
            .with("seconds", clock.elapsed().as_secs_f64());
        json::print(&line.line());
    } else if !global.quiet {
        json::print(&text);
    }
    if interrupted() {
        json::tell("stopped on request; the same command goes on with what is missing");
    }
    let only = |r: &Row| args.only.is_empty() || args.only.contains(&r.name);
    let good = rows
        .iter()
        .filter(|r| only(r))
        .all(|r| ["certified", "finished"].contains(&r.state.as_str()));
    Ok(if good { Outcome::Good } else { Outcome::Doubtful })
}

/// What is known of a job that was done, if it was done for this very scene.
fn kept(out: &Path, job: &Job) -> Option<Value> {
    let text = fs::read_to_string(out.join(&job.name).join("job.json")).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let same = value.get("fingerprint").and_then(Value::as_str) == Some(&job.fingerprint);
    (same && value.get("state").and_then(Value::as_str) != Some("failed")).then_some(value)
}

fn run_all(
    list: &JobList,
    wanted: &[&Job],
    args: &BatchArgs,
    global: &Global,
) -> Result<usize, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure(format!("cannot find this program again to start jobs: {e}")))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.workers.map_or(cores, |n| n as usize).min(wanted.len().max(1));
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let fault: Mutex<Option<Failure>> = Mutex::new(None);
    let progress = Mutex::new(Share::new(global.quiet || global.json));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while !interrupted() && fault.lock().is_ok_and(|f| f.is_none()) {
                    let Some(job) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    match run_one(list, job, &program, &args.out) {
                        Ok(true) => {
                            let n = done.fetch_add(1, Ordering::Relaxed) + 1;
                            if let Ok(mut progress) = progress.lock() {
                                let said = format!("{n} of {} jobs", wanted.len());
                                progress.tell(n as f64 / wanted.len() as f64, &said);
                            }
                        }
                        Ok(false) => break,
                        Err(error) => {
                            if let Ok(mut fault) = fault.lock() {
                                fault.get_or_insert(error);
                            }
                        }
                    }
                }
            });
        }
    });
    if let Ok(progress) = progress.lock() {
        progress.finish();
    }
    match fault.into_inner().ok().flatten() {
        Some(error) => Err(error),
        None => Ok(done.load(Ordering::Relaxed)),
    }
}

/// How a process ended.
enum End {
    Code(i32),
    Crashed(String),
    Late,
    Stopped,
}

/// Runs a job to its end, again if it crashed; `false` when it was stopped.
fn run_one(list: &JobList, job: &Job, program: &Path, out: &Path) -> Result<bool, Failure> {
    let folder = out.join(&job.name);
    fs::create_dir_all(&folder)
        .map_err(|e| Failure(format!("cannot make the folder {}: {e}", folder.display())))?;
    let record = folder.join("job.json");
    // A record of another scene must not outlive the start of this one.
    let _ = fs::remove_file(&record);
    let scene = folder.join("scene.toml");
    atomic_write(&scene, |w| w.write_all(job.scene.as_bytes()))?;
    let clock = Instant::now();
    let mut attempts = 0;
    let (state, reason) = loop {
        attempts += 1;
        let errors = folder.join("stderr.txt");
        let mut child = Process::new(program)
            .arg(list.command.word())
            .arg(&scene)
            .arg("--out")
            .arg(&folder)
            .args(["--quiet", "--threads", "1"])
            .args(&list.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&errors)?)
            .spawn()
            .map_err(|e| Failure(format!("cannot start {}: {e}", program.display())))?;
        let end = wait(&mut child, list.timeout.map(Duration::from_secs_f64))?;
        let said = fs::read_to_string(&errors).unwrap_or_default();
        // One line: it goes into a table.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if said.is_empty() {
            let _ = fs::remove_file(&errors);
        }
        let again = attempts <= list.retries;
        match end {
            End::Stopped => return Ok(false),
            End::Code(0) if list.command == toile::io::JobCommand::Simulate => {
                break ("finished".to_string(), String::new());
            }
            End::Code(0) => break ("certified".into(), String::new()),
            End::Code(1) => break ("not certified".into(), said),
            // Bad input does not get better.
            End::Code(2) => break ("failed".into(), said),
            End::Code(_) | End::Crashed(_) | End::Late if again => {}
            End::Code(code) => {
                break ("failed".into(), format!("exit code {code}: {}", said));
            }
            End::Crashed(how) => break ("failed".into(), format!("{how}: {}", said)),
            End::Late => {
                let most = list.timeout.unwrap_or(0.0);
                break ("failed".into(), format!("not done within {most} s"));
            }
        }
    };
    let object = Object::default()
        .with("job", job.name.as_str())
        .with("fingerprint", job.fingerprint.as_str())
        .with("state", state)
        .with("reason", reason)
        .with("attempts", attempts)
        .with("seconds", clock.elapsed().as_secs_f64());
    atomic_write(record, |w| writeln!(w, "{}", object.pretty()))?;
    Ok(true)
}

fn wait(child: &mut Child, timeout: Option<Duration>) -> Result<End, Failure> {
    let clock = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match status.code() {
                // Ctrl-C of a terminal reaches the job too; its best shape is not the result.
                Some(_) if interrupted() => End::Stopped,
                Some(code) => End::Code(code),
                None => End::Crashed(status.to_string()),
            });
        }
        let late = timeout.is_some_and(|most| clock.elapsed() > most);
        if interrupted() || late {
            let _ = child.kill();
            child.wait()?;
            return Ok(if late { End::Late } else { End::Stopped });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// A job in the summary.
struct Row {
    name: String,
    state: String,
}

/// Figures of the certificate that go into the summary.
const FIGURES: [&str; 8] = [
    "residual",
    "cone_gap",
    "cone_margin",
    "penetration",
    "stability",
    "target_error_max",
    "naive_sag",
    "size",
];

/// Writes summary.csv and summary.json from what lies in the folders.
fn collect(list: &JobList, out: &Path) -> Result<Vec<Row>, Failure> {
    let mut header: Vec<&str> = vec!["job"];
    header.extend(list.columns.iter().map(String::as_str));
    header.extend(["state", "attempts", "seconds"]);
    header.extend(FIGURES);
    header.push("reason");
    let (mut rows, mut cells, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    for job in &list.jobs {
        let folder = out.join(&job.name);
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let get = |of: &Option<String>, key: &str| {
            of.as_deref().map_or(Value::Null, |text| entry(text, key))
        };
        let record = read("job.json")
            .filter(|text| entry(text, "fingerprint").as_str() == Some(&job.fingerprint));
        let state = get(&record, "state").as_str().unwrap_or("missing").to_string();
        let judged = record.is_some() && state != "failed" && state != "missing";
        let certificate = if judged { read("certificate.json") } else { None };
        let mut reason = get(&certificate, "reason");
        if reason.is_null() {
            reason = get(&record, "reason");
        }
        let mut row: Vec<(&str, Value)> = vec![("job", Value::from(job.name.as_str()))];
        row.extend(list.columns.iter().map(String::as_str).zip(job.values.iter().cloned()));
        row.push(("state", Value::from(state.as_str())));
        row.extend(["attempts", "seconds"].map(|key| (key, get(&record, key))));
        row.extend(FIGURES.map(|key| (key, get(&certificate, key))));
        row.push(("reason", reason));
        cells.push(row.iter().map(|(_, value)| cell(value)).collect::<Vec<Cell>>());
        let object = row.into_iter().fold(Object::default(), |o, (key, value)| o.with(key, value));
        objects.push(object.line());
        rows.push(Row { name: job.name.clone(), state });
    }
    write_csv(out.join("summary.csv"), &header, cells)?;
    atomic_write(out.join("summary.json"), |w| writeln!(w, "[\n  {}\n]", objects.join(",\n  ")))?;
    Ok(rows)
}

/// The value of a key in a flat object with a key per line. Numbers keep every bit, which the JSON library does not promise.
fn entry(text: &str, key: &str) -> Value {
    let start = format!("\"{key}\": ");
    let found = text.lines().find_map(|line| line.trim_start().strip_prefix(&start));
    let word = found.map_or("null", |rest| rest.strip_suffix(',').unwrap_or(rest));
    match word.parse::<f64>() {
        Ok(number) if word.contains(['.', 'e', 'E']) => Value::from(number),
        _ => serde_json::from_str(word).unwrap_or(Value::Null),
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Text(String::new()),
        Value::String(text) => Cell::Text(text.clone()),
        Value::Number(n) if n.is_u64() => Cell::from(n.as_u64().unwrap_or(0) as usize),
        Value::Number(n) => Cell::from(n.as_f64().unwrap_or(f64::NAN)),
        other => Cell::Text(other.to_string()),
    }
}
