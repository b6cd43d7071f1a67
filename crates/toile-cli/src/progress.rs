//! Progress while a solver runs, and stopping it by Ctrl-C.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use toile::solve::Step;

use crate::json::tell;

static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);
/// Whether nothing is computed, so that one Ctrl-C is enough.
static IDLE: AtomicBool = AtomicBool::new(false);
/// Another way to ask for a stop: the button of the viewer.
static BUTTON: OnceLock<Box<dyn Fn() -> bool + Send + Sync>> = OnceLock::new();

/// From here on the first Ctrl-C asks the solver to stop, the second ends the program.
pub(crate) fn catch_interrupts() {
    // Without a handler Ctrl-C ends the program at once, as everywhere: no reason to refuse work.
    let _ = ctrlc::set_handler(|| {
        let before = INTERRUPTS.fetch_add(1, Ordering::SeqCst);
        if IDLE.load(Ordering::SeqCst) {
            return;
        }
        if before == 0 {
            tell("\nstopping after this step; once more to stop at once");
        } else {
            std::process::exit(130);
        }
    });
}

/// Whether the user asked to stop.
pub(crate) fn interrupted() -> bool {
    signalled() || BUTTON.get().is_some_and(|pressed| pressed())
}

/// Whether the user asked by Ctrl-C.
pub(crate) fn signalled() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
}

/// From here on `pressed` asks to stop, too.
pub(crate) fn listen_to(pressed: impl Fn() -> bool + Send + Sync + 'static) {
    // One command has one viewer.
    let _ = BUTTON.set(Box::new(pressed));
}

/// Waits for Ctrl-C.
pub(crate) fn wait_for_signal() {
    IDLE.store(true, Ordering::SeqCst);
    while !signalled() {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Shows Newton steps: one moving line on a terminal, else a line per second.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    lines: bool,
    last: Instant,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, lines: !quiet && !terminal, last: Instant::now() }
    }

    /// Shows a step; `false` when the user wants no more.
    pub(crate) fn step(&mut self, step: &Step) -> bool {
        let text = || {
            format!(
                "step {:4}  residual {:8.1e}  energy {:.6e} J  {:6.1} s",
                step.step + 1,
                step.residual,
                step.energy,
                step.elapsed.as_secs_f64()
            )
        };
        if let Some(bar) = &self.bar {
            bar.set_message(text());
            bar.tick();
        } else if self.lines && self.last.elapsed() >= Duration::from_secs(1) {
            tell(&text());
            self.last = Instant::now();
        }
        !interrupted()
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how far a protocol is.
pub(crate) struct Share {
    bar: Option<ProgressBar>,
    lines: bool,
    last: Instant,
    begun: Instant,
}

impl Share {
    pub(crate) fn new(quiet: bool) -> Self {
        let Progress { bar, lines, last } = Progress::new(quiet);
        Self { bar, lines, last, begun: Instant::now() }
    }

    /// Shows a fraction; `false` when the user wants no more.
    pub(crate) fn tell(&mut self, fraction: f64, what: &str) -> bool {
        let seconds = self.begun.elapsed().as_secs_f64();
        let text = || format!("{:3.0} %  {seconds:6.1} s  {what}", 100.0 * fraction);
        if let (Some(bar), false) = (&self.bar, what.is_empty()) {
            bar.set_message(text());
            bar.tick();
        } else if self.lines && !what.is_empty() && self.last.elapsed() >= Duration::from_secs(1) {
            tell(&text());
            self.last = Instant::now();
        }
        !interrupted()
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
