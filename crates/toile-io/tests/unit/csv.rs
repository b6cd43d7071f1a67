use toile_io::csv_to;

#[test]
fn numbers_read_back_to_the_same_bits_and_words_are_quoted() {
    let v = 0.1 + 0.2;
    let rows = vec![vec![v.into(), 1e-300.into(), "a, \"b\"".into(), 3usize.into()]];
    let mut out = Vec::new();
    csv_to(&mut out, &["x", "tiny", "name", "n"], rows).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text, "x,tiny,name,n\n0.30000000000000004,1e-300,\"a, \"\"b\"\"\",3\n");
}

#[test]
fn a_ragged_row_is_refused() {
    let error = csv_to(Vec::new(), &["a", "b"], vec![vec![1.0.into()]]).unwrap_err();
    assert_eq!(error.to_string(), "row 0 has 1 cells for 2 columns");
}
