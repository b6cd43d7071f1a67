//! Cloth and fibres in one scene, touching.
//!
//! A step of the fibres is linear in the impulses on them, a step of the cloth is not. So the impulses where they meet are found by trials: the
//! cloth takes its whole step, own contacts included, under those of the last trial; how it moved and about how it yields make one problem of
//! dry friction with the fibres' own contacts ([`toile_rod::OpenStep`]); its solution is the next trial. When the impulses of a trial obey the law
//! with the velocities that both sides have under them, the step is done. One impulse acts on both, with opposite signs: momentum is kept to the bit.

mod hold;
mod near;
mod settle;
mod yielding;

use std::time::Instant;

use toile_geometry::{Topology, Vec3};
use toile_rod::{Assembly, AssemblyReport, Meeting, OpenStep};

use self::near::{Near, Place, Strand, key};
pub use self::settle::{RestSettings, Rested};
use self::yielding::Yielding;
use crate::SimError;
use crate::dynamics::{ContactSource, Simulator, StageSettings, StepReport};

/// Trials of impulses at most; three or four are usual.
const TRIALS: usize = 24;
/// Trials after which it is looked anew how the cloth yields.
const REFRESH: usize = 3;
/// Trials after which a step whose law is violated by more than `FAR` is rather taken in halves.
const HOPELESS: usize = 9;
const FAR: f64 = 1e-3;
/// Times what would pass is added and everything solved again.
const ROUNDS: usize = 5;
/// Times a step may be halved.
const CUTS: usize = 5;
/// Time in which what is too close recovers \[s\]: at once it would be thrown.
const RECOVERY: f64 = 0.02;
/// Part of the distance to be kept by which what was not looked at may come too close.
const MISSED: f64 = 0.02;

/// How a step went.
#[derive(Clone, Debug, Default)]
pub struct TogetherReport {
    /// The cloth's last trial.
    pub cloth: StepReport,
    /// The fibres and all their contacts, those with the cloth among them.
    pub fibres: AssemblyReport,
    /// Trials of impulses.
    pub trials: usize,
    /// Places where fibres might have touched the cloth.
    pub places: usize,
    /// Violation of the law of friction by fibres at the end of a part, over the largest force.
    pub law_error: f64,
    /// Whether every part met its tolerances.
    pub converged: bool,
    /// Parts the step was taken in.
    pub parts: usize,
    /// Fibres that went through the cloth all the same.
    pub passing: usize,
    /// Seconds of the cloth, of finding places, of how they yield, and of friction.
    pub seconds: [f64; 4],
}

impl TogetherReport {
    fn followed_by(self, next: Self) -> Self {
        Self {
            trials: self.trials + next.trials,
            places: self.places.max(next.places),
            law_error: self.law_error.max(next.law_error),
            converged: self.converged && next.converged,
            parts: self.parts + next.parts,
            passing: self.passing + next.passing,
            seconds: std::array::from_fn(|k| self.seconds[k] + next.seconds[k]),
            ..next
        }
    }
}

/// What a cloth and fibres that touch share.
pub struct Coupling {
    near: Near,
    yielding: Yielding,
    /// Friction of each fibre with the cloth.
    friction: Vec<f64>,
    /// Places that pressed in the last step, with the forces on the fibres \[N\].
    last: Vec<(Place, Vec3)>,
    /// Places that are kept, whatever else comes near.
    held: Option<Vec<Place>>,
    /// Whether steps are taken whole or not at all.
    whole: bool,
    /// Trials at least: what rests is to do so to the last digits, and tolerances leave some.
    least: usize,
}

impl Coupling {
    /// For a cloth with that connectivity and half its thickness at each vertex, among fibres that have that friction with it. The
    /// cloth is to move by implicit Euler; its tolerances are made as tight as the law of friction asks.
    pub fn new<S: ContactSource>(
        cloth: &mut Simulator<S>,
        topology: Topology,
        half_thickness: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, SimError> {
        let x = cloth.model().positions(cloth.state());
        let near = Near::new(topology, &x, half_thickness);
        let yielding = Yielding::new(cloth.model())?;
        cloth.set_settings(StageSettings {
            tolerance: 1e-6,
            max_iterations: 20,
            ..StageSettings::default()
        });
        Ok(Self { near, yielding, friction, last: Vec::new(), held: None, whole: false, least: 1 })
    }

    /// Deepest that a fibre is nearer to the cloth than it should be \[m\], and the first fibre and segment that goes through it, if any.
    pub fn depth<S: ContactSource>(
        &mut self,
        cloth: &Simulator<S>,
        fibres: &Assembly,
    ) -> Result<(f64, Option<(usize, usize)>), SimError> {
        let open = fibres.open()?;
        let x = cloth.model().positions(cloth.state());
        let strands = strands(fibres, &self.friction, &open, None);
        Ok(self.near.depth(&strands, &x))
    }

    /// Takes a step of `h` seconds; in halves where trials do not end or something would pass through.
    pub fn step<S: ContactSource>(
        &mut self,
        cloth: &mut Simulator<S>,
        fibres: &mut Assembly,
        h: f64,
    ) -> Result<TogetherReport, SimError> {
        let dt = fibres.settings.step.dt;
        let report = self.part(cloth, fibres, h, 0);
        fibres.settings.step.dt = dt;
        cloth.push([]);
        report
    }

    fn part<S: ContactSource>(
        &mut self,
        cloth: &mut Simulator<S>,
        fibres: &mut Assembly,
        h: f64,
        cuts: usize,
    ) -> Result<TogetherReport, SimError> {
        fibres.settings.step.dt = h;
        let kept = cloth.keep();
        let start = cloth.model().positions(cloth.state());
        let mut clock = Instant::now();
        let mut lap = |seconds: &mut f64| {
            let now = Instant::now();
            *seconds += (now - clock).as_secs_f64();
            clock = now;
        };
        let mut report = TogetherReport { parts: 1, ..TogetherReport::default() };
        let mut open = fibres.open()?;
        let velocities = vertex_velocities(cloth);
        lap(&mut report.seconds[3]);
        let found = strands(fibres, &self.friction, &open, None);
        let mut places = match &self.held {
            Some(held) => held.iter().map(|p| p.held_here()).collect(),
            None => self.near.find(&found, &start, &velocities, h, &|p| fibres.knows(&p.meeting)),
        };
        lap(&mut report.seconds[1]);
        for round in 0..ROUNDS {
            let compliance = self.yielding.compliance(cloth, h, &places)?;
            lap(&mut report.seconds[2]);
            let softly = |gap: f64| if gap < 0.0 { gap * (h / RECOVERY).min(1.0) } else { gap };
            let meeting = |p: &Place| Meeting { gap: softly(p.meeting.gap), ..p.meeting };
            let meetings: Vec<Meeting> = places.iter().map(meeting).collect();
            open.meet(fibres, &meetings, compliance)?;
            lap(&mut report.seconds[3]);
            let mut end = Vec::new();
            for trial in 0..TRIALS {
                if trial == 0 || !places.is_empty() {
                    if trial == 0 {
                        cloth.put_back(&kept);
                    } else {
                        cloth.try_again(&kept);
                    }
                    let impulses = open.impulses();
                    let pushes = places.iter().zip(&impulses).flat_map(|(place, impulse)| {
                        place.carriers.map(|(v, w)| (v, impulse * (-w / h)))
                    });
                    cloth.push(pushes);
                    report.cloth = cloth.step(h)?;
                    report.trials += 1;
                    end = cloth.model().positions(cloth.state());
                }
                lap(&mut report.seconds[0]);
                let moved = |p: &Place| (p.blend(&end) - p.blend(&start)) / h;
                let velocities: Vec<Vec3> = places.iter().map(moved).collect();
                report.law_error = open.judge(fibres, &velocities)?;
                report.converged = report.law_error <= fibres.settings.tolerance;
                let far = report.law_error > FAR && cuts < CUTS;
                let hopeless = trial >= HOPELESS && (far || self.whole);
                let done = report.converged && trial + 1 >= self.least;
                if done || trial + 1 == TRIALS || hopeless {
                    break;
                }
                if trial % REFRESH == REFRESH - 1 && !places.is_empty() {
                    // It yields as it does where it has come to.
                    open.yields(fibres, self.yielding.compliance(cloth, h, &places)?)?;
                    open.judge(fibres, &velocities)?;
                    lap(&mut report.seconds[2]);
                }
                open.solve(fibres)?;
                lap(&mut report.seconds[3]);
            }
            lap(&mut report.seconds[3]);
            if !report.converged {
                break;
            }
            let ways: Vec<Vec3> = end.iter().zip(&start).map(|(b, a)| (b - a) / h).collect();
            let more = match self.held {
                Some(_) => Vec::new(),
                None => self.missed(fibres, &open, &start, &ways, h, &places),
            };
            report.passing = more.len();
            lap(&mut report.seconds[1]);
            if round + 1 == ROUNDS || more.is_empty() && open.stop_passing(fibres) == 0 {
                break;
            }
            places.extend(more);
            // What holds was found from where the step begins.
            cloth.put_back(&kept);
        }
        report.places = places.len();
        if (!report.converged || report.passing > 0) && cuts < CUTS {
            cloth.put_back(&kept);
            if self.whole {
                return Ok(TogetherReport { converged: false, parts: 0, ..report });
            }
            let first = self.part(cloth, fibres, 0.5 * h, cuts + 1)?;
            let second = self.part(cloth, fibres, 0.5 * h, cuts + 1)?;
            return Ok(first.followed_by(second));
        }
        let forces = open.impulses();
        let largest = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
        let pressing = places.into_iter().zip(forces).filter(|(_, f)| f.norm() > 1e-9 * largest);
        self.last = pressing.map(|(place, impulse)| (place, impulse / h)).collect();
        report.fibres = fibres.close(open)?;
        Ok(report)
    }

    /// Places that were not looked at and come too close, on the way or at its end.
    fn missed(
        &mut self,
        fibres: &Assembly,
        open: &OpenStep,
        start: &[Vec3],
        ways: &[Vec3],
        h: f64,
        places: &[Place],
    ) -> Vec<Place> {
        let moving = open.velocities(fibres);
        let found = strands(fibres, &self.friction, open, Some(&moving));
        let mut more = self.near.passing(&found, start, ways, h);
        let ends: Vec<Vec<Vec3>> = found
            .iter()
            .map(|s| s.points.iter().zip(s.velocities).map(|(p, v)| p + v * h).collect())
            .collect();
        let end: Vec<Vec3> = start.iter().zip(ways).map(|(x, v)| x + v * h).collect();
        let still: Vec<Vec<Vec3>> = ends.iter().map(|e| vec![Vec3::zeros(); e.len()]).collect();
        let there: Vec<Strand> = found
            .iter()
            .enumerate()
            .map(|(f, s)| Strand { points: &ends[f], velocities: &still[f], ..*s })
            .collect();
        let late = self.near.find(&there, &end, &vec![Vec3::zeros(); end.len()], 0.0, &|_| false);
        for mut place in late {
            let m = place.meeting;
            let keep = fibres.fibres[m.fibre].radius;
            let known = |p: &Place| {
                key(p) == key(&place)
                    || (p.meeting.fibre == m.fibre
                        && (p.meeting.point - m.point).norm() <= 2.0 * keep
                        && p.meeting.normal.dot(&m.normal) > 0.9)
            };
            if m.gap >= -MISSED * keep || places.iter().chain(&more).any(known) {
                continue;
            }
            // The same two points at the start, along the normal of the end.
            let at = |j: &[Vec3]| j[m.segment] * (1.0 - m.along) + j[m.segment + 1] * m.along;
            let before = at(found[m.fibre].points) - place.blend(start);
            let after = at(&ends[m.fibre]) - place.blend(&end);
            place.meeting.gap = m.gap + (before - after).dot(&m.normal);
            more.push(place);
        }
        more
    }
}

fn vertex_velocities<S: ContactSource>(cloth: &Simulator<S>) -> Vec<Vec3> {
    let (model, v) = (cloth.model(), cloth.velocities());
    let one = |node: &u32| Vec3::from_column_slice(&v[model.unknown(*node)..][..3]);
    model.vertices().iter().map(one).collect()
}

/// The fibres of an open step; with other velocities than those without contact where given.
fn strands<'a>(
    fibres: &Assembly,
    friction: &[f64],
    open: &'a OpenStep,
    moving: Option<&'a [Vec<Vec3>]>,
) -> Vec<Strand<'a>> {
    let one = |f: usize| {
        let (points, free) = open.joints(f);
        Strand {
            points,
            velocities: moving.map_or(free, |m| &m[f]),
            radius: fibres.fibres[f].radius,
            friction: friction[f],
        }
    };
    (0..fibres.fibres.len()).map(one).collect()
}
