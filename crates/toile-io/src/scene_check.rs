//! What a scene must mean, beyond its form.

use crate::scene::{
    Bending, Generator, Koiter, Material, Membrane, MeshSource, Rest, Scene, Shell, Young,
};
use crate::scene_error::Diagnostic;
use crate::scene_rod::{NaturalSource, RodTable};

/// Vertices a generator may make: beyond it no solver here would finish.
const MOST_VERTICES: u64 = 20_000_000;

/// The largest generated size \[m\]; far beyond use, and far below overflow.
const LONGEST: f64 = 1e9;

/// All problems of meaning.
pub(crate) fn check(scene: &Scene) -> Vec<Diagnostic> {
    let mut c = Checker { scene, found: Vec::new() };
    if scene.shells.is_empty() && scene.rods.is_empty() && scene.hair.is_empty() {
        c.report(
            "",
            "the scene has no shell, rod or hair",
            "add a table [[shell]], [[rod]] or [[hair]]",
        );
    }
    if let Some(g) = scene.gravity {
        c.finite("gravity", &g);
    }
    for (i, shell) in scene.shells.iter().enumerate() {
        c.shell(shell, &format!("shell[{i}]"));
    }
    for (i, rod) in scene.rods.iter().enumerate() {
        c.rod(rod, &format!("rod[{i}]"));
    }
    for (i, hair) in scene.hair.iter().enumerate() {
        let at = format!("hair[{i}]");
        let section = (hair.bending_stiffness, hair.twisting_stiffness, hair.linear_density);
        c.fibre(&at, hair.elements, section, hair.scale);
        if let Some(radius) = hair.radius {
            c.positive(&format!("{at}.radius"), radius, "m", "a hair has about 5e-5 m");
        }
        for (name, value, unit) in [("noise", hair.noise, "m"), ("friction", hair.friction, "")] {
            value.into_iter().for_each(|v| c.not_negative(&format!("{at}.{name}"), v, unit));
        }
        if let Some(tolerance) = hair.tolerance {
            let help = "the thickness of a strand will do";
            c.positive(&format!("{at}.tolerance"), tolerance, "m", help);
        }
    }
    for (i, collider) in scene.colliders.iter().enumerate() {
        let key = |name: &str| format!("collider[{i}].{name}");
        c.not_negative(&key("friction"), collider.friction, "");
        if let Some(gap) = collider.gap {
            c.not_negative(&key("gap"), gap, "m");
        }
        if let Some(scale) = collider.scale {
            c.positive(&key("scale"), scale, "m", "0.01 for files in centimetres");
        }
    }
    if let Some(own) = scene.self_contact {
        c.not_negative("self_contact.friction", own.friction, "");
        if let Some(thickness) = own.thickness {
            c.positive("self_contact.thickness", thickness, "m", "cloth keeps about 1e-3 m");
        }
    }
    if let Some(time) = scene.time {
        let sound = c.positive("time.step", time.step, "s", "cloth takes steps of about 0.01 s");
        c.positive("time.duration", time.duration, "s", "in seconds");
        c.not_negative("time.damping", time.damping, "1/s");
        if sound && time.duration / time.step > 1e7 {
            let help = "lengthen `step` or shorten `duration`";
            c.report("time.duration", "more than ten million steps would be taken", help);
        }
        // NaN was told above.
        if sound && time.duration > 0.0 && time.step > time.duration * (1.0 + 1e-9) {
            let what = format!(
                "a `step` of {} s is longer than the `duration` of {} s",
                time.step, time.duration
            );
            c.report("time.step", &what, "the first step would end after the whole; shorten it");
        }
        if let Some(frame) = time.frame {
            let ratio = frame / time.step;
            if sound && !(ratio >= 0.999 && (ratio - ratio.round()).abs() < 1e-6 * ratio) {
                let help = "frames are written after whole steps";
                c.report("time.frame", "`frame` is not a multiple of `step`", help);
            }
        }
        if time.newton_steps == Some(0) {
            c.report("time.newton_steps", "`newton_steps` is 0", "allow at least one");
        }
    }
    if let Some(solver) = scene.solver {
        if let Some(t) = solver.tolerance {
            c.positive("solver.tolerance", t, "", "a relative residual such as 1e-9");
        }
        if solver.max_iterations == Some(0) {
            c.report("solver.max_iterations", "`max_iterations` is 0", "allow at least one step");
        }
    }
    if let Some(invert) = scene.invert {
        if let Some(t) = invert.contact_tolerance {
            c.not_negative("invert.contact_tolerance", t, "m");
        }
        if let Some(t) = invert.seam_tolerance {
            c.not_negative("invert.seam_tolerance", t, "m");
        }
        if let Some(part) = invert.cone_part
            && !(1e-3..=1.0).contains(&part)
        {
            let message = format!("`cone_part` must be above 0 and at most 1, found {part:?}");
            c.report("invert.cone_part", message, "0.975 leaves a margin of 2.5 %");
        }
        if invert.max_steps == Some(0) {
            c.report("invert.max_steps", "`max_steps` is 0", "allow at least one step");
        }
    }
    c.found
}

type Lengths = Vec<(&'static str, f64)>;
type Counts = Vec<(&'static str, u32, u32)>;

struct Checker<'a> {
    scene: &'a Scene,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn report(&mut self, key: &str, message: impl Into<String>, help: impl Into<String>) {
        if self.found.len() < 20 {
            let problem = self.scene.source.diagnostic_at(key, message, help);
            self.found.push(problem);
        }
    }

    fn last(key: &str) -> &str {
        key.rsplit('.').next().unwrap_or(key)
    }

    fn positive(&mut self, key: &str, value: f64, unit: &str, help: &str) -> bool {
        let good = value.is_finite() && value > 0.0;
        if !good {
            let name = Self::last(key);
            let blank = if unit.is_empty() { "" } else { " " };
            self.report(
                key,
                format!("`{name}` must be positive, found {value:?}{blank}{unit}"),
                help,
            );
        }
        good
    }

    fn not_negative(&mut self, key: &str, value: f64, unit: &str) {
        if !(value.is_finite() && value >= 0.0) {
            let name = Self::last(key);
            self.report(
                key,
                format!("`{name}` must be zero or positive, found {value:?} {unit}"),
                "",
            );
        }
    }

    fn finite(&mut self, key: &str, values: &[f64]) -> bool {
        let good = values.iter().all(|v| v.is_finite());
        if !good {
            let name = Self::last(key);
            self.report(key, format!("`{name}` must be finite, found {values:?}"), "");
        }
        good
    }

    fn shell(&mut self, shell: &Shell, at: &str) {
        let key = |name: &str| format!("{at}.{name}");
        self.positive(&key("thickness"), shell.thickness, "m", "in metres: cloth is about 0.5e-3");
        self.positive(
            &key("areal_density"),
            shell.areal_density,
            "kg/m²",
            "cloth is about 0.2 kg/m²",
        );
        if let Some(scale) = shell.scale {
            self.positive(&key("scale"), scale, "m", "0.01 for files in centimetres");
        }
        if let Some(damping) = shell.damping {
            self.not_negative(&key("damping"), damping, "s");
        }
        match &shell.mesh {
            MeshSource::File(path) if path.is_empty() => {
                self.report(&key("mesh"), "`mesh` is empty", "name a file or use { generate = … }");
            }
            MeshSource::File(_) => {}
            MeshSource::Generated(generator) => {
                if shell.scale.is_some() && !matches!(shell.rest, Some(Rest::File(_))) {
                    self.report(
                        &key("scale"),
                        "`scale` has no file to act on",
                        "give the sizes of the generated mesh in metres instead",
                    );
                }
                if shell.rest == Some(Rest::Uv) {
                    self.report(
                        &key("rest"),
                        "generated meshes have no texture coordinates",
                        "leave `rest` out: the generated shape is its own rest shape",
                    );
                }
                self.generator(generator, &key("mesh"));
            }
        }
        match &shell.material {
            Material::Koiter(koiter) => self.koiter(koiter, &key("material")),
            Material::DiscreteShells(m) => {
                let key = |name: &str| format!("{at}.material.{name}");
                self.positive(&key("k_length"), m.k_length, "N/m", "edges must resist stretching");
                self.not_negative(&key("k_area"), m.k_area, "N/m");
                self.not_negative(&key("k_bend"), m.k_bend, "N·m");
            }
        }
        if let Some(pins) = &shell.pins {
            if pins.vertices.is_empty() && pins.corners.is_none() && pins.group.is_none() {
                self.report(
                    &key("pins"),
                    "`pins` names nothing to hold",
                    "give vertices, box or group, or remove it",
                );
            }
            if let Some([low, high]) = pins.corners
                && self.finite(&key("pins.box[0]"), &low)
                && self.finite(&key("pins.box[1]"), &high)
            {
                for k in (0..3).filter(|&k| low[k] > high[k]) {
                    self.report(
                        &key("pins.box"),
                        format!(
                            "`box` is empty along {}: from {} to {}",
                            ["x", "y", "z"][k],
                            low[k],
                            high[k]
                        ),
                        "give the least corner first: [[x0, y0, z0], [x1, y1, z1]]",
                    );
                }
            }
        }
    }

    fn fibre(
        &mut self,
        at: &str,
        elements: Option<u32>,
        (bending, twisting, density): ([f64; 2], f64, f64),
        scale: Option<f64>,
    ) {
        let key = |name: &str| format!("{at}.{name}");
        if let Some(elements) = elements
            && !(1..=100_000).contains(&elements)
        {
            let message = format!("`elements` must be 1 to 100000, found {elements}");
            self.report(&key("elements"), message, "40 are plenty for most rods");
        }
        for (i, b) in bending.into_iter().enumerate() {
            let help = "E I of the cross-section; a hair has about 5e-9 N·m²";
            self.positive(&key(&format!("bending_stiffness[{i}]")), b, "N·m²", help);
        }
        let help = "G J of the cross-section; for a round one EI/(1 + ν)";
        self.positive(&key("twisting_stiffness"), twisting, "N·m²", help);
        self.positive(&key("linear_density"), density, "kg/m", "a hair has about 1e-5 kg/m");
        if let Some(scale) = scale {
            self.positive(&key("scale"), scale, "m", "0.01 for files in centimetres");
        }
    }

    fn rod(&mut self, rod: &RodTable, at: &str) {
        let key = |name: &str| format!("{at}.{name}");
        let section = (rod.bending_stiffness, rod.twisting_stiffness, rod.linear_density);
        self.fibre(at, rod.elements, section, rod.scale);
        if let Some(tolerance) = rod.tolerance {
            let help = "the thickness of the rod will do";
            self.positive(&key("tolerance"), tolerance, "m", help);
        }
        if let Some(length) = rod.length {
            self.positive(&key("length"), length, "m", "the length of the rod in metres");
        }
        if let Some(parent) = &rod.parent {
            let help = "0.5 is the middle of the other rod";
            match parent.at {
                Some(at) if !(0.0..=1.0).contains(&at) => {
                    let message = format!("`at` must lie in 0 to 1, found {at:?}");
                    self.report(&key("parent.at"), message, help);
                }
                None if rod.curve.is_none() => {
                    self.report(&key("parent"), "`at` is missing", help);
                }
                _ => {}
            }
            for (name, v) in [("d1", parent.d1), ("d2", parent.d2), ("d3", parent.d3)] {
                self.finite(&key(&format!("parent.{name}")), &v);
            }
            if rod.clamp.is_some() {
                let message = "a rod with a `parent` has no `clamp` of its own";
                self.report(&key("clamp"), message, "leave one of the two out");
            }
        }
        if rod.rest.is_some() && rod.curve.is_none() {
            let message = "`rest` is the second drawing of a rod with a `curve`";
            self.report(&key("rest"), message, "describe this one with `natural_curvature`");
        }
        if rod.rest.is_some() && rod.parent.is_some() {
            let message = "a drawn rod that grows from another has no `rest` of its own";
            self.report(&key("rest"), message, "leave `rest` or `parent` out");
        }
        if rod.curve.is_none() {
            let held = rod.clamp.is_some() || rod.parent.is_some();
            for (name, given) in [("length", rod.length.is_some()), ("clamp", held)] {
                if !given {
                    let help = "or give `curve`, a file with the shape, from which it follows";
                    self.report(at, format!("the rod has no `{name}`"), help);
                }
            }
        }
        if let Some(accuracy) = rod.accuracy {
            self.not_negative(&key("accuracy"), accuracy, "");
        }
        if let Some(radius) = rod.radius {
            self.positive(&key("radius"), radius, "m", "half the thickness of the rod");
        }
        for (name, value, unit) in [("noise", rod.noise, "m"), ("friction", rod.friction, "")] {
            value.into_iter().for_each(|v| self.not_negative(&key(name), v, unit));
        }
        if let Some(NaturalSource::Polynomials(natural)) = &rod.natural_curvature {
            for (name, list) in
                [("k1", &natural.k1), ("k2", &natural.k2), ("twist", &natural.twist)]
            {
                if list.len() > 21 {
                    let message = format!("{} coefficients, more than 21", list.len());
                    let help =
                        "natural curvature is a polynomial in arclength of degree 20 at most";
                    self.report(&key(&format!("natural_curvature.{name}")), message, help);
                }
                for (i, c) in list.iter().enumerate() {
                    self.finite(&key(&format!("natural_curvature.{name}[{i}]")), &[*c]);
                }
            }
        }
        if let Some(clamp) = &rod.clamp {
            let parts = [
                ("position", clamp.position),
                ("d1", clamp.d1),
                ("d2", clamp.d2),
                ("d3", clamp.d3),
            ];
            for (name, v) in parts {
                self.finite(&key(&format!("clamp.{name}")), &v);
            }
        }
    }

    fn koiter(&mut self, m: &Koiter, at: &str) {
        let key = |name: &str| format!("{at}.{name}");
        let nu = m.poisson;
        match m.young {
            Young::Isotropic(e) => {
                self.positive(
                    &key("young"),
                    e,
                    "Pa",
                    "Young's modulus in pascals, E h for cloth is about 100 to 1e5 N/m",
                );
                if !(nu > -1.0 && nu <= 0.5) {
                    self.report(
                        &key("poisson"),
                        format!("`poisson` must lie in (-1, 0.5], found {nu:?}"),
                        "cloth is about 0.3",
                    );
                }
                if m.shear.is_some() {
                    self.report(
                        &key("shear"),
                        "`shear` follows from young and poisson here",
                        "remove it, or give young = [E1, E2] for an orthotropic cloth",
                    );
                }
            }
            Young::Orthotropic([e1, e2]) => {
                let good =
                    self.positive(&key("young[0]"), e1, "Pa", "Young's modulus along the warp")
                        && self.positive(
                            &key("young[1]"),
                            e2,
                            "Pa",
                            "Young's modulus across the warp",
                        );
                // The stiffness is positive iff 1 − ν₁₂ ν₂₁ > 0 with ν₂₁ = ν₁₂ E₂ / E₁.
                let stable = nu * nu * e2 / e1 < 1.0; // false for NaN
                if good && !stable {
                    let most = (e1 / e2).sqrt();
                    self.report(
                        &key("poisson"),
                        format!("`poisson` must lie within ±√(E1/E2) = ±{most:.4}, found {nu:?}"),
                        "else the cloth would give energy when stretched",
                    );
                }
                match m.shear {
                    Some(g) => {
                        self.positive(&key("shear"), g, "Pa", "shear modulus of the cloth");
                    }
                    None => self.report(
                        at,
                        "an orthotropic `material` needs `shear`",
                        "add `shear = G` [Pa]; it does not follow from the other moduli",
                    ),
                }
                if m.membrane == Membrane::NeoHookean {
                    self.report(
                        &key("membrane"),
                        "an orthotropic membrane cannot be neo-hookean",
                        "use membrane = \"stvk\"",
                    );
                }
            }
        }
        if let Some(warp) = m.warp
            && self.finite(&key("warp"), &warp)
            && warp == [0.0; 3]
        {
            self.report(&key("warp"), "`warp` has no direction", "give a vector such as [1, 0, 0]");
        }
        match m.bending {
            None => {}
            Some(Bending::Isotropic(d)) => self.not_negative(&key("bending"), d, "N·m"),
            Some(Bending::Orthotropic([d1, d2, d12, shear])) => {
                for (i, d) in [(0, d1), (1, d2), (3, shear)] {
                    self.not_negative(&key(&format!("bending[{i}]")), d, "N·m");
                }
                let stable = d12 * d12 <= d1 * d2; // false for NaN
                if !stable {
                    self.report(
                        &key("bending[2]"),
                        format!("D12 must lie within ±√(D1 D2), found {d12:?} N·m"),
                        "else the cloth would give energy when bent",
                    );
                }
            }
        }
    }

    fn generator(&mut self, generator: &Generator, at: &str) {
        // Lengths by name, and counts by name with the least one that makes a mesh.
        let (lengths, counts): (Lengths, Counts) = match generator {
            Generator::Sheet(g) => (vec![("size", g.size)], vec![("n", g.n, 2), ("n", g.n, 2)]),
            Generator::Rectangle(g) => (
                vec![("width", g.width), ("height", g.height)],
                vec![("nx", g.nx, 1), ("ny", g.ny, 1)],
            ),
            Generator::Strip(g) => (
                vec![("length", g.length), ("width", g.width)],
                vec![("nx", g.nx, 1), ("ny", g.ny, 1)],
            ),
            // A disc has about 3 rings² vertices.
            Generator::Disc(g) => (
                vec![("radius", g.radius)],
                vec![("rings", g.rings, 1), ("rings", g.rings.saturating_mul(3), 3)],
            ),
            Generator::Annulus(g) => (
                vec![("inner_radius", g.inner_radius), ("outer_radius", g.outer_radius)],
                vec![("rings", g.rings, 1), ("around", g.around, 3)],
            ),
            Generator::Cylinder(g) => (
                vec![("radius", g.radius), ("height", g.height)],
                vec![("around", g.around, 3), ("along", g.along, 1)],
            ),
            Generator::Cone(g) => (
                vec![
                    ("bottom_radius", g.bottom_radius),
                    ("top_radius", g.top_radius),
                    ("height", g.height),
                ],
                vec![("around", g.around, 3), ("along", g.along, 1)],
            ),
            // 10 · 4ˢ + 2 vertices.
            Generator::Sphere(g) => (
                vec![("radius", g.radius)],
                vec![(
                    "subdivisions",
                    10u32.saturating_mul(4u32.saturating_pow(g.subdivisions)),
                    1,
                )],
            ),
        };
        for (name, value) in lengths {
            let key = format!("{at}.{name}");
            if self.positive(&key, value, "m", "sizes are in metres") && value > LONGEST {
                self.report(&key, format!("`{name}` is {value:e} m"), "sizes are in metres");
            }
        }
        if let Generator::Annulus(g) = generator
            && g.inner_radius >= g.outer_radius
        {
            self.report(
                &format!("{at}.inner_radius"),
                format!(
                    "`inner_radius` {} is not below `outer_radius` {}",
                    g.inner_radius, g.outer_radius
                ),
                "exchange them",
            );
        }
        let mut total = 1u64;
        let mut seen = "";
        for (name, count, least) in counts {
            total = total.saturating_mul(u64::from(count) + 1);
            if count < least && name != seen {
                self.report(
                    &format!("{at}.{name}"),
                    format!("`{name}` must be at least {least}, found {count}"),
                    "",
                );
            }
            seen = name;
        }
        if total > MOST_VERTICES {
            self.report(
                at,
                format!("about {total} vertices, more than {MOST_VERTICES}"),
                "use a coarser mesh",
            );
        }
    }
}
