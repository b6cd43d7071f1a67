//! Fibres of an assembly that grow from each other: they move as one, and touch nothing.

use crate::RodError;
use crate::assembly::{Assembly, AssemblyReport, Laps, StepTimings};
use crate::motion::{ClampMotion, RodState};
use crate::tree::{Branch, Growth, Tree};

impl Assembly {
    /// The same with fibres that grow from joints of others before them, each where its growth puts it. Clamps move alike, as that of the
    /// first fibre does. Refused among colliders and with friction between fibres: how contacts yield along a tree is not known here.
    pub fn grown(mut self, growths: &[Option<Growth>]) -> Result<Self, RodError> {
        let (found, expected) = (growths.len(), self.fibres.len());
        if found != expected {
            return Err(RodError::Count { what: "growths", found, expected });
        }
        if !self.colliders.is_empty() || self.settings.fibre_friction.is_some() {
            return Err(RodError::Grown { what: "contact" });
        }
        let branch = |(f, growth): (&crate::Fibre, &Option<Growth>)| Branch {
            rod: f.rod.clone(),
            growth: *growth,
        };
        let tree = Tree::new(self.fibres.iter().zip(growths).map(branch).collect())?;
        self.put(&tree, &self.together())?;
        self.tree = Some(tree);
        Ok(self)
    }

    /// Refuses what is only known of fibres that stand alone.
    pub(crate) fn stands_alone(&self, what: &'static str) -> Result<(), RodError> {
        if self.tree.is_some() { Err(RodError::Grown { what }) } else { Ok(()) }
    }

    /// All unknowns in one row.
    fn together(&self) -> RodState {
        let all = |f: fn(&RodState) -> &Vec<crate::Vec3>| {
            self.fibres.iter().flat_map(|fibre| f(&fibre.state).iter().copied()).collect()
        };
        RodState { q: all(|s| &s.q), rate: all(|s| &s.rate) }
    }

    /// Puts every fibre where the tree has it.
    fn put(&mut self, tree: &Tree, state: &RodState) -> Result<(), RodError> {
        let motion = self.fibres.first().map_or(ClampMotion::default(), |f| f.motion);
        let branches = tree.moved(state, &motion)?;
        for (fibre, (rod, own, root)) in self.fibres.iter_mut().zip(branches) {
            fibre.rod.set_clamp(*rod.clamp());
            (fibre.state, fibre.motion) = (own, root);
        }
        Ok(())
    }

    pub(crate) fn step_grown(&mut self) -> Result<AssemblyReport, RodError> {
        let Some(mut tree) = self.tree.clone() else { return Ok(AssemblyReport::default()) };
        let mut clock = Laps::start();
        // Where the clamps are is known of the fibres: they may have been put back.
        tree.set_clamps(self.fibres.iter().map(|f| *f.rod.clamp()));
        let mut state = self.together();
        let mut motion = self.fibres.first().map_or(ClampMotion::default(), |f| f.motion);
        tree.step(&mut state, &self.settings.gravity, &mut motion, &self.settings.step)?;
        if let Some(first) = self.fibres.first_mut() {
            first.motion = motion;
        }
        self.put(&tree, &state)?;
        self.tree = Some(tree);
        self.time += self.settings.step.dt;
        let timings = StepTimings { fibres: clock.lap(), ..StepTimings::default() };
        Ok(AssemblyReport { converged: true, timings, ..AssemblyReport::default() })
    }
}
