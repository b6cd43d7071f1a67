use toile_io::{Scene, SceneFormat, load_shell, load_shells, parse_scene};
use toile_sim::ShellMaterial;

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
