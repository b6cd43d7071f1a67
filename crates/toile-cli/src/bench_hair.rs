//! `toile bench hair`: hair falls on a head and settles, with exact friction among all strands.

use toile::rod::{Assembly, AssemblyReport, StepTimings, hair_on_a_head, let_fall};

use crate::args::{BenchArgs, Global};
use crate::bench::{Clock, rounded};
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::{Failure, Outcome};

/// Strands of the published scenes.
const COUNTS: [usize; 3] = [100, 500, 2000];
/// Simulated time \[s\]: strands of 20 cm have fallen after 0.2 s.
const DURATION: f64 = 0.5;
/// Simulated time of a line of the table \[s\].
const LINE: f64 = 0.05;
/// Simulated time after the strands have fallen \[s\].
const SETTLED: f64 = 0.02;

/// Steps of one line, added up.
#[derive(Default)]
struct Line {
    steps: usize,
    contacts: usize,
    pressing: usize,
    sweeps: usize,
    most_sweeps: usize,
    residual: f64,
    unconverged: usize,
    penetration: f64,
    wall: f64,
    longest: f64,
    cpu: Option<f64>,
    parts: StepTimings,
}

impl Line {
    fn add(&mut self, report: &AssemblyReport, (wall, cpu): (f64, Option<f64>)) {
        self.steps += 1;
        self.contacts = self.contacts.max(report.contacts.len());
        let pressing = report.contacts.iter().filter(|c| c.force.norm() > 0.0).count();
        self.pressing = self.pressing.max(pressing);
        self.sweeps += report.sweeps;
        self.most_sweeps = self.most_sweeps.max(report.sweeps);
        self.residual = self.residual.max(report.residual);
        self.unconverged += usize::from(!report.converged);
        self.penetration = self.penetration.max(report.penetration);
        self.wall += wall;
        self.longest = self.longest.max(wall);
        self.cpu = cpu.map(|c| c + self.cpu.unwrap_or(0.0));
        self.parts.fibres += report.timings.fibres;
        self.parts.detection += report.timings.detection;
        self.parts.operator += report.timings.operator;
        self.parts.friction += report.timings.friction;
    }

    fn told(&self, phase: &str, fibres: usize, time: f64, speed: f64) -> Object {
        let steps = self.steps.max(1) as f64;
        let each = |sum: f64| rounded(1e3 * sum / steps);
        Object::default()
            .with("phase", phase)
            .with("fibres", fibres)
            .with("time", rounded(time))
            .with("contacts", self.contacts)
            .with("pressing", self.pressing)
            .with("sweeps", rounded(self.sweeps as f64 / steps))
            .with("sweeps_most", self.most_sweeps)
            .with("residual_worst", self.residual)
            .with("steps_beyond_tolerance", self.unconverged)
            .with("ms_per_step", each(self.wall))
            .with("ms_longest", rounded(1e3 * self.longest))
            .with("cpu_ms_per_step", self.cpu.map(each))
            .with("ms_fibres", each(self.parts.fibres))
            .with("ms_detection", each(self.parts.detection))
            .with("ms_operator", each(self.parts.operator))
            .with("ms_friction", each(self.parts.friction))
            .with("penetration_worst", self.penetration)
            .with("speed", rounded(speed))
    }
}

pub(crate) fn run(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    let counts = args.n.map_or(COUNTS.to_vec(), |n| vec![n as usize]);
    let mut outcome = Outcome::Good;
    for count in counts {
        let mut scene = hair_on_a_head(count)?;
        let fall = args.duration.unwrap_or(DURATION);
        for (phase, duration) in [("fall", fall), ("settling", SETTLED)] {
            if phase == "settling" {
                let_fall(&mut scene)?;
            }
            if !lines(&mut scene, phase, duration, global)? {
                outcome = Outcome::Doubtful;
            }
            if interrupted() {
                return Ok(Outcome::Doubtful);
            }
        }
    }
    Ok(outcome)
}

/// Steps for a while and prints a line now and then; whether all steps met the tolerance.
fn lines(
    scene: &mut Assembly,
    phase: &str,
    duration: f64,
    global: &Global,
) -> Result<bool, Failure> {
    let (count, dt) = (scene.fibres.len(), scene.settings.step.dt);
    let steps = (duration / dt).round().max(1.0) as usize;
    let per_line = (LINE / dt).round().max(1.0) as usize;
    let mut share = Share::new(global.quiet || global.json);
    let mut line = Line::default();
    let mut good = true;
    for step in 1..=steps {
        let clock = Clock::start();
        let report = scene.step()?;
        line.add(&report, clock.stop());
        good &= report.converged;
        if step % per_line == 0 || step == steps || interrupted() {
            json::print(&line.told(phase, count, scene.time, scene.speed()).line());
            line = Line::default();
        }
        let what = format!("{count} fibres, {} contacts", report.contacts.len());
        share.tell(step as f64 / steps as f64, &what);
        if interrupted() {
            break;
        }
    }
    share.finish();
    Ok(good)
}
