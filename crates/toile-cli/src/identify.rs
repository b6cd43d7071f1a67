//! `toile identify`: stiffness over density and natural shape of a fibre from its shapes in several poses.

use toile::io::{atomic_write, read_stations, write_natural};
use toile::rod::{Identification, Vec3, identify_stations};

use crate::args::{Global, IdentifyArgs};
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::{Failure, Outcome};

/// Part of the forces that a ratio may leave unexplained.
const MISFIT: f64 = 1e-2;

pub(crate) fn run(args: &IdentifyArgs, global: &Global) -> Result<Outcome, Failure> {
    let poses = args.poses.iter().map(read_stations).collect::<Result<Vec<_>, _>>();
    let poses = poses.map_err(Failure)?;
    let [x, y, z] = <[f64; 3]>::try_from(args.gravity.clone()).unwrap_or([0.0, 0.0, -9.81]);
    let (found, middles) = identify_stations(&poses, Vec3::new(x, y, z))?;
    make_folder(&args.out)?;
    let rows: Vec<(f64, Vec3)> = middles.into_iter().zip(found.natural.iter().copied()).collect();
    write_natural(args.out.join("natural.csv"), &rows)?;
    let object = told(&found, poses.len(), poses[0].len(), args.linear_density);
    atomic_write(args.out.join("identified.json"), |w| writeln!(w, "{}", object.pretty()))?;
    if global.json {
        json::print(&object.pretty());
    } else if !global.quiet {
        json::print(&summary(&found, args));
    }
    let good = found.ratios.iter().all(|r| r.value.is_some() && r.misfit <= MISFIT);
    Ok(if good { Outcome::Good } else { Outcome::Doubtful })
}

const NAMES: [(&str, &str); 3] =
    [("EI1", "bending about d1"), ("EI2", "bending about d2"), ("GJ", "twist")];

fn told(found: &Identification, poses: usize, stations: usize, density: Option<f64>) -> Object {
    let mut object = Object::default().with("poses", poses).with("stations", stations);
    for ((name, _), ratio) in NAMES.iter().zip(&found.ratios) {
        object = object
            .with(&format!("{name}_over_density"), ratio.value)
            .with(&format!("{name}_misfit"), ratio.misfit)
            .with(&format!("{name}_seen"), ratio.seen);
        if let Some(density) = density {
            object = object.with(name, ratio.value.map(|v| v * density));
        }
    }
    object.with("natural_spread", found.spread)
}

fn summary(found: &Identification, args: &IdentifyArgs) -> String {
    let mut lines = Vec::new();
    for ((name, what), ratio) in NAMES.iter().zip(&found.ratios) {
        lines.push(match ratio.value {
            Some(value) => {
                let own = args.linear_density.map_or(String::new(), |d| {
                    format!(", {name} = {:.6e} N·m²", value * d)
                });
                format!(
                    "{what}: {name}/density = {value:.6e} m⁴/s²{own}; {:.1e} of its forces unexplained",
                    ratio.misfit
                )
            }
            None => format!("{what}: the poses do not tell {name}; hold the fibre so that it shows"),
        });
    }
    lines.push(format!(
        "natural curvatures of the poses differ by {:.1e} 1/m; written to {}: natural.csv, identified.json",
        found.spread,
        args.out.display()
    ));
    lines.join("\n")
}
