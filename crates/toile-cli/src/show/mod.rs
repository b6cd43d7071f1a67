//! What a command tells when it is done: the account of a result, for the report and for the viewer.

mod asked;
mod cloth;
mod fibres;
mod folder;
mod kernel;
mod motion;
mod protocol;
mod timing;

use std::path::Path;

use toile::io::{Scene, atomic_write, base64_encode};
use toile::report::figures::{Values, explain};
use toile::report::page::{Page, Shot, Table, Verdict};
use toile::report::picture::png_to;
use toile::report::plot::Plot;
use toile::report::record::Progress;
use toile::report::shots;
use toile::report::stage::Stage;

use crate::Failure;
use crate::names::meaning;

pub(crate) use asked::of_scene;
pub(crate) use cloth::{
    Surfaces, bodies, newton_plots, of_drape, of_inversion, search_plots, start_stage,
    strain_fields, target_stage,
};
pub(crate) use fibres::{
    Strands, of_fibre_drape, of_fibre_inversion, of_fibre_rest, touch_of, tubes,
};
pub(crate) use folder::{FolderStore, Record};
pub(crate) use kernel::{ended, of_friction};
pub(crate) use motion::{Course, MovingBodies, of_motion};
pub(crate) use protocol::{of_case, of_protocol};
pub(crate) use timing::parts;

/// Longest scene that is shown in a report.
const MOST_TEXT: usize = 100_000;

/// Name of the layer of the rest shape.
pub(crate) const REST: &str = "rest shape";

/// Name of the report in its folder.
pub(crate) const REPORT: &str = "report.html";

/// Everything there is to tell about a result.
#[derive(Default)]
pub(crate) struct Account {
    pub(crate) title: String,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) values: Values,
    pub(crate) stage: Stage,
    pub(crate) plots: Vec<Plot>,
    pub(crate) tables: Vec<Table>,
    pub(crate) timings: Vec<(String, f64)>,
    pub(crate) asked: Vec<(String, String)>,
    pub(crate) scene: Option<String>,
    pub(crate) notes: Vec<String>,
}

impl Account {
    /// Names what was done with a scene, and keeps its text.
    pub(crate) fn about(mut self, verb: &str, scene: &Scene) -> Self {
        let name = scene.source.path().and_then(|p| p.file_name()).map(|n| n.to_string_lossy());
        self.title = format!("{verb} {}", name.as_deref().unwrap_or("scene"));
        let text = scene.source.text();
        self.scene = (!text.is_empty() && text.len() <= MOST_TEXT).then(|| text.into());
        self
    }

    /// Writes the report, and the record for the viewer where there is something to see, into a folder that holds the
    /// `names`d files already.
    pub(crate) fn write(&self, out: &Path, names: &[String]) -> Result<(), Failure> {
        self.write_report(out, names)?;
        if !self.stage.layers.is_empty() {
            let store = FolderStore::open(out, false, None)?;
            let mut record = Record::new(store, &self.title, &command(), &version());
            record.stage(&self.stage)?;
            self.finish(&mut record)?;
        }
        Ok(())
    }

    /// Writes the report alone.
    pub(crate) fn write_report(&self, out: &Path, names: &[String]) -> Result<(), Failure> {
        let html = self.page(names).to_html();
        Ok(atomic_write(out.join(REPORT), |w| w.write_all(html.as_bytes()))?)
    }

    /// Puts verdict, figures and plots into a record and closes it.
    pub(crate) fn finish(&self, record: &mut Record) -> Result<(), Failure> {
        record.verdict(self.verdict.as_ref());
        record.figures(&explain(&self.values));
        record.plots(&self.plots);
        record.details(&self.timings, &self.asked, &self.notes);
        Ok(record.flush(Progress::Done, "")?)
    }

    fn page(&self, names: &[String]) -> Page {
        let shot = |shown: toile::report::Shown| {
            let mut png = Vec::new();
            // Memory takes every picture.
            let _ = png_to(&mut png, &shown.picture);
            Shot {
                caption: shown.caption,
                address: format!("data:image/png;base64,{}", base64_encode(&png)),
                legend: shown.legend,
            }
        };
        Page {
            title: self.title.clone(),
            verdict: self.verdict.clone(),
            asked: self.asked.clone(),
            scene: self.scene.clone(),
            shots: shots(&self.stage).into_iter().map(shot).collect(),
            figures: explain(&self.values),
            plots: self.plots.clone(),
            tables: self.tables.clone(),
            notes: self.notes.clone(),
            timings: self.timings.clone(),
            files: names.iter().map(|n| (n.clone(), meaning(n).into())).collect(),
            version: version(),
            command: command(),
        }
    }
}

/// Program, version and machine.
pub(crate) fn version() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("toile {} ({arch}, {os})", env!("CARGO_PKG_VERSION"))
}

/// The command as it was given, ready for a shell.
pub(crate) fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = |word: String| {
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words = std::env::args_os().skip(1).map(|w| quoted(w.to_string_lossy().into_owned()));
    let words: Vec<String> = ["toile".to_string()].into_iter().chain(words).collect();
    words.join(" ")
}

/// Verdict of a certificate.
pub(crate) fn judged(certified: bool, reason: &str) -> Verdict {
    let word = if certified { "certified" } else { "not certified" };
    Verdict { ok: certified, word: word.into(), reason: reason.into() }
}
