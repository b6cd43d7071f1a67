//! Drawn rods and hair in `toile invert`.

use std::fmt::Write;
use std::path::Path;

use toile::io::{Scene, atomic_write, write_natural, write_stations, write_strands};
use toile::rod::{Model, Rod, Vec3};
use toile::{ContactInversion, RodInversion, invert_contacts, invert_rods};

use crate::args::Global;
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::rod::STATIONS;
use crate::{Failure, Outcome, show};

/// Tables of single fibres that are written; hair of thousands goes into joined files only.
const MOST_TABLES: usize = 100;

/// Finds the natures of the drawn fibres of a scene, writes everything and says so.
pub(crate) fn invert(scene: &Scene, out: &Path, global: &Global) -> Result<Outcome, Failure> {
    make_folder(out)?;
    let clock = std::time::Instant::now();
    let (mut found, notes) = invert_rods(scene)?;
    let contact = if scene.colliders.is_empty() && scene.self_contact.is_none() {
        None
    } else {
        catch_interrupts();
        let share = std::cell::RefCell::new(Share::new(global.quiet || global.json));
        let watch = |done: f64| {
            share.borrow_mut().tell(done, "watching that it stays");
            !interrupted()
        };
        let contact = invert_contacts(scene, &mut found, DRIFT_TIME, &watch)?;
        share.borrow().finish();
        Some(contact)
    };
    let mut names = write_all(scene, out, &found)?;
    let contact = contact.as_ref();
    let certificate = certificate(&found, contact);
    atomic_write(out.join("certificate.json"), |w| writeln!(w, "{}", certificate.pretty()))?;
    let certified = is_certified(&found, contact);
    let mut account = show::of_fibre_inversion(
        scene,
        &found,
        contact,
        (certified, &reason(&found, contact)),
        residual(&found),
        clock.elapsed().as_secs_f64(),
    )
    .about("invert", scene);
    account.notes.clone_from(&notes);
    account.write(out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&certificate.pretty());
    } else if global.quiet {
        if !certified {
            json::tell(&format!("not certified: {}", reason(&found, contact)));
        }
    } else {
        for note in &notes {
            json::print(&format!("note: {note}"));
        }
        let seconds = clock.elapsed().as_secs_f64();
        json::print(&summary(&found, contact, seconds));
        json::print(&format!("written to {}: {}", out.display(), names.join(", ")));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

/// How long a result with contacts is watched \[s\].
const DRIFT_TIME: f64 = 1.0;

/// Drift that is still rest.
const MOST_DRIFT: f64 = 1e-4;

/// Largest residual of a fibre, with the contacts' share.
fn residual(found: &[RodInversion]) -> f64 {
    found.iter().map(|f| f.result.certificate.residual).fold(0.0, f64::max)
}

fn is_certified(found: &[RodInversion], contact: Option<&ContactInversion>) -> bool {
    let held = contact
        .is_none_or(|c| c.found.cone_gap <= 1e-8 && c.drift.is_some_and(|d| d <= MOST_DRIFT));
    !found.is_empty() && found.iter().all(|f| f.result.certificate.certified) && held
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
    let equal = found.iter().all(|f| f.fit.rod.model() == Model::SuperClothoid);
    if equal && found.len() <= MOST_TABLES {
        atomic_write(out.join("inverted.toml"), |w| {
            w.write_all(scene_of(scene, found).as_bytes())
        })?;
        names.push("inverted.toml".into());
    }
    names.push("certificate.json".into());
    Ok(names)
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
             linear_density = {:?}\nnatural_curvature = \"natural_{i}.csv\"\naccuracy = 0\n\
             clamp = {{ position = {}, d1 = {}, d2 = {}, d3 = {} }}\n",
            rod.lengths().len(),
            rod.length(),
            section.twisting_stiffness,
            section.linear_density,
            vector(axes.to_file(clamp.position.into())),
            column(0),
            column(1),
            column(2),
        );
    }
    text
}

fn reason(found: &[RodInversion], contact: Option<&ContactInversion>) -> String {
    let mut text = String::new();
    if let Some(contact) = contact {
        let c = &contact.found;
        let _ = write!(
            text,
            "{} contacts carry what they can, all sticking (margin {:.3}); ",
            c.contacts.len(),
            c.cone_margin
        );
    }
    let bad: Vec<&RodInversion> =
        found.iter().filter(|f| !f.result.certificate.certified).collect();
    if let Some(first) = bad.first() {
        let _ = write!(
            text,
            "{} of {} fibre(s) cannot be held, first {}: {}",
            bad.len(),
            found.len(),
            first.drawn.name,
            first.result.certificate.reason
        );
        let stiffening = bad.iter().map(|f| f.result.stiffening).fold(0.0, f64::max);
        if stiffening >= 1.0 {
            let _ = write!(
                text,
                "; make fibres more than {stiffening:.3} times as stiff, or as much lighter, and all hold"
            );
        }
    } else {
        let worst = residual(found);
        let _ = write!(
            text,
            "forces balance to {worst:.1e} of a joint's weight; every small motion is resisted"
        );
    }
    if let Some(contact) = contact {
        contact_reason(&mut text, contact);
    }
    text
}

fn contact_reason(text: &mut String, contact: &ContactInversion) {
    let c = &contact.found;
    if c.cone_gap > 1e-8 {
        let _ = write!(text, "; but a force leaves its cone by {:.1e}", c.cone_gap);
    }
    match contact.drift {
        Some(drift) if drift > MOST_DRIFT => {
            let _ = write!(
                text,
                "; but in a simulated second it moves by {drift:.1e} of its size where {MOST_DRIFT:.0e} is asked \
                 (deepest overlap left in the drawing {:.1e} m)",
                c.penetration
            );
        }
        Some(drift) => {
            let _ = write!(text, "; in a simulated second it moves by {drift:.1e} of its size");
        }
        None => text.push_str("; but whether it stays was not watched to the end"),
    }
    if let Some(sag) = contact.naive_sag {
        let _ = write!(text, " (made as drawn it would go {sag:.1e} in a fifth of one)");
    }
    let closing = &contact.closing;
    if closing.moved > 0.0 {
        let _ = write!(
            text,
            "; gaps of up to {:.1e} m were closed and overlaps of up to {:.1e} m opened by moving joints up to {:.1e} m",
            closing.gap, closing.overlap, closing.moved
        );
    }
}

fn certificate(found: &[RodInversion], contact: Option<&ContactInversion>) -> Object {
    let all = || found.iter().map(|f| &f.result.certificate);
    let most = |f: fn(&RodInversion) -> f64| found.iter().map(f).fold(0.0, f64::max);
    let certified = is_certified(found, contact);
    let stability = all().map(|c| c.stability).try_fold(f64::INFINITY, |m, s| Some(m.min(s?)));
    let rms =
        (found.iter().map(|f| f.fit.error_rms.powi(2)).sum::<f64>() / found.len() as f64).sqrt();
    Object::default()
        .with("verdict", if certified { "certified" } else { "not certified" })
        .with("reason", reason(found, contact))
        .with("residual", residual(found))
        .with("residual_n", most(|f| f.result.certificate.residual_n))
        .with("cone_gap", contact.map(|c| c.found.cone_gap))
        .with("cone_margin", contact.map(|c| c.found.cone_margin))
        .with("penetration", contact.map(|c| c.found.penetration))
        .with("stability", stability)
        .with("drift", contact.and_then(|c| c.drift))
        .with("target_error_max", most(|f| f.fit.error_max))
        .with("target_error_rms", rms)
        .with("size", most(|f| f.result.certificate.size))
        .with("negative_modes", all().map(|c| c.negative_modes).sum::<usize>())
        .with("stability_margin", all().map(|c| c.margin).fold(f64::INFINITY, f64::min))
        .with("stiffening", most(|f| f.result.stiffening))
        .with("unique", found.iter().all(|f| f.result.unique))
        .with("contacts", contact.map_or(0, |c| c.found.contacts.len()))
        .with("optimality", contact.map(|c| c.found.residual))
        .with("naive_sag", contact.and_then(|c| c.naive_sag))
        .with("gap_closed", contact.map(|c| c.closing.gap))
        .with("overlap_opened", contact.map(|c| c.closing.overlap))
        .with("not_held", found.iter().filter(|f| !f.result.certificate.certified).count())
        .with("fibres", found.len())
}

fn summary(found: &[RodInversion], contact: Option<&ContactInversion>, seconds: f64) -> String {
    let mut text = String::new();
    let verdict = if is_certified(found, contact) { "certified" } else { "not certified" };
    let _ = writeln!(text, "{} fibre(s) in {seconds:.2} s: {verdict}", found.len());
    let most = |f: fn(&RodInversion) -> f64| found.iter().map(f).fold(0.0, f64::max);
    let _ = writeln!(text, "  {}", reason(found, contact));
    let _ = writeln!(text, "  target missed by at most {:.2e} m", most(|f| f.fit.error_max));
    let _ = write!(text, "  residual   {:.2e} of a joint's weight", residual(found));
    if found.iter().any(|f| !f.result.unique) {
        let _ = write!(
            text,
            "\nnote: with EI1 different from EI2 another framing of the curve gives another natural shape; this one turns as \
             little as it can"
        );
    }
    text
}
