//! What a scene asks for, in words.

use toile::io::{Collider, LoadedShell, Material, Scene, scene_gravity};
use toile::report::figures::length;

/// The scene in pairs of name and value.
pub(crate) fn of_scene(scene: &Scene, shells: &[LoadedShell]) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut tell = |name: String, value: String| out.push((name, value));
    for (i, (table, loaded)) in scene.shells.iter().zip(shells).enumerate() {
        let shell = &loaded.shell;
        tell(
            format!("shell {i}: {}", loaded.name),
            format!(
                "{} vertices, {} faces, {} held; {} thick, {} kg/m²; {}",
                shell.topology.vertex_count(),
                shell.topology.face_count(),
                shell.pins.len(),
                length(table.thickness),
                table.areal_density,
                material(&table.material)
            ),
        );
    }
    for (i, rod) in scene.rods.iter().enumerate().take(10) {
        let long = rod.length.map_or("as drawn".into(), |l| format!("{} long", length(l)));
        tell(format!("rod {i}"), format!("{:?}, {long}", rod.model).to_lowercase());
    }
    if scene.rods.len() > 10 {
        tell("rods".into(), format!("{} in all", scene.rods.len()));
    }
    for (i, hair) in scene.hair.iter().enumerate() {
        tell(format!("hair {i}"), hair.strands.clone());
    }
    for (i, c) in scene.colliders.iter().enumerate() {
        let gap = c.gap.map_or(String::new(), |g| format!(", kept {} away", length(g)));
        let moves = if c.motion.is_some() { ", moving" } else { "" };
        tell(format!("collider {i}"), format!("{}, friction {}{gap}{moves}", kind(c), c.friction));
    }
    if let Some(own) = scene.self_contact {
        tell("self-contact".into(), format!("friction {}", own.friction));
    }
    let g = scene_gravity(scene);
    tell("gravity".into(), format!("({}, {}, {}) m/s², z up", g.x, g.y, g.z));
    if let Some(t) = scene.time {
        tell("time".into(), format!("{} s in steps of {} s", t.duration, t.step));
    }
    out
}

/// What kind of collider it is, for people.
pub(crate) fn kind(c: &Collider) -> String {
    match c {
        Collider { mesh: Some(path), .. } => path.clone(),
        Collider { plane: Some(_), .. } => "plane".into(),
        Collider { sphere: Some(s), .. } => format!("sphere of radius {}", length(s.radius)),
        Collider { cylinder: Some(s), .. } => format!("cylinder of radius {}", length(s.radius)),
        Collider { capsule: Some(s), .. } => format!("capsule of radius {}", length(s.radius)),
        Collider { cone: Some(s), .. } => format!("cone of radius {}", length(s.radius)),
        Collider { cuboid: Some(_), .. } => "box".into(),
        Collider { torus: Some(_), .. } => "torus".into(),
        _ => "nothing".into(),
    }
}

fn material(material: &Material) -> String {
    match material {
        Material::Koiter(k) => {
            let young = match k.young {
                toile::io::Young::Isotropic(e) => format!("E = {e:.3e} Pa"),
                toile::io::Young::Orthotropic([a, b]) => format!("E = {a:.3e} and {b:.3e} Pa"),
            };
            format!("Koiter shell, {young}, ν = {}", k.poisson)
        }
        Material::DiscreteShells(d) => format!(
            "Discrete Shells, k_length = {} N, k_area = {} N/m, k_bend = {} N·m",
            d.k_length, d.k_area, d.k_bend
        ),
    }
}
