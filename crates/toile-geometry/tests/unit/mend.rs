use crate::rng::Rng;
use toile_geometry::{
    MendCounts, MendSettings, Topology, Vec3, even_out, generate, inverted_faces, is_surface, mend,
    unfit_faces,
};

const CLOTH: MendSettings = MendSettings { tolerance: 1e-6, crumb: 1e-3, slender: 1e-3, hole: 0.0 };
const BODY: MendSettings = MendSettings { tolerance: 1e-6, crumb: 0.0, slender: 0.0, hole: 1.0 };

#[test]
fn a_sound_mesh_comes_back_as_it_was() {
    let mesh = generate::rectangle(1.0, 0.7, 6, 5, Default::default());
    let mended = mend(&mesh.positions, mesh.faces(), &CLOTH);
    assert_eq!(mended.faces, mesh.faces());
    assert_eq!(mended.positions, mesh.positions);
    assert_eq!(mended.counts, MendCounts::default());
    assert!(mended.counts.words().is_empty());
}

#[test]
fn a_heap_of_loose_triangles_becomes_one_surface() {
    let mesh = generate::rectangle(1.0, 0.7, 6, 5, Default::default());
    let mut rng = Rng::new(3);
    let positions: Vec<Vec3> =
        mesh.faces().iter().flatten().map(|&v| mesh.positions[v as usize]).collect();
    let mut faces: Vec<[u32; 3]> =
        (0..mesh.faces().len() as u32).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]).collect();
    for face in &mut faces {
        if rng.below(4) == 0 {
            face.swap(0, 1);
        }
    }
    let mended = mend(&positions, &faces, &CLOTH);
    let topology = Topology::new(mended.positions.len(), mended.faces.clone()).unwrap();
    assert_eq!(mended.positions.len(), mesh.positions.len());
    assert_eq!(topology.components().count, 1);
    assert_eq!(topology.boundary_loops().len(), 1);
    // Every old corner knows where it went.
    for (old, image) in mended.image.iter().enumerate() {
        assert_eq!(mended.positions[image.unwrap() as usize], positions[old]);
    }
}

#[test]
fn crowded_edges_and_one_sided_strips_are_cut_open() {
    let fin = [[0, 1, 2], [1, 0, 3], [0, 1, 4]];
    let positions: Vec<Vec3> = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]]
        .iter()
        .map(|p: &[i32; 3]| Vec3::new(p[0].into(), p[1].into(), p[2].into()))
        .collect();
    let mended = mend(&positions, &fin, &BODY);
    assert!(is_surface(mended.positions.len(), &mended.faces));
    assert_eq!((mended.counts.cut, mended.faces.len()), (1, 3));
    assert!(mended.positions.len() > 5);
    for (new, &old) in mended.origin.iter().enumerate() {
        assert_eq!(mended.positions[new], positions[old as usize]);
    }
    let strip: Vec<[u32; 3]> = (0..5).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
    let around = |i: usize| Vec3::new((i as f64).cos(), (i as f64).sin(), 0.3 * i as f64);
    let mended = mend(&(0..5).map(around).collect::<Vec<_>>(), &strip, &CLOTH);
    assert!(is_surface(mended.positions.len(), &mended.faces) && mended.counts.cut > 0);
}

#[test]
fn triangles_of_no_width_are_reshaped() {
    let mesh = generate::rectangle(1.0, 1.0, 8, 8, Default::default());
    let mut positions = mesh.positions.clone();
    // A vertex moved onto the long side of a neighbour's triangle, and one almost onto its neighbour.
    let inner = |v: usize| !mesh.topology.is_boundary_vertex(v);
    let edge = mesh
        .topology
        .interior_edges()
        .map(|(_, e)| *e)
        .find(|e| e.vertices.iter().chain(e.opposite.iter().flatten()).all(|&v| inner(v as usize)))
        .unwrap();
    let [a, b] = edge.vertices.map(|v| positions[v as usize]);
    positions[edge.opposite[0].unwrap() as usize] = a * 0.45 + b * 0.55;
    let bad = |x: &[Vec3], faces: &[[u32; 3]]| {
        faces
            .iter()
            .filter(|f| {
                let [p, q, r] = f.map(|v| x[v as usize]);
                (q - p).cross(&(r - p)).norm() < 1e-4 * (q - p).norm_squared()
            })
            .count()
    };
    assert!(bad(&positions, mesh.faces()) > 0);
    let mended = mend(&positions, mesh.faces(), &CLOTH);
    assert!(mended.counts.flipped > 0, "{:?}", mended.counts);
    assert_eq!(bad(&mended.positions, &mended.faces), 0);
    assert!(is_surface(mended.positions.len(), &mended.faces));

    let mut positions = mesh.positions.clone();
    let near = positions[edge.vertices[1] as usize];
    positions[edge.vertices[0] as usize] = near + Vec3::new(1e-6, 0.0, 2e-6) * 20.0;
    let mended = mend(&positions, mesh.faces(), &CLOTH);
    assert!(mended.counts.collapsed > 0, "{:?}", mended.counts);
    assert!(is_surface(mended.positions.len(), &mended.faces));
    assert_eq!(mended.image[edge.vertices[0] as usize], mended.image[edge.vertices[1] as usize]);
}

#[test]
fn bodies_are_closed_and_crumbs_are_left_out() {
    let ball = generate::sphere(0.2, 3);
    let (mut faces, mut positions) = (ball.faces().to_vec(), ball.positions.clone());
    faces.remove(100);
    faces.remove(7);
    let body = mend(&positions, &faces, &BODY);
    assert_eq!(body.counts.filled, 2);
    let topology = Topology::new(body.positions.len(), body.faces.clone()).unwrap();
    assert!(topology.is_closed());
    // Half a ball is a bowl and stays one.
    let bowl: Vec<[u32; 3]> = ball
        .faces()
        .iter()
        .filter(|f| f.iter().all(|&v| positions[v as usize].z <= 1e-9))
        .copied()
        .collect();
    assert_eq!(mend(&positions, &bowl, &BODY).counts.filled, 0);
    let n = positions.len() as u32;
    positions.extend([Vec3::x(), Vec3::x() * 1.01, Vec3::x() + Vec3::y() * 0.01]);
    faces.push([n, n + 1, n + 2]);
    let mended = mend(&positions, &faces, &CLOTH);
    assert_eq!(mended.counts.crumbs, 1);
    assert_eq!(mended.image[n as usize], None);
}

/// A flat triangle on a border has nothing across to be joined with.
#[test]
fn a_flat_triangle_on_a_border_is_left_out() {
    // A house whose floor is a hair below its middle.
    let corners = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.02], [0.0, 1.0], [2.0, 1.0]];
    let positions: Vec<Vec3> = corners.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect();
    let faces = [[0, 1, 2], [0, 2, 3], [2, 1, 4], [2, 4, 3]];
    let mended = mend(&positions, &faces, &MendSettings { slender: 0.03, ..CLOTH });
    assert_eq!(mended.faces, faces[1..]);
    assert_eq!(mended.positions, positions, "no vertex is lost");
    assert_eq!(mended.counts.words(), ["1 flat triangles on a border left out"]);
    // Thick enough, it stays.
    assert_eq!(mend(&positions, &faces, &MendSettings { slender: 0.005, ..CLOTH }).faces, faces);
}

/// Noise may move a vertex across an edge: its face then lies upside down.
#[test]
fn a_face_that_lies_upside_down_is_unfolded() {
    // A star of six triangles, one more outside each; the middle moved across the first side.
    let around = |radius: f64, turn: f64| {
        let (sin, cos) = (turn * std::f64::consts::FRAC_PI_3).sin_cos();
        Vec3::new(radius * cos, radius * sin, 0.0)
    };
    let mut positions = vec![around(1.0, 0.5)];
    positions.extend((0..6).map(|k| around(1.0, f64::from(k))));
    positions.extend((0..6).map(|k| around(1.8, f64::from(k) + 0.5)));
    let mut faces = Vec::new();
    for k in 0..6 {
        let (a, b) = (1 + k, 1 + (k + 1) % 6);
        faces.extend([[0, a, b], [b, a, 7 + k]]);
    }
    assert_eq!(inverted_faces(&positions, &faces), [0]);
    let settings = MendSettings { slender: 0.03, ..CLOTH };
    let mended = mend(&positions, &faces, &settings);
    assert_eq!(mended.counts, MendCounts { flipped: 1, ..MendCounts::default() });
    assert!(inverted_faces(&mended.positions, &mended.faces).is_empty());
    assert_eq!(mended.positions, positions, "vertices stay where they are");
    assert!(is_surface(mended.positions.len(), &mended.faces));
    // A crease of the cloth is meant.
    let mesh = generate::rectangle(1.0, 1.0, 8, 8, Default::default());
    let creased: Vec<Vec3> = mesh
        .positions
        .iter()
        .map(|p| if p.x > 0.0 { Vec3::new(-p.x, p.y, 1e-3) } else { *p })
        .collect();
    assert_eq!(mend(&creased, mesh.faces(), &settings).faces, mesh.faces());
}

#[test]
fn faces_that_no_cloth_can_have_are_spread_and_others_left_alone() {
    let mesh = generate::rectangle(1.0, 1.0, 6, 6, Default::default());
    assert!(unfit_faces(&mesh.positions, &mesh.topology, 0.01).is_empty());
    // The middle moved across the next vertex, and onto it.
    let at = |x: f64, y: f64| {
        let near = |v: &usize| (mesh.positions[*v] - Vec3::new(x, y, 0.0)).norm() < 1e-9;
        (0..mesh.positions.len()).find(near).unwrap()
    };
    let (middle, next) = (at(0.0, 0.0), at(1.0 / 6.0, 0.0));
    for part in [1.4, 0.999] {
        let mut positions = mesh.positions.clone();
        let way = positions[next] - positions[middle];
        positions[middle] += way * part;
        let mut rounds = 0;
        loop {
            let unfit = unfit_faces(&positions, &mesh.topology, 0.01);
            assert!(rounds > 0 || !unfit.is_empty());
            if unfit.is_empty() {
                break;
            }
            even_out(&mut positions, &mesh.topology, &unfit, 0, |_| true);
            rounds += 1;
            assert!(rounds < 20, "{} faces are left", unfit.len());
        }
        // Only what is near was moved, and no farther than an edge is long.
        for (p, q) in positions.iter().zip(&mesh.positions) {
            let way = (p - q).norm();
            assert!(way < 1.5 / 6.0 && (way == 0.0 || q.norm() < 0.5), "{way} m at {q}");
        }
    }
}

/// The one face of a corner would lose its area.
#[test]
fn corners_of_a_single_face_are_not_spread() {
    let topology = Topology::new(4, vec![[0, 1, 2], [2, 1, 3]]).unwrap();
    let start =
        vec![Vec3::zeros(), Vec3::x(), Vec3::new(0.0, 1e-3, 0.0), Vec3::new(1.0, 1e-3, 0.0)];
    let mut positions = start.clone();
    even_out(&mut positions, &topology, &[0], 0, |_| true);
    assert!(positions[0] == start[0] && positions[1] != start[1]);
}
