use toile::{Drape, drape, scene_settings};
use toile_io::{Axes, Scene, SceneFormat, parse_scene};

fn scene(material: &str, density: f64, thickness: f64, up: &str) -> Scene {
    // A sheet that leans, so that no figure is zero by symmetry.
    let gravity = if up == "y" { "[1.0, -9.0, 2.0]" } else { "[1.0, -2.0, -9.0]" };
    let text = format!(
        "up = \"{up}\"\ngravity = {gravity}\n[solver]\ntolerance = 1e-13\n[[shell]]\nmesh = {{ generate = \"rectangle\", \
         width = 0.3, height = 0.2, nx = 4, ny = 3, triangulation = \"random\" }}\nthickness = {thickness:?}\n\
         areal_density = {density:?}\nmaterial = {material}\npins = {{ vertices = [0, 1, 5, 6] }}\n"
    );
    parse_scene(&text, SceneFormat::Toml).unwrap()
}

fn draped(scene: &Scene) -> Drape {
    let found = drape(scene, &scene_settings(scene), |_| true).unwrap();
    assert!(found.result.certificate.certified, "{}", found.result.certificate.reason);
    found
}

fn weights(drape: &Drape) -> Vec<Vec<[f64; 3]>> {
    let n = drape.shells[0].shell.positions.len();
    vec![(0..n).map(|v| [(v as f64).sin(), (2.0 * v as f64).cos(), 0.3 + v as f64]).collect()]
}

fn value(drape: &Drape) -> f64 {
    let rows = weights(drape);
    let all = rows[0].iter().flatten().zip(drape.file_positions(0).into_iter().flatten());
    all.map(|(w, x)| w * x).sum()
}

/// `text` with the number after `@` replaced, against the derivative found under `name`.
fn compare(text: &str, name: &str, part: usize, up: &str) {
    let (head, tail) = text.split_once('@').unwrap();
    let end = tail.find([',', ' ', ']']).unwrap();
    let size: f64 = tail[..end].parse().unwrap();
    let at = |value: f64| scene(&format!("{head}{value:?}{}", &tail[end..]), 0.3, 2e-3, up);
    let base = draped(&at(size));
    let found = base.vjp(&weights(&base)).unwrap();
    let (_, found) = found[0].parameters.iter().find(|(n, _)| *n == name).unwrap();
    let step = 1e-4 * size;
    let expected =
        (value(&draped(&at(size + step))) - value(&draped(&at(size - step)))) / (2.0 * step);
    assert!((expected * size).abs() > 1e-6, "{name}: {expected}");
    let error = (found[part] - expected).abs();
    assert!(error < 2e-5 * expected.abs(), "{name}: {found:?} {expected}");
}

#[test]
fn numbers_of_the_scene_agree_with_differences() {
    let koiter = |rest: &str| format!("{{ model = \"koiter\", {rest} }}");
    compare(&koiter("young = @2e5, poisson = 0.3"), "young", 0, "z");
    compare(&koiter("young = 2e5, poisson = @0.3 "), "poisson", 0, "y");
    compare(&koiter("young = 2e5, poisson = 0.3, bending = @3e-4 "), "bending", 0, "z");
    compare(&koiter("young = 2e5, poisson = @0.3, bending = 3e-4"), "poisson", 0, "z");
    let orthotropic =
        "young = [2e5, 1e5], poisson = 0.2, shear = @3e4, bending = [3e-4, 2e-4, 5e-5, 1e-4] ";
    compare(&koiter(orthotropic), "shear", 0, "z");
    let second = "young = [2e5, @1e5], poisson = 0.2, shear = 3e4 ";
    compare(&koiter(second), "young", 1, "z");
    let own = "young = 2e5, poisson = 0.2, bending = [3e-4, @2e-4, 5e-5, 1e-4] ";
    compare(&koiter(own), "bending", 1, "z");
}

#[test]
fn thickness_and_density_agree_with_differences() {
    let material = "{ model = \"koiter\", young = 2e5, poisson = 0.3 }";
    let base = draped(&scene(material, 0.3, 2e-3, "z"));
    let found = base.vjp(&weights(&base)).unwrap();
    let get = |name: &str| {
        found[0].parameters.iter().find(|(n, _)| *n == name).map(|(_, v)| v[0]).unwrap()
    };
    let slope = |step: f64, at: &dyn Fn(f64) -> Scene| {
        (value(&draped(&at(step))) - value(&draped(&at(-step)))) / (2.0 * step)
    };
    let expected = slope(2e-7, &|s| scene(material, 0.3, 2e-3 + s, "z"));
    assert!((get("thickness") - expected).abs() < 2e-5 * expected.abs(), "{expected}");
    let expected = slope(3e-5, &|s| scene(material, 0.3 + s, 2e-3, "z"));
    assert!((get("areal_density") - expected).abs() < 2e-5 * expected.abs(), "{expected}");
}

/// Turning the axes of the files turns the derivatives with them.
#[test]
fn derivatives_are_in_the_axes_of_the_files() {
    let material = "{ model = \"koiter\", young = 2e5, poisson = 0.3 }";
    let (z, y) =
        (draped(&scene(material, 0.3, 2e-3, "z")), draped(&scene(material, 0.3, 2e-3, "y")));
    let axes: Axes = y.shells[0].axes;
    let w = weights(&z);
    let turned = vec![w[0].iter().map(|r| axes.direction_to_file(*r)).collect::<Vec<_>>()];
    let (a, b) = (z.vjp(&w).unwrap(), y.vjp(&turned).unwrap());
    for (a, b) in a[0].rest.iter().zip(&b[0].rest) {
        let a = axes.direction_to_file(*a);
        for k in 0..3 {
            assert!((a[k] - b[k]).abs() < 1e-7 * (1.0 + a[k].abs()), "{a:?} {b:?}");
        }
    }
}

#[test]
fn what_is_not_at_rest_is_refused() {
    let mut hasty = scene("{ model = \"koiter\", young = 2e5, poisson = 0.3 }", 0.3, 2e-3, "z");
    hasty.solver = Some(toile_io::Solver { tolerance: None, max_iterations: Some(1) });
    let found = drape(&hasty, &scene_settings(&hasty), |_| true).unwrap();
    let error = found.vjp(&weights(&found)).unwrap_err();
    assert!(error.to_string().contains("not certified"), "{error}");
}
