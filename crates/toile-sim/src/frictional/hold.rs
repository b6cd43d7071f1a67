//! Contacts held, and the equilibrium between them.

use std::collections::HashMap;

use toile_contact::{Contact, ContactKey, Roll};
use toile_energy::Tie;
use toile_num::{Matrix, Vector};
use toile_solve::{Step, Stop};

use super::{Fall, FrictionalEquilibrium, FrictionalSettings, StaticContact, transfer};
use crate::certificate::CERTIFIED_RESIDUAL;
use crate::dynamics::{ContactSource, Reach};
use crate::{Model, ModelBuilder, NO_NODE, Role, SimError, State, equilibrium};

/// Times contacts that do not hold are let go or let slide in one search.
const RELEASES: usize = 12;
/// Times contacts are looked for anew where those that were held have led.
const RENEWALS: usize = 12;
/// How far from colliders contacts are looked for anew, in units of the size.
const NEAR: f64 = 1e-2;
/// Move of a contact on its edge or face, or gap, up to which it is where it was held, in units of the size.
const SAME_PLACE: f64 = 1e-7;
/// How much a renewal must leave at most of what the one before it left.
const NEARER: f64 = 0.8;
/// Stiffness of what holds a contact of several vertices, in units of the mean stiffness of a vertex: it need not
/// be hard, for what it carries counts, and the softer it is the less rounding it makes of it.
const HOLD: f64 = 100.0;

/// A contact in a search.
struct Held {
    contact: Contact,
    force: Vector<3>,
    /// Held along its normal only; across it the force is what friction gives.
    slides: bool,
    /// Where Σ wᵢ xᵢ is held.
    place: Vector<3>,
    /// How it moves along its edge or face, and Σ wᵢ xᵢ of that where it was found.
    rolls: [Option<(Roll, Vector<3>)>; 2],
}

impl Held {
    fn new(
        contact: Contact,
        force: Vector<3>,
        slides: bool,
        positions: &[Vector<3>],
        source: &impl ContactSource,
    ) -> Self {
        let rolls = source.rolls(&contact, positions, 0.0);
        let along = |weights: [f64; 4]| Contact { weights, ..contact }.sum(positions);
        Self {
            contact,
            force,
            slides,
            place: contact.sum(positions),
            rolls: rolls.map(|roll| roll.map(|roll| (roll, along(roll.weights)))),
        }
    }
}

impl<S: ContactSource> Fall<'_, S> {
    /// Holds the contacts that carry and finds the equilibrium between them.
    ///
    /// Inside edges and faces they are elsewhere once the cloth is balanced, and others may have come: they are looked for there, and held anew, until
    /// nothing changes or that leads nowhere.
    pub(super) fn hold(
        &mut self,
        build: &impl Fn() -> Result<ModelBuilder, SimError>,
        settings: &FrictionalSettings,
        observe: &mut impl FnMut(&Step) -> bool,
    ) -> Result<FrictionalEquilibrium, SimError> {
        let model = self.simulator.model();
        let positions = model.positions(self.simulator.state());
        let size = model.size(self.simulator.state());
        let source = self.simulator.source();
        let mut held: Vec<Held> = self
            .simulator
            .contact_forces()
            .iter()
            .map(|f| {
                let mut contact = f.contact;
                contact.friction /= settings.caution;
                Held::new(contact, f.force, contact.friction == 0.0, &positions, source)
            })
            .collect();
        let (mut start, mut kept) = (None, None);
        let (mut round, mut renewals, mut last) = (0, 0, f64::INFINITY);
        loop {
            let before = start.as_ref().or(kept.as_ref());
            let found = self.between(build, &held, before, settings, observe)?;
            let largest = found.contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
            let least = CERTIFIED_RESIDUAL * largest;
            let wrong = found.contacts.iter().filter(|c| c.cone_distance() > 0.5 * least).count();
            if found.equilibrium.stop == Stop::Interrupted || (wrong > 0 && round == RELEASES) {
                return Ok(kept.unwrap_or(found));
            }
            if wrong == 0 {
                let off = self.renew(&mut held, &found, settings.caution)? / size;
                if off <= SAME_PLACE || off > NEAR || renewals == RENEWALS {
                    return Ok(found);
                }
                if off > NEARER * last {
                    return Ok(kept.filter(|_| off > last).unwrap_or(found));
                }
                (last, renewals, round) = (off, renewals + 1, 0);
                (start, kept) = (None, Some(found));
                continue;
            }
            // What pulls is not held by anything; what pulls sideways too much slides, under the friction there is.
            for (held, now) in held.iter_mut().zip(&found.contacts) {
                let [n, t] = now.parts();
                held.force = now.force;
                if held.slides || now.cone_distance() > 0.5 * least {
                    held.slides = true;
                    let along = held.contact.normal * n;
                    let most = settings.caution * held.contact.friction * n.max(0.0);
                    held.force =
                        along + (now.force - along) * if t > most { most / t } else { 1.0 };
                }
            }
            let mut now = found.contacts.iter();
            held.retain(|_| now.next().is_none_or(|c| c.parts()[0] > -0.5 * least));
            start = Some(found);
            round += 1;
        }
    }

    /// Looks for what is held where the cloth is now, and for what is too close there. How far contacts with colliders have gone along their edges and faces or are off
    /// the distance they keep, at most \[m\].
    fn renew(
        &mut self,
        held: &mut Vec<Held>,
        found: &FrictionalEquilibrium,
        caution: f64,
    ) -> Result<f64, SimError> {
        let inside = |contact: &Contact| contact.count > 1 && !contact.key.between_layers();
        let positions = found.model.positions(&found.equilibrium.state);
        let size = found.model.size(&found.equilibrium.state);
        let mut near = Vec::new();
        let reach = Reach::of(NEAR * size);
        self.simulator.source_mut().contacts(&positions, 0.0, &reach, &mut near)?;
        let mut seen: HashMap<ContactKey, Contact> = near.iter().map(|c| (c.key, *c)).collect();
        let source = self.simulator.source();
        let mut off = 0.0f64;
        for (held, now) in held.iter_mut().zip(&found.contacts) {
            held.force = now.force;
            let Some(mut contact) = seen.remove(&held.contact.key) else { continue };
            // One that sticks at a vertex is where it was.
            if !inside(&contact) && (contact.key.between_layers() || !held.slides) {
                continue;
            }
            contact.friction /= caution;
            let gone = (contact.sum(&positions) - held.contact.sum(&positions)).norm();
            off = off.max(gone).max(contact.gap.abs());
            *held = Held::new(contact, now.force, held.slides, &positions, source);
            held.place -= contact.normal * contact.gap;
        }
        let close = near.iter().filter(|c| inside(c) && c.gap < -SAME_PLACE * size);
        for contact in close.filter(|c| seen.contains_key(&c.key)) {
            let contact = Contact { friction: contact.friction / caution, ..*contact };
            off = off.max(-contact.gap);
            let slides = contact.friction == 0.0;
            let mut new = Held::new(contact, Vector::zeros(), slides, &positions, source);
            new.place -= contact.normal * contact.gap;
            held.push(new);
        }
        Ok(off)
    }

    /// The equilibrium with these contacts held.
    fn between(
        &self,
        build: &impl Fn() -> Result<ModelBuilder, SimError>,
        held: &[Held],
        start: Option<&FrictionalEquilibrium>,
        settings: &FrictionalSettings,
        observe: &mut impl FnMut(&Step) -> bool,
    ) -> Result<FrictionalEquilibrium, SimError> {
        let before = match start {
            Some(found) => (&found.model, &found.equilibrium.state),
            None => (self.simulator.model(), self.simulator.state()),
        };
        let mut builder = build()?;
        let vertices = self.simulator.model().vertices();
        for &node in vertices {
            builder.place(node, before.0.position(before.1, node));
        }
        let stiffness = HOLD * mean_stiffness(self.simulator.model(), self.simulator.state());
        let nodes: Vec<[u32; 4]> = held
            .iter()
            .map(|h| {
                let count = h.contact.count as usize;
                let node = |k: usize| vertices[h.contact.vertices[k] as usize];
                std::array::from_fn(|k| if k < count { node(k) } else { NO_NODE })
            })
            .collect();
        // A vertex with one contact that sticks is simply held; everything else is tied.
        let mut used = std::collections::HashMap::<u32, usize>::new();
        for n in nodes.iter().flatten().filter(|n| **n != NO_NODE) {
            *used.entry(*n).or_default() += 1;
        }
        let fixed = |h: &Held, n: &[u32; 4]| h.contact.count == 1 && !h.slides && used[&n[0]] == 1;
        let (mut ties, mut tied) = (Vec::new(), Vec::new());
        let (mut rolling, mut rolled) = (Vec::new(), Vec::new());
        for (h, n) in held.iter().zip(&nodes) {
            if fixed(h, n) {
                builder.fix(n[0]);
                continue;
            }
            let mut weights = [0.0; 4];
            for (k, (_, w)) in h.contact.carriers().enumerate() {
                weights[k] = w;
            }
            let normal = h.contact.normal;
            let across = normal * normal.transpose();
            let k = if h.slides { across } else { Matrix::identity() };
            ties.push(Tie { weights, point: h.place, stiffness: k * stiffness, force: h.force });
            tied.push(*n);
            // Its force holds against tilting, for it moves along.
            let pressing = h.force.dot(&normal).max(0.0);
            for (roll, point) in h.rolls.into_iter().flatten() {
                let (weights, force) = (roll.weights, Vector::zeros());
                let stiffness = across * (pressing * roll.radius);
                rolling.push(Tie { weights, point, stiffness, force });
                rolled.push(*n);
            }
        }
        builder.add::<Tie, 12, 4>(Role::Elastic, ties.clone(), tied.clone());
        builder.add::<Tie, 12, 4>(Role::Elastic, rolling, rolled);
        let model = builder.build()?;
        let state = transfer(before.0, before.1, &model);
        let equilibrium = equilibrium(&model, &state, &settings.newton, &mut *observe)?;
        let mut gradient = vec![0.0; model.len()];
        model.gradient(&equilibrium.state, &mut gradient);
        let mut tie = ties.iter().zip(&tied);
        let force = |(h, n): (&Held, &[u32; 4])| {
            let force = if fixed(h, n) {
                let i = model.unknown(n[0]);
                Vector::<3>::from_column_slice(&gradient[i..i + 3])
            } else {
                tie.next().map_or_else(Vector::zeros, |(tie, nodes)| {
                    let mut x = Vector::<12>::zeros();
                    for (k, node) in nodes.iter().enumerate().filter(|(_, n)| **n != NO_NODE) {
                        let p = model.position(&equilibrium.state, *node);
                        x.fixed_rows_mut::<3>(3 * k).copy_from(&p);
                    }
                    tie.carried(&x)
                })
            };
            StaticContact { contact: h.contact, force, slid: h.slides }
        };
        let contacts = held.iter().zip(&nodes).map(force).collect();
        Ok(FrictionalEquilibrium { model, equilibrium, contacts, steps: 0 })
    }
}

/// Mean stiffness of a vertex \[N/m\].
fn mean_stiffness(model: &Model, state: &State) -> f64 {
    let mut values = vec![0.0; model.pattern().nnz()];
    model.hessian(state, toile_energy::Curvature::Positive, &mut values);
    let (mut sum, mut count) = (0.0, 0usize);
    for &node in model.vertices() {
        let i = model.unknown(node);
        if !model.fixed()[i] {
            sum += values[model.pattern().col_ptr[i]];
            count += 1;
        }
    }
    if count > 0 && sum > 0.0 { sum / count as f64 } else { 1.0 }
}
