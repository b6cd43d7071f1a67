use toile_energy::EdgeStretch;
use toile_num::Vector;
use toile_sim::{Model, ModelBuilder, PathSettings, Role, trace};

/// Two bars from the supports at ±1 to an apex at height `h`, pushed down by a unit force.
fn truss(h: f64) -> (Model, u32) {
    let mut builder = ModelBuilder::new();
    let at = |x: f64, z: f64| Vector::<3>::new(x, 0.0, z);
    let left = builder.vertex(at(-1.0, 0.0), at(-1.0, 0.0));
    let right = builder.vertex(at(1.0, 0.0), at(1.0, 0.0));
    let apex = builder.vertex(at(0.0, h), at(0.0, h));
    builder.fix(left);
    builder.fix(right);
    builder.fix_axes(apex, [true, true, false]);
    let bar = EdgeStretch { stiffness: 1.0 };
    builder.add::<_, 6, 2>(Role::Elastic, vec![bar; 2], vec![[left, apex], [right, apex]]);
    let mut model = builder.build().unwrap();
    let unknown = model.unknown(apex) + 2;
    model.external_mut()[unknown] = -1.0;
    model.set_load(0.0);
    (model, apex)
}

#[test]
fn arc_length_passes_the_snap_of_a_shallow_truss() {
    let h = 0.2;
    let (mut model, apex) = truss(h);
    let start = model.start().clone();
    let settings = PathSettings { longest_step: 0.02, ..PathSettings::default() };
    let mut passed_limit = false;
    let i = model.unknown(apex) + 2;
    let points = trace(&mut model, &start, &settings, |p| {
        passed_limit |= p.inertia.negative > 0;
        !(passed_limit && p.load > 0.01)
    })
    .unwrap();
    // P(z) = 2 k (L̄ − L)/L̄ · z/L exactly, on every point of the path.
    let rest = (1.0 + h * h).sqrt();
    for point in &points {
        let z = point.state.coordinates()[i];
        let length = (1.0 + z * z).sqrt();
        let exact = 2.0 * (rest - length) / rest * z / length;
        assert!((point.load - exact).abs() < 1e-9, "{} at {z}, exact {exact}", point.load);
    }
    assert!(passed_limit, "the path must cross the unstable part");
    let last = points.last().unwrap();
    assert!(last.state.coordinates()[i] < -h && last.inertia.negative == 0);
    // The snap is antisymmetric: it falls as far below zero as it rose above.
    let above = points.iter().filter(|p| p.state.coordinates()[i] > 0.0);
    let highest = above.map(|p| p.load).fold(0.0, f64::max);
    let lowest = points.iter().map(|p| p.load).fold(0.0, f64::min);
    assert!(highest > 0.0 && (highest + lowest).abs() < 0.05 * highest, "{highest} {lowest}");
}
