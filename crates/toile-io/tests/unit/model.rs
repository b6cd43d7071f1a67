use toile_io::{
    Attached, MeshData, Scene, SceneFormat, Stitch, load_shell, load_shells, parse_scene,
    parse_scene_at,
};
use toile_sim::{ShellMaterial, close_seams};

fn scene(lines: &str) -> Scene {
    let text = format!(
        "[[shell]]\nthickness = 1e-3\nareal_density = 0.2\n\
         material = {{ model = \"koiter\", young = 2e5, poisson = 0.3 }}\n{lines}\n"
    );
    parse_scene(&text, SceneFormat::Toml).unwrap()
}

const SHEET: &str = "mesh = { generate = \"sheet\", n = 5, size = 1 }";

#[test]
fn pins_are_the_union_of_what_is_given() {
    let lines =
        format!("{SHEET}\npins = {{ vertices = [24, 0], box = [[-1, 0.49, -1], [1, 1, 1]] }}");
    let shells = load_shells(&scene(&lines)).unwrap();
    assert_eq!(shells[0].shell.pins, [0, 20, 21, 22, 23, 24]);
}

#[test]
fn what_nothing_holds_is_refused_with_its_line() {
    let error = load_shells(&scene(SHEET)).unwrap_err().to_string();
    assert!(error.contains("nothing holds this shell") && error.contains("pins ="), "{error}");
}

#[test]
fn pins_that_name_nothing_say_what_there_is() {
    let with = |pins: &str| {
        load_shells(&scene(&format!("{SHEET}\npins = {pins}"))).unwrap_err().to_string()
    };
    assert!(with("{ vertices = [0, 25] }").contains("counted from 0 to 24"));
    let missed = with("{ box = [[2, 2, 2], [3, 3, 3]] }");
    assert!(missed.contains("x -0.5000 to 0.5000"), "{missed}");
    assert!(with("{ group = \"waist\" }").contains("no groups"));
}

#[test]
fn bending_given_directly_replaces_that_of_the_solid_sheet() {
    let text = "[[shell]]\nmesh = { generate = \"sheet\", n = 3, size = 1 }\nthickness = 1e-3\n\
        areal_density = 1\npins = { vertices = [0] }\nmaterial = { model = \"koiter\", young = 1e6, \
        poisson = 0.3, bending = 1e-6 }\n";
    let scene = parse_scene(text, SceneFormat::Toml).unwrap();
    let loaded = load_shell(&scene, 0).unwrap();
    let ShellMaterial::Koiter { stiffness, .. } = loaded.shell.material else { panic!() };
    assert!((stiffness.bending[0] - 1e-6).abs() < 1e-18, "{stiffness:?}");
    assert!((stiffness.membrane[0] - 1e3 / 0.91).abs() < 1e-9, "{stiffness:?}");
}

/// Where a needle at a seam is merged away, its two vertices were sewn to two points of one edge: one stitch is enough, and two would leave that edge no length.
#[test]
fn needles_at_a_seam_are_merged_away_with_their_stitches() {
    let left = [[-1.0, 0.0], [-1.0, 1.0], [-1.0, 2.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.001]];
    let right = [[0.0, 2.0], [0.002, 0.0], [0.002, 0.7], [0.002, 1.4], [0.002, 2.0]];
    let far = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]];
    let places = left.iter().chain(&right).chain(&far);
    let stitch = |vertex, a, b, weight| Stitch { vertex, edge: [a, b], weight };
    let mesh = MeshData {
        positions: places.map(|[x, y]| [*x, *y, 0.0]).collect(),
        faces: vec![
            [0, 3, 1],
            [3, 4, 1],
            [4, 5, 1],
            [5, 6, 1],
            [6, 2, 1],
            [7, 11, 8],
            [11, 12, 8],
            [8, 12, 9],
            [12, 13, 9],
            [9, 13, 10],
        ],
        stitches: vec![
            stitch(3, 7, 8, 0.0),
            stitch(4, 8, 9, 0.428),
            stitch(5, 8, 9, 0.43),
            stitch(6, 9, 10, 1.0),
        ],
        ..MeshData::default()
    };
    let mut attached = Attached::default();
    attached.add_mesh("panels", mesh);
    let text = "[[shell]]\nmesh = \"panels\"\nthickness = 1e-3\nareal_density = 0.2\n\
        material = { model = \"koiter\", young = 2e5, poisson = 0.3 }\n";
    let scene = parse_scene_at(text, SceneFormat::Toml, None, attached).unwrap();
    let loaded = load_shell(&scene, 0).unwrap();
    assert_eq!(loaded.mended.collapsed, 1);
    assert_eq!(loaded.shell.seams.len(), 3, "{:?}", loaded.notes);
    let said = loaded.notes.join("\n");
    assert!(said.contains("1 of 4 stitches left out"), "{said}");
    // Closed, they leave every face its area.
    let mut closed = loaded.shell.positions.clone();
    let free = vec![false; closed.len()];
    close_seams(&mut closed, &loaded.shell.seams, &free);
    for face in loaded.shell.topology.faces() {
        let [a, b, c] = face.map(|v| closed[v as usize]);
        assert!((b - a).cross(&(c - a)).norm() > 0.1, "{face:?}");
    }
}
