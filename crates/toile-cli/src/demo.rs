//! `toile demo`: a skirt that friction alone holds on a body.

use toile::inverse::gallery::Skirt;
use toile::invert_settings;
use toile::io::{ObjWriter, atomic_write, load_scene, write_obj};
use toile::report::figures::length;

use crate::args::{DemoArgs, Global};
use crate::drape::make_folder;
use crate::invert::invert_to;
use crate::{Failure, Outcome, json};

pub(crate) fn run(args: &DemoArgs, global: &Global) -> Result<Outcome, Failure> {
    let speak = !(global.quiet || global.json);
    make_folder(&args.out)?;
    let path = args.out.join("scene.toml");
    let n = args.n as usize;
    let skirt = Skirt { rows: 1 + n / 2, around: n, ..Skirt::default() };
    let mesh = skirt.mesh();
    let points: Vec<[f64; 3]> = mesh.positions.iter().map(|p| (*p).into()).collect();
    let extras = ObjWriter { comment: Some("toile: a drawn skirt"), ..ObjWriter::default() };
    write_obj(args.out.join("skirt.obj"), &points, mesh.topology.faces(), &extras)?;
    let text = scene_text(&skirt);
    atomic_write(&path, |w| w.write_all(text.as_bytes()))?;
    if speak {
        json::print(&format!(
            "Somebody has drawn a skirt of {} vertices. Its waistband lies around a body; nothing else holds it. Made as \
             drawn it would sag and slip. What has to be made so that gravity and friction bring it to \
             exactly the drawn shape, and keep it there?\n\nscene: {}\n",
            points.len(),
            path.display()
        ));
    }
    let scene = load_scene(&path)?;
    let found = invert_to(&scene, &args.out, &invert_settings(&scene), None, 10.0, None, global)?;
    if speak {
        if let Some(sag) = found.result.naive_sag {
            json::print(&format!(
                "\nMade as drawn it sags by {}; made as in rest.obj by {}.",
                length(sag),
                length(found.result.certificate.target_error_max.unwrap_or(0.0))
            ));
        }
        json::print(&format!(
            "Look at it with `toile view {out}`, or edit {shown} and run\n  toile invert {shown} --out {out}\n  toile simulate {out}/simulation.toml --out motion",
            shown = path.display(),
            out = args.out.display()
        ));
    }
    Ok(if found.result.certificate.certified { Outcome::Good } else { Outcome::Doubtful })
}

fn scene_text(skirt: &Skirt) -> String {
    format!(
        "# A skirt that friction alone holds on a body.\n\
         up = \"z\"\n\
         gravity = [0.0, 0.0, -9.81]              # m/s²\n\
         \n\
         [[shell]]\n\
         mesh = \"skirt.obj\"                       # where it should be\n\
         thickness = 1.0e-3                       # m\n\
         areal_density = 0.05                     # kg/m²\n\
         # A stiff light felt: tension per strain of an edge [N], hinge stiffness [N·m]\n\
         material = {{ model = \"discrete-shells\", k_length = 0.8, k_area = 0.0, k_bend = 5.0e-3 }}\n\
         \n\
         [[collider]]                             # the body\n\
         cylinder = {{ center = [0, 0, 0], axis = [0, 0, 1], radius = {radius:?} }}\n\
         friction = 0.7\n\
         gap = {gap:?}                             # m\n",
        radius = skirt.waist - Skirt::GAP,
        gap = Skirt::GAP
    )
}
