//! What a cloth can touch: colliders and itself.

use std::collections::{HashMap, HashSet};

use toile_contact::{
    Collider, Contact, ContactKey, INSIDE, Impact, ImpactPair, LayerPair, LayerSettings,
    LayerSides, Layers, Roll, collider_contacts, collider_impacts, first_impact, piercing_contacts,
    piercing_impacts, rolls, safe_fraction,
};
use toile_geometry::Topology;
use toile_num::Vector;

use super::source::{ContactSource, Reach};
use super::zones::Collision;
use crate::SimError;
use crate::seam::{Stitch, tied_vertices};

/// Colliders, and the layers of the cloth.
pub struct Surroundings {
    topology: Topology,
    colliders: Vec<Collider>,
    layers: Option<SelfContact>,
    accepted: HashMap<Part, f64>,
    /// Contacts that carry where they are, and their gaps there \[m\].
    carrying: HashMap<ContactKey, f64>,
    /// Parts of layers that were in each other when they were accepted: nothing can keep them apart.
    crossing: HashSet<LayerPair>,
    /// Vertices that are sewn to an edge, and how.
    sewn: HashMap<u32, Stitch>,
}

/// A part of the cloth that touches between its vertices, or touches the cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    EdgeOnCollider(u32),
    FaceOnCollider(u32),
    VertexOnCloth(u32),
    EdgeOnCloth(u32),
}

/// The parts a contact belongs to; a vertex on a collider is never excused.
fn parts(key: &ContactKey) -> [Option<Part>; 2] {
    match *key {
        ContactKey::VertexCollider { .. } => [None; 2],
        ContactKey::EdgeCollider { edge, .. } => [Some(Part::EdgeOnCollider(edge)), None],
        ContactKey::FaceCollider { face, .. } => [Some(Part::FaceOnCollider(face)), None],
        ContactKey::VertexFace { vertex, .. } => [Some(Part::VertexOnCloth(vertex)), None],
        ContactKey::EdgeEdge { first, second } => {
            [first, second].map(|e| Some(Part::EdgeOnCloth(e)))
        }
    }
}

/// Whether an impact is one of parts that were in each other from the start.
fn crosses(crossing: &HashSet<LayerPair>, impact: &Impact) -> bool {
    matches!(&impact.pair, ImpactPair::Layers(pair) if crossing.contains(pair))
}

/// How deep an edge or face may start in a collider and be left there, over its longest edge: about what the chord of an edge that lies
/// on something as round as itself is off.
const CHORD: f64 = 0.15;
/// How much deeper it may get, over the distance the collider keeps: what does not press is not a contact that has to be solved for.
const SLACK: f64 = 0.1;
/// How much nearer than they should be layers may start, over their thickness.
const THINNER: f64 = 0.9;

/// How far open a seam may be, in units of the distance its collider keeps, for its vertex to be carried by the edge.
const CLOSED: f64 = 0.5;

struct SelfContact {
    layers: Layers,
    thickness: f64,
    friction: f64,
    sides: LayerSides,
}

/// How far beyond it layers are looked for at most, the same.
const LAYER_REACH: f64 = 2.0;
/// How much nearer than they should be layers may end a step, the same.
const LAYER_SLACK: f64 = 0.25;

/// Distance that continuous detection keeps between layers, in units of their thickness: far below what
/// contacts keep, so that it only speaks when they have failed.
const LAST_LINE: f64 = 0.05;

impl Surroundings {
    /// Colliders around a cloth with that connectivity; its vertices are numbered as the simulator's.
    pub fn new(topology: Topology, colliders: Vec<Collider>) -> Self {
        let (accepted, sewn) = (HashMap::new(), HashMap::new());
        let (carrying, crossing) = (HashMap::new(), HashSet::new());
        Self { topology, colliders, layers: None, accepted, carrying, crossing, sewn }
    }

    /// Lets the cloth touch itself: layers keep `thickness` \[m\] apart, with that coefficient of friction.
    ///
    /// Pairs closer than that in the rest shape are neighbours, not layers.
    pub fn with_self_contact(
        mut self,
        positions: &[Vector<3>],
        rest_positions: &[Vector<3>],
        thickness: f64,
        friction: f64,
    ) -> Result<Self, SimError> {
        let layers = Layers::new(&self.topology, positions)?.with_rest_positions(rest_positions)?;
        let sides = LayerSides::at(positions);
        self.layers = Some(SelfContact { layers, thickness, friction, sides });
        Ok(self)
    }

    /// Lets what is sewn to an edge be carried by that edge where the seam is closed: held by the collider as well, a vertex above the
    /// chord of its edge would pull its thread with all the force there is.
    pub fn with_seams(mut self, seams: &[Stitch]) -> Self {
        let count = self.topology.vertex_count();
        let tied = tied_vertices(count, seams);
        for stitch in seams.iter().filter(|s| tied[s.vertex as usize]) {
            self.sewn.entry(stitch.vertex).or_insert(*stitch);
        }
        self
    }

    /// Whether a vertex is carried by the edge it is sewn to, and not by a collider itself.
    fn rides(&self, vertex: u32, collider: u32, positions: &[Vector<3>]) -> bool {
        let gap = self.colliders[collider as usize].gap();
        let closed = |s: &Stitch| s.opening(positions).norm() <= CLOSED * gap;
        self.sewn.get(&vertex).is_some_and(closed)
    }

    /// Accepts how deep edges and faces are in colliders, and how near layers are to each other, in a shape that is meant so: vertices that
    /// lie on a round body have chords inside it. Nothing is pushed out of there; only what gets deeper is.
    ///
    /// What is in too deep to be a chord is not accepted.
    pub fn accepting(mut self, positions: &[Vector<3>]) -> Result<Self, SimError> {
        if let Some(own) = &mut self.layers {
            self.crossing = own
                .layers
                .pairs_within(positions, LAST_LINE * own.thickness)?
                .into_iter()
                .collect();
        }
        let contacts = self.all_contacts(positions)?;
        for contact in contacts.iter().filter(|c| c.count > 1 && c.gap < 0.0) {
            let (most, slack) = if let Some(collider) = contact.key.collider() {
                let around = &contact.vertices[..contact.count as usize];
                let ends = around.iter().flat_map(|a| around.iter().map(move |b| (a, b)));
                let length =
                    |(a, b): (&u32, &u32)| (positions[*a as usize] - positions[*b as usize]).norm();
                let slack = SLACK * self.colliders[collider as usize].gap();
                (CHORD * ends.map(length).fold(0.0, f64::max), slack)
            } else {
                (THINNER * self.layers.as_ref().map_or(0.0, |own| own.thickness), 0.0)
            };
            if -contact.gap <= most {
                for part in parts(&contact.key).into_iter().flatten() {
                    let depth = self.accepted.entry(part).or_default();
                    *depth = depth.max(slack - contact.gap);
                }
            }
        }
        Ok(self)
    }

    /// [`accepting`](Self::accepting) for an equilibrium: contacts that are known to carry press where they are, neither deeper nor farther.
    pub fn accepting_but(
        mut self,
        positions: &[Vector<3>],
        carrying: impl IntoIterator<Item = ContactKey>,
    ) -> Result<Self, SimError> {
        let carrying: HashSet<ContactKey> = carrying.into_iter().collect();
        let contacts = self.all_contacts(positions)?;
        let mut around = self.accepting(positions)?;
        let known = contacts.iter().filter(|c| carrying.contains(&c.key));
        around.carrying = known.map(|c| (c.key, c.gap)).collect();
        Ok(around)
    }

    /// Contacts before anything is accepted, however deep a chord is in.
    fn all_contacts(&mut self, positions: &[Vector<3>]) -> Result<Vec<Contact>, SimError> {
        self.accepted.clear();
        self.carrying.clear();
        let mut contacts = Vec::new();
        // What is in deeper than the reach of a search is not found by it.
        let longest = self.topology.edges().iter().map(|e| {
            let [a, b] = e.vertices.map(|v| positions[v as usize]);
            (b - a).norm()
        });
        let reach = CHORD * longest.fold(0.0, f64::max);
        self.contacts(positions, 0.0, &Reach::of(reach), &mut contacts)?;
        Ok(contacts)
    }

    /// Impacts of vertices that no edge carries.
    fn vertex_impacts(
        &self,
        start: &[Vector<3>],
        end: &[Vector<3>],
        from: f64,
        to: f64,
    ) -> Result<Vec<Impact>, SimError> {
        let mut impacts = collider_impacts(start, end, &self.colliders, from, to, 0.0)?;
        impacts.retain(|impact| match impact.pair {
            ImpactPair::VertexCollider { vertex, collider } => {
                !self.rides(vertex, collider, start) || !self.rides(vertex, collider, end)
            }
            _ => true,
        });
        Ok(impacts)
    }

    /// The colliders.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// The connectivity of the cloth.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
}

impl ContactSource for Surroundings {
    fn contacts(
        &mut self,
        positions: &[Vector<3>],
        time: f64,
        reach: &Reach<'_>,
        out: &mut Vec<Contact>,
    ) -> Result<(), SimError> {
        let before = out.len();
        if !self.colliders.is_empty() {
            let placed: Vec<_> = self.colliders.iter().map(|c| c.at(time)).collect();
            let found = collider_contacts(positions, &self.topology, &placed, reach.most())?;
            let rides = |c: &Contact| match c.key {
                ContactKey::VertexCollider { vertex, collider } => {
                    self.rides(vertex, collider, positions)
                }
                _ => false,
            };
            out.extend(found.into_iter().filter(|c| self.sewn.is_empty() || !rides(c)));
        }
        if let Some(own) = &mut self.layers {
            let most = LAYER_REACH * own.thickness;
            let everywhere = reach.everywhere.min(most);
            let settings = LayerSettings {
                thickness: own.thickness,
                reach: everywhere,
                friction: own.friction,
            };
            let more: Vec<f64> = reach.more.iter().map(|m| m.min(most - everywhere)).collect();
            out.extend(own.layers.contacts_within(positions, &settings, &own.sides, &more)?);
        }
        if !self.accepted.is_empty() || !self.carrying.is_empty() {
            let accepted = |contact: &Contact| {
                let depth = |part: &Part| self.accepted.get(part).copied().unwrap_or(0.0);
                parts(&contact.key).iter().flatten().map(depth).fold(f64::INFINITY, f64::min)
            };
            let mut kept = before;
            for k in before..out.len() {
                let mut contact = out[k];
                if let Some(gap) = self.carrying.get(&contact.key) {
                    contact.gap -= gap;
                    out[kept] = contact;
                    kept += 1;
                    continue;
                }
                let depth = accepted(&contact);
                if depth > 0.0 && depth.is_finite() {
                    contact.gap += depth;
                    // What is held by its vertices and not deeper than it may be is nothing to solve for.
                    if contact.gap > 0.0 && !contact.key.between_layers() {
                        continue;
                    }
                }
                out[kept] = contact;
                kept += 1;
            }
            out.truncate(kept);
        }
        Ok(())
    }

    fn safe_part(
        &mut self,
        start: &[Vector<3>],
        end: &[Vector<3>],
        from: f64,
        to: f64,
    ) -> Result<f64, SimError> {
        let mut safe = 1.0f64;
        if let Some(own) = &mut self.layers {
            let apart = LAST_LINE * own.thickness;
            let first = if self.crossing.is_empty() {
                own.layers.earliest_impact(start, end, apart)?
            } else {
                let impacts = own.layers.impacts(start, end, apart)?;
                first_impact(impacts.into_iter().filter(|i| !crosses(&self.crossing, i)))
            };
            safe = safe.min(safe_fraction(first));
        }
        if !self.colliders.is_empty() {
            let impacts = self.vertex_impacts(start, end, from, to)?;
            safe = safe.min(safe_fraction(first_impact(impacts)));
            let pierced = piercing_impacts(start, end, &self.topology, &self.colliders, from, to)?;
            safe = safe.min(safe_fraction(first_impact(pierced)));
        }
        Ok(safe)
    }

    fn meetings(
        &mut self,
        start: &[Vector<3>],
        end: &[Vector<3>],
        from: f64,
        to: f64,
    ) -> Result<Vec<Contact>, SimError> {
        let mut found = Vec::new();
        if let Some(own) = &mut self.layers {
            let settings =
                LayerSettings { thickness: own.thickness, reach: 0.0, friction: own.friction };
            let impacts = own.layers.impacts(start, end, LAST_LINE * own.thickness)?;
            let unknown = impacts.iter().filter(|i| !crosses(&self.crossing, i));
            found.extend(unknown.filter_map(|i| own.layers.meeting(i, start, end, &settings)));
        }
        if !self.colliders.is_empty() {
            let colliders = &self.colliders;
            found.extend(piercing_contacts(start, end, &self.topology, colliders, from, to)?);
        }
        Ok(found)
    }

    fn collisions(
        &mut self,
        start: &[Vector<3>],
        end: &[Vector<3>],
        from: f64,
        to: f64,
    ) -> Result<Vec<Collision>, SimError> {
        let mut found = Vec::new();
        if let Some(own) = &mut self.layers {
            let impacts = own.layers.impacts(start, end, LAST_LINE * own.thickness)?;
            found.extend(impacts.iter().filter_map(|impact| {
                let ImpactPair::Layers(pair) = impact.pair else { return None };
                if crosses(&self.crossing, impact) {
                    return None;
                }
                let vertices = pair.vertices(&self.topology);
                Some(Collision { vertices, count: 4, collider: None })
            }));
        }
        if self.colliders.is_empty() {
            return Ok(found);
        }
        for impact in self.vertex_impacts(start, end, from, to)? {
            if let ImpactPair::VertexCollider { vertex, collider } = impact.pair {
                let vertices = [vertex, 0, 0, 0];
                found.push(Collision { vertices, count: 1, collider: Some(collider) });
            }
        }
        for impact in piercing_impacts(start, end, &self.topology, &self.colliders, from, to)? {
            let (vertices, count, collider) = match impact.pair {
                ImpactPair::EdgeCollider { edge, collider } => {
                    let [a, b] = self.topology.edges()[edge as usize].vertices;
                    ([a, b, 0, 0], 2, collider)
                }
                ImpactPair::FaceCollider { face, collider } => {
                    let [a, b, c] = self.topology.faces()[face as usize];
                    ([a, b, c, 0], 3, collider)
                }
                _ => continue,
            };
            found.push(Collision { vertices, count, collider: Some(collider) });
        }
        // Edges and faces are also looked at where they end: round things have no edges that could be seen on the way.
        let between = |x: &[Vector<3>], time: f64| -> Result<Vec<Contact>, SimError> {
            let placed: Vec<_> = self.colliders.iter().map(|c| c.at(time)).collect();
            let mut contacts = collider_contacts(x, &self.topology, &placed, 0.0)?;
            contacts.retain(|c| c.count > 1 && c.gap < 0.0);
            Ok(contacts)
        };
        let before = between(start, from)?;
        for contact in between(end, to)? {
            let Some(collider) = contact.key.collider() else { continue };
            let gap = self.colliders[collider as usize].gap();
            let was = before.binary_search_by_key(&contact.key, |c| c.key);
            let was = was.map_or(0.0, |k| before[k].gap);
            // Inside the collider, not only nearer than is kept, and deeper than at the start.
            if contact.gap < was.min(-INSIDE * gap) - 1e-3 * gap {
                let (vertices, count) = (contact.vertices, contact.count as usize);
                found.push(Collision { vertices, count, collider: Some(collider) });
            }
        }
        Ok(found)
    }

    fn rolls(&self, contact: &Contact, positions: &[Vector<3>], time: f64) -> [Option<Roll>; 2] {
        let collider = contact.key.collider().map(|c| &self.colliders[c as usize]);
        let solid = collider.filter(|c| contact.count > 1 && c.shape().as_mesh().is_none());
        solid.map_or([None; 2], |c| rolls(contact, positions, &c.at(time)))
    }

    fn carried(&self, collider: u32, place: &Vector<3>, from: f64, to: f64) -> Vector<3> {
        let motion = self.colliders[collider as usize].motion();
        if motion.is_rigid() {
            let (before, after) = (motion.rigid_at(from).pose, motion.rigid_at(to).pose);
            return after.place(&before.recall(place)) - place;
        }
        self.colliders[collider as usize].at(from).query(place).velocity * (to - from)
    }

    fn layer_slack(&self) -> f64 {
        self.layers.as_ref().map_or(0.0, |own| LAYER_SLACK * own.thickness)
    }

    fn arrived(&mut self, positions: &[Vector<3>]) {
        if let Some(own) = &mut self.layers {
            own.sides = LayerSides::at(positions);
        }
    }
}
