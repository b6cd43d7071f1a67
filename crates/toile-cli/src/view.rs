//! `toile view`: a result or a scene, in the browser.

use std::path::Path;
use std::sync::Arc;

use toile::geometry::Vec3;
use toile::io::{Scene, load_colliders, load_drawn, load_rods, load_scene, load_shells};
use toile::report::page::Verdict;
use toile::report::record::{Progress, Recorder, Store};
use toile::report::stage::{Layer, Stage};
use toile_view::{Content, Folder, Memory, Server, is_built, open_in_browser};

use crate::args::{Global, LiveArgs, ViewArgs};
use crate::progress::{catch_interrupts, listen_to, signalled, wait_for_signal};
use crate::show::{self, Account, Strands, Surfaces};
use crate::{Failure, Outcome, json, rod};

/// What to do where the page was not built in.
pub(crate) const NOT_BUILT: &str = "this toile was built without the page of the viewer. With Node 20 or newer run\n  viewer/build.sh\n\
    in its source, then `cargo build --release` again";

pub(crate) fn run(args: &ViewArgs, global: &Global) -> Result<Outcome, Failure> {
    let path = &args.what;
    if path.is_dir() {
        return folder(path, args, global);
    }
    if !path.exists() {
        return Err(Failure(format!(
            "{} does not exist; give the folder of a result (--out of drape, simulate, invert) or a scene file",
            path.display()
        )));
    }
    let scene = load_scene(path)?;
    if !is_built() {
        return Err(Failure(NOT_BUILT.into()));
    }
    let memory = Memory::default();
    record_scene(&scene, &memory)?;
    serve(memory, args, global)
}

fn folder(path: &Path, args: &ViewArgs, global: &Global) -> Result<Outcome, Failure> {
    let content = Folder::new(path);
    let report = content.report_path();
    if is_built() && content.has_record() {
        return serve(content, args, global);
    }
    let Some(report) = report else {
        return Err(Failure(format!(
            "{} holds no result of toile (neither view.json nor report.html); make one with `toile drape SCENE --out {0}`, or give a scene file",
            path.display()
        )));
    };
    // A protocol or a friction problem has nothing but its report.
    if content.has_record() {
        json::tell(&format!("{NOT_BUILT}\nshowing the report instead"));
    }
    let report = std::fs::canonicalize(&report).unwrap_or(report);
    json::print(&report.display().to_string());
    if !args.no_open && !open_in_browser(&report.display().to_string()) {
        json::tell("no browser was found; open the file yourself");
    }
    Ok(Outcome::Good)
}

/// Gives out a record until the user has seen enough.
fn serve(content: impl Content, args: &ViewArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    let server = Server::start(content)?;
    announce(&server, !args.no_open, global);
    wait_for_signal();
    Ok(Outcome::Good)
}

fn announce(server: &Server, open: bool, global: &Global) {
    // The address alone on standard output, for scripts.
    json::print(server.address());
    if open && !open_in_browser(server.address()) {
        json::tell("no browser was found; open this address yourself");
    }
    if !global.quiet {
        json::tell("Ctrl-C ends the viewer");
    }
}

/// Who is told when a record changes.
pub(crate) type Teller = Arc<dyn Fn() + Send + Sync>;

/// A viewer beside a command that runs.
pub(crate) struct Live {
    server: Option<Server>,
}

impl Live {
    /// Serves the record in `out` if that is wanted and can be; the button of the page asks the command to stop.
    pub(crate) fn start(out: &Path, args: LiveArgs, global: &Global) -> Result<Self, Failure> {
        if !args.view {
            return Ok(Self { server: None });
        }
        if !is_built() {
            json::tell(&format!("{NOT_BUILT}\ngoing on without --view"));
            return Ok(Self { server: None });
        }
        let server = Server::start(Folder::new(out))?;
        listen_to(server.stop_listener());
        if global.json {
            // Standard output is for the result.
            json::tell(server.address());
        } else {
            json::print(server.address());
        }
        if !args.no_open && !open_in_browser(server.address()) {
            json::tell("no browser was found; open this address yourself");
        }
        Ok(Self { server: Some(server) })
    }

    /// Tells the page of news.
    pub(crate) fn teller(&self) -> Option<Teller> {
        self.server.as_ref().map(|s| Arc::new(s.teller()) as Teller)
    }

    /// Goes on showing the result until Ctrl-C, unless that has come already.
    pub(crate) fn stay(self, global: &Global) {
        if self.server.is_some() && !signalled() {
            if !global.quiet {
                json::tell("done; Ctrl-C ends the viewer");
            }
            wait_for_signal();
        }
    }
}

struct MemoryStore<'a>(&'a Memory);

impl Store for MemoryStore<'_> {
    fn array(&mut self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.0.set_array(name, bytes);
        Ok(())
    }

    fn index(&mut self, text: &str) -> std::io::Result<()> {
        self.0.set_index(text);
        Ok(())
    }
}

/// What a scene starts from.
fn record_scene(scene: &Scene, memory: &Memory) -> Result<(), Failure> {
    let title = Account::default().about("view", scene).title;
    let mut record = Recorder::new(MemoryStore(memory), &title, &show::command(), &show::version());
    let (layers, asked, notes) = if rod::has_rods(scene) {
        fibre_layers(scene)?
    } else {
        let shells = load_shells(scene)?;
        let surfaces = Surfaces::new(&shells);
        let all = |f: fn(&toile::io::LoadedShell) -> &Vec<Vec3>| -> Vec<Vec3> {
            shells.iter().flat_map(f).copied().collect()
        };
        let (mesh, rest) = (all(|s| &s.shell.positions), all(|s| &s.shell.rest_positions));
        let mut layers = vec![surfaces.layer("mesh", &mesh, Vec::new())];
        if mesh != rest {
            layers.push(surfaces.layer("rest shape", &rest, Vec::new()));
        }
        let notes = shells.iter().flat_map(|s| s.notes.clone()).collect();
        (layers, show::of_scene(scene, &shells), notes)
    };
    let colliders = load_colliders(scene)?;
    let bodies = show::bodies(scene, &colliders, 0.0, &layers);
    record.stage(&Stage { layers, bodies, touches: Vec::new() })?;
    record.verdict(Some(&Verdict {
        ok: true,
        word: "not solved yet".into(),
        reason: "This is where the scene starts; drape, simulate or invert it.".into(),
    }));
    record.details(&[], &asked, &notes);
    Ok(record.flush(Progress::Done, "")?)
}

type Told = (Vec<Layer>, Vec<(String, String)>, Vec<String>);

/// Rods in their natural shape, drawn fibres as drawn.
fn fibre_layers(scene: &Scene) -> Result<Told, Failure> {
    let mut layers = Vec::new();
    let (mut described, mut drawn) = (scene.clone(), scene.clone());
    described.rods.retain(|rod| rod.length.is_some() && rod.clamp.is_some());
    drawn.rods.retain(|rod| rod.length.is_none() || rod.clamp.is_none());
    let mut natural = Strands::default();
    let mut radius = 0.0f64;
    for loaded in load_rods(&described)? {
        let rod = loaded.spec.build(loaded.elements)?;
        natural.rod(&rod, &rod.rest());
        radius = radius.max(loaded.radius);
    }
    if !described.rods.is_empty() {
        layers.push(natural.layer("natural shape", radius));
    }
    let mut notes = Vec::new();
    if !drawn.rods.is_empty() || !drawn.hair.is_empty() {
        let (fibres, told) = load_drawn(&drawn)?;
        notes = told;
        let mut strands = Strands::default();
        for fibre in &fibres {
            strands.add(fibre.curve.points().iter().copied());
        }
        let radius = fibres.iter().map(|f| f.radius).fold(0.0, f64::max);
        layers.push(strands.layer("drawn", radius));
    }
    Ok((layers, show::of_scene(scene, &[]), notes))
}
