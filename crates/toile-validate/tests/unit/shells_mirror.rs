use toile_energy::{KoiterFace, Membrane, ShellStiffness, check_derivatives};
use toile_geometry::generate::{Triangulation, rectangle};
use toile_geometry::measure::{EdgeRule, FORM_COORDINATES, NormalRule};
use toile_geometry::{TriMesh, Vec3};
use toile_num::Vector;
use toile_sim::{Model, ModelBuilder, Shell, ShellMaterial, ShellNodes, State};
use toile_validate::shells::{MirroredFace, MirroredShell};

const STEEL: fn() -> ShellStiffness = || ShellStiffness::isotropic(2.0e3, 0.3, 0.1);

#[test]
fn derivatives_match_dual_numbers() {
    let edges = [
        EdgeRule { fold: 0.5, turn: -1.0 },
        EdgeRule { fold: 0.5, turn: 0.0 }, // on the plane y = 0
        EdgeRule { fold: 0.5, turn: 0.0 }, // on the plane x = 0
    ];
    let face = KoiterFace {
        normals: NormalRule::Tan,
        edges,
        membrane: Membrane::StVenantKirchhoff,
        stiffness: STEEL(),
        warp: [1.0, 0.0],
    };
    let face = MirroredFace { face, planes: [None, Some(1), Some(0)] };
    let mut x = Vector::<FORM_COORDINATES>::zeros();
    let mut x_bar = Vector::<FORM_COORDINATES>::zeros();
    let now = [0.0, 0.0, 0.1, 0.0, 1.2, -0.2, 1.1, 0.0, -0.15, 0.9, 1.1, -0.6];
    let rest = [0.0, 0.0, 0.0, 0.0, 1.0, -0.1, 1.0, 0.0, -0.1, 0.9, 1.0, -0.4];
    for i in 0..12 {
        (x[i], x_bar[i]) = (now[i], rest[i]);
    }
    x[18] = 0.2;
    check_derivatives(&face, &x, &x_bar);
}

/// Energy of a model with its vertices moved.
fn energy(model: &Model, nodes: &ShellNodes, positions: &[Vec3]) -> f64 {
    let mut state: State = model.start().clone();
    for (v, x) in positions.iter().enumerate() {
        let i = model.unknown(nodes.vertices + v as u32);
        (0..3).for_each(|k| state.set(i + k, x[k]));
    }
    model.energy(&state)
}

#[test]
fn half_a_shell_with_its_image_is_the_whole() {
    let mut half = rectangle(2.0, 1.5, 4, 3, Triangulation::Random { seed: 3 });
    half.positions.iter_mut().for_each(|x| x.x += 1.0); // 0 ≤ x ≤ 2
    let count = half.positions.len() as u32;
    // The whole: the half and its image, joined along x = 0.
    let image = |x: &Vec3| Vec3::new(-x.x, x.y, x.z);
    let on_plane: Vec<bool> = half.positions.iter().map(|x| x.x.abs() < 1e-12).collect();
    let mut numbers = Vec::new();
    let mut next = count;
    for on in &on_plane {
        numbers.push(if *on { numbers.len() as u32 } else { next });
        next += u32::from(!on);
    }
    let join = |positions: &[Vec3]| {
        let mut all = positions.to_vec();
        let free = positions.iter().zip(&on_plane).filter(|(_, on)| !**on);
        all.extend(free.map(|(x, _)| image(x)));
        all
    };
    let mut faces = half.faces().to_vec();
    faces.extend(half.faces().iter().map(|f| [f[1], f[0], f[2]].map(|v| numbers[v as usize])));
    let whole = TriMesh::new(join(&half.positions), faces).unwrap();

    let bent: Vec<Vec3> = half
        .positions
        .iter()
        .map(|x| Vec3::new(1.1 * x.x, x.y - 0.1 * x.x, 0.3 * x.x * x.x + 0.2 * x.y * x.x))
        .collect();
    for normals in [NormalRule::Average, NormalRule::Tan] {
        let mut builder = ModelBuilder::new();
        let mirrors = [true, false, false];
        let shell = MirroredShell { mesh: half.clone(), mirrors, stiffness: STEEL(), normals };
        let nodes = shell.add_to(&mut builder);
        let part = energy(&builder.build().unwrap(), &nodes, &bent);

        let mut builder = ModelBuilder::new();
        let shell = Shell {
            topology: whole.topology.clone(),
            positions: whole.positions.clone(),
            rest_positions: whole.positions.clone(),
            material: ShellMaterial::Koiter {
                stiffness: STEEL(),
                normals,
                membrane: Membrane::StVenantKirchhoff,
                warp: Vec3::x(),
            },
            areal_density: 1.0,
            pins: vec![],
            seams: Vec::new(),
            damping: 0.0,
        };
        let nodes = shell.add_to(&mut builder, Vec3::zeros()).unwrap();
        let all = energy(&builder.build().unwrap(), &nodes, &join(&bent));
        assert!((all / (2.0 * part) - 1.0).abs() < 1e-12, "{normals:?}: {part} J of {all} J");
    }
}
