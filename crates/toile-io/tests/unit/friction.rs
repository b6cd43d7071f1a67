use toile_io::{FrictionError, parse_friction, read_friction};

const BLOCK: &str = r#"{"n": 1, "mu": [0.5], "W": [[1,0,0],[0,1,0],[0,0,1]], "b": [-1, 2, 0]}"#;

#[test]
fn a_problem_alone_and_a_set_are_told_apart() {
    let alone = parse_friction(BLOCK.as_bytes()).unwrap();
    assert!(!alone.is_set && alone.problems[0].contacts() == 1);
    let set = format!(r#"{{"meta": {{}}, "problems": [{BLOCK}, {BLOCK}]}}"#);
    let set = parse_friction(set.as_bytes()).unwrap();
    assert!(set.is_set && set.problems[1].id == "1");
    let one = BLOCK.replace("[0.5]", "0.5").replace("\"n\": 1, ", "");
    assert_eq!(parse_friction(one.as_bytes()).unwrap().problems[0].mu, [0.5]);
    let plane = r#"{"dimension": 2, "mu": 1, "W": [[1, 0], [0, 1]], "b": [1, 0]}"#;
    assert_eq!(parse_friction(plane.as_bytes()).unwrap().problems[0].dimension, 2);
}

#[test]
fn what_is_wrong_is_said() {
    let said = |from: &str, to: &str| {
        let text = BLOCK.replace(from, to);
        assert_ne!(text, BLOCK);
        parse_friction(text.as_bytes()).unwrap_err().to_string()
    };
    for (from, to, words) in [
        ("\"n\": 1", "\"n\": 2", "n is 2 but b has 3 numbers"),
        ("[0.5]", "[-0.5]", "contact 0 has friction -0.5"),
        ("[0.5]", "[0.5, 0.5]", "mu has 2 numbers for 1 contacts"),
        ("[0,1,0]", "[0,1]", "row 1 of W has 2 numbers instead of 3"),
        ("[0,1,0]", "[7,1,0]", "W[1][0] = 7e0 but W[0][1] = 0e0"),
        ("[0,1,0]", "[0,-1,0]", "W[1][1] = -1e0 is negative"),
        (",[0,0,1]]", "]", "W has 2 rows"),
        ("-1, 2, 0", "-1, 2", "b has 2 numbers, no multiple of 3"),
        ("-1, 2, 0", "NaN, 2, 0", "expected value at line 1"),
        ("\"mu\": [0.5], ", "", "missing field `mu`"),
        ("\"n\": 1", "\"dimension\": 4", "dimension 4"),
    ] {
        let message = said(from, to);
        assert!(message.contains(words), "{to}: {message}");
    }
    for (text, words) in [
        (" \n", "the file is empty"),
        ("[]", "no object, but a list"),
        ("[0, 1, 3, 0.5, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 2, 3]]", "no object, but a list"),
        (r#"{"problems": []}"#, "the set has no problems"),
        (r#"{"problems": {}}"#, "\"problems\" is no list"),
        (r#"{"problems": [[]]}"#, "problem 0 of the set is no object"),
    ] {
        let message = parse_friction(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(words), "{text}: {message}");
    }
    assert!(matches!(read_friction("no such file"), Err(FrictionError::Unreadable { .. })));
}
