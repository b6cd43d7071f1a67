//! Garments as they are found in files: panels with seams, scans with flaws, open bodies.

use std::fmt::Write as _;
use std::fs;

use toile::inverse::found::{self, Heap};

use crate::common::{Folder, code, faces, said, toile, vertices};

/// The OBJ text of a heap, y up, in centimetres.
fn obj(heap: &Heap) -> String {
    let mut text = String::new();
    for p in &heap.positions {
        let _ = writeln!(text, "v {:?} {:?} {:?}", 100.0 * p.x, 100.0 * p.z, -100.0 * p.y);
    }
    for f in &heap.faces {
        let [a, b, c] = f.map(|v| v + 1);
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    let _ = writeln!(text, "seam 4");
    for s in &heap.stitches {
        let _ = writeln!(text, "stitch {} {} {} {:e}", s.vertex, s.edge[0], s.edge[1], s.weight);
    }
    text
}

/// Stiff felt, so that it is held in no time; its waist is pinned.
fn scene(name: &str, extra: &str) -> String {
    format!(
        "up = \"y\"\n[[shell]]\nmesh = \"{name}.obj\"\nscale = 0.01\nthickness = 3e-3\nareal_density = 0.1\n\
         material = {{ model = \"koiter\", young = 1e6, poisson = 0.3 }}\n\
         pins = {{ box = [[-1, 0.22, -1], [1, 1, 1]] }}\n{extra}"
    )
}

#[test]
fn panels_are_sewn_inverted_and_simulated() {
    let folder = Folder::new();
    let skirt = found::panelled_skirt(3, 1e-3, 1e-3);
    folder.write("panels.obj", &obj(&skirt));
    folder.write("scene.toml", &scene("panels", "[self_contact]\nfriction = 0.3\n"));
    let check = toile(&folder, &["check", "scene.toml"]);
    assert_eq!(code(&check), 0, "{}", said(&check));
    for words in ["its 4 panels make 1 piece(s)", "counted from 0", "stitches are open in the mesh"]
    {
        assert!(said(&check).contains(words), "{words}: {}", said(&check));
    }
    let output = toile(&folder, &["invert", "scene.toml", "--out", "made"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("stitches were open"), "{}", said(&output));
    for name in ["made/rest.obj", "made/equilibrium.obj"] {
        assert_eq!(faces(folder.0.join(name)), faces(folder.0.join("panels.obj")));
        assert_eq!(vertices(folder.0.join(name)).len(), skirt.positions.len());
    }
    // Sewn: the two sides are in one place, though each panel has a rest shape of its own.
    let now = vertices(folder.0.join("made/equilibrium.obj"));
    // Seams between pins stay as they are.
    let free = skirt.stitches.iter().filter(|s| now[s.vertex as usize][1] < 20.0);
    let widest = free.map(|s| {
        let at = |v: u32, k: usize| now[v as usize][k];
        (0..3)
            .map(|k| {
                let between = (1.0 - s.weight) * at(s.edge[0], k) + s.weight * at(s.edge[1], k);
                (at(s.vertex, k) - between).abs()
            })
            .fold(0.0, f64::max)
    });
    let widest = widest.fold(0.0, f64::max);
    assert!(widest < 1e-3, "{widest} cm");
    let simulation = fs::read_to_string(folder.0.join("made/simulation.toml")).unwrap();
    let short = simulation.replace("duration = 1.0", "duration = 0.1");
    folder.write("made/short.toml", &short);
    let motion = toile(&folder, &["simulate", "made/short.toml", "--out", "motion", "-q"]);
    assert_eq!(code(&motion), 0, "{}", said(&motion));
    let then = vertices(folder.0.join("motion/frame_00001.obj"));
    let moved = now.iter().zip(&then).flat_map(|(a, b)| (0..3).map(|k| (a[k] - b[k]).abs()));
    let moved = moved.fold(0.0, f64::max);
    assert!(moved < 1e-2, "moved by {moved} cm");
}

/// A button off its skirt is carried by nothing. It is written beside the cloth next to it; a piece as large as the skirt is a mistake.
#[test]
fn a_button_goes_along_with_its_skirt() {
    let folder = Folder::new();
    let body = found::torso(20, 24, false);
    folder.write("body.obj", &obj(&body));
    let mut skirt = found::one_piece(200, 1e-3);
    let (count, lowest) = (skirt.positions.len(), |p: &&toile::geometry::Vec3| p.z);
    let hem = *skirt.positions.iter().min_by(|a, b| lowest(a).total_cmp(&lowest(b))).unwrap();
    let out = toile::geometry::Vec3::new(hem.x, hem.y, 0.0).normalize();
    let across = toile::geometry::Vec3::new(-out.y, out.x, 0.0);
    for (side, up) in [(0.0, 0.0), (0.01, 0.0), (0.01, 0.01), (0.0, 0.01)] {
        let mut place = hem + out * 0.05 + across * side;
        place.z += up;
        skirt.positions.push(place);
    }
    let v = count as u32;
    skirt.faces.extend([[v, v + 1, v + 2], [v, v + 2, v + 3]]);
    folder.write("skirt.obj", &obj(&skirt));
    let collider = "[[collider]]\nmesh = \"body.obj\"\nscale = 0.01\nfriction = 0.5\n";
    folder.write("scene.toml", &scene("skirt", collider));
    let output = toile(&folder, &["invert", "scene.toml", "--out", "made", "--no-drift"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("1 small piece(s) that nothing carries"), "{}", said(&output));
    let drawn = vertices(folder.0.join("skirt.obj"));
    for name in ["rest.obj", "equilibrium.obj"] {
        let made = vertices(folder.0.join("made").join(name));
        assert_eq!(made.len(), drawn.len());
        let way = |v: usize| [0, 1, 2].map(|k| made[v][k] - drawn[v][k]);
        // As its nearest vertex, the hem's.
        let near = (0..count).min_by(|&a, &b| {
            let off =
                |v: usize| (0..3).map(|k| (drawn[v][k] - drawn[count][k]).powi(2)).sum::<f64>();
            off(a).total_cmp(&off(b))
        });
        let along = way(near.unwrap());
        for (found, expected) in way(count).iter().zip(along) {
            assert!((found - expected).abs() < 1e-4, "{name}: {found} instead of {expected} cm");
        }
    }
}

#[test]
fn panels_that_lie_apart_are_no_target() {
    let folder = Folder::new();
    folder.write("panels.obj", &obj(&found::panelled_skirt(4, 1e-3, 0.05)));
    folder.write("scene.toml", &scene("panels", ""));
    let output = toile(&folder, &["invert", "scene.toml", "--out", "made"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("the target must be the garment as sewn"), "{}", said(&output));
}

#[test]
fn a_scan_is_mended_and_written_as_it_was() {
    let folder = Folder::new();
    let scan = found::scan(300, 5e-4, 3);
    folder.write("scan.obj", &obj(&scan));
    folder.write("scene.toml", &scene("scan", ""));
    let check = toile(&folder, &["check", "scan.obj", "--scale", "0.01"]);
    assert_eq!(code(&check), 1, "{}", said(&check));
    assert!(said(&check).contains("it is mended when it is used"), "{}", said(&check));
    let output = toile(&folder, &["invert", "scene.toml", "--out", "made", "--no-drift"]);
    assert!(code(&output) <= 1, "{}", said(&output));
    assert!(said(&output).contains("mended for the computation"), "{}", said(&output));
    assert_eq!(faces(folder.0.join("made/rest.obj")), faces(folder.0.join("scan.obj")));
    assert_eq!(vertices(folder.0.join("made/rest.obj")).len(), scan.positions.len());
    let certificate = fs::read_to_string(folder.0.join("made/certificate.json")).unwrap();
    assert!(certificate.contains("vertices merged where borders meet"), "{certificate}");
    // The scene to simulate has the surface that was computed with.
    let simulation = fs::read_to_string(folder.0.join("made/simulation.toml")).unwrap();
    assert!(simulation.contains("mended_equilibrium.obj"), "{simulation}");
    let check = toile(&folder, &["check", "made/simulation.toml"]);
    assert!(code(&check) <= 1, "{}", said(&check));
}

#[test]
fn an_open_body_is_closed_and_said_so() {
    let folder = Folder::new();
    let mut body = found::torso(20, 24, false);
    body.faces.remove(77); // torn
    body.faces.push(body.faces[5]);
    folder.write("body.obj", &obj(&body));
    folder.write("skirt.obj", &obj(&found::one_piece(200, 1e-3)));
    let collider = "[[collider]]\nmesh = \"body.obj\"\nscale = 0.01\nfriction = 0.5\n";
    folder.write("scene.toml", &scene("skirt", collider));
    let check = toile(&folder, &["check", "scene.toml"]);
    assert!(code(&check) <= 1, "{}", said(&check));
    assert!(said(&check).contains("3 holes filled"), "{}", said(&check));
}
