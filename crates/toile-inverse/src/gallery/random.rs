//! Random targets from a seed: what people draw, scan and remesh, not what is convenient.

use std::f64::consts::TAU;

use toile_cone::Random;
use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{Topology, Vec3};
use toile_sim::ShellMaterial;

use super::{Skirt, beret, book_page, tablecloth};
use crate::{Garment, InverseError};

/// A random target, and what was done to it, in words.
pub struct RandomTarget {
    /// The target.
    pub garment: Garment,
    /// What it is.
    pub words: String,
}

/// The target with a number in the sequence of a seed: a skirt (straight or flared), a tablecloth, a beret or a page of felt or cotton,
/// with noise, wrinkles, another triangulation, bad triangles or contacts that are missing in places.
pub fn random_target(seed: u64, number: u64) -> Result<RandomTarget, InverseError> {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number));
    let mut pick = |from: f64, to: f64| from + (to - from) * random.uniform();
    let mut words = Vec::new();
    let soft = pick(0.0, 1.0) < 0.4;
    let (material, density) = if soft {
        let (stretch, bend) = (pick(200.0, 2000.0), 10f64.powf(pick(-5.0, -4.0)));
        words.push(format!("cotton E h {stretch:.0} N/m, D {bend:.1e} N m"));
        (cotton(stretch, bend), pick(0.1, 0.3))
    } else {
        let (k_length, k_bend) = (pick(0.5, 4.0), 10f64.powf(pick(-3.0, -2.0)));
        words.push(format!("felt k_l {k_length:.1} N, k_b {k_bend:.1e} N m"));
        (ShellMaterial::DiscreteShells { k_length, k_area: 0.0, k_bend }, pick(0.05, 0.2))
    };
    words.push(format!("{density:.2} kg/m2"));
    let friction = pick(0.2, 0.8);
    let kind = pick(0.0, 5.0) as usize;
    let mut garment = match kind {
        0 | 1 => {
            let around = pick(20.0, 40.0) as usize;
            let hem = if kind == 0 { pick(0.2, 0.26) } else { pick(0.3, 0.5) };
            words.push(format!("skirt to {hem:.2} m"));
            let skirt = Skirt {
                rows: pick(10.0, 20.0) as usize,
                around,
                band: pick(1.0, 4.0) as usize,
                hem,
                height: pick(0.3, 0.7),
                waves: pick(3.0, 7.0) as usize,
                amplitude: if kind == 0 { pick(0.0, 0.01) } else { pick(0.0, 0.05) },
                ..Skirt::default()
            };
            skirt.garment(material, density, friction)?
        }
        2 => {
            words.push("tablecloth".into());
            tablecloth(material, density)?
        }
        3 => {
            words.push("beret".into());
            with(beret()?, material, density)
        }
        _ => {
            words.push("page".into());
            with(book_page()?, material, density)
        }
    };
    let mut positions = garment.target();
    let mut faces = garment.shells[0].topology.faces().to_vec();
    let edge = mean_edge(&positions, &faces);
    let free: Vec<bool> = {
        let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
        let off = |p: &Vec3| placed.iter().all(|c| c.query(p).distance > c.gap() + 1e-6);
        positions.iter().map(off).collect()
    };
    if pick(0.0, 1.0) < 0.4 {
        let size = edge * pick(0.002, 0.05);
        words.push(format!("noise {:.2} mm", 1e3 * size));
        for (p, free) in positions.iter_mut().zip(&free) {
            let push = Vec3::new(pick(-1.0, 1.0), pick(-1.0, 1.0), pick(-1.0, 1.0)) * size;
            if *free {
                *p += push;
            }
        }
    }
    if pick(0.0, 1.0) < 0.3 {
        let (size, length) = (edge * pick(0.05, 0.3), edge * pick(4.0, 10.0));
        let toward = Vec3::new(pick(-1.0, 1.0), pick(-1.0, 1.0), pick(-1.0, 1.0)).normalize();
        words.push(format!("wrinkles {:.1} mm high, {:.0} mm long", 1e3 * size, 1e3 * length));
        for (p, free) in positions.iter_mut().zip(&free) {
            if *free {
                let out = Vec3::new(p.x, p.y, 0.0).try_normalize(1e-9).unwrap_or(Vec3::z());
                *p += out * (size * (TAU * p.dot(&toward) / length).sin());
            }
        }
    }
    if pick(0.0, 1.0) < 0.3 {
        let part = pick(0.05, 0.4);
        words.push(format!("{:.0} % of the edges flipped", 100.0 * part));
        faces = flipped(&faces, positions.len(), part, &mut pick)?;
    }
    if pick(0.0, 1.0) < 0.3 {
        let count = 1 + pick(0.0, 6.0) as usize;
        words.push(format!("{count} bad triangles"));
        for _ in 0..count {
            let face = faces[(pick(0.0, faces.len() as f64) as usize).min(faces.len() - 1)];
            let [a, b, _] = face.map(|v| v as usize);
            if free[a] {
                positions[a] = positions[a] * 0.15 + positions[b] * 0.85;
            }
        }
    }
    if pick(0.0, 1.0) < 0.3 {
        let (turn, wide) = (pick(0.0, TAU), pick(0.3, 1.5));
        words.push(format!("no contact over {:.0} degrees", (2.0 * wide).to_degrees()));
        for (p, free) in positions.iter_mut().zip(&free) {
            let at = p.y.atan2(p.x);
            let off = (at - turn + 0.5 * TAU).rem_euclid(TAU) - 0.5 * TAU;
            if !free && off.abs() < wide {
                let out = Vec3::new(p.x, p.y, 0.0).try_normalize(1e-9).unwrap_or(Vec3::z());
                *p += (out + Vec3::z() * 0.5) * 2e-3;
            }
        }
    }
    let shell = &mut garment.shells[0];
    shell.topology = Topology::new(positions.len(), faces)?;
    shell.rest_positions.clone_from(&positions);
    shell.positions = positions;
    Ok(RandomTarget { garment, words: words.join(", ") })
}

/// Real cloth by E h \[N/m\] and D \[N·m\].
pub fn cotton(stretch: f64, bend: f64) -> ShellMaterial {
    let thickness = (12.0 * (1.0 - 0.09) * bend / stretch).sqrt();
    ShellMaterial::Koiter {
        stiffness: ShellStiffness::isotropic(stretch / thickness, 0.3, thickness),
        normals: NormalRule::Average,
        membrane: Membrane::StVenantKirchhoff,
        warp: Vec3::x(),
    }
}

/// A garment made of something else.
pub fn with(mut garment: Garment, material: ShellMaterial, density: f64) -> Garment {
    for shell in &mut garment.shells {
        shell.material = material;
        shell.areal_density = density;
    }
    garment
}

fn mean_edge(positions: &[Vec3], faces: &[[u32; 3]]) -> f64 {
    let side = |f: &[u32; 3]| (positions[f[0] as usize] - positions[f[1] as usize]).norm();
    faces.iter().map(side).sum::<f64>() / faces.len().max(1) as f64
}

/// Another triangulation of the same vertices: some edges flipped.
fn flipped(
    faces: &[[u32; 3]],
    vertices: usize,
    part: f64,
    pick: &mut impl FnMut(f64, f64) -> f64,
) -> Result<Vec<[u32; 3]>, InverseError> {
    let topology = Topology::new(vertices, faces.to_vec())?;
    let mut all = faces.to_vec();
    let mut taken = vec![false; vertices];
    for e in topology.edges() {
        let [a, b] = e.vertices;
        let ([Some(c), Some(d)], true) = (e.opposite, pick(0.0, 1.0) < part) else { continue };
        // One flip a vertex: the flips do not meet.
        if [a, b, c, d].iter().any(|v| taken[*v as usize]) {
            continue;
        }
        let has = |f: &[u32; 3], v: u32, w: u32| f.contains(&v) && f.contains(&w) && f.contains(&a);
        let (Some(i), Some(j)) =
            (all.iter().position(|f| has(f, b, c)), all.iter().position(|f| has(f, b, d)))
        else {
            continue;
        };
        let forward = (0..3).any(|k| all[i][k] == a && all[i][(k + 1) % 3] == b);
        let (a, b) = if forward { (a, b) } else { (b, a) };
        // Face i runs a, b, c and face j b, a, d; the new edge joins c and d.
        all[i] = [a, d, c];
        all[j] = [d, b, c];
        for v in [a, b, c, d] {
            taken[v as usize] = true;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_follow_from_seed_and_number_and_are_surfaces() {
        let mut flips = 0;
        for number in 0..40 {
            let [a, b] = [0, 1].map(|_| random_target(7, number).unwrap());
            assert_eq!(a.garment.target(), b.garment.target());
            let shell = &a.garment.shells[0];
            assert!(shell.positions.iter().all(|p| p.iter().all(|x| x.is_finite())));
            // Flips keep orientation: every inner edge has two faces, one on each side.
            flips += usize::from(a.words.contains("flipped"));
            assert_eq!(shell.topology.components().count, 1, "{}", a.words);
        }
        assert!(flips > 3);
        assert_ne!(random_target(7, 0).unwrap().words, random_target(8, 0).unwrap().words);
    }
}
