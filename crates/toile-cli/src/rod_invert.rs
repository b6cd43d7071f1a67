//! Drawn rods and hair in `toile invert`.

use std::fmt::Write;
use std::path::Path;

use toile::io::{
    Cell, Scene, atomic_write, write_csv, write_natural, write_stations, write_strands,
};
use toile::report::figures::length;
use toile::rod::{Model, Rod, Vec3};
use toile::{FibreProgress, HairInversion, RestSummary, RodInversion, in_contact, invert_hair};

use crate::args::{Global, InvertArgs};
use crate::drape::make_folder;
use crate::json;
use crate::progress::catch_interrupts;
use crate::rod::{FibreWatch, STATIONS, stopped};
use crate::summary::listed;
use crate::{Failure, Outcome, show};

/// Tables of single fibres that are written; hair of thousands goes into joined files only.
pub(crate) const MOST_TABLES: usize = 100;

/// How long a result with contacts is watched \[s\].
const DRIFT_TIME: f64 = 1.0;

/// Finds the natures of the drawn fibres of a scene, writes everything and says so.
pub(crate) fn invert(
    scene: &Scene,
    args: &InvertArgs,
    global: &Global,
) -> Result<Outcome, Failure> {
    let out = args.out.as_path();
    catch_interrupts();
    make_folder(out)?;
    let clock = std::time::Instant::now();
    let watch = FibreWatch::new(global);
    let seconds = if args.no_drift { 0.0 } else { DRIFT_TIME };
    let found = match invert_hair(scene, args.start(), seconds, &|now| {
        // What was found is written without the rest of its simulation.
        let in_time = clock.elapsed().as_secs_f64() <= 60.0 * args.minutes;
        let watched = matches!(now, FibreProgress::Watching { .. });
        watch.tell(&now) && (in_time || !watched)
    }) {
        Err(error) => return stopped(error),
        Ok(found) => found,
    };
    watch.finish();
    let mut names = write_all(scene, out, &found.fibres)?;
    if found.fibres.iter().any(|f| f.rest.is_some()) {
        write_compared(out, &found.fibres)?;
        names.push(COMPARED.into());
    }
    let certificate = found.certificate();
    atomic_write(out.join("certificate.json"), |w| writeln!(w, "{}", certificate.pretty()))?;
    let (certified, reason) = (found.is_certified(), found.reason());
    let mut account = show::of_fibre_inversion(
        scene,
        &found.fibres,
        found.contact.as_ref(),
        (certified, &reason),
        found.residual(),
        clock.elapsed().as_secs_f64(),
    )
    .about("invert", scene);
    account.notes.clone_from(&found.notes);
    account.write(out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&certificate.pretty());
    } else if global.quiet {
        if !certified {
            json::tell(&format!("not certified: {reason}"));
        }
    } else {
        for note in &found.notes {
            json::print(&format!("note: {note}"));
        }
        json::print(&summary(&found, clock.elapsed().as_secs_f64()));
        json::print(&format!("written to {}: {}", out.display(), listed(&names)));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

/// Arclengths and values of a rod's unknowns.
fn rows(rod: &Rod, q: &[Vec3]) -> Vec<(f64, Vec3)> {
    let mut s = 0.0;
    let mut at: Vec<f64> = Vec::with_capacity(q.len());
    if rod.model() == Model::SuperClothoid {
        at.push(0.0);
    }
    for l in rod.lengths() {
        at.push(if rod.model() == Model::SuperClothoid { s + l } else { s + 0.5 * l });
        s += l;
    }
    at.into_iter().zip(q.iter().copied()).collect()
}

fn polyline(found: &RodInversion, q: &[Vec3]) -> Vec<[f64; 3]> {
    let count = 4 * found.fit.rod.lengths().len() + 1;
    let stations = found.fit.rod.equal_stations(q, count);
    stations.iter().map(|s| found.drawn.axes.to_file(s.position.into())).collect()
}

fn write_all(scene: &Scene, out: &Path, found: &[RodInversion]) -> Result<Vec<String>, Failure> {
    let mut names = vec!["equilibrium.obj".to_string(), "rest.obj".into()];
    let shapes: Vec<_> = found.iter().map(|f| polyline(f, &f.fit.q)).collect();
    write_strands(out.join("equilibrium.obj"), &shapes)?;
    let natures: Vec<_> = found.iter().map(|f| polyline(f, &f.result.natural)).collect();
    write_strands(out.join("rest.obj"), &natures)?;
    for (i, f) in found.iter().enumerate().take(MOST_TABLES) {
        let stations = f.fit.rod.equal_stations(&f.fit.q, STATIONS as usize);
        let metres = scene.own_axes();
        write_stations(out.join(format!("rod_{i}.csv")), &stations, &metres)?;
        write_natural(out.join(format!("natural_{i}.csv")), &rows(&f.fit.rod, &f.result.natural))?;
        names.extend([format!("rod_{i}.csv"), format!("natural_{i}.csv")]);
    }
    // Where contacts carry a part, natures alone do not bring the shape back.
    let alone = !in_contact(scene);
    let equal = found.iter().all(|f| f.fit.rod.model() == Model::SuperClothoid);
    if alone && equal && found.len() <= MOST_TABLES {
        atomic_write(out.join("inverted.toml"), |w| {
            w.write_all(scene_of(scene, found).as_bytes())
        })?;
        names.push("inverted.toml".into());
    }
    names.push("certificate.json".into());
    Ok(names)
}

/// Table of how drawings, the natures found and those of the file agree.
const COMPARED: &str = "rest_compared.csv";

fn write_compared(out: &Path, found: &[RodInversion]) -> Result<(), Failure> {
    const COLUMNS: [&str; 10] = [
        "fibre",
        "residual",
        "sag_rms",
        "sag_max",
        "curvature_rms",
        "file_curvature_rms",
        "position_rms",
        "position_max",
        "stretch",
        "tilt",
    ];
    let row = |(i, f): (usize, &RodInversion)| {
        let rest = f.rest.as_ref()?;
        let c = &rest.compared;
        // Without an equilibrium there is no distance to it.
        let sag = rest.sag.map_or(Vec::from(["".into(), "".into()]), |(rms, max)| {
            Vec::from([Cell::from(rms), max.into()])
        });
        let sizes = [c.curvature_rms, c.curvature_size, c.position_rms, c.position_max];
        let mut cells: Vec<Cell> = vec![i.into(), c.residual.into()];
        cells.extend(sag);
        cells.extend(sizes.map(Cell::from));
        cells.extend([rest.pose.stretch, rest.pose.tilt].map(Cell::from));
        Some(cells)
    };
    Ok(write_csv(out.join(COMPARED), &COLUMNS, found.iter().enumerate().filter_map(row))?)
}

/// A scene whose drape is the drawn shape.
fn scene_of(scene: &Scene, found: &[RodInversion]) -> String {
    let axes = scene.own_axes();
    let vector = |v: [f64; 3]| format!("[{:?}, {:?}, {:?}]", v[0], v[1], v[2]);
    let turned = |v: Vec3| vector(axes.direction_to_file(v.into()));
    let mut text = String::from(
        "# The drawn fibres with the natural curvatures that hold them: `toile drape` brings them back.\n",
    );
    if scene.up == toile::io::Up::Y {
        text.push_str("up = \"y\"\n");
    }
    let g = toile::io::scene_gravity(scene);
    let _ = writeln!(text, "gravity = {}", turned(g));
    for (i, f) in found.iter().enumerate() {
        let (rod, section) = (&f.fit.rod, &f.drawn.section);
        let clamp = rod.clamp();
        let [a, b] = section.bending_stiffness;
        let column = |c: usize| turned(clamp.frame.column(c).into());
        let _ = write!(
            text,
            "\n[[rod]]\nelements = {}\nlength = {:?}\nbending_stiffness = [{a:?}, {b:?}]\ntwisting_stiffness = {:?}\n\
             linear_density = {:?}\nnatural_curvature = \"natural_{i}.csv\"\naccuracy = 0\n",
            f.drawn.settings.elements,
            rod.length(),
            section.twisting_stiffness,
            section.linear_density,
        );
        let _ = match (f.growth, f.grows_at(found)) {
            (Some(growth), Some(at)) => {
                let own = |c: usize| vector(growth.turn.column(c).into_owned().into());
                let [d1, d2, d3] = [0, 1, 2].map(own);
                let rod = growth.parent;
                writeln!(
                    text,
                    "parent = {{ rod = {rod}, at = {at:?}, d1 = {d1}, d2 = {d2}, d3 = {d3} }}"
                )
            }
            _ => writeln!(
                text,
                "clamp = {{ position = {}, d1 = {}, d2 = {}, d3 = {} }}",
                vector(axes.to_file(clamp.position.into())),
                column(0),
                column(1),
                column(2),
            ),
        };
    }
    text
}

fn summary(found: &HairInversion, seconds: f64) -> String {
    let mut text = String::new();
    let verdict = if found.is_certified() { "certified" } else { "not certified" };
    let fibres = &found.fibres;
    let _ = writeln!(text, "{} fibre(s) in {seconds:.2} s: {verdict}", fibres.len());
    let missed = fibres.iter().map(|f| f.fit.error_max).fold(0.0, f64::max);
    let _ = writeln!(text, "  {}", found.reason());
    let _ = writeln!(text, "  target missed by at most {}", length(missed));
    let _ = write!(text, "  residual   {:.2e} of a joint's weight", found.residual());
    if let Some(rest) = RestSummary::of(fibres) {
        let _ = write!(text, "\n  {}", rest.told());
        if let Some(sag) = found.contact.as_ref().and_then(|c| c.rest_sag) {
            let _ = write!(
                text,
                "\n  made with the rest of the file it goes {sag:.1e} of its size in a fifth of a second"
            );
        }
    }
    if fibres.iter().any(|f| !f.result.unique) {
        let _ = write!(
            text,
            "\nnote: with EI1 different from EI2 another framing of the curve gives another natural shape; this one turns as \
             little as it can"
        );
    }
    text
}
