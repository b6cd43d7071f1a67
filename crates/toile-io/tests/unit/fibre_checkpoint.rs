use toile_io::internal::fibre_checkpoint_text as text;
use toile_io::parse_fibre_checkpoint;
use toile_rod::{FibreCheckpoint, FibreContactKey, FibreMoment, SurfacePart, Vec3};

#[test]
fn what_is_written_is_read_and_damage_is_told() {
    let v = |x: f64| Vec3::new(x, 0.1 * x, -x);
    let fibre = FibreMoment {
        q: vec![v(1.0), v(2.0)],
        rate: vec![v(3.0), v(1e-300)],
        clamp: std::array::from_fn(|i| v(i as f64)),
    };
    let checkpoint = FibreCheckpoint {
        time: 0.1,
        taken: 0.002,
        fibres: vec![fibre.clone(), fibre],
        forces: vec![
            (FibreContactKey::Collider { fibre: 1, point: 2, collider: 0 }, v(0.3)),
            (FibreContactKey::Fibres { first: (0, 1), second: (1, 1) }, v(0.7)),
            (FibreContactKey::Surface { fibre: (1, 3), part: SurfacePart::Vertex(4) }, v(0.8)),
            (FibreContactKey::Surface { fibre: (1, 3), part: SurfacePart::Edge(9) }, v(0.9)),
            (FibreContactKey::Surface { fibre: (1, 4), part: SurfacePart::Face(2) }, v(1.1)),
        ],
    };
    let written = text(7, &checkpoint);
    assert_eq!(parse_fibre_checkpoint(written.as_bytes()).unwrap(), (7, checkpoint));
    let changed = written.replace("step 7", "step 8");
    let error = parse_fibre_checkpoint(changed.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
    for end in 0..written.len() {
        assert!(parse_fibre_checkpoint(&written.as_bytes()[..end]).is_err());
    }
}
