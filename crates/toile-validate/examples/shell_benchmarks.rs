//! Runs the shell cases and writes their tables and plots.
//!
//! `shell_benchmarks CASE OUT_DIR NORMALS LEVELS N...` with CASE shear, moment, hemisphere or roof, NORMALS average, sin
//! or tan, and one mesh of N cells each; or `shell_benchmarks heavy GAMMA NX NY GRADING NORMALS`.

use std::error::Error;

use toile_geometry::measure::NormalRule;
use toile_validate::elastica::heavy_cantilever;
use toile_validate::shells::{
    Settings, end_moment, end_shear, heavy_strip_with, hemisphere, scordelis_lo,
};

fn normals(word: &str) -> Result<NormalRule, String> {
    match word {
        "average" => Ok(NormalRule::Average),
        "sin" => Ok(NormalRule::Sin),
        "tan" => Ok(NormalRule::Tan),
        _ => Err(format!("normals are average, sin or tan, not {word}")),
    }
}

fn heavy(gamma: &str, nx: &str, ny: &str, grading: &str, rule: &str) -> Result<(), Box<dyn Error>> {
    let gamma: f64 = gamma.parse()?;
    let rod = heavy_cantilever(gamma)?;
    let strip =
        heavy_strip_with(gamma, nx.parse()?, ny.parse()?, grading.parse()?, normals(rule)?)?;
    println!(
        "drop {:.6} (off {:+.2e})  reach {:.6} (off {:+.2e})  {} Newton steps, residual {:.1e}, {:.3} s",
        strip.drop,
        strip.drop - rod.drop,
        strip.reach,
        strip.reach - rod.reach,
        strip.newton_steps,
        strip.residual,
        strip.time.as_secs_f64()
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (name, out, rule, levels, meshes) = match words.as_slice() {
        ["heavy", gamma, nx, ny, grading, rule] => return heavy(gamma, nx, ny, grading, rule),
        [name, out, rule, levels, meshes @ ..] => (*name, *out, *rule, *levels, meshes),
        _ => {
            return Err(
                "give CASE OUT_DIR NORMALS LEVELS N..., or heavy GAMMA NX NY GRADING NORMALS"
                    .into(),
            );
        }
    };
    let settings = Settings {
        normals: normals(rule)?,
        levels: levels.parse()?,
        resolutions: meshes.iter().map(|n| n.parse()).collect::<Result<_, _>>()?,
        ..Settings::default()
    };
    let case = match name {
        "shear" => end_shear(&settings)?,
        "moment" => end_moment(&settings)?,
        "hemisphere" => hemisphere(&settings)?,
        "roof" => scordelis_lo(&settings)?,
        _ => {
            return Err(
                format!("there is no case {name}; give shear, moment, hemisphere or roof").into()
            );
        }
    };
    for run in &case.runs {
        let (worst, load) = case.worst(run);
        let steps: Vec<usize> = run.points.iter().map(|p| p.newton_steps).collect();
        println!(
            "n = {}: {} unknowns, off by {:.4} % at {load} of the load, Newton steps {steps:?}, {:.2} s",
            run.resolution,
            run.unknowns,
            100.0 * worst,
            run.time.as_secs_f64()
        );
    }
    println!("orders {:.2?}; {}", case.orders(), case.verdict());
    std::fs::create_dir_all(out)?;
    case.write_csv(std::fs::File::create(format!("{out}/{name}.csv"))?)?;
    std::fs::write(format!("{out}/{name}.svg"), case.load_plot().to_svg())?;
    std::fs::write(format!("{out}/{name}_convergence.svg"), case.convergence_plot().to_svg())?;
    Ok(())
}
