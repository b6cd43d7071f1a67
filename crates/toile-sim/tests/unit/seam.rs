use toile_geometry::{Topology, Vec3, generate};
use toile_sim::{
    ModelBuilder, Shell, ShellMaterial, Stitch, close_seams, equilibrium, pinching_stitches,
    sewn_edges, tied_vertices,
};
use toile_solve::NewtonSettings;

fn stitch(vertex: u32, a: u32, b: u32, weight: f64) -> Stitch {
    Stitch { vertex, edge: [a, b], weight }
}

/// Where the vertices of a shell are at rest under its weight.
fn hung(shell: &Shell) -> Vec<Vec3> {
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, Vec3::new(0.0, 0.0, -9.81)).unwrap();
    let model = builder.build().unwrap();
    let found = equilibrium(&model, model.start(), &NewtonSettings::default(), |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    model.positions(&found.state)
}

#[test]
fn of_two_vertices_sewn_to_each_other_one_is_tied() {
    let tied =
        tied_vertices(6, &[stitch(0, 3, 4, 0.0), stitch(3, 0, 1, 0.0), stitch(5, 3, 4, 0.2)]);
    assert_eq!(tied, [true, false, false, false, false, true]);
}

#[test]
fn seams_close_by_the_shortest_way() {
    // Two strips of unequal division, 2 mm apart along the seam.
    let left = generate::rectangle(0.1, 0.3, 1, 3, Default::default());
    let right = generate::rectangle(0.1, 0.3, 1, 5, Default::default());
    let n = left.positions.len() as u32;
    let mut x = left.positions.clone();
    x.extend(right.positions.iter().map(|p| p + Vec3::new(0.102, 0.0, 0.001)));
    let edge: Vec<u32> = (0..n).filter(|&v| (x[v as usize].x - 0.05).abs() < 1e-9).collect();
    let mut seams = Vec::new();
    for k in 0..6u32 {
        let at = 0.6 * f64::from(k);
        let e = (at.floor() as usize).min(2);
        let v = (n..x.len() as u32)
            .find(|&v| {
                let p = x[v as usize];
                (p.x - 0.052).abs() < 1e-9 && (p.y + 0.15 - 0.06 * f64::from(k)).abs() < 1e-9
            })
            .unwrap();
        seams.push(stitch(v, edge[e], edge[e + 1], at - e as f64));
    }
    seams.push(seams[2]); // said twice
    let before = x.clone();
    let held = vec![false; x.len()];
    let longest = close_seams(&mut x, &seams, &held);
    for s in &seams {
        assert!(s.opening(&x).norm() < 1e-15, "{:?}", s.opening(&x));
    }
    assert!((0.5e-3..2e-3).contains(&longest), "{longest}");
    let moved = x.iter().zip(&before).filter(|(a, b)| (*a - *b).norm() > 1e-12).count();
    assert_eq!(moved, 4 + 6, "only the seam moves");
    // Held on both sides it stays open, and the rest closes all the same.
    let mut z = before.clone();
    let ends = [seams[0].vertex, seams[0].edge[0], seams[0].edge[1]];
    let held: Vec<bool> = (0..z.len() as u32).map(|v| ends.contains(&v)).collect();
    close_seams(&mut z, &seams, &held);
    assert!(seams[0].opening(&z).norm() > 1e-3);
    assert!(seams[1..].iter().all(|s| s.opening(&z).norm() < 1e-12));
    // Held on one side, the other comes all the way.
    let mut y = before.clone();
    let held: Vec<bool> = (0..y.len() as u32).map(|v| v < n).collect();
    close_seams(&mut y, &seams, &held);
    assert_eq!(y[..n as usize], before[..n as usize]);
    assert!(seams.iter().all(|s| s.opening(&y).norm() < 1e-15));
}

/// Two strips sewn along x = 0, of `left` and `right` edges there, every vertex of the left to the right; stitches, and the mesh.
fn sewn_strips(left: usize, right: usize, mirrored: bool) -> (Topology, Vec<Vec3>, Vec<Stitch>) {
    let mut x = Vec::new();
    let mut faces = Vec::new();
    for (count, side) in [(left, -1.0), (right, 1.0)] {
        let base = x.len() as u32;
        for k in 0..=count {
            let y = k as f64 / count as f64;
            x.extend([Vec3::new(0.0, y, 0.0), Vec3::new(side, y, 0.0)]);
        }
        for k in 0..count as u32 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|m| base + 2 * k + m);
            let turn = |f: [u32; 3]| if (side < 0.0) != mirrored { [f[0], f[2], f[1]] } else { f };
            faces.extend([[a, b, c], [b, d, c]].map(turn));
        }
    }
    let base = 2 * (left as u32 + 1);
    let stitches = (0..=left).map(|k| {
        let at = k as f64 * right as f64 / left as f64;
        let e = (at.floor() as usize).min(right - 1);
        let edge = [e, e + 1].map(|m| base + 2 * m as u32);
        stitch(2 * k as u32, edge[0], edge[1], at - e as f64)
    });
    let stitches = stitches.collect();
    (Topology::new(x.len(), faces).unwrap(), x, stitches)
}

#[test]
fn a_seam_joins_all_of_both_borders() {
    for (left, right) in [(4, 4), (3, 7), (7, 3), (1, 5), (2, 3)] {
        let (topology, x, mut stitches) = sewn_strips(left, right, left % 2 == 0);
        let found = sewn_edges(&topology, &stitches);
        let edge = |[_, a, b]: [u32; 3]| x[b as usize].y - x[a as usize].y;
        let whole: f64 = found.iter().map(|s| s.part * edge(s.faces[0]).abs()).sum();
        assert!((whole - 1.0).abs() < 1e-12, "{left} and {right}: {whole} of the seam");
        for s in &found {
            // The middles meet, and each apex is on its side.
            let middle =
                |[_, a, b]: [u32; 3], t: f64| x[a as usize].y * (1.0 - t) + x[b as usize].y * t;
            let [first, second] = [0, 1].map(|k| middle(s.faces[k], s.middle[k]));
            assert!((first - second).abs() < 1e-12, "{first} and {second}");
            let [c, d] = [0, 1].map(|k| x[s.faces[k][0] as usize].x);
            assert_eq!(c * d, -1.0);
        }
        // Stitches that say the same from the other side add nothing.
        if left == right {
            let again = stitches.clone();
            stitches.extend(again.iter().map(|s| stitch(s.edge[0], s.vertex, s.vertex, 0.0)));
            assert_eq!(sewn_edges(&topology, &stitches).len(), found.len());
        }
    }
}

#[test]
fn cloth_bends_across_a_seam_as_if_it_were_one_piece() {
    // A strip clamped at one end, sewn in the middle: the tip sinks as that of a strip without seam, not to the ground.
    let material = ShellMaterial::isotropic(1e5, 0.3, 2e-3);
    let (width, half, n) = (0.02, 0.04, 4);
    let whole = generate::rectangle(2.0 * half, width, 2 * n, 2, Default::default());
    let mut x = Vec::new();
    let mut faces = Vec::new();
    for side in [0.0, half] {
        let part = generate::rectangle(half, width, n, 2, Default::default());
        let base = x.len() as u32;
        let from = part.positions.iter().map(|p| p.x).fold(f64::MAX, f64::min);
        x.extend(part.positions.iter().map(|p| p + Vec3::x() * (side - from)));
        faces.extend(part.topology.faces().iter().map(|f| f.map(|v| base + v)));
    }
    let count = x.len() / 2;
    let mut seams = Vec::new();
    for a in 0..count {
        let meets = |b: &usize| (x[*b] - x[a]).norm() < 1e-9;
        seams.extend(
            (count..x.len()).find(meets).map(|b| stitch(a as u32, b as u32, b as u32, 0.0)),
        );
    }
    assert_eq!(seams.len(), 3);
    let sink = |topology: Topology, positions: Vec<Vec3>, seams: Vec<Stitch>, rest: Vec<Vec3>| {
        let from = positions.iter().map(|p| p.x).fold(f64::MAX, f64::min);
        let clamp = (0..positions.len() as u32)
            .filter(|&v| positions[v as usize].x < from + 1.01 * half / n as f64)
            .collect();
        let tip = (0..positions.len()).max_by(|&a, &b| positions[a].x.total_cmp(&positions[b].x));
        let shell = Shell {
            topology,
            positions,
            rest_positions: rest,
            material,
            areal_density: 0.2,
            pins: clamp,
            seams,
            damping: 0.0,
        };
        let hung = hung(&shell);
        -hung[tip.unwrap()].z
    };
    let one =
        sink(whole.topology.clone(), whole.positions.clone(), vec![], whole.positions.clone());
    let topology = Topology::new(x.len(), faces).unwrap();
    // The second panel as it is sewn, and elsewhere in a pattern, turned half round.
    let turned =
        |(v, p): (usize, &Vec3)| if v < count { *p } else { Vec3::new(1.0 - p.x, 1.0 - p.y, 0.0) };
    let pattern: Vec<Vec3> = x.iter().enumerate().map(turned).collect();
    for rest in [x.clone(), pattern] {
        let sewn = sink(topology.clone(), x.clone(), seams.clone(), rest);
        assert!((sewn / one - 1.0).abs() < 0.15, "sewn {sewn} m, in one piece {one} m");
    }
    assert!(one > 0.1 * half, "{one} m");
}

/// A strip with a slit from its middle to one end, and the two sides of the slit as pairs of vertices (the tip left out).
fn slit_strip(length: f64, width: f64, n: usize) -> (Topology, Vec<Vec3>, Vec<Stitch>) {
    let whole = generate::rectangle(length, width, n, 4, Default::default());
    let mut x = whole.positions.clone();
    let high = x.iter().map(|p| p.x).fold(f64::MIN, f64::max);
    let middle = 0.5 * (x.iter().map(|p| p.x).fold(f64::MAX, f64::min) + high);
    let on_slit = |p: &Vec3| p.y.abs() < 1e-9 && p.x > middle + 1e-9;
    let mut other = vec![None; x.len()];
    let mut seams = Vec::new();
    for v in 0..other.len() {
        if on_slit(&x[v]) {
            other[v] = Some(x.len() as u32);
            seams.push(stitch(v as u32, x.len() as u32, x.len() as u32, 0.0));
            x.push(x[v]);
        }
    }
    let faces = whole.topology.faces().iter().map(|f| {
        let above = f.iter().map(|v| whole.positions[*v as usize].y).sum::<f64>() > 0.0;
        f.map(|v| other[v as usize].filter(|_| above).unwrap_or(v))
    });
    (Topology::new(x.len(), faces.collect()).unwrap(), x, seams)
}

#[test]
fn a_dart_is_joined_up_to_its_tip() {
    let (topology, x, seams) = slit_strip(0.08, 0.04, 8);
    let found = sewn_edges(&topology, &seams);
    let length = |[_, a, b]: [u32; 3]| (x[a as usize] - x[b as usize]).norm();
    let whole: f64 = found.iter().map(|s| s.part * length(s.faces[0])).sum();
    assert!((whole - 0.04).abs() < 1e-12, "{whole} m of 0.04 m");
    let tips = found.iter().filter(|s| s.faces[0][1..].iter().any(|v| s.faces[1].contains(v)));
    assert_eq!(tips.count(), 1);
}

#[test]
fn cloth_bends_at_the_tip_of_a_dart_as_if_it_were_one_piece() {
    // Clamped along one side and bent about the slit by its weight: with one edge from tip to end, the tip is all that there is.
    let sink = |(topology, positions, seams): (Topology, Vec<Vec3>, Vec<Stitch>)| {
        let low = positions.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        let pins = (0..positions.len() as u32).filter(|&v| positions[v as usize].y < low + 0.011);
        let shell = Shell {
            pins: pins.collect(),
            topology,
            rest_positions: positions.clone(),
            positions,
            material: ShellMaterial::isotropic(1e5, 0.3, 2e-3),
            areal_density: 0.2,
            seams,
            damping: 0.0,
        };
        let hung = hung(&shell);
        -hung.iter().map(|p| p.z).fold(f64::MAX, f64::min)
    };
    let whole = generate::rectangle(0.02, 0.04, 2, 4, Default::default());
    let one = sink((whole.topology.clone(), whole.positions.clone(), vec![]));
    let sewn = sink(slit_strip(0.02, 0.04, 2));
    assert!((sewn / one - 1.0).abs() < 0.15, "sewn {sewn} m, in one piece {one} m");
}

/// Threads have no length: the two ends of an edge sewn to one point would take it away, and so would a vertex sewn to two points of it.
#[test]
fn of_stitches_that_pinch_a_face_the_widest_are_named() {
    let left = generate::rectangle(0.1, 0.3, 1, 3, Default::default());
    let n = left.positions.len() as u32;
    let mut x = left.positions.clone();
    x.extend(left.positions.iter().map(|p| p + Vec3::new(0.101, 0.0, 0.0)));
    let mut faces = left.faces().to_vec();
    faces.extend(left.faces().iter().map(|f| f.map(|v| v + n)));
    let topology = Topology::new(x.len(), faces).unwrap();
    let side = |off: f64| -> Vec<u32> {
        let at = |v: &u32| (x[*v as usize].x - off).abs() < 1e-9;
        (0..x.len() as u32).filter(at).collect()
    };
    let (a, b) = (side(0.05), side(0.051));
    let sound: Vec<Stitch> = (0..4).map(|k| stitch(a[k], b[k], b[k], 0.0)).collect();
    assert!(pinching_stitches(&x, &topology, &sound).is_empty());
    // Both ends of an edge to one point; one vertex to two points of an edge; all corners of a face to one line.
    let beside = (0..n).find(|v| {
        topology.faces().iter().any(|f| [*v, a[1], a[2]].iter().all(|v| f.contains(v)))
            && !a.contains(v)
    });
    for wrong in [
        stitch(a[1], b[2], b[2], 0.0),
        stitch(a[1], b[1], b[2], 0.9),
        stitch(beside.unwrap(), b[1], b[2], 0.5),
    ] {
        let mut seams = sound.clone();
        seams.insert(1, wrong);
        assert_eq!(pinching_stitches(&x, &topology, &seams), [1], "{wrong:?}");
    }
}
