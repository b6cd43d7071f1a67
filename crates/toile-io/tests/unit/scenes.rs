//! Scenes: the contract, and errors that point at the line.

use std::fs;
use toile_io::{
    Bending, Generator, Material, Membrane, MeshSource, Normals, Rest, Scene, SceneFormat, Up,
    Young, load_scene, parse_scene, scene_schema,
};

/// The supported part of the example in the design.
const EXAMPLE: &str = r#"up = "z"
gravity = [0.0, 0.0, -9.81]

[[shell]]
mesh = "dress.obj"
rest = "pattern.obj"
scale = 0.01
thickness = 0.5e-3
areal_density = 0.2
material = { model = "koiter", young = 2.0e5, poisson = 0.3, normals = "tan", membrane = "stvk" }
pins = { vertices = [0, 12], box = [[-1, -1, 0.9], [1, 1, 1.1]], group = "waist" }
stitches = "panels.obj"
"#;

fn toml(text: &str) -> Result<Scene, String> {
    parse_scene(text, SceneFormat::Toml).map_err(|e| e.to_string())
}

/// The error of the example with one piece replaced.
fn broken(from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "{from}");
    toml(&EXAMPLE.replacen(from, to, 1)).unwrap_err()
}

#[test]
fn the_example_of_the_design_reads_as_written() {
    let scene = toml(EXAMPLE).unwrap();
    assert_eq!(scene.up, Up::Z);
    assert_eq!(scene.gravity_internal(), [0.0, 0.0, -9.81]);
    let shell = &scene.shells[0];
    assert_eq!(shell.mesh, MeshSource::File("dress.obj".into()));
    assert_eq!(shell.rest, Some(Rest::File("pattern.obj".into())));
    assert_eq!((shell.scale, shell.thickness, shell.areal_density), (Some(0.01), 0.5e-3, 0.2));
    let Material::Koiter(koiter) = &shell.material else { panic!("{:?}", shell.material) };
    assert_eq!(koiter.young, Young::Isotropic(2.0e5));
    assert_eq!(koiter.normals, Normals::Tan);
    let pins = shell.pins.as_ref().unwrap();
    assert_eq!(pins.vertices, [0, 12]);
    assert_eq!(pins.corners, Some([[-1.0, -1.0, 0.9], [1.0, 1.0, 1.1]]));
    assert_eq!(pins.group.as_deref(), Some("waist"));
    assert_eq!(shell.stitches.as_deref(), Some("panels.obj"));
}

#[test]
fn defaults_generators_and_orthotropic_cloth() {
    let scene = toml(
        r#"
up = "y"
[[shell]]
mesh = { generate = "sheet", n = 33, size = 1, plane = "xz" }
thickness = 1e-3
areal_density = 0.2
[shell.material]
model = "koiter"
young = [1e6, 2e5]
poisson = 0.2
shear = 5e4
warp = [0, 1, 0]
bending = [1e-5, 2e-5, 1e-6, 3e-6]
[[shell]]
mesh = "b.ply"
rest = "uv"
thickness = 1e-3
areal_density = 1
material = { model = "discrete-shells", k_length = 3, k_area = 1, k_bend = 1e-4 }
[solver]
tolerance = 1e-9
max_iterations = 300
"#,
    )
    .unwrap();
    assert_eq!(scene.gravity_internal(), [0.0, 0.0, -9.81]);
    let MeshSource::Generated(Generator::Sheet(sheet)) = &scene.shells[0].mesh else {
        panic!("{:?}", scene.shells[0].mesh)
    };
    assert_eq!((sheet.n, sheet.size), (33, 1.0));
    let Material::Koiter(koiter) = &scene.shells[0].material else { panic!() };
    assert_eq!(koiter.young, Young::Orthotropic([1e6, 2e5]));
    assert_eq!(koiter.membrane, Membrane::Stvk);
    assert_eq!(koiter.bending, Some(Bending::Orthotropic([1e-5, 2e-5, 1e-6, 3e-6])));
    assert_eq!(scene.shells[1].rest, Some(Rest::Uv));
    assert!(matches!(scene.shells[1].material, Material::DiscreteShells(m) if m.k_length == 3.0));
    assert_eq!(scene.solver.unwrap().max_iterations, Some(300));
}

#[test]
fn gravity_is_given_in_the_axes_of_the_files() {
    let text = EXAMPLE
        .replace("up = \"z\"", "up = \"y\"")
        .replace("[0.0, 0.0, -9.81]", "[0.0, -9.81, 1.5]");
    let scene = toml(&text).unwrap();
    assert_eq!(scene.gravity_internal(), [0.0, -1.5, -9.81]);
}

#[test]
fn json_scenes_mean_the_same() {
    let scene = toml(EXAMPLE).unwrap();
    let text = serde_json::to_string_pretty(&scene).unwrap();
    let text = text.replacen('{', "{ \"$schema\": \"toile.json\",", 1);
    let mut read = parse_scene(&text, SceneFormat::Json).unwrap();
    read.source = scene.source.clone();
    assert_eq!(read, scene);

    let wrong = text.replace("\"thickness\"", "\"thicknes\"");
    let error = parse_scene(&wrong, SceneFormat::Json).unwrap_err();
    let problem = &error.problems()[0];
    assert_eq!(problem.message, "unknown key `thicknes` in [[shell]]");
    assert_eq!(wrong.lines().nth(problem.line - 1).unwrap().trim(), "\"thicknes\": 0.0005,");
    let error = parse_scene("{\n  \"up\": \"z\",\n}", SceneFormat::Json).unwrap_err().to_string();
    assert_eq!(
        error,
        "scene:3:1: not valid JSON: trailing comma\n3 | }\n  | ^\n  = keys and texts need double quotes, \
         and no comma follows the last entry"
    );
}

#[test]
fn an_unknown_key_is_marked_and_the_nearest_is_suggested() {
    assert_eq!(
        broken("scale = 0.01", "sclae = 0.01"),
        "scene:7:1: unknown key `sclae` in [[shell]]\n\
         7 | sclae = 0.01\n  | ^^^^^\n  = did you mean `scale`? known keys: areal_density, damping, material, mesh, \
         pins, rest, scale, stitches, thickness, velocity"
    );
    assert_eq!(
        broken("poisson", "poison"),
        "scene:10:47: unknown key `poison` in `material` of model \"koiter\"\n\
         10 | material = { model = \"koiter\", young = 2.0e5, poison = 0.3, normals = \"tan\", membrane = \"stvk\" }\n   \
         |                                               ^^^^^^\n   \
                 = did you mean `poisson`? known keys: bending, membrane, model, normals, poisson, shear, warp, young"
    );
    let error = broken("gravity", "gravitee");
    assert!(error.contains("unknown key `gravitee` in the scene"), "{error}");
    assert!(error.contains("did you mean `gravity`?"), "{error}");
}

#[test]
fn wrong_words_and_types_are_answered_with_the_right_ones() {
    for (from, to, expected) in [
        (
            "up = \"z\"",
            "up = \"x\"",
            "scene:1:6: `up` must be one of \"z\", \"y\", found \"x\"\n1 | up = \"x\"\n  |      ^^^",
        ),
        (
            "\"koiter\"",
            "\"koitr\"",
            "`model` must be one of \"koiter\", \"discrete-shells\", found \"koitr\"\n10 | material = { model = \"koitr\",",
        ),
        ("model = \"koiter\", ", "", "scene:10:12: `material` has no `model`"),
        (
            "thickness = 0.5e-3",
            "thickness = \"0.5 mm\"",
            "scene:8:13: `thickness` must be a number, found \"0.5 mm\"\n8 | thickness = \"0.5 mm\"\n  \
             |             ^^^^^^^^\n  = Thickness h [m].",
        ),
        ("[0, 12]", "[0, -1]", "`vertices[1]` is -1, out of range"),
        ("[0, 12]", "[0, 1.5]", "`vertices[1]` must be a whole number, found 1.5"),
        (
            "[0.0, 0.0, -9.81]",
            "[0.0, -9.81]",
            "`gravity` must be a list of 3 numbers, found 2 of them",
        ),
        (
            "young = 2.0e5",
            "young = true",
            "`young` must be a number or a list of 2 numbers, found true",
        ),
        ("mesh = \"dress.obj\"", "mesh = 3", "`mesh` must be a text in quotes or a table, found 3"),
        (
            "mesh = \"dress.obj\"",
            "mesh = { generate = \"shet\", n = 3 }",
            "`generate` must be one of \"sheet\", ",
        ),
        ("[[shell]]", "[shell]", "= write `[[shell]]`, with double brackets"),
        ("mesh = \"dress.obj\"\n", "", "[[shell]] has no `mesh`"),
        ("up = \"z\"", "up = z", "scene:1:6: not valid TOML: "),
    ] {
        let text = broken(from, to);
        assert!(text.contains(expected), "{text}\n--- should hold\n{expected}");
    }
}

#[test]
fn impossible_values_are_refused_where_they_stand() {
    for (from, to, expected) in [
        (
            "thickness = 0.5e-3",
            "thickness = 0",
            "scene:8:13: `thickness` must be positive, found 0.0 m\n8 | thickness = 0\n  |             ^\n  \
             = in metres: cloth is about 0.5e-3",
        ),
        (
            "areal_density = 0.2",
            "areal_density = -0.2",
            "scene:9:17: `areal_density` must be positive, found -0.2 kg/m²",
        ),
        ("young = 2.0e5", "young = nan", "`young` must be positive, found NaN Pa"),
        ("young = 2.0e5", "young = inf", "`young` must be positive, found inf Pa"),
        (
            "poisson = 0.3",
            "poisson = 0.51",
            "scene:10:57: `poisson` must lie in (-1, 0.5], found 0.51",
        ),
        ("poisson = 0.3", "poisson = -1.0", "`poisson` must lie in (-1, 0.5], found -1.0"),
        (
            "poisson = 0.3",
            "poisson = 0.3, shear = 1",
            "`shear` follows from young and poisson here",
        ),
        ("young = 2.0e5", "young = [1e6, 2e5]", "an orthotropic `material` needs `shear`"),
        ("poisson = 0.3", "poisson = 0.3, warp = [0, 0, 0]", "`warp` has no direction"),
        (
            "poisson = 0.3",
            "poisson = 0.3, bending = -1",
            "`bending` must be zero or positive, found -1.0 N·m",
        ),
        ("[1, 1, 1.1]", "[1, 1, 0.8]", "scene:11:36: `box` is empty along z: from 0.9 to 0.8"),
        ("[1, 1, 1.1]", "[1, nan, 1.1]", "must be finite"),
        ("[0.0, 0.0, -9.81]", "[0.0, 0.0, nan]", "scene:2:11: `gravity` must be finite"),
        ("scale = 0.01", "scale = 0", "scene:7:9: `scale` must be positive, found 0.0 m"),
        (
            "mesh = \"dress.obj\"",
            "mesh = { generate = \"disc\", radius = 1, rings = 0 }",
            "`rings` must be at least 1, found 0",
        ),
        (
            "mesh = \"dress.obj\"",
            "mesh = { generate = \"sheet\", size = 1, n = 4294967295 }",
            "more than 20000000",
        ),
    ] {
        let text = broken(from, to);
        assert!(text.contains(expected), "{text}\n--- should hold\n{expected}");
    }
    let error = toml("up = \"z\"\n").unwrap_err();
    assert_eq!(
        error,
        "scene:1:1: the scene has no shell, rod or hair\n1 | up = \"z\"\n  | ^\n  = add a table [[shell]], [[rod]] or [[hair]]"
    );
    let pins =
        "pins = { vertices = [0, 12], box = [[-1, -1, 0.9], [1, 1, 1.1]], group = \"waist\" }";
    assert!(broken(pins, "pins = {}").contains("scene:11:8: `pins` names nothing to hold"));
}

const ROD: &str = r#"
[[rod]]
model = "super-clothoid"
elements = 40
length = 0.5
bending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7
linear_density = 2.0e-5
natural_curvature = { k1 = [30.0], k2 = [0.0], twist = [12.0] }
clamp = { position = [0, 0, 0], d1 = [1, 0, 0], d2 = [0, -1, 0], d3 = [0, 0, -1] }
"#;

#[test]
fn rods_are_read_as_the_contract_says() {
    let scene = parse_scene(ROD, SceneFormat::Toml).unwrap();
    let rods = toile_io::load_rods(&scene).unwrap();
    assert_eq!(rods.len(), 1);
    assert_eq!(rods[0].spec.length, 0.5);
    assert_eq!(rods[0].spec.clamp.frame[(1, 1)], -1.0);
    assert_eq!(rods[0].spec.natural.coefficients[2], [12.0]);
    // y up: the tangent that points down there points down here.
    let turned = format!(
        "up = \"y\"\n{}",
        ROD.replace("[0, -1, 0], d3 = [0, 0, -1]", "[0, 0, 1], d3 = [0, -1, 0]")
    );
    let turned = parse_scene(&turned, SceneFormat::Toml).unwrap();
    let rods = toile_io::load_rods(&turned).unwrap();
    assert_eq!(rods[0].spec.clamp.frame[(2, 2)], -1.0);
}

#[test]
fn bad_rods_are_told_where() {
    for (from, to, expected) in [
        ("elements = 40", "elements = 0", "scene:4:12: `elements` must be 1 to 100000, found 0"),
        ("length = 0.5", "length = -1", "scene:5:10: `length` must be positive"),
        ("length = 0.5\n", "", "the rod has no `length`"),
        ("7.0e-7", "nan", "`twisting_stiffness` must be positive, found NaN"),
        ("k1 = [30.0]", "k1 = [inf]", "must be finite"),
        ("super-clothoid", "super-heli", "\"super-helix\""),
        ("d2 = [0, -1, 0]", "d2 = [0, 1, 0]", "right-handed"),
    ] {
        let text = ROD.replace(from, to);
        let error = match parse_scene(&text, SceneFormat::Toml) {
            Err(e) => e.to_string(),
            Ok(scene) => toile_io::load_rods(&scene).unwrap_err().to_string(),
        };
        assert!(error.contains(expected), "{error}\n--- should hold\n{expected}");
    }
}

#[test]
fn missing_files_say_where_they_were_looked_for() {
    let folder = std::env::temp_dir().join(format!("toile-scene-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("scene.toml");
    fs::write(&path, EXAMPLE).unwrap();
    fs::write(folder.join("pattern.obj"), "").unwrap();
    fs::write(folder.join("panels.obj"), "").unwrap();
    let error = load_scene(&path).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{0}:5:8: the file `dress.obj` does not exist\n5 | mesh = \"dress.obj\"\n  |        ^^^^^^^^^^^\n  \
             = looked for {1}; paths are relative to the scene file",
            path.display(),
            folder.join("dress.obj").display()
        )
    );
    fs::write(folder.join("dress.obj"), "").unwrap();
    let scene = load_scene(&path).unwrap();
    assert_eq!(scene.resolve("dress.obj"), folder.join("dress.obj"));
    let error =
        scene.error_at("shell[0].pins.vertices[1]", "the mesh has 9 vertices", "").to_string();
    assert!(error.contains(":11:25: the mesh has 9 vertices"), "{error}");
    fs::remove_dir_all(&folder).unwrap();
    let error = load_scene("no/such.toml").unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot read the scene no/such.toml: No such file or directory (os error 2); \
         check the name and the folder"
    );
}

#[test]
fn the_schema_knows_every_supported_key() {
    let schema = scene_schema();
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), schema);
    assert!(schema["$schema"].as_str().unwrap().contains("2020-12"));
    assert_eq!(schema["additionalProperties"], false);
    let shell = &schema["$defs"]["Shell"];
    let koiter = &schema["$defs"]["Material"]["oneOf"][0];
    let pins = &schema["$defs"]["Pins"];
    for (table, keys) in [
        (
            &schema,
            &[
                "up",
                "gravity",
                "contact_forces",
                "shell",
                "solver",
                "collider",
                "rod",
                "hair",
                "self_contact",
                "time",
                "invert",
            ][..],
        ),
        (
            shell,
            &[
                "mesh",
                "rest",
                "scale",
                "thickness",
                "areal_density",
                "material",
                "pins",
                "velocity",
                "stitches",
                "damping",
            ],
        ),
        (koiter, &["model", "young", "poisson", "normals", "membrane", "bending", "warp", "shear"]),
        (&schema["$defs"]["Material"]["oneOf"][1], &["model", "k_length", "k_area", "k_bend"]),
        (pins, &["vertices", "box", "group"]),
    ] {
        let properties = table["properties"].as_object().unwrap();
        assert_eq!(table["additionalProperties"], false);
        let mut known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut wanted = keys.to_vec();
        known.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(known, wanted);
    }
}

#[test]
fn deep_nesting_ends_in_an_error_and_not_in_a_full_stack() {
    let deep = "[".repeat(200_000);
    assert!(toml(&format!("up = {deep}")).is_err());
    assert!(parse_scene(&deep, SceneFormat::Json).is_err());
    assert!(toml(&format!("{}x = 1", "a.".repeat(200_000))).is_err());
    assert!(toml(&"[a]\n".repeat(10_000)).is_err());
}
