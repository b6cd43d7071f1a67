//! `toile demo`: the whole path on a sheet hung by two corners.

use toile::io::{atomic_write, load_scene};

use crate::args::{DemoArgs, Global, SolverArgs};
use crate::drape::{Contact, drape_to, make_folder};
use crate::{Failure, Outcome, json};

pub(crate) fn run(args: &DemoArgs, global: &Global) -> Result<Outcome, Failure> {
    let speak = !(global.quiet || global.json);
    make_folder(&args.out)?;
    let path = args.out.join("scene.toml");
    let text = scene_text(args.n);
    atomic_write(&path, |w| w.write_all(text.as_bytes()))?;
    if speak {
        json::print(&format!(
            "A square of cloth, 1 m wide with {n} × {n} vertices, lies flat in the air. Two of its corners are \
             held; the rest falls, swings and folds until all forces balance. No motion is computed: the \
             shape at rest is found directly, and then proved to be one.\n\nscene: {shown}\n",
            n = args.n,
            shown = path.display()
        ));
    }
    let scene = load_scene(&path)?;
    let written = drape_to(&scene, &args.out, &SolverArgs::default(), Contact::default(), global)?;
    if speak {
        json::print(&format!(
            "\nNow edit {shown} and run\n  toile drape {shown} --out {out}",
            shown = path.display(),
            out = args.out.display()
        ));
    }
    Ok(written.outcome)
}

fn scene_text(n: u32) -> String {
    format!(
        "# A sheet hung by two corners.\n\
         up = \"z\"\n\
         gravity = [0.0, 0.0, -9.81]              # m/s²\n\
         \n\
         [[shell]]\n\
         mesh = {{ generate = \"sheet\", n = {n}, size = 1.0 }}   # or a file: \"cloth.obj\"\n\
         thickness = 0.33e-3                      # m\n\
         areal_density = 0.2                      # kg/m²\n\
         # E h = 1000 N/m; woven cloth bends more easily than a solid sheet: `bending` may say how much [N·m]\n\
         material = {{ model = \"koiter\", young = 3.03e6, poisson = 0.3 }}\n\
         pins = {{ vertices = [{first}, {last}] }}     # two corners of the edge y = 0.5 m\n",
        first = n * (n - 1),
        last = n * n - 1
    )
}
