//! Coming to rest without motion: contacts that cannot hold slide along their collider until they can.
//!
//! All contacts stick at first. One whose force lies outside its (narrowed) cone is then held along its normal only and
//! carries across it what friction gives; the cloth is draped again; and so on until nothing slides any more. The forces are then
//! inside the true cones, and every contact may stick where it is. Much cheaper than a fall where cloth has little way to go;
//! where it has a long one it may find none, and a fall is the better way.

use toile_contact::{ContactKey, PlacedCollider};
use toile_geometry::Vec3;
use toile_sim::relax;
use toile_solve::{NewtonSettings, Stop};

use crate::judge::tie_stiffness;
use crate::settle::{Carrying, Settled};
use crate::touch::nearest;
use crate::{Garment, InverseError};

/// Drapings at most.
const ROUNDS: usize = 60;
/// Newton steps of one draping at most, and of all.
const NEWTON_STEPS: usize = 30;
const ALL_STEPS: usize = 500;
/// Residual of a draping, in units of a vertex's weight.
const TOLERANCE: f64 = 1e-7;
/// Slip in one round that counts as none, in units of the size, and change of the friction: what is left is well inside the friction that is
/// held back.
const STILL: f64 = 1e-5;
const STEADY: f64 = 1e-2;
/// Stiffness of what holds a sliding contact off its collider, over that of contacts that stick.
const YIELDING: f64 = 1e-2;

/// Lets the contacts of a garment at `shape` slide until they hold with `part` of the friction; `None` when they do not come to that.
pub(crate) fn slide(
    garment: &Garment,
    rest: &[Vec3],
    shape: &[Vec3],
    mut contacts: Vec<Carrying>,
    part: f64,
    size: f64,
    observe: &mut dyn FnMut() -> bool,
) -> Result<Option<Settled>, InverseError> {
    // Contacts of several vertices do not slide here.
    if contacts.iter().any(|c| c.contact.count > 1) {
        return Ok(None);
    }
    let newton = NewtonSettings {
        tolerance: TOLERANCE,
        max_steps: NEWTON_STEPS,
        ..NewtonSettings::default()
    };
    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let pinned = garment.pinned();
    let stiffness = YIELDING * tie_stiffness(garment, rest, size);
    let mut positions = shape.to_vec();
    let mut steps = 0;
    for _ in 0..ROUNDS {
        if steps > ALL_STEPS {
            break;
        }
        let model = garment.held_model(&positions, rest, &contacts, stiffness)?;
        let mut going = true;
        let found = relax(&model, model.start(), &newton, |_| {
            going = observe();
            going
        })?;
        if !going || matches!(found.stop, Stop::NotFinite) {
            return Ok(None);
        }
        steps += found.history.len();
        let before = std::mem::replace(&mut positions, model.positions(&found.point));
        let away = positions.iter().zip(shape).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        if away > 0.5 * size || !away.is_finite() {
            return Ok(None); // it slides off
        }
        let mut gradient = vec![0.0; model.len()];
        model.gradient(&found.point, &mut gradient);
        let settled = found.residual <= 1e2 * TOLERANCE;
        let mut moving = !settled;
        let mut kept = Vec::with_capacity(contacts.len());
        for mut c in contacts {
            let v = c.contact.vertices[0] as usize;
            let normal = c.contact.normal;
            if c.slides {
                c.force -= normal * (stiffness * (positions[v] - before[v]).dot(&normal));
            } else {
                let i = model.unknown(model.vertices()[v]);
                c.force = Vec3::from_column_slice(&gradient[i..i + 3]);
            }
            if c.force.dot(&normal) <= 0.0 {
                moving = true;
                continue; // nothing holds it there
            }
            moving |= c.rub(&(positions[v] - before[v]), part * c.cone(garment).friction, size);
            c.land(&placed, &mut positions[v]);
            kept.push(c);
        }
        contacts = kept;
        if contacts.is_empty() && !pinned.contains(&true) {
            return Ok(None);
        }
        moving |= catch(&placed, &pinned, &mut positions, &mut contacts, size);
        if !moving {
            for c in &mut contacts {
                c.slides = false;
            }
            return Ok(Some(Settled { positions, contacts }));
        }
    }
    Ok(None)
}

impl Carrying {
    /// Decides whether a contact slides after it has moved by `way`, and what friction gives then; whether anything has changed.
    fn rub(&mut self, way: &Vec3, friction: f64, size: f64) -> bool {
        let normal = self.contact.normal;
        let along = self.force.dot(&normal);
        let across = self.force - normal * along;
        let most = friction * along;
        let slip = way - normal * way.dot(&normal);
        if !self.slides {
            if across.norm() <= most {
                return false;
            }
            self.slides = true;
            self.force = normal * along + across * (most / across.norm());
            return true;
        }
        // Friction is against the slip; where cloth moves along with it, it sticks.
        if slip.norm() > STILL * size && slip.dot(&across) > 0.0 {
            self.slides = false;
            return true;
        }
        let given = across.norm();
        if given > 0.0 {
            self.force = normal * along + across * (most / given);
        }
        slip.norm() > STILL * size || (given - most).abs() > STEADY * most
    }

    /// Puts the vertex of a contact back on its collider.
    fn land(&mut self, placed: &[PlacedCollider<'_>], p: &mut Vec3) {
        let ContactKey::VertexCollider { collider, .. } = self.contact.key else { return };
        let Some(collider) = placed.get(collider as usize).filter(|_| self.slides) else { return };
        let near = collider.query(p);
        *p -= near.normal * (near.distance - collider.gap());
        let (old, new) = (self.contact.normal, near.normal);
        // The force turns with the normal, friction stays across it.
        let along = self.force.dot(&old);
        let across = self.force - old * along;
        let turned = across - new * across.dot(&new);
        let size = turned.norm();
        let scale = if size > 0.0 { across.norm() / size } else { 0.0 };
        self.force = new * along + turned * scale;
        self.contact.normal = new;
    }
}

/// Catches vertices that have entered a collider; whether any had.
fn catch(
    placed: &[PlacedCollider<'_>],
    pinned: &[bool],
    positions: &mut [Vec3],
    contacts: &mut Vec<Carrying>,
    size: f64,
) -> bool {
    let mut touches = pinned.to_vec();
    for c in contacts.iter() {
        touches[c.contact.vertices[0] as usize] = true;
    }
    let before = contacts.len();
    for (v, p) in positions.iter_mut().enumerate().filter(|(v, _)| !touches[*v]) {
        let Some((c, gap)) = nearest(placed, p) else { continue };
        if gap < -1e-6 * size {
            *p -= placed[c].query(p).normal * gap;
            let normal = placed[c].query(p).normal;
            contacts.push(Carrying::vertex(v as u32, c as u32, normal));
        }
    }
    contacts.len() > before
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_contact::{Collider, Shape};
    use toile_geometry::generate;
    use toile_sim::ShellMaterial;

    /// A sheet pulled out on a table draws in again as far as friction lets it.
    #[test]
    fn a_stretched_sheet_draws_in_until_friction_holds_it() {
        let mesh = generate::sheet(7, 0.3);
        let lift = |factor: f64| -> Vec<Vec3> {
            let at = |p: &Vec3| Vec3::new(factor * p.x, factor * p.y, 1e-3);
            mesh.positions.iter().map(at).collect()
        };
        let (shape, rest) = (lift(1.02), lift(1.0));
        let table = Shape::plane(Vec3::zeros(), Vec3::z()).unwrap();
        let table = Collider::fixed(table).with_friction(0.3).unwrap().with_gap(1e-3).unwrap();
        let felt = ShellMaterial::DiscreteShells { k_length: 3.0, k_area: 0.0, k_bend: 5e-3 };
        let target =
            toile_geometry::TriMesh { topology: mesh.topology.clone(), positions: shape.clone() };
        let garment = crate::gallery::made_of(target, felt, 1.0, vec![table]);
        let contacts: Vec<Carrying> =
            (0..shape.len() as u32).map(|v| Carrying::vertex(v, 0, Vec3::z())).collect();
        let part = 0.9;
        let found = slide(&garment, &rest, &shape, contacts, part, 0.4, &mut || true).unwrap();
        let found = found.expect("it comes to rest");
        assert_eq!(found.contacts.len(), shape.len());
        let width = |p: &[Vec3]| p.iter().map(|p| p.x).fold(0.0, f64::max);
        assert!(width(&found.positions) < 0.999 * width(&shape));
        assert!(width(&found.positions) > 1.0005 * width(&rest));
        for c in &found.contacts {
            assert!(!c.slides);
            let margin = c.cone(&garment).margin(&c.force);
            assert!(margin > 0.999 * (1.0 - part), "{margin}");
        }
        // The forces carry the weight and nothing else.
        let total: Vec3 = found.contacts.iter().map(|c| c.force).sum();
        assert!((total.z - 0.09 * 9.81).abs() < 1e-6 * total.z, "{total}");
        assert!(total.xy().norm() < 1e-6 * total.z, "{total}");
    }
}
