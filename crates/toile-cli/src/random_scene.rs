//! The scenes of `toile bench random`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toile::cone::Random;
use toile::geometry::{Vec3, generate};
use toile::io::{ObjWriter, WriteError, atomic_write, write_obj};

/// What decides about a scene.
struct Dice(Random);

impl Dice {
    fn new(seed: u64, number: u64) -> Self {
        // Streams of near seeds overlap; a large odd factor takes them far apart.
        let mixed = (seed.rotate_left(32) ^ number).wrapping_mul(0xff51_afd7_ed55_8ccd);
        Self(Random::new(mixed ^ (mixed >> 29)))
    }

    /// In [a, b).
    fn within(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.0.uniform()
    }

    /// In [a, b), evenly over the decades.
    fn decades(&mut self, a: f64, b: f64) -> f64 {
        self.within(a.ln(), b.ln()).exp()
    }

    /// One of 0..n.
    fn below(&mut self, n: u64) -> u64 {
        (self.0.uniform() * n as f64) as u64
    }

    fn chance(&mut self, part: f64) -> bool {
        self.within(0.0, 1.0) < part
    }

    fn vector(&mut self, size: f64) -> [f64; 3] {
        [(); 3].map(|()| self.within(-size, size))
    }
}

fn list(v: [f64; 3]) -> String {
    format!("[{:?}, {:?}, {:?}]", v[0], v[1], v[2])
}

/// Writes a random scene with its meshes into a folder that is there; where the scene is.
pub(crate) fn write_scene(folder: &Path, seed: u64, number: u64) -> Result<PathBuf, WriteError> {
    let mut random = Dice::new(seed, number);
    let mut text = format!("# Scene {number} of seed {seed}.\n");
    let (colliders, mut top, moving) = colliders_text(&mut random);
    for sheet in 0..=random.below(3) {
        let n = 4 + random.below(9) as usize;
        let size = random.within(0.3, 1.0);
        let mesh = generate::sheet(n, size);
        let tilt = random.within(0.0, 0.25);
        let (heading, turn) = (random.within(0.0, 6.3), random.within(0.0, 6.3));
        let axis = Vec3::new(heading.cos(), heading.sin(), 0.0);
        let rise = 0.75 * size * tilt.sin();
        let aside = random.vector(0.15);
        let middle = Vec3::new(aside[0], aside[1], top + 0.006 + rise + random.within(0.0, 0.03));
        top = middle.z + rise;
        let place = |x: &Vec3| -> [f64; 3] {
            let (sin, cos) = turn.sin_cos();
            let flat = Vec3::new(cos * x.x - sin * x.y, sin * x.x + cos * x.y, 0.0);
            // Turned about a horizontal axis, the angle given by its sine and cosine (Rodrigues).
            let (s, c) = tilt.sin_cos();
            let tilted = flat * c + axis.cross(&flat) * s + axis * (axis.dot(&flat) * (1.0 - c));
            (tilted + middle).into()
        };
        let positions: Vec<[f64; 3]> = mesh.positions.iter().map(place).collect();
        let file = format!("sheet_{sheet}.obj");
        write_obj(folder.join(&file), &positions, mesh.topology.faces(), &ObjWriter::default())?;
        let (stretching, bending) = (random.decades(50.0, 5e3), random.decades(1e-7, 1e-4));
        let poisson = random.within(0.0, 0.45);
        let thickness = (12.0 * (1.0 - poisson * poisson) * bending / stretching).sqrt();
        let mut velocity = random.vector(1.0);
        velocity[2] = -random.within(0.0, 3.0);
        let _ = writeln!(
            text,
            "\n[[shell]]\nmesh = \"{file}\"\nthickness = {thickness:?}\nareal_density = {:?}\nvelocity = {}\n\
             material = {{ model = \"koiter\", young = {:?}, poisson = {poisson:?}, normals = \"average\" }}",
            random.decades(0.05, 1.0),
            list(velocity),
            stretching / thickness
        );
        if !moving && random.chance(0.25) {
            let _ = writeln!(text, "pins = {{ vertices = [{}, {}] }}", 0, n - 1);
        }
    }
    text.push_str(&colliders);
    if random.chance(0.6) {
        let (mu, thickness) = (friction(&mut random), random.within(1e-3, 4e-3));
        let _ = writeln!(text, "\n[self_contact]\nfriction = {mu:?}\nthickness = {thickness:?}");
    }
    let step = random.decades(1e-3, 20e-3);
    let count = 30 + random.below(40);
    let names = ["implicit-euler", "implicit-euler", "implicit-euler", "bdf2", "tr-bdf2", "sdirk2"];
    let integrator = names[random.below(6) as usize];
    let _ = writeln!(
        text,
        "\n[time]\nstep = {step:?}\nduration = {:?}\nintegrator = \"{integrator}\"",
        step * count as f64
    );
    let path = folder.join("scene.toml");
    atomic_write(&path, |w| w.write_all(text.as_bytes()))?;
    Ok(path)
}

/// Mostly between 0 and 1, sometimes one of them.
fn friction(random: &mut Dice) -> f64 {
    match random.below(8) {
        0 => 0.0,
        1 => 1.0,
        _ => random.within(0.0, 1.0),
    }
}

/// Some colliders, how high they reach, and whether one moves.
///
/// Only a collider alone moves, and nothing is held then: cloth that two solid things squeeze has no place to go.
fn colliders_text(random: &mut Dice) -> (String, f64, bool) {
    let (mut text, mut top) = (String::new(), -0.4f64);
    let ground = random.chance(0.6);
    let count = if ground { random.below(3) } else { 1 + random.below(3) };
    let moving = !ground && count == 1 && random.chance(0.6);
    if ground {
        let _ = writeln!(text, "\n[[collider]]\nplane = {{ point = [0.0, 0.0, -0.4] }}");
        let _ = writeln!(text, "friction = {:?}", friction(random));
    }
    for _ in 0..count {
        let [x, y, _] = random.vector(0.25);
        let z = random.within(-0.3, 0.0);
        let center = [x, y, z];
        let radius = random.within(0.05, 0.25);
        let high = match random.below(6) {
            0 => {
                let at = list(center);
                let _ = writeln!(
                    text,
                    "\n[[collider]]\nsphere = {{ center = {at}, radius = {radius:?} }}"
                );
                z + radius
            }
            1 => {
                let size = [(); 3].map(|()| random.within(0.1, 0.5));
                let half = size.map(|s| 0.5 * s);
                let (at, size, turn) = (list(center), list(size), list(random.vector(1.0)));
                let _ = writeln!(
                    text,
                    "\n[[collider]]\nbox = {{ center = {at}, size = {size}, rotation = {turn} }}"
                );
                z + half.iter().map(|h| h * h).sum::<f64>().sqrt()
            }
            2 => {
                let half = random.vector(0.3);
                let [start, end] = [-1.0, 1.0].map(|s| [0, 1, 2].map(|k| center[k] + s * half[k]));
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ncapsule = {{ start = {}, end = {}, radius = {radius:?} }}",
                    list(start),
                    list(end)
                );
                z + half[2].abs() + radius
            }
            3 => {
                let length = random.within(0.1, 0.6);
                let mut axis = random.vector(1.0);
                axis[0] += 1.5; // never zero
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ncylinder = {{ center = {}, axis = {}, radius = {radius:?}, length = {length:?} }}",
                    list(center),
                    list(axis)
                );
                z + radius.hypot(0.5 * length)
            }
            4 => {
                let tip = [x, y, z + random.within(0.1, 0.4)];
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ncone = {{ base = {}, tip = {}, radius = {radius:?} }}",
                    list(center),
                    list(tip)
                );
                tip[2]
            }
            _ => {
                let tube = random.within(0.03, 0.08);
                let mut axis = random.vector(1.0);
                axis[2] += 1.5;
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ntorus = {{ center = {}, axis = {}, radius = {:?}, tube = {tube:?} }}",
                    list(center),
                    list(axis),
                    radius + 0.05
                );
                z + radius + 0.05 + tube
            }
        };
        top = top.max(high);
        let _ = writeln!(text, "friction = {:?}", friction(random));
        let _ = writeln!(text, "gap = {:?}", random.within(1e-3, 4e-3));
        if moving {
            let (v, w) = (list(random.vector(0.5)), list(random.vector(3.0)));
            let _ = writeln!(
                text,
                "motion = {{ pivot = {}, velocity = {v}, angular_velocity = {w} }}",
                list(center)
            );
        }
    }
    (text, top, moving)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use toile::io::load_scene;
    use toile::{Simulation, Start};

    #[test]
    fn scenes_can_be_read_and_follow_from_their_seed() {
        let folder = std::env::temp_dir().join(format!("toile-random-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for number in 0..60 {
            let path = write_scene(&folder, 1, number).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let scene = load_scene(&path).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let simulation = Simulation::new(&scene, Start::AsGiven);
            assert!(simulation.is_ok(), "{text}");
            write_scene(&folder, 1, number).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            write_scene(&folder, 2, number).unwrap();
            assert_ne!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
