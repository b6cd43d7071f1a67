use std::io;
use toile_io::{mdd_to, pc2_to};

fn moving(frame: usize) -> io::Result<Vec<[f64; 3]>> {
    let f = frame as f64;
    Ok(vec![[f, 0.5, -0.25], [1.0 + f, 2.0, 3.0]])
}

#[test]
fn pc2_has_its_header_and_every_point() {
    let mut out = Vec::new();
    pc2_to(&mut out, 2, 3, &mut moving).unwrap();
    assert_eq!(out.len(), 32 + 3 * 2 * 12);
    assert_eq!(&out[..12], b"POINTCACHE2\0");
    let word = |at: usize| <[u8; 4]>::try_from(&out[at..at + 4]).unwrap();
    assert_eq!(i32::from_le_bytes(word(16)), 2);
    assert_eq!(i32::from_le_bytes(word(28)), 3);
    assert_eq!(f32::from_le_bytes(word(32 + 24 + 12)), 2.0, "x of point 1 at frame 1");
}

#[test]
fn mdd_is_big_endian_with_times() {
    let mut out = Vec::new();
    mdd_to(&mut out, 2, &[0.0, 0.25], &mut moving).unwrap();
    assert_eq!(out.len(), 8 + 8 + 2 * 2 * 12);
    assert_eq!(&out[..8], &[0, 0, 0, 2, 0, 0, 0, 2]);
    assert_eq!(f32::from_be_bytes(out[12..16].try_into().unwrap()), 0.25);
    assert_eq!(f32::from_be_bytes(out[16 + 24..16 + 28].try_into().unwrap()), 1.0);
}

#[test]
fn frames_of_another_mesh_are_refused() {
    let mut frames = |frame: usize| Ok(vec![[0.0; 3]; 2 + frame]);
    let error = pc2_to(io::sink(), 2, 2, &mut frames).unwrap_err();
    assert!(error.to_string().contains("frame 1 has 3 vertices"), "{error}");
}
