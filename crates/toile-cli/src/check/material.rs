//! Is the material what the words around it suggest?

use toile::geometry::{Vec3, size};
use toile::io::{LoadedShell, Material, Shell, Young};
use toile::num::words;
use toile::sim::ShellMaterial;

use super::findings::Report;

/// Elastic constants against size, weight and mesh. `g` is the strength of gravity \[m/s²\].
pub(super) fn findings(shell: &Shell, loaded: &LoadedShell, g: f64, report: &mut Report) {
    let rest = &loaded.shell.rest_positions;
    let length = size(rest);
    thickness(shell, length, report);
    if let Material::Koiter(koiter) = &shell.material
        && matches!(koiter.young, Young::Isotropic(_))
        && koiter.poisson > 0.49
    {
        report.warning(format!(
            "poisson = {} is that of rubber: the cloth keeps its volume by getting thinner; most fabrics lie \
             near 0.3",
            koiter.poisson
        ));
    }
    let (bending, stretching) = match &loaded.shell.material {
        ShellMaterial::Koiter { stiffness, .. } => {
            let [d1, _, d2, _] = stiffness.bending;
            let [c1, _, c2, _] = stiffness.membrane;
            (d1.min(d2), Some(c1.min(c2)))
        }
        ShellMaterial::DiscreteShells { k_bend, .. } => {
            report.note(
                "hinges bend 3 to 9 times stiffer than a plate of modulus k_bend, by the lie of the edges; \
                 use `koiter` where stiffness matters"
                    .into(),
            );
            (3.0 * k_bend, None)
        }
        ShellMaterial::HingedMembrane { k_bend, .. } => (3.0 * k_bend, None),
    };
    let positive = bending > 0.0 && bending.is_finite();
    if !positive {
        report.error(format!(
            "the bending stiffness is {bending} N·m: a sheet without any has no equilibrium to speak of; \
             cloth has 1e-6 to 1e-4 N·m"
        ));
        return;
    }
    if let Some(damping) = shell.damping.filter(|d| *d > 1.0) {
        report.warning(format!(
            "a damping of {damping} s lets the cloth follow loads as slowly as dough; it is given in seconds, \
             cloth has some thousandths"
        ));
    }
    let weight = shell.areal_density * g;
    if !(weight > 0.0 && length > 0.0) {
        return;
    }
    if let Some(c) = stretching {
        let strain = weight * length / c;
        if strain > 0.3 {
            report.warning(format!(
                "hung up, it would stretch by about {:.0} % under its own weight; check young [Pa], thickness \
                 and areal_density",
                100.0 * strain
            ));
        }
    }
    softness(bending, weight, length, loaded, rest, report);
}

fn thickness(shell: &Shell, length: f64, report: &mut Report) {
    let ratio = shell.thickness / length;
    if ratio > 0.1 {
        report.warning(format!(
            "thickness {} is {:.0} % of the size {length:.4} m: not a thin sheet; check the units of both",
            words::length(shell.thickness),
            100.0 * ratio
        ));
    } else if ratio < 1e-6 {
        report.warning(format!(
            "thickness {} is a millionth of the size {length:.4} m or less; it is given in metres",
            words::length(shell.thickness)
        ));
    }
    let density = shell.areal_density / shell.thickness;
    if !(20.0..=25_000.0).contains(&density) {
        report.warning(format!(
            "areal_density / thickness gives {density:.3e} kg/m³, lighter than foam or heavier than gold: check \
             [kg/m²] and [m]"
        ));
    }
}

/// Γ = weight L³ / D, and the length over which bending and weight balance.
fn softness(
    bending: f64,
    weight: f64,
    length: f64,
    loaded: &LoadedShell,
    rest: &[Vec3],
    report: &mut Report,
) {
    let gamma = weight * length.powi(3) / bending;
    let words = match gamma {
        g if g < 1.0 => "stiff as a plate: it hardly bends under its weight",
        g if g < 100.0 => "like card: it bends, in wide curves",
        g if g < 1e5 => "like cloth: it hangs and folds",
        _ => "very soft: it hangs like a heavy thin fabric, in fine folds",
    };
    report.fact(format!("softness Γ = σ g L³ / D = {gamma:.3e}: {words}"));
    let fold = (bending / weight).cbrt();
    let edges = loaded.shell.topology.edges();
    let long = |e: &&toile::geometry::Edge| {
        let [a, b] = e.vertices.map(|v| rest[v as usize]);
        (b - a).norm() > fold
    };
    let coarse = edges.iter().filter(long).count();
    report.fact(format!("folds are about (D / σ g)^⅓ = {} wide", words::length(fold)));
    if 2 * coarse > edges.len() {
        report.note(format!(
            "{:.0} % of the edges are longer than such a fold: the equilibrium is that of this mesh, its \
             smallest folds are not those of the cloth; refine where they matter",
            100.0 * coarse as f64 / edges.len() as f64
        ));
    }
}
