use toile_contact::ContactKey;
use toile_io::internal::{checkpoint_text, checksum};
use toile_io::{CheckpointError, parse_checkpoint, read_checkpoint};
use toile_sim::dynamics::{Checkpoint, ContactStatus, Snapshot};

fn snapshot(time: f64) -> Snapshot {
    let values = |k: f64| (0..6).map(|i| (f64::from(i) + k).sin() * 1e-3).collect();
    Snapshot { time, high: values(time), low: values(1e-20), velocity: values(-0.0) }
}

fn example(before: bool) -> Checkpoint {
    let keys = [
        ContactKey::VertexCollider { vertex: 1, collider: 0 },
        ContactKey::FaceCollider { face: 7, collider: 2, feature: 3 },
        ContactKey::EdgeCollider { edge: 4, collider: 1, feature: 9 },
        ContactKey::VertexFace { vertex: 2, face: 8 },
        ContactKey::EdgeEdge { first: 5, second: 6 },
    ];
    let status = [ContactStatus::Open, ContactStatus::Stick, ContactStatus::Slip];
    let held = keys.iter().enumerate().map(|(i, key)| {
        let force = [0.1 * i as f64, -f64::MIN_POSITIVE / 4.0, 1.0 / 3.0];
        (*key, force, status[i % 3])
    });
    Checkpoint {
        now: snapshot(0.25),
        before: before.then(|| snapshot(0.24)),
        held: held.collect(),
        couplings: vec![[1, 0, 0], [5, 2, 17]],
    }
}

#[test]
fn checkpoints_come_back_to_the_bit() {
    for before in [true, false] {
        let given = example(before);
        let text = checkpoint_text(40, &given);
        let (step, back) = parse_checkpoint(text.as_bytes()).unwrap();
        assert_eq!(step, 40);
        // `==` takes −0 for 0; the text does not.
        assert_eq!(checkpoint_text(40, &back), text);
        assert_eq!(back, given);
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let text = checkpoint_text(40, &example(true));
    for end in 0..text.len() {
        let error = parse_checkpoint(&text.as_bytes()[..end]).unwrap_err();
        assert!(matches!(error, CheckpointError::Damaged { .. }), "{end}: {error}");
    }
}

#[test]
fn a_changed_character_is_noticed() {
    let text = checkpoint_text(40, &example(true));
    let title = text.find('\n').unwrap();
    for place in title + 1..text.len() {
        for with in [b'0', b'f', b' ', b'\n', 0xff] {
            let mut bytes = text.clone().into_bytes();
            if bytes[place] == with {
                continue;
            }
            bytes[place] = with;
            let error = parse_checkpoint(&bytes).unwrap_err();
            assert!(matches!(error, CheckpointError::Damaged { .. }), "{place}: {error}");
        }
    }
}

#[test]
fn sizes_that_do_not_fit_are_told_with_their_line() {
    // Wrong in content, right in checksum: written by a program with a fault.
    let signed = |text: &str| {
        let body = &text[..text.rfind("end ").unwrap()];
        format!("{body}end {:016x}\n", checksum(body.as_bytes()))
    };
    let text = checkpoint_text(40, &example(true));
    let cases = [
        (text.replacen("unknowns 6", "unknowns 7", 1), 5, "96 characters instead of 7"),
        (text.replacen("unknowns 6", "unknowns 99999999999999", 1), 5, "instead of"),
        (text.replacen("contacts 5", "contacts 6", 1), 19, "six words"),
        (text.replacen("contacts 5", "contacts 4", 1), 18, "`couplings` and a number"),
        (text.replacen("edge-edge", "edge-face", 1), 18, "no contact"),
        (text.replacen("state NOW", "state NEW", 1), 2, "missing"),
    ];
    for (bad, line, words) in cases {
        let error = parse_checkpoint(signed(&bad).as_bytes()).unwrap_err().to_string();
        let place = format!("input, line {line}: ");
        assert!(error.starts_with(&place) && error.contains(words), "{line} {words}: {error}");
    }
    let mut uneven = example(true);
    uneven.before.as_mut().unwrap().low.pop();
    assert!(parse_checkpoint(checkpoint_text(1, &uneven).as_bytes()).is_err());
    let mut uneven = example(true);
    let shorter = uneven.before.as_mut().unwrap();
    for values in [&mut shorter.high, &mut shorter.low, &mut shorter.velocity] {
        values.pop();
    }
    let error = parse_checkpoint(checkpoint_text(1, &uneven).as_bytes()).unwrap_err();
    assert!(error.to_string().contains("differ in size"), "{error}");
    let mut hot = example(false);
    hot.now.velocity[2] = f64::NAN;
    let error = parse_checkpoint(checkpoint_text(1, &hot).as_bytes()).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
}

#[test]
fn other_versions_and_other_files_are_named() {
    let text = checkpoint_text(40, &example(true)).replacen("checkpoint 3", "checkpoint 1", 1);
    let error = parse_checkpoint(text.as_bytes()).unwrap_err();
    assert!(matches!(error, CheckpointError::Version { found: 1, .. }), "{error}");
    for other in ["", "\n", "v 0 0 0\n", "toile checkpoint two\n"] {
        let error = parse_checkpoint(other.as_bytes()).unwrap_err();
        assert!(matches!(error, CheckpointError::Damaged { line: 1, .. }), "{error}");
    }
    let error = read_checkpoint("no/such/file").unwrap_err();
    assert!(matches!(error, CheckpointError::Unreadable { .. }), "{error}");
}
