//! Writes garments as they are found in files, each with its body and a scene: `found_garments DIR [VERTICES]`.
//!
//! Files are in centimetres with y up, as many programs write them; then `toile invert DIR/panels.toml --out made`.

use std::fmt::Write as _;
use std::path::Path;

use toile::inverse::found::{self, Heap};

/// The OBJ text of a heap, y up, in centimetres.
fn obj(heap: &Heap) -> String {
    let mut text = String::new();
    for p in &heap.positions {
        let [x, y, z] = [100.0 * p.x, 100.0 * p.z, -100.0 * p.y];
        let _ = writeln!(text, "v {x:.7} {y:.7} {z:.7}");
    }
    for f in &heap.faces {
        let [a, b, c] = f.map(|v| v + 1);
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    for s in &heap.stitches {
        let _ = writeln!(text, "stitch {} {} {} {:.6}", s.vertex, s.edge[0], s.edge[1], s.weight);
    }
    text
}

fn scene(name: &str, extra: &str) -> String {
    format!(
        "up = \"y\"\n\n[[shell]]\nmesh = \"{name}.obj\"\nscale = 0.01\nthickness = 1.0e-3\nareal_density = 0.15\n\
         material = {{ model = \"koiter\", young = 1.0e6, poisson = 0.3, bending = 1.0e-3 }}\n\n\
         [[collider]]\nmesh = \"body.obj\"\nscale = 0.01\nfriction = 0.6\ngap = 1.0e-3\n\n{extra}"
    )
}

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| "found".into());
    let vertices: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(900);
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text);
    write("body.obj", obj(&found::torso(60, 80, false)))?;
    let fineness = ((vertices as f64 / 8.0).sqrt() as usize).max(4);
    let tolerant = "[invert]\ncontact_tolerance = 2.0e-3\n";
    for (name, heap, extra) in [
        ("panels", found::panelled_skirt(fineness, 1e-3, 1e-3), ""),
        ("dress", found::one_piece(vertices, 1e-3), ""),
        ("top", found::drawn_top(vertices, 2e-3, 7), tolerant),
        (
            "layers",
            found::layered_skirt(vertices, 1e-3, 1.2e-3),
            "[self_contact]\nfriction = 0.4\nthickness = 1.0e-3\n",
        ),
        ("scan", found::scan(vertices, 5e-4, 3), tolerant),
    ] {
        write(&format!("{name}.obj"), obj(&heap))?;
        write(&format!("{name}.toml"), scene(name, extra))?;
    }
    Ok(())
}
