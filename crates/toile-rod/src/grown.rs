//! Fibres of an assembly that grow from each other, and such as are made of nodes.

use crate::assembly::Assembly;
use crate::body::Bodies;
use crate::element::Model;
use crate::motion::RodState;
use crate::nodal_step::NodalFibre;
use crate::tree::Growth;
use crate::{RodError, RodSpec};

impl Assembly {
    /// The same with fibres that grow from joints of others before them, each where its growth puts it; the clamps of the others move as
    /// theirs say. Segments that overlap where one grows from another do not touch each other.
    pub fn grown(mut self, growths: &[Option<Growth>]) -> Result<Self, RodError> {
        let (found, expected) = (growths.len(), self.fibres.len());
        if found != expected {
            return Err(RodError::Count { what: "growths", found, expected });
        }
        if growths.iter().any(Option::is_some) {
            self.has_curvatures("growing from each other")?;
        }
        self.bodies = Bodies::grown(&self.fibres, growths)?;
        self.place_grown();
        let sites = self.sites_at_rest();
        let overlap = |a: (usize, usize), b: (usize, usize)| {
            let ends = |(f, i): (usize, usize)| [sites[f].points[i], sites[f].points[i + 1]];
            let radii = self.fibres[a.0].radius + self.fibres[b.0].radius;
            let apart = toile_contact::segment_segment(&ends(a), &ends(b), 1e-9);
            apart.distance_squared.sqrt() < CLOSE * radii
        };
        self.bodies.join(&self.fibres, &overlap);
        self.embed();
        Ok(self)
    }

    /// Puts fibres that grow from others where these have them.
    pub(crate) fn place_grown(&mut self) {
        self.bodies.place(&mut self.fibres);
    }

    /// Refuses what is not known of discrete rods.
    pub(crate) fn has_curvatures(&self, what: &'static str) -> Result<(), RodError> {
        if self.nodal.is_empty() { Ok(()) } else { Err(RodError::Nodal { what }) }
    }

    /// The same where a fibre is the discrete rod of nodes and angles of `spec`, at rest in its natural shape, with as many edges as the fibre
    /// has elements. Its curvatures then only follow its nodes.
    pub fn discrete(mut self, fibre: usize, spec: &RodSpec) -> Result<Self, RodError> {
        let Some(one) = self.fibres.get_mut(fibre) else {
            let (found, expected) = (fibre + 1, self.fibres.len());
            return Err(RodError::Count { what: "fibres", found, expected });
        };
        if self.bodies.any_grown() {
            return Err(RodError::Nodal { what: "growing from each other" });
        }
        let edges = one.rod.lengths().len();
        let mut spec = spec.clone();
        (spec.model, spec.clamp) = (Model::SuperHelix, *one.rod.clamp());
        one.rod = spec.build(edges)?;
        let nodes = NodalFibre::new(&spec, edges, self.settings.gravity)?;
        one.state = RodState::at_rest(nodes.curvatures());
        self.nodal.insert(fibre, nodes);
        self.embed();
        Ok(self)
    }
}

/// Distance over the sum of the radii up to which two segments beside a growth are one: as far as contacts are looked for.
const CLOSE: f64 = 1.25;
