//! Rods in `toile drape`.

use std::fmt::Write;
use std::path::Path;

use toile::io::{Scene, atomic_write, write_stations};
use toile::report::figures::digits;
use toile::rod::StaticSettings;
use toile::{FibreProgress, RodDrape, RodSceneError, drape_rods, rods_certificate, rods_verdict};

use crate::args::{DrapeArgs, Global};
use crate::drape::make_folder;
use crate::json;
use crate::progress::Share;
use crate::summary::listed;
use crate::{Failure, Outcome, show};

/// Stations of a table when none are asked for.
pub(crate) const STATIONS: u32 = 21;

/// Whether a scene is about rods.
pub(crate) fn has_rods(scene: &Scene) -> bool {
    !scene.rods.is_empty() || !scene.hair.is_empty()
}

/// Drapes the rods of a scene, writes everything and says so.
pub(crate) fn drape(scene: &Scene, args: &DrapeArgs, global: &Global) -> Result<Outcome, Failure> {
    if toile::in_contact(scene) || toile::has_drawn(scene) {
        return crate::rod_rest::drape(scene, args, global);
    }
    make_folder(&args.out)?;
    let mut settings = StaticSettings::default();
    if let Some(steps) = args.solver.max_steps {
        settings.max_steps = steps as usize;
    }
    let clock = std::time::Instant::now();
    let drapes = drape_rods(scene, &settings)?;
    let seconds = clock.elapsed().as_secs_f64();
    let stations = args.stations.unwrap_or(STATIONS) as usize;
    let mut names = Vec::new();
    for (i, drape) in drapes.iter().enumerate() {
        let name = format!("rod_{i}.csv");
        let rows = drape.stations(stations);
        write_stations(args.out.join(&name), &rows, &drape.loaded.axes)?;
        names.push(name);
    }
    let certificate = rods_certificate(&drapes);
    atomic_write(args.out.join("certificate.json"), |w| writeln!(w, "{}", certificate.pretty()))?;
    names.push("certificate.json".into());
    let (certified, reason) = rods_verdict(&drapes);
    show::of_fibre_drape(scene, &drapes, (certified, &reason), seconds)
        .about("drape", scene)
        .write(&args.out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&certificate.pretty());
    } else if !global.quiet {
        json::print(&summary(&drapes, &args.out, &names));
    } else if !certified {
        json::tell(&format!("not certified: {reason}"));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

/// Shows what is being done with fibres, and asks whether to go on.
pub(crate) struct FibreWatch {
    share: std::cell::RefCell<Share>,
    /// Steps of a fall at most.
    most_steps: usize,
}

impl FibreWatch {
    pub(crate) fn new(global: &Global) -> Self {
        let share = Share::new(global.quiet || global.json);
        Self { share: std::cell::RefCell::new(share), most_steps: 1 }
    }

    /// The same of a fall that ends after so many steps.
    pub(crate) fn of_fall(global: &Global, most_steps: usize) -> Self {
        Self { most_steps, ..Self::new(global) }
    }

    /// Shows how far it is; `false` when the user wants no more.
    pub(crate) fn tell(&self, now: &FibreProgress) -> bool {
        let part = |done: usize, of: usize| done as f64 / of.max(1) as f64;
        let (done, what) = match *now {
            FibreProgress::Fitting { done, of } => {
                (part(done, of), format!("putting rods into {of} fibre(s)"))
            }
            FibreProgress::Judging { done, of } => {
                (part(done, of), format!("finding the natures of {of} fibre(s)"))
            }
            FibreProgress::Closing { part } => (part, "closing gaps".into()),
            FibreProgress::Holding { part } => (part, "looking for forces that hold it".into()),
            FibreProgress::Falling { steps, speed } => {
                (part(steps, self.most_steps), format!("falling, {speed:.1e} m/s"))
            }
            FibreProgress::Watching { part } => (part, "watching that it stays".into()),
        };
        self.share.borrow_mut().tell(done, &what)
    }

    pub(crate) fn finish(&self) {
        self.share.borrow().finish();
    }
}

/// Ends a command whose fibres could not be treated, or that was stopped before there was anything to write.
pub(crate) fn stopped(error: RodSceneError) -> Result<Outcome, Failure> {
    if !matches!(error, RodSceneError::Stopped { .. }) {
        return Err(error.into());
    }
    json::tell(&error.to_string());
    Ok(Outcome::Doubtful)
}

fn summary(drapes: &[RodDrape], out: &Path, names: &[String]) -> String {
    let mut text = String::new();
    for (i, drape) in drapes.iter().enumerate().take(20) {
        let result = &drape.result;
        let c = &result.equilibrium.certificate;
        let _ = writeln!(
            text,
            "rod {i}: {} elements ({} asked), {} steps; {}",
            result.rod.lengths().len(),
            drape.loaded.elements,
            result.equilibrium.steps,
            match result.error {
                Some(error) => format!("accurate to {error:.1e}"),
                None => "elements kept as given".into(),
            }
        );
        let _ = writeln!(text, "  {}: {}", c.verdict(), c.reason);
        let _ = writeln!(
            text,
            "  residual   {:.2e} of a joint's weight ({:.2e} N)",
            c.residual, c.residual_n
        );
        if let Some(stability) = c.stability {
            let _ = write!(text, "  stability  {} 1/s²", digits(stability));
            // Of nodes it is not known.
            if c.margin.is_finite() {
                let _ = write!(text, "; {:.3} of the elastic stiffness is left", c.margin);
            }
            text.push('\n');
        }
    }
    if drapes.len() > 20 {
        let _ = writeln!(text, "… and {} more", drapes.len() - 20);
    }
    let _ = write!(text, "written to {}: {}", out.display(), listed(names));
    text
}
