use toile_io::Object;

#[test]
fn numbers_survive_to_the_last_bit_and_keys_keep_their_order() {
    let none: Option<f64> = None;
    let made = Object::default().with("z", 0.1 + 0.2).with("a", none).with("m", "\"");
    assert_eq!(made.line(), r#"{"z": 0.30000000000000004, "a": null, "m": "\""}"#);
    assert_eq!(made.pretty().lines().count(), 5);
}
