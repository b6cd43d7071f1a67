//! Cloth and fibres of one scene, in motion and at rest.

use toile_contact::{Bounds, Intrusion, Penetration};
use toile_geometry::Vec3;
use toile_io::{IntegratorName, Object, Scene, Time};
use toile_num::words::length;
use toile_rod::Assembly;
use toile_sim::{
    CERTIFIED_DRIFT, CERTIFIED_RESIDUAL, Coupling, RestSettings, Rested, SimError, TogetherReport,
};

use crate::rods::scene_fibres;
use crate::{DrapeError, RodSceneError, Simulation, Start};

/// Why cloth and fibres of a scene could not be moved together.
#[derive(Debug, thiserror::Error)]
pub enum MixedError {
    /// The cloth.
    #[error(transparent)]
    Cloth(#[from] DrapeError),
    /// The fibres.
    #[error(transparent)]
    Fibres(#[from] RodSceneError),
    /// A step.
    #[error(transparent)]
    Step(#[from] SimError),
    /// Nothing says how they rub.
    #[error(
        "{name} may touch a shell, but the scene does not say with which friction; give it `friction = 0.3`, or the scene a table\n\
         [self_contact]\nfriction = 0.3"
    )]
    NoFriction {
        /// The fibre.
        name: String,
    },
    /// Only one integrator knows both.
    #[error(
        "rods and shells of one scene move by implicit Euler; leave `integrator` out of [time]"
    )]
    Integrator,
    /// A fibre starts on both sides of a shell.
    #[error(
        "{name} goes through a shell between its joints {segment} and {} at the start; move one of them",
        *.segment + 1
    )]
    Pierced {
        /// The fibre.
        name: String,
        /// Which segment, that from the clamp being 0.
        segment: usize,
    },
}

/// A scene with cloth and fibres in motion.
pub struct MixedSimulation {
    /// The cloth with its colliders.
    pub cloth: Simulation,
    /// The fibres with theirs.
    pub fibres: Assembly,
    /// Name of each fibre.
    pub names: Vec<String>,
    /// What was unusual in the files.
    pub notes: Vec<String>,
    coupling: Coupling,
}

impl MixedSimulation {
    /// Reads the files of a scene and sets it up: cloth as [`Simulation`] does, fibres as
    /// [`rod_assembly`](crate::rod_assembly), both in the time of the scene.
    pub fn new(scene: &Scene, start: Start) -> Result<Self, MixedError> {
        let time = scene.time.ok_or(RodSceneError::NoTime)?;
        if time.integrator != IntegratorName::ImplicitEuler {
            return Err(MixedError::Integrator);
        }
        let mut cloth = Simulation::new(scene, start)?;
        let found = scene_fibres(scene, &time, start, &|_| true)?;
        let unknown = found.friction.iter().position(Option::is_none);
        if let Some(f) = unknown {
            return Err(MixedError::NoFriction { name: found.names[f].clone() });
        }
        let friction = found.friction.into_iter().flatten().collect();
        let half = cloth.shells.iter().flat_map(|s| {
            std::iter::repeat_n(0.5 * s.table.thickness, s.shell.topology.vertex_count())
        });
        let half = half.collect();
        let topology = cloth.topology().clone();
        let mut coupling = Coupling::new(&mut cloth.simulator, topology, half, friction)?;
        let (near, pierced) = coupling.depth(&cloth.simulator, &found.assembly)?;
        if let Some((fibre, segment)) = pierced {
            return Err(MixedError::Pierced { name: found.names[fibre].clone(), segment });
        }
        let mut notes = found.notes;
        if near > 1e-6 {
            let by = length(near);
            notes.push(format!(
                "fibres start nearer to shells than their thicknesses allow, by up to {by}: they are pushed apart softly"
            ));
        }
        let (fibres, names) = (found.assembly, found.names);
        Ok(Self { cloth, fibres, names, notes, coupling })
    }

    /// Takes a step of `h` seconds.
    pub fn step(&mut self, h: f64) -> Result<TogetherReport, MixedError> {
        Ok(self.coupling.step(&mut self.cloth.simulator, &mut self.fibres, h)?)
    }

    /// How much nearer to shells than their thicknesses allow fibres are at most \[m\], and whether one goes through.
    pub fn depth(&mut self) -> Result<(f64, bool), MixedError> {
        let (depth, pierced) = self.coupling.depth(&self.cloth.simulator, &self.fibres)?;
        Ok((depth, pierced.is_some()))
    }
}

/// Part of the friction that is used while coming to rest, so that contacts do not end at the very edge of their cones.
const CAUTION: f64 = 0.98;

/// Steps from standstill with that friction at most, and the residual at which what has to slide has done so: what still slides when all of the
/// friction is given stops at the edge of its cone, and creeps there.
const SLIDES: usize = 60;
const SLID: f64 = 1e-5;

/// Longest step while things slide \[s\]: in longer ones the cloth goes too far for its contacts to agree.
const SLIDING_STEP: f64 = 0.08;

/// Step with which a result is watched \[s\].
const WATCH_STEP: f64 = 4e-3;

/// Cloth and fibres at rest on each other.
pub struct MixedRest {
    /// Where everything is.
    pub simulation: MixedSimulation,
    /// How it got there and how well it rests.
    pub rested: Rested,
    /// Deepest that cloth is inside a collider or itself, or fibres are inside something \[m\].
    pub penetration: f64,
    /// Distance within which that must be \[m\].
    pub allowed: f64,
    /// Largest motion in the simulated time, over the size of the whole.
    pub drift: Option<f64>,
    /// How long it was simulated \[s\].
    pub watched: f64,
    /// Diagonal of the box around everything \[m\].
    pub size: f64,
}

/// Lets shells and rods of a scene fall on its colliders and each other until they rest, and watches the result for `drift` seconds.
/// `watch` is told of steps and of speed or residual, and ends the search by answering `false`.
pub fn drape_mixed(
    scene: &Scene,
    start: Start,
    drift: f64,
    watch: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<MixedRest, MixedError> {
    let mut settings = RestSettings::default();
    let time = scene.time.unwrap_or(Time {
        step: settings.step,
        duration: 1.0,
        frame: None,
        damping: 0.0,
        integrator: IntegratorName::ImplicitEuler,
        newton_steps: None,
    });
    settings.step = time.step.min(settings.step);
    let whole = Scene { time: Some(time), ..scene.clone() };
    let mut cautious = whole.clone();
    let frictions = cautious.colliders.iter_mut().map(|c| &mut c.friction);
    let own = cautious.self_contact.iter_mut().map(|s| &mut s.friction);
    let rods = cautious.rods.iter_mut().filter_map(|r| r.friction.as_mut());
    let hair = cautious.hair.iter_mut().filter_map(|h| h.friction.as_mut());
    frictions.chain(own).chain(rods).chain(hair).for_each(|mu| *mu *= CAUTION);
    let mut going = true;
    let mut watching = |steps: usize, figure: f64| {
        going = watch(steps, figure);
        going
    };
    let mut falling = MixedSimulation::new(&cautious, start)?;
    let sliding = RestSettings {
        rests: SLIDES,
        longest_rest: SLIDING_STEP,
        residual: SLID,
        hold: false,
        caution: CAUTION,
        ..settings
    };
    let fell = falling.settle(&sliding, &mut watching)?;
    // With all of its friction nothing slides that lay still with a little less.
    let mut simulation = MixedSimulation::new(&whole, Start::AsGiven)?;
    simulation.take_place_of(&falling)?;
    let mut rested = if fell.stopped || fell.held {
        fell
    } else {
        let still = RestSettings { longest_fall: 0.0, ..settings };
        let found = simulation.settle(&still, &mut watching)?;
        Rested { steps: [fell.steps[0], fell.steps[1] + found.steps[1]], ..found }
    };
    rested.stopped |= !going;
    let MixedSimulation { cloth, fibres, .. } = &simulation;
    // Layers pass through each other where the scene lets them.
    let counts = |p: &&Penetration| {
        scene.self_contact.is_some() || !matches!(p.what, Intrusion::EdgeThroughFace { .. })
    };
    let inside = cloth.penetrations_now()?;
    let deep = inside.iter().filter(counts).map(|p| p.depth).fold(0.0, f64::max);
    let overlap = fibres.overlap().map_or(0.0, |o| o.depth);
    let penetration = deep.max(overlap).max(rested.penetration);
    let thinnest = fibres.fibres.iter().map(|f| f.radius).fold(f64::INFINITY, f64::min);
    let allowed = cloth.colliders.iter().map(|c| c.gap()).fold(thinnest, f64::min);
    let size = Bounds::around(&simulation.points()).diagonal();
    let mut found =
        MixedRest { simulation, rested, penetration, allowed, drift: None, watched: drift, size };
    if drift > 0.0 && going && found.verdict().0 {
        found.drift = found.moves(&whole, drift, watch)?;
    }
    Ok(found)
}

impl MixedSimulation {
    fn settle(
        &mut self,
        settings: &RestSettings,
        watch: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Rested, MixedError> {
        let Self { cloth, fibres, coupling, .. } = self;
        Ok(coupling.settle(&mut cloth.simulator, fibres, settings, watch)?)
    }

    /// Goes where another simulation of the same scene is, at rest.
    fn take_place_of(&mut self, other: &Self) -> Result<(), MixedError> {
        self.cloth.simulator.set_state(other.cloth.simulator.state());
        self.fibres.restore(&other.fibres.checkpoint()).map_err(SimError::from)?;
        self.fibres.stop();
        Ok(())
    }

    /// Vertices of all shells, then joints of all fibres \[m\].
    fn points(&self) -> Vec<Vec3> {
        let mut all: Vec<Vec3> =
            (0..self.cloth.shells.len()).flat_map(|i| self.cloth.positions(i)).collect();
        all.extend((0..self.fibres.fibres.len()).flat_map(|f| self.fibres.points(f)));
        all
    }
}

impl MixedRest {
    /// How far it moves in a time with all of its friction, over its size; `None` if that was cut short.
    fn moves(
        &self,
        scene: &Scene,
        seconds: f64,
        watch: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Option<f64>, MixedError> {
        let mut again = MixedSimulation::new(scene, Start::AsGiven)?;
        again.take_place_of(&self.simulation)?;
        let before = again.points();
        let steps = (seconds / WATCH_STEP).ceil() as usize;
        let mut farthest = 0.0f64;
        for step in 0..steps {
            again.step(WATCH_STEP)?;
            let moved =
                again.points().iter().zip(&before).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            farthest = farthest.max(moved);
            if !watch(step, farthest) {
                return Ok(None);
            }
        }
        Ok(Some(farthest / self.size))
    }

    /// Whether everything is proven to rest, and why.
    pub fn verdict(&self) -> (bool, String) {
        let r = &self.rested;
        let contacts = r.contacts.len();
        let balanced = format!(
            "forces balance to {:.1e} of the weight of a vertex or joint, {contacts} contact(s) of fibres hold with {:.1} % of the friction to spare",
            r.residual,
            100.0 * r.cone_margin
        );
        if r.stopped {
            return (false, format!("stopped on request; {balanced}"));
        }
        if r.residual.is_nan() || r.residual > CERTIFIED_RESIDUAL {
            let what = "of the weight of a vertex or joint is left after";
            let [fall, rest] = r.steps;
            return (
                false,
                format!(
                    "forces do not balance: {:.1e} {what} {fall} steps of the fall and {rest} from standstill; it may slide for ever, or need \
                     more friction",
                    r.residual
                ),
            );
        }
        if r.cone_gap > CERTIFIED_RESIDUAL {
            return (
                false,
                format!("a contact force leaves its cone by {:.1e} of the largest", r.cone_gap),
            );
        }
        if r.through || self.penetration > self.allowed {
            let depth = length(self.penetration);
            return (
                false,
                format!(
                    "something is {depth} too deep in something else: use shorter steps or finer meshes"
                ),
            );
        }
        match (r.negative_modes, self.drift) {
            (None, _) => (
                false,
                format!("{balanced}; but there are too many contacts to tell whether it is stable"),
            ),
            (Some(n), _) if n > 0 => {
                (false, format!("{balanced}; but it is unstable: {n} way(s) to fall"))
            }
            (_, Some(drift)) => (
                drift <= CERTIFIED_DRIFT,
                format!(
                    "{balanced}; every small motion is resisted; simulated for {} s it moves by {drift:.1e} of its size",
                    self.watched
                ),
            ),
            (_, None) => (true, format!("{balanced}; every small motion is resisted")),
        }
    }

    /// The certificate with the keys of the contract: `certificate.json`.
    pub fn certificate(&self) -> Object {
        let r = &self.rested;
        let (certified, reason) = self.verdict();
        let none: Option<f64> = None;
        Object::default()
            .with("verdict", if certified { "certified" } else { "not certified" })
            .with("reason", reason)
            .with("residual", r.residual)
            .with("residual_n", r.residual_n)
            .with("cone_gap", r.cone_gap)
            .with("cone_margin", r.cone_margin)
            .with("penetration", self.penetration)
            .with("stability", r.stability)
            .with("drift", self.drift)
            .with("target_error_max", none)
            .with("target_error_rms", none)
            .with("size", self.size)
            .with("negative_modes", r.negative_modes)
            .with("contacts", r.contacts.len() + r.own.len())
            .with("steps", r.steps[0])
            .with("rests", r.steps[1])
            .with("shells", self.simulation.cloth.shells.len())
            .with("fibres", self.simulation.fibres.fibres.len())
    }
}
