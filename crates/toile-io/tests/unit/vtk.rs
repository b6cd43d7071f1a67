use toile_io::vtp_to;

/// Content of the array called `name`, as its 8-byte words after the length.
fn words(text: &str, name: &str) -> Vec<[u8; 8]> {
    let tag = text.find(&format!("Name=\"{name}\"")).unwrap();
    let content = &text[tag..][text[tag..].find('>').unwrap() + 1..];
    let data = crate::base64::decode(&content[..content.find('<').unwrap()]).unwrap();
    let words: Vec<[u8; 8]> = data.chunks(8).map(|w| w.try_into().unwrap()).collect();
    assert_eq!(u64::from_le_bytes(words[0]) as usize, data.len() - 8);
    words[1..].to_vec()
}

#[test]
fn arrays_carry_every_bit_and_their_length() {
    let positions = [[0.1, 0.2, 0.3], [1.0, 0.0, -1e-300], [0.0, 1.0, 0.0]];
    let stretch = [1.0, f64::NAN, 3.0];
    let mut out = Vec::new();
    vtp_to(&mut out, &positions, &[[0, 1, 2]], &[("a<b", &stretch)]).unwrap();
    let text = String::from_utf8(out).unwrap();
    let points: Vec<f64> = words(&text, "Points").into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(points, positions.concat());
    let field = words(&text, "a&lt;b");
    assert_eq!(field[2], 3.0f64.to_le_bytes());
    assert!(f64::from_le_bytes(field[1]).is_nan());
    let ints =
        |name| -> Vec<i64> { words(&text, name).into_iter().map(i64::from_le_bytes).collect() };
    assert_eq!(ints("connectivity"), [0, 1, 2]);
    assert_eq!(ints("offsets"), [3]);
}

#[test]
fn a_field_of_another_length_is_refused() {
    let error = vtp_to(Vec::new(), &[[0.0; 3]], &[], &[("t", &[1.0, 2.0])]).unwrap_err();
    assert_eq!(error.to_string(), "field `t` has 2 values for 1 vertices");
}
