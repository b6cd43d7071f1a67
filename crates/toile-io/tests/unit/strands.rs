use toile_io::{StrandFormat, parse_strands, read_strands, write_strands};

fn some() -> Vec<Vec<[f64; 3]>> {
    let strand = |k: i32| (0..4).map(|i| [f64::from(k), 0.5 * f64::from(i), 0.25]).collect();
    (0..3).map(strand).collect()
}

#[test]
fn strands_come_back_as_written() {
    let folder = std::env::temp_dir().join(format!("toile-strands-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["a.obj", "a.ply", "a.hair", "a.tfx"] {
        let path = folder.join(name);
        write_strands(&path, &some()).unwrap();
        assert_eq!(read_strands(&path).unwrap().strands, some(), "{name}");
        // Cut anywhere it is refused or shorter, never a panic.
        let bytes = std::fs::read(&path).unwrap();
        let format = StrandFormat::from_path(&path).unwrap();
        for end in 0..bytes.len() {
            let _ = parse_strands(&bytes[..end], format);
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn edges_are_joined_to_strands() {
    let text = b"v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nl 1 2\nl 2 3\nl 4 5\n";
    let found = parse_strands(text, StrandFormat::Obj).unwrap();
    assert_eq!(found.strands.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2]);
}

#[test]
fn damage_is_told_in_words() {
    let text = |bytes: &[u8], format| parse_strands(bytes, format).unwrap_err().to_string();
    assert!(text(b"v 0 0 0\nl 1 7\n", StrandFormat::Obj).contains("`7` is no vertex"));
    assert!(text(b"v 0 nan 0\nv 1 1 1\n", StrandFormat::Obj).contains("not finite"));
    assert!(text(b"", StrandFormat::Obj).contains("no strand"));
    let mut huge = b"HAIR".to_vec();
    huge.extend([0xff; 124]);
    assert!(text(&huge, StrandFormat::Hair).contains("bytes"));
    assert!(text(&[0xff; 200], StrandFormat::Tfx).contains("strands of"));
    let ply = b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n";
    assert!(text(ply, StrandFormat::Ply).contains("strand number"));
}
