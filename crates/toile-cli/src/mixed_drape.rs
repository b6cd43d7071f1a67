//! Cloth and fibres of one scene in `toile drape`.

use std::fmt::Write;
use std::time::Instant;

use toile::io::{Scene, atomic_write, write_stations};
use toile::report::figures::Values;
use toile::report::stage::Stage;
use toile::{MixedRest, drape_mixed};

use crate::args::{DrapeArgs, Global};
use crate::drape::make_folder;
use crate::files::write_shell;
use crate::mixed_simulate::{bodies, picture};
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::rod::STATIONS;
use crate::rod_simulate::contact_line as fibre_line;
use crate::show::{self, Account, Surfaces, touch_of};
use crate::simulate::{contact_line, warn_of_beginning};
use crate::{Failure, Outcome, film, json, summary};

/// Lets shells and rods of a scene come to rest on each other, writes everything and says so.
pub(crate) fn drape(scene: &Scene, args: &DrapeArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    make_folder(&args.out)?;
    let clock = Instant::now();
    let mut share = Share::new(global.quiet || global.json);
    // How far it is cannot be told: most of it is a fall of unknown length.
    let mut watch = |steps: usize, figure: f64| {
        let done = 1.0 - 1.0 / (1.0 + steps as f64 / 300.0);
        share.tell(done, &format!("coming to rest, {figure:.1e}"));
        !interrupted() && args.in_time(&clock, f64::INFINITY)
    };
    let start = args.start();
    let rest = drape_mixed(scene, start, args.drift.unwrap_or(0.0), &mut watch)?;
    share.finish();
    let seconds = clock.elapsed().as_secs_f64();
    for note in &rest.simulation.notes {
        json::tell(&format!("note: {note}"));
    }
    let (certified, reason) = rest.verdict();
    if !certified {
        warn_of_beginning(&rest.simulation.cloth.beginning);
    }
    let mut names = write_files(scene, args, &rest)?;
    account(scene, &rest, (certified, &reason), seconds)
        .about("drape", scene)
        .write(&args.out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&rest.certificate().pretty());
    } else if !global.quiet {
        let mut text = String::new();
        let [fall, still] = rest.rested.steps;
        let _ = writeln!(
            text,
            "{} shell(s) and {} fibre(s) fell for {fall} steps, then {still} from standstill, in {seconds:.1} s",
            rest.simulation.cloth.shells.len(),
            rest.simulation.fibres.fibres.len()
        );
        text += &summary::verdict(certified, &reason, &args.out, &names);
        json::print(&text);
    } else if !certified {
        json::tell(&format!("not certified: {reason}"));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

fn write_files(scene: &Scene, args: &DrapeArgs, rest: &MixedRest) -> Result<Vec<String>, Failure> {
    let (cloth, fibres) = (&rest.simulation.cloth, &rest.simulation.fibres);
    let mut names = Vec::new();
    for (i, loaded) in cloth.shells.iter().enumerate() {
        let several = cloth.shells.len() > 1;
        let name = if several { format!("equilibrium_{i}.obj") } else { "equilibrium.obj".into() };
        let positions = cloth.file_positions(i);
        write_shell(&args.out.join(&name), loaded, &positions, "toile: static equilibrium")?;
        names.push(name);
    }
    let stations = args.stations.unwrap_or(STATIONS) as usize;
    for i in 0..fibres.fibres.len() {
        let name = format!("rod_{i}.csv");
        let rows = fibres.stations(i, stations);
        write_stations(args.out.join(&name), &rows, &scene.own_axes())?;
        names.push(name);
    }
    atomic_write(args.out.join("contacts.jsonl"), |w| {
        for contact in &rest.rested.own {
            writeln!(w, "{}", contact_line(0, contact, cloth).line())?;
        }
        for contact in &rest.rested.contacts {
            writeln!(w, "{}", fibre_line(scene, 0, contact).line())?;
        }
        Ok(())
    })?;
    let certificate = rest.certificate();
    atomic_write(args.out.join("certificate.json"), |w| writeln!(w, "{}", certificate.pretty()))?;
    picture(&args.out.join("equilibrium.png"), &rest.simulation)?;
    names.extend(["contacts.jsonl", "certificate.json", "equilibrium.png"].map(String::from));
    Ok(names)
}

fn account(
    scene: &Scene,
    rest: &MixedRest,
    (certified, reason): (bool, &str),
    seconds: f64,
) -> Account {
    let moving = &rest.simulation;
    let surfaces = Surfaces::new(&moving.cloth.shells);
    let (now, mut fields) = film::now(&moving.cloth);
    fields.retain(|f| f.name != "speed");
    let start = film::start(&moving.cloth);
    let layers = vec![
        surfaces.layer("equilibrium", &now, fields),
        surfaces.layer("start", &start, Vec::new()),
    ];
    let mut touches = film::touches_by(&moving.cloth, &rest.rested.own);
    touches.extend(rest.rested.contacts.iter().map(touch_of));
    let r = &rest.rested;
    let mut notes: Vec<String> = moving.cloth.shells.iter().flat_map(|s| s.notes.clone()).collect();
    notes.extend(moving.notes.clone());
    Account {
        verdict: Some(show::judged(certified, reason)),
        values: Values {
            residual: Some(r.residual),
            residual_n: Some(r.residual_n),
            cone_gap: Some(r.cone_gap),
            cone_margin: Some(r.cone_margin),
            penetration: Some(rest.penetration),
            contact_distance: Some(rest.allowed),
            stability: r.stability,
            negative_modes: r.negative_modes,
            drift: rest.drift,
            size: Some(rest.size),
            contacts: Some(touches.len()),
            ..Values::default()
        },
        stage: Stage { bodies: bodies(scene, moving, &layers), layers, touches },
        timings: vec![("falling and coming to rest".into(), seconds)],
        asked: show::of_scene(scene, &moving.cloth.shells),
        notes,
        ..Account::default()
    }
}
