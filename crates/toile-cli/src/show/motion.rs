//! Accounts of motion: `simulate`.

use toile::contact::{Bounds, Collider};
use toile::geometry::Vec3;
use toile::io::Scene;
use toile::report::page::Verdict;
use toile::report::picture::Point;
use toile::report::plot::{Axis, Plot, Series};
use toile::report::record::BodyMotion;
use toile::report::stage::{Layer, Stage, Touch};

use super::Account;
use super::cloth::{bodies, contact_plots};

/// What happened from step to step, for plots.
#[derive(Default)]
pub(crate) struct Course {
    time: Vec<f64>,
    energies: Vec<(&'static str, Vec<f64>)>,
    contacts: Vec<f64>,
    law_error: Vec<f64>,
}

impl Course {
    pub(crate) fn add(
        &mut self,
        time: f64,
        energies: &[(&'static str, f64)],
        contacts: usize,
        law_error: f64,
    ) {
        self.time.push(time);
        for (i, (name, value)) in energies.iter().enumerate() {
            if self.energies.len() <= i {
                self.energies.push((name, Vec::new()));
            }
            self.energies[i].1.push(*value);
        }
        self.contacts.push(contacts as f64);
        self.law_error.push(law_error);
    }

    /// A curve over time, thinned to what can be seen.
    fn curve(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let stride = self.time.len().div_ceil(2000).max(1);
        let all = self.time.iter().copied().zip(values.iter().copied());
        let last = all.clone().next_back();
        let mut points: Vec<(f64, f64)> = all.step_by(stride).collect();
        if let Some(last) = last.filter(|l| points.last() != Some(l)) {
            points.push(last);
        }
        points
    }

    pub(crate) fn plots(&self) -> Vec<Plot> {
        if self.time.is_empty() {
            return Vec::new();
        }
        let time = || Axis::linear("time, s");
        let mut energy = Plot::new("Energies", time(), Axis::linear("energy, J"));
        let mut total = vec![0.0; self.time.len()];
        for (name, values) in &self.energies {
            energy = energy.with(Series::line(*name, self.curve(values)));
            for (t, v) in total.iter_mut().zip(values) {
                *t += v;
            }
        }
        if self.energies.len() > 1 {
            energy = energy.with(Series::dashed("together", self.curve(&total)));
        }
        let mut out = vec![energy];
        if self.contacts.iter().any(|c| *c > 0.0) {
            out.push(
                Plot::new("Contacts", time(), Axis::linear("number"))
                    .with(Series::line("", self.curve(&self.contacts))),
            );
            out.push(
                Plot::new(
                    "Error of the law of friction",
                    time(),
                    Axis::log("Alart–Curnier, relative"),
                )
                .with(Series::line("worst contact", self.curve(&self.law_error))),
            );
        }
        out
    }
}

/// Where the colliders that move are, from frame to frame.
pub(crate) struct MovingBodies {
    /// Place in the scene, and whether the mesh itself changes.
    moving: Vec<(usize, bool)>,
}

/// A body's place, and its positions where these change.
pub(crate) struct Placed {
    body: usize,
    rows: [f64; 12],
    positions: Vec<Point>,
}

impl MovingBodies {
    pub(crate) fn new(scene: &Scene) -> Self {
        let one = |(i, c): (usize, &toile::io::Collider)| {
            c.motion.as_ref().map(|m| (i, !m.sequence.is_empty()))
        };
        Self { moving: scene.colliders.iter().enumerate().filter_map(one).collect() }
    }

    pub(crate) fn at(&self, colliders: &[Collider], time: f64) -> Vec<Placed> {
        let one = |&(body, deforms): &(usize, bool)| {
            let (now, first) = (colliders[body].at(time), colliders[body].at(0.0));
            let (now_pose, first_pose) = (now.state().pose, first.state().pose);
            // From the first place back to its own axes, then to the place now.
            let turn = now_pose.rotation * first_pose.rotation.transpose();
            let shift = now_pose.origin - turn * first_pose.origin;
            let mut rows = [0.0; 12];
            for i in 0..3 {
                for j in 0..3 {
                    rows[4 * i + j] = turn[(i, j)];
                }
                rows[4 * i + 3] = shift[i];
            }
            let positions = if deforms {
                let region = Bounds::around([&Vec3::zeros()]);
                now.surface(&region).positions.iter().map(|p| (*p).into()).collect()
            } else {
                Vec::new()
            };
            Placed { body, rows, positions }
        };
        self.moving.iter().map(one).collect()
    }
}

impl Placed {
    pub(crate) fn motion(&self) -> (usize, BodyMotion<'_>) {
        let motion = if self.positions.is_empty() {
            BodyMotion::Rigid(self.rows)
        } else {
            BodyMotion::Deforming(&self.positions)
        };
        (self.body, motion)
    }
}

/// The account of a simulation at its end.
pub(crate) fn of_motion(
    scene: &Scene,
    colliders: &[Collider],
    time: f64,
    layers: Vec<Layer>,
    touches: Vec<Touch>,
    course: &Course,
    (good, reason): (bool, String),
) -> Account {
    let mut plots = course.plots();
    plots.extend(contact_plots(&touches));
    Account {
        verdict: Some(Verdict {
            ok: good,
            word: if good { "done" } else { "stopped short" }.into(),
            reason,
        }),
        stage: Stage { bodies: bodies(scene, colliders, time, &layers), layers, touches },
        plots,
        ..Account::default()
    }
}
