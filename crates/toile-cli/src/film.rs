//! The frames of a simulation for the viewer, written as they come.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use toile::contact::Collider;
use toile::geometry::Vec3;
use toile::io::Scene;
use toile::report::picture::{ColourMap, Point};
use toile::report::record::{Frame, INDEX, Progress};
use toile::report::stage::{Field, Stage, Touch};
use toile::sim::dynamics::{ContactForce, ContactStatus};
use toile::{Simulation, shell_fields, shell_tensions};

use crate::Failure;
use crate::show::{self, Account, Course, FolderStore, MovingBodies, Record, Surfaces};
use crate::view::Teller;

/// A record that grows by a frame at a time.
pub(crate) struct Film {
    record: Record,
    bodies: MovingBodies,
    pace: Pace,
}

impl Film {
    /// Begins, or goes on after the first `kept` frames of the record in `out`.
    pub(crate) fn open(
        out: &Path,
        scene: &Scene,
        simulation: &Simulation,
        kept: usize,
        teller: Option<Teller>,
    ) -> Result<Self, Failure> {
        let old = if kept > 0 { fs::read_to_string(out.join(INDEX)).ok() } else { None };
        let store = FolderStore::open(out, old.is_some(), teller.clone())?;
        let title = Account::default().about("simulate", scene).title;
        let mut record = Record::new(store, &title, &show::command(), &show::version());
        let surfaces = Surfaces::new(&simulation.shells);
        let start = start(simulation);
        let layers = ["cloth", "start"].map(|name| surfaces.layer(name, &start, Vec::new()));
        let layers = Vec::from(layers);
        let colliders: &[Collider] = &simulation.colliders;
        let bodies = show::bodies(scene, colliders, 0.0, &layers);
        record.stage(&Stage { layers, bodies, touches: Vec::new() })?;
        record.begin_frames("time, s", 0, false);
        if let Some(old) = old {
            // Without it the frames begin where the run goes on.
            record.continue_frames(&old, kept + 1);
        }
        Ok(Self { record, bodies: MovingBodies::new(scene), pace: Pace::new(teller.is_some()) })
    }

    /// Adds the present moment.
    pub(crate) fn add(&mut self, simulation: &Simulation, course: &Course) -> Result<(), Failure> {
        let (positions, fields) = now(simulation);
        let positions: Vec<Point> = positions.iter().map(|p| (*p).into()).collect();
        let time = simulation.simulator.time();
        let placed = self.bodies.at(&simulation.colliders, time);
        let bodies: Vec<_> = placed.iter().map(|p| p.motion()).collect();
        let touches = touches(simulation);
        let frame = Frame {
            time,
            positions: &positions,
            fields: &fields,
            touches: &touches,
            bodies: &bodies,
        };
        self.pace.add(&mut self.record, course, &frame)
    }

    /// Closes the record with what came out.
    pub(crate) fn finish(mut self, account: &Account) -> Result<(), Failure> {
        account.finish(&mut self.record)
    }
}

/// How often the index is written while frames come: often for those who watch, never for most of the time.
pub(crate) struct Pace {
    live: bool,
    next: Instant,
}

impl Pace {
    pub(crate) fn new(live: bool) -> Self {
        Self { live, next: Instant::now() }
    }

    /// Adds a frame to the record, and writes its index if it is time to.
    pub(crate) fn add(
        &mut self,
        record: &mut Record,
        course: &Course,
        frame: &Frame<'_>,
    ) -> Result<(), Failure> {
        record.frame(frame)?;
        let begun = Instant::now();
        if begun < self.next {
            return Ok(());
        }
        if self.live {
            record.plots(&course.plots());
        }
        let doing = format!("{:.3} s, {} contacts", frame.time, frame.touches.len());
        record.flush(Progress::Running, &doing)?;
        let least = Duration::from_millis(if self.live { 100 } else { 2000 });
        self.next = Instant::now() + least.max(20 * begun.elapsed());
        Ok(())
    }
}

/// Positions of all shells at the start.
pub(crate) fn start(simulation: &Simulation) -> Vec<Vec3> {
    simulation.shells.iter().flat_map(|s| s.shell.positions.iter().copied()).collect()
}

/// Positions and fields of all shells now.
pub(crate) fn now(simulation: &Simulation) -> (Vec<Vec3>, Vec<Field>) {
    let (mut all, mut stretch, mut bending, mut stress) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (i, loaded) in simulation.shells.iter().enumerate() {
        let (shell, positions) = (&loaded.shell, simulation.positions(i));
        let zero = vec![Vec3::zeros(); positions.len()];
        let found = shell_fields(&shell.topology, &shell.rest_positions, &positions, &zero);
        stretch.extend(found.stretch);
        bending.extend(found.bending);
        stress.extend(shell_tensions(shell, &shell.rest_positions, &positions));
        all.extend(positions);
    }
    let mut fields = show::strain_fields(stretch, bending, stress);
    let simulator = &simulation.simulator;
    let (model, velocities) = (simulator.model(), simulator.velocities());
    let speed = |&node: &u32| {
        let i = model.unknown(node);
        velocities[i..i + 3].iter().map(|v| v * v).sum::<f64>().sqrt()
    };
    fields.push(Field {
        name: "speed",
        label: "speed, m/s",
        values: model.vertices().iter().map(speed).collect(),
        map: ColourMap::Amount,
    });
    fields.push(Field {
        name: "stick and slip",
        label: "0 free, ½ sticks, 1 slips",
        values: stick_and_slip(simulation, all.len()),
        map: ColourMap::Amount,
    });
    (all, fields)
}

/// What each vertex does: 1 where a contact it carries slips, ½ where all stick, 0 without any.
fn stick_and_slip(simulation: &Simulation, vertices: usize) -> Vec<f64> {
    let mut values = vec![0.0f64; vertices];
    for contact in simulation.simulator.contact_forces() {
        let value = if contact.status == ContactStatus::Stick { 0.5 } else { 1.0 };
        for (vertex, _) in contact.contact.carriers() {
            let at = &mut values[vertex as usize];
            *at = at.max(value);
        }
    }
    values
}

/// The contacts now.
pub(crate) fn touches(simulation: &Simulation) -> Vec<Touch> {
    touches_by(simulation, simulation.simulator.contact_forces())
}

/// Contacts of the cloth with these forces.
pub(crate) fn touches_by(simulation: &Simulation, forces: &[ContactForce]) -> Vec<Touch> {
    let one = |c: &ContactForce| Touch {
        point: contact_point(c, simulation),
        normal: c.contact.normal.into(),
        force: c.force.into(),
        friction: c.contact.friction,
        slips: c.status != ContactStatus::Stick,
    };
    forces.iter().map(one).collect()
}

/// Place of a contact on its first side \[m\].
pub(crate) fn contact_point(contact: &ContactForce, simulation: &Simulation) -> [f64; 3] {
    let model = simulation.simulator.model();
    let mut point = [0.0; 3];
    for (vertex, weight) in contact.contact.carriers() {
        let p = model.position(simulation.simulator.state(), model.vertices()[vertex as usize]);
        // Between layers the first side carries positive weights.
        if weight > 0.0 {
            for k in 0..3 {
                point[k] += weight * p[k];
            }
        }
    }
    point
}
