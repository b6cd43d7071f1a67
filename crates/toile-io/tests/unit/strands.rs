use toile_io::{StrandFormat, parse_strands, read_strands, write_strands};

fn some() -> Vec<Vec<[f64; 3]>> {
    let strand = |k: i32| (0..4).map(|i| [f64::from(k), 0.5 * f64::from(i), 0.25]).collect();
    (0..3).map(strand).collect()
}

#[test]
fn strands_come_back_as_written() {
    let folder = std::env::temp_dir().join(format!("toile-strands-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["a.obj", "a.ply", "a.hair", "a.tfx", "a.usda"] {
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

/// Any numbers, in any format, come back to its precision: all of it in text, single otherwise.
#[test]
fn formats_keep_the_digits_they_have() {
    let folder = std::env::temp_dir().join(format!("toile-digits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut seed = 5u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * 10f64.powi((seed >> 60) as i32 - 8)
    };
    let mut strand = |points: usize| -> Vec<[f64; 3]> {
        (0..points).map(|_| std::array::from_fn(|_| random())).collect()
    };
    let uneven: Vec<Vec<[f64; 3]>> = (0..40).map(|i| strand(2 + i % 7)).collect();
    let even: Vec<Vec<[f64; 3]>> = (0..40).map(|_| strand(9)).collect();
    for (name, exact) in
        [("a.obj", true), ("a.ply", true), ("a.hair", false), ("a.tfx", false), ("a.usda", true)]
    {
        let all = if name == "a.tfx" { &even } else { &uneven };
        let path = folder.join(name);
        write_strands(&path, all).unwrap();
        let back = read_strands(&path).unwrap();
        assert!(back.notes.is_empty(), "{name}: {:?}", back.notes);
        let kept = |x: f64| if exact { x } else { f64::from(x as f32) };
        let expected: Vec<Vec<[f64; 3]>> =
            all.iter().map(|s| s.iter().map(|p| p.map(kept)).collect()).collect();
        assert_eq!(back.strands, expected, "{name}");
    }
    // What a format cannot hold is refused, and nothing is written.
    assert!(
        write_strands(folder.join("b.tfx"), &uneven).is_err() && !folder.join("b.tfx").exists()
    );
    assert!(
        write_strands(folder.join("b.hair"), &[vec![]]).is_err() && !folder.join("b.hair").exists()
    );
    assert!(write_strands(folder.join("b.abc"), &even).is_err());
    assert!(write_strands(folder.join("b.obj"), &[vec![[f64::NAN; 3]]]).is_err());
    let _ = std::fs::remove_dir_all(folder);
}

/// Cubic curves of USD are read as points on them; what is not read is told.
#[test]
fn curves_of_usd_are_read() {
    let stage = |attributes: &str, points: &str, counts: &str| {
        format!(
            "#usda 1.0\n(\n    metersPerUnit = 0.01 # centimetres\n)\ndef Xform \"head\"\n{{\n    def BasisCurves \"a # b\"\n    {{\n        {attributes}\n        \
             int[] curveVertexCounts = [{counts}]\n        point3f[] points = [{points}]\n    }}\n}}\n"
        )
    };
    let read = |text: &str| parse_strands(text.as_bytes(), StrandFormat::Usda);
    // A parabola is a Bézier curve, a B-spline and a Catmull–Rom curve alike, with other points.
    let height = |p: &[f64; 3]| (p[2] - p[0] * p[0]).abs();
    let bezier = "(0, 0, 0), (1, 0, 0), (2, 0, 3), (3, 0, 9)";
    let at = |x: f64, lift: f64| format!("({x}, 0, {})", x * x + lift);
    let line = |lift: f64| (-1..5).map(|i| at(f64::from(i), lift)).collect::<Vec<_>>().join(", ");
    for (basis, points, count, ends) in [
        ("bezier", bezier.to_string(), "4", (0.0, 3.0)),
        ("bspline", line(-1.0 / 3.0), "6", (0.0, 3.0)),
        ("catmullRom", line(0.0), "6", (0.0, 3.0)),
    ] {
        let attributes =
            format!("uniform token type = \"cubic\"\n        uniform token basis = \"{basis}\"");
        let found = read(&stage(&attributes, &points, count)).unwrap();
        let strand = &found.strands[0];
        assert!(strand.iter().all(|p| height(p) < 1e-12), "{basis}: {strand:?}");
        assert!((strand[0][0] - ends.0).abs() < 1e-12, "{basis}");
        assert!((strand[strand.len() - 1][0] - ends.1).abs() < 1e-12, "{basis}");
        assert!(found.notes.iter().any(|n| n.contains("0.01")), "{:?}", found.notes);
    }
    let linear = "uniform token type = \"linear\"";
    let found = read(&stage(linear, "(0,0,0),(1,0,0), (0, 1, 0),(1,1,0),(2,1,0)", "2, 3")).unwrap();
    assert_eq!(found.strands.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
    let told = |text: String| read(&text).unwrap_err().to_string();
    assert!(told(stage(linear, "(0,0,0),(1,0,0)", "3")).contains("3 points in all"));
    assert!(told(stage(linear, "(0,0,0),(1,x,0)", "2")).contains("`x`"));
    assert!(told("#usda 1.0\n".into()).contains("no strand"));
    assert!(told("PXR-USDC\0".into()).contains("binary"));
    assert!(told("#usda 1.0\ndef BasisCurves \"a\"\n{\n".into()).contains("do not end"));
}

/// A groom as programs of animation export it: centimetres, turned and placed by what holds it, here in every way there is.
#[test]
fn curves_of_usd_are_where_their_stage_puts_them() {
    let stage = |outer: &str, inner: &str| {
        format!(
            "#usda 1.0\ndef Xform \"other\"\n{{\n    double3 xformOp:translate = (9, 9, 9)\n    uniform token[] xformOpOrder = [\"xformOp:translate\"]\n}}\n\
             def Xform \"head\"\n{{\n    {outer}\n    def BasisCurves \"hair\"\n    {{\n        uniform token type = \"linear\"\n        {inner}\n        \
             int[] curveVertexCounts = [2]\n        point3f[] points = [(1, 0, 0), (1, 2, 3)]\n    }}\n    def Xform \"later\"\n    {{\n        \
             double3 xformOp:translate = (7, 7, 7)\n        uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    }}\n}}\n"
        )
    };
    let order = |names: &str| format!("uniform token[] xformOpOrder = [{names}]");
    let read = |outer: &str, inner: &str| {
        parse_strands(stage(outer, inner).as_bytes(), StrandFormat::Usda).unwrap()
    };
    let meets = |outer: &str, inner: &str, expected: [[f64; 3]; 2]| {
        let found = read(outer, inner);
        for (p, e) in found.strands[0].iter().zip(expected) {
            let off = (0..3).map(|k| (p[k] - e[k]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-12, "{outer}: {p:?} {e:?}");
        }
        found.notes
    };
    assert!(meets("", "", [[1.0, 0.0, 0.0], [1.0, 2.0, 3.0]]).is_empty());
    // Scaled, then turned about z by a quarter, then moved.
    let usual = format!(
        "double3 xformOp:translate = (10, 20, 30)\n    float3 xformOp:rotateXYZ = (0, 0, 90)\n    float3 xformOp:scale = (2, 2, 2)\n    {}",
        order("\"xformOp:translate\", \"xformOp:rotateXYZ\", \"xformOp:scale\"")
    );
    let there = [[10.0, 22.0, 30.0], [6.0, 22.0, 36.0]];
    assert!(meets(&usual, "", there)[0].contains("1 strand(s) are placed"));
    // The same as one matrix, whose rows multiply from the left; and as a quaternion.
    let matrix = format!(
        "matrix4d xformOp:transform = ( (0, 2, 0, 0), (-2, 0, 0, 0), (0, 0, 2, 0), (10, 20, 30, 1) )\n    {}",
        order("\"xformOp:transform\"")
    );
    meets(&matrix, "", there);
    let half = 0.5f64.sqrt();
    let quaternion = format!(
        "double3 xformOp:translate = (10, 20, 30)\n    quatf xformOp:orient = ({half:?}, 0, 0, {half:?})\n    float3 xformOp:scale = (2, 2, 2)\n    {}",
        order("\"xformOp:translate\", \"xformOp:orient\", \"xformOp:scale\"")
    );
    meets(&quaternion, "", there);
    // x turns first: (0, 2, 3) to (0, -3, 2); then z.
    let two =
        format!("float3 xformOp:rotateXYZ = (90, 0, 90)\n    {}", order("\"xformOp:rotateXYZ\""));
    meets(&two, "", [[0.0, 1.0, 0.0], [3.0, 1.0, 2.0]]);
    // What curves say of themselves comes before what holds them; a pivot is taken back.
    let own = format!("float3 xformOp:scale = (2, 2, 2)\n        {}", order("\"xformOp:scale\""));
    let moved =
        format!("double3 xformOp:translate = (1, 0, 0)\n    {}", order("\"xformOp:translate\""));
    meets(&moved, &own, [[3.0, 0.0, 0.0], [3.0, 4.0, 6.0]]);
    let pivot = format!(
        "double3 xformOp:translate:pivot = (1, 0, 0)\n    float xformOp:rotateZ = 180\n    {}",
        order(
            "\"xformOp:translate:pivot\", \"xformOp:rotateZ\", \"!invert!xformOp:translate:pivot\""
        )
    );
    meets(&pivot, "", [[1.0, 0.0, 0.0], [1.0, -2.0, 3.0]]);
    let reset = format!(
        "float3 xformOp:scale = (2, 2, 2)\n        {}",
        order("\"!resetXformStack!\", \"xformOp:scale\"")
    );
    meets(&moved, &reset, [[2.0, 0.0, 0.0], [2.0, 4.0, 6.0]]);
    // What moves is told by its name.
    let moving = format!(
        "double3 xformOp:translate.timeSamples = {{ 1: (1, 0, 0), 2: (2, 0, 0) }}\n    {}",
        order("\"xformOp:translate\"")
    );
    let notes = meets(&moving, "", [[1.0, 0.0, 0.0], [1.0, 2.0, 3.0]]);
    assert!(notes[0].contains("xformOp:translate"), "{notes:?}");
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
    assert!(text(b"v 0 1e300 0\nv 1 1 1\n", StrandFormat::Obj).contains("too far away"));
    let surface = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    assert!(text(surface, StrandFormat::Obj).contains("a surface of 1 faces"));
    assert!(text(b"", StrandFormat::Obj).contains("no strand"));
    let mut huge = b"HAIR".to_vec();
    huge.extend([0xff; 124]);
    assert!(text(&huge, StrandFormat::Hair).contains("bytes"));
    assert!(text(&[0xff; 200], StrandFormat::Tfx).contains("strands of"));
    let ply = b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n";
    assert!(text(ply, StrandFormat::Ply).contains("strand number"));
}
