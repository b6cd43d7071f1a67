use toile_geometry::{Vec3, generate};
use toile_sim::{Stitch, close_seams, tied_vertices};

fn stitch(vertex: u32, a: u32, b: u32, weight: f64) -> Stitch {
    Stitch { vertex, edge: [a, b], weight }
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
