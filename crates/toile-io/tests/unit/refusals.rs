//! Bad meshes are refused with a message that says what, where, how much and what to do.

use toile_io::{
    GlbMesh, MeshFormat, ObjWriter, glb_to, obj_to, parse_mesh, parse_stitches, read_mesh,
};

fn refusal(bytes: impl AsRef<[u8]>, format: MeshFormat) -> String {
    parse_mesh(bytes.as_ref(), format).unwrap_err().to_string()
}

#[test]
fn obj_refusals_name_line_and_remedy() {
    for (text, expected) in [
        (
            "v 0 0 0\nv 1 0 zero\n",
            "input, line 2: `zero` is not a finite number; write coordinates like -1.25e-3",
        ),
        (
            "v 0 0 1e999\n",
            "input, line 1: `1e999` is not a finite number; write coordinates like -1.25e-3",
        ),
        ("v 0 0\n", "input, line 1: vertex with 2 coordinates; a vertex is `v x y z`"),
        (
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
            "input, line 4: vertex 9 is used, but the file has 3; \
             the file is cut short or damaged; export it again",
        ),
        ("v 0 0 0\nf 0 1 2\n", "input, line 2: vertex index `0` is zero; OBJ counts from 1"),
        (
            "v 0 0 0\nf -2 1 1\n",
            "input, line 2: vertex index `-2` goes back beyond the first of 1; \
             negative indices count back from the last one defined",
        ),
        (
            "v 0 0 0\nf 1 1 99999999999\n",
            "input, line 2: vertex index `99999999999` is beyond what a mesh can hold; \
             the file is damaged; export it again",
        ),
        (
            "v 0 0 0\nf 1 1\n",
            "input, line 2: face with 2 corners; a face needs three or more; remove it",
        ),
        (
            "v 0 0 0\n",
            "input: no faces (1 vertices); export the surface as triangles, not as points or curves",
        ),
    ] {
        assert_eq!(refusal(text, MeshFormat::Obj), expected);
    }
    let error = parse_stitches(b"stitch 1 2 3 1.5\n").unwrap_err().to_string();
    assert_eq!(
        error,
        "input, line 1: stitch weight 1.5 outside 0..1; a stitch is `stitch i a b w`: \
         vertex i meets (1 − w) a + w b, 0 ≤ w ≤ 1"
    );
}

#[test]
fn headers_that_promise_too_much_are_refused_before_anything_is_reserved() {
    let ply = "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\n\
               property float y\nproperty float z\nend_header\nshort";
    assert_eq!(
        refusal(ply, MeshFormat::Ply),
        "input, line 3: the header promises 4000000000 of `vertex` (at least 48000000000 bytes), \
         but 5 bytes are left; the file is cut short or damaged; export it again"
    );
    let list = "ply\nformat binary_little_endian 1.0\nelement face 1\n\
                property list uint int vertex_indices\nend_header\n\u{7f}\u{7f}\u{7f}\u{7f}";
    assert_eq!(
        refusal(list, MeshFormat::Ply),
        "input, byte 100: a list of 2139062143 items, but 0 bytes are left; \
         the file is cut short or damaged; export it again"
    );
    let mut stl = vec![0; 84];
    stl[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        refusal(&stl, MeshFormat::Stl),
        "input, byte 80: the header promises 4294967295 triangles (214748364750 bytes), but 0 bytes \
         follow; the file is cut short or damaged; export it again"
    );
    let gltf = r#"{"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":900000,"type":"VEC3"}],
        "bufferViews":[{"buffer":0,"byteLength":12}],
        "buffers":[{"byteLength":12,"uri":"data:;base64,AAAAAAAAAAAAAAAA"}]}"#;
    assert_eq!(
        refusal(gltf, MeshFormat::Gltf),
        "input, accessors[0]: 900000 items of 12 bytes every 12 from byte 0 do not fit a view of 12 \
         bytes at 0 of a buffer of 12; the file is damaged; export it again"
    );
}

#[test]
fn gltf_instances_cannot_multiply_without_bound() {
    // 4 kB of data drawn by 3000 nodes would be a million triangles.
    let nodes: Vec<String> = (0..3000).map(|_| r#"{"mesh":0}"#.to_string()).collect();
    let zeros = "A".repeat(4 * 1200);
    let gltf = format!(
        r#"{{"nodes":[{}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":300,"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":3600}}],
        "buffers":[{{"byteLength":3600,"uri":"data:;base64,{zeros}"}}]}}"#,
        nodes.join(",")
    );
    let error = refusal(gltf, MeshFormat::Gltf);
    assert!(error.contains("unroll to far more triangles than the file holds"), "{error}");
}

#[test]
fn gltf_nodes_in_a_circle_are_refused() {
    let gltf = r#"{"scenes":[{"nodes":[0]}],"nodes":[{"children":[1]},{"children":[0]}]}"#;
    assert_eq!(
        refusal(gltf, MeshFormat::Gltf),
        "input, nodes[0]: is reached twice; nodes must form a tree; the file is damaged; export it again"
    );
}

#[test]
fn compressed_gltf_says_how_to_export() {
    let gltf = r#"{"extensionsRequired":["KHR_draco_mesh_compression"]}"#;
    assert_eq!(
        refusal(gltf, MeshFormat::Gltf),
        "input, extensionsRequired: needs the extension `KHR_draco_mesh_compression`; \
         export without mesh compression and quantisation"
    );
}

#[test]
fn stl_and_ply_refusals_point_at_the_line() {
    assert_eq!(
        refusal("solid\nfacet\nouter loop\nvertex 0 0 x\n", MeshFormat::Stl),
        "input, line 4: `x` is not a finite number; triangles are `facet normal … outer loop`, \
         three `vertex x y z`, `endloop endfacet`"
    );
    let ply = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
               property float z\nend_header\n0 0 nan\n";
    assert_eq!(
        refusal(ply, MeshFormat::Ply),
        "input, line 8: position of vertex 0 is not finite: [0.0, 0.0, NaN]; \
         the file is damaged or its maker failed; export it again"
    );
    let ply = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
               property float z\nelement face 1\nproperty list uchar int vertex_indices\n\
               end_header\n0 0 0\n3 0 0 1\n";
    assert_eq!(
        refusal(ply, MeshFormat::Ply),
        "input, line 10: face 0 uses vertex 1, but the file has 1 vertices; \
         the file is cut short or damaged; export it again"
    );
}

#[test]
fn files_that_cannot_be_read_say_so() {
    let error = read_mesh("no/such/dress.obj").unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot read no/such/dress.obj: No such file or directory (os error 2); \
         check the name and the folder"
    );
    let folder = std::env::temp_dir();
    let error = read_mesh(&folder).unwrap_err().to_string();
    assert_eq!(error, format!("{}: not a regular file; give the path of a file", folder.display()));
}

#[test]
fn writers_refuse_what_readers_would() {
    let nan = [[0.0, f64::NAN, 0.0]];
    let error = obj_to(Vec::new(), &nan, &[], &ObjWriter::default()).unwrap_err();
    assert_eq!(error.to_string(), "vertex 0 is not finite: [0.0, NaN, 0.0]");
    let mesh = |positions, faces| GlbMesh { name: "a", positions, faces, colors: None };
    let error = glb_to(Vec::new(), &[mesh(&[[1e300, 0.0, 0.0]], &[[0, 0, 0]])]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "vertex 0 of `a` does not fit single precision: [1e300, 0.0, 0.0]"
    );
    let error = glb_to(Vec::new(), &[mesh(&[[0.0; 3]], &[[0, 0, 1]])]).unwrap_err();
    assert_eq!(error.to_string(), "a face of `a` uses vertex 1 of 1");
}
