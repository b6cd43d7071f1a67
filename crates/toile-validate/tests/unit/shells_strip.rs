use toile_energy::ShellStiffness;
use toile_geometry::measure::NormalRule;
use toile_validate::shells::ClampedStrip;

fn strip(grading: f64) -> ClampedStrip {
    ClampedStrip {
        length: 2.0,
        width: 0.5,
        nx: 7,
        ny: 3,
        grading,
        stiffness: ShellStiffness::isotropic(1.0, 0.0, 0.1),
        normals: NormalRule::Tan,
        areal_density: 1.0,
    }
}

#[test]
fn cells_grow_by_the_grading_and_fill_the_length() {
    for grading in [0.25, 1.0, 4.0] {
        let s = strip(grading);
        let lengths: Vec<f64> = (1..=7).map(|i| s.column(i + 1) - s.column(i)).collect();
        assert!((lengths.iter().sum::<f64>() - 2.0).abs() < 1e-14);
        assert!((lengths[6] / lengths[0] - grading).abs() < 1e-12, "{lengths:?}");
        assert!((s.column(1) - s.column(0) - lengths[0]).abs() < 1e-14, "clamp column");
    }
}

#[test]
fn tip_shares_add_up_to_the_width() {
    let s = strip(1.0);
    let mesh = s.mesh();
    let tip = s.tip();
    assert!(tip.iter().all(|(v, _)| mesh.positions[*v as usize].x == 2.0));
    assert!((tip.iter().map(|t| t.1).sum::<f64>() - 0.5).abs() < 1e-15);
    assert_eq!(s.shell().pins.len(), 2 * 4);
}
