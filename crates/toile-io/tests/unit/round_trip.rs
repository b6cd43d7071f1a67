//! What is written is read back: the same bits, the same order, the same names.

use std::collections::BTreeMap;
use toile_io::{
    Axes, GlbMesh, Group, MeshData, MeshFormat, ObjWriter, PlyWriter, Stitch, Up, glb_to, obj_to,
    parse_mesh, parse_stitches, ply_to, read_mesh, sniff_format, write_obj,
};

/// A 3 × 3 grid with numbers that need all their digits.
fn grid() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    for j in 0..3 {
        for i in 0..3 {
            let (x, y) = (f64::from(i) / 3.0, f64::from(j) * 0.1);
            positions.push([x, y, (x * y).sin() * 1e-9 - 0.7]);
        }
    }
    let mut faces = Vec::new();
    for j in 0..2 {
        for i in 0..2 {
            let a = 3 * j + i;
            faces.push([a, a + 1, a + 4]);
            faces.push([a, a + 4, a + 3]);
        }
    }
    (positions, faces)
}

fn waist() -> BTreeMap<String, Group> {
    let group = Group { vertices: vec![6, 7, 8], faces: vec![] };
    BTreeMap::from([("waist".to_string(), group)])
}

#[test]
fn obj_keeps_bits_order_seams_and_groups() {
    let (positions, faces) = grid();
    let uvs: Vec<[f64; 2]> = (0..12).map(|i| [f64::from(i) / 7.0, 0.1]).collect();
    let face_uvs: Vec<[u32; 3]> = (0..8).map(|i| [i, i + 1, i + 4]).collect();
    let groups = waist();
    let extras = ObjWriter {
        uvs: &uvs,
        face_uvs: Some(&face_uvs),
        groups: Some(&groups),
        comment: Some("a sheet\\"),
    };
    let mut out = Vec::new();
    obj_to(&mut out, &positions, &faces, &extras).unwrap();
    let read = parse_mesh(&out, MeshFormat::Obj).unwrap();
    assert_eq!(read.positions, positions);
    assert_eq!(read.faces, faces);
    assert_eq!(read.uvs, uvs);
    assert_eq!(read.face_uvs.unwrap(), face_uvs);
    assert_eq!(read.groups, groups);
    assert!(read.notes.is_empty(), "{:?}", read.notes);
}

#[test]
fn ply_keeps_bits_fields_and_groups() {
    let (positions, faces) = grid();
    let stretch: Vec<f64> = (0..9).map(|i| 1.0 + f64::from(i) / 3.0).collect();
    let groups = waist();
    let extras =
        PlyWriter { fields: &[("stretch", &stretch)], groups: Some(&groups), comment: None };
    let mut out = Vec::new();
    ply_to(&mut out, &positions, &faces, &extras).unwrap();
    assert_eq!(sniff_format(&out), Some(MeshFormat::Ply));
    let read = parse_mesh(&out, MeshFormat::Ply).unwrap();
    assert_eq!(read.positions, positions);
    assert_eq!(read.faces, faces);
    assert_eq!(read.fields["stretch"], stretch);
    assert_eq!(read.groups, groups);
}

#[test]
fn the_three_encodings_of_ply_agree() {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n\
             property float y\nproperty double z\nproperty uchar red\nproperty short group_top\n\
             element face 1\nproperty uchar flags\nproperty list uchar uint vertex_index\n\
             element edge 1\nproperty int a\nproperty int b\nend_header\n"
        )
    };
    let rows = [
        (0.5f32, 0.0f32, 0.1f64, 255u8, 0i16),
        (1.0, 0.0, 0.2, 1, 0),
        (1.0, 1.0, 0.3, 2, -1),
        (0.0, 1.0, 0.4, 3, 7),
    ];
    let mut ascii = header("ascii").into_bytes();
    let mut little = header("binary_little_endian").into_bytes();
    let mut big = header("binary_big_endian").into_bytes();
    for (x, y, z, r, g) in rows {
        ascii.extend(format!("{x} {y}\t{z} {r} {g}\r\n").bytes());
        little.extend(x.to_le_bytes());
        little.extend(y.to_le_bytes());
        little.extend(z.to_le_bytes());
        little.push(r);
        little.extend(g.to_le_bytes());
        big.extend(x.to_be_bytes());
        big.extend(y.to_be_bytes());
        big.extend(z.to_be_bytes());
        big.push(r);
        big.extend(g.to_be_bytes());
    }
    ascii.extend(b"9 4 0 1 2 3\n0 1\n");
    little.extend([9, 4]);
    big.extend([9, 4]);
    for i in 0..4u32 {
        little.extend(i.to_le_bytes());
        big.extend(i.to_be_bytes());
    }
    little.extend([0; 8]);
    big.extend([0; 8]);
    let read: Vec<MeshData> = [ascii, little, big]
        .iter()
        .map(|bytes| parse_mesh(bytes, MeshFormat::Ply).unwrap())
        .collect();
    assert_eq!(read[0], read[1]);
    assert_eq!(read[0], read[2]);
    assert_eq!(read[0].positions[0], [0.5, 0.0, 0.1]);
    assert_eq!(read[0].faces, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(read[0].groups["top"].vertices, [2, 3]);
    assert_eq!(read[0].fields["red"], [255.0, 1.0, 2.0, 3.0]);
    assert_eq!(
        read[0].notes,
        [
            "1 of element `edge` were passed over",
            "1 polygons were cut into triangles, as fans from their first corner"
        ]
    );
}

#[test]
fn ply_texture_coordinates_per_corner_make_a_seam() {
    let text = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
                property float z\nelement face 2\nproperty list uchar int vertex_indices\n\
                property list uchar float texcoord\nend_header\n\
                0 0 0\n1 0 0\n1 1 0\n0 1 0\n\
                3 0 1 2 6 0 0 1 0 1 1\n3 0 2 3 6 5 5 1 1 0 1\n";
    let read = parse_mesh(text.as_bytes(), MeshFormat::Ply).unwrap();
    assert_eq!(read.positions.len(), 4);
    // Vertex 0 lies on the seam with two coordinates, vertex 2 has one for both faces.
    assert_eq!(read.uvs.len(), 5);
    let face_uvs = read.face_uvs.unwrap();
    assert_ne!(face_uvs[0][0], face_uvs[1][0]);
    assert_eq!(face_uvs[0][2], face_uvs[1][1]);
    assert_eq!(read.uvs[face_uvs[1][0] as usize], [5.0, 5.0]);
}

#[test]
fn stl_corners_are_joined_exactly_in_both_encodings() {
    let ascii = "solid front side\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
                 vertex 1 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex -0.0 0 0\n\
                 vertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid front side\n";
    let triangles = [
        [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]],
        [[-0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
    ];
    // A binary header may say "solid" as well.
    let mut binary = b"solid but binary".to_vec();
    binary.resize(80, b' ');
    binary.extend(2u32.to_le_bytes());
    for triangle in triangles {
        binary.extend([0; 12]);
        for v in triangle.iter().flatten() {
            binary.extend(v.to_le_bytes());
        }
        binary.extend([0; 2]);
    }
    for bytes in [ascii.as_bytes(), &binary] {
        assert_eq!(sniff_format(bytes), Some(MeshFormat::Stl));
        let read = parse_mesh(bytes, MeshFormat::Stl).unwrap();
        assert_eq!(read.positions.len(), 4);
        assert_eq!(read.faces, [[0, 1, 2], [0, 2, 3]]);
    }
    binary.extend(b"tail");
    let read = parse_mesh(&binary, MeshFormat::Stl).unwrap();
    assert_eq!(read.notes, ["4 bytes after the last triangle were passed over"]);
    let read = parse_mesh(ascii.as_bytes(), MeshFormat::Stl).unwrap();
    assert_eq!(read.groups["front side"].vertices, [0, 1, 2, 3]);
}

#[test]
fn glb_keeps_names_and_single_precision() {
    let (positions, faces) = grid();
    let colors = vec![[1.0, 0.5, 0.0, 1.0]; 9];
    let triangle = [[0.0, 0.0, 5.0], [1.0, 0.0, 5.0], [0.0, 1.0, 5.0]];
    let meshes = [
        GlbMesh { name: "sheet", positions: &positions, faces: &faces, colors: Some(&colors) },
        GlbMesh { name: "flag", positions: &triangle, faces: &[[0, 1, 2]], colors: None },
    ];
    let mut out = Vec::new();
    glb_to(&mut out, &meshes).unwrap();
    assert_eq!(out.len() % 4, 0);
    assert_eq!(out.len(), u32::from_le_bytes(out[8..12].try_into().unwrap()) as usize);
    let read = parse_mesh(&out, MeshFormat::Gltf).unwrap();
    let single: Vec<[f64; 3]> =
        positions.iter().chain(&triangle).map(|p| p.map(|v| f64::from(v as f32))).collect();
    assert_eq!(read.positions, single);
    assert_eq!(read.faces[..8], faces[..]);
    assert_eq!(read.faces[8], [9, 10, 11]);
    assert_eq!(read.groups["flag"].vertices, [9, 10, 11]);
    assert_eq!(read.groups["sheet"].faces.len(), 8);
    // The bounds in the header are those of the stored floats, as validators check.
    let length = u32::from_le_bytes(out[12..16].try_into().unwrap()) as usize;
    let json: serde_json::Value = serde_json::from_slice(&out[20..20 + length]).unwrap();
    let least = single[..9].iter().map(|p| p[2]).fold(f64::INFINITY, f64::min);
    assert_eq!(json["accessors"][0]["min"][2].as_f64().unwrap(), least);
    for view in json["bufferViews"].as_array().unwrap() {
        assert_eq!(view["byteOffset"].as_u64().unwrap() % 4, 0);
    }
}

/// A glTF in JSON: a square whose vertices are split along a texture seam, placed twice.
fn gltf(uri: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"children":[1,2],"translation":[0,0,10],"scale":[2,2,2]}},
                 {{"mesh":0,"name":"left"}},
                 {{"mesh":0,"name":"right","scale":[-1,1,1],"rotation":[0,0,0.7071067811865476,0.7071067811865476]}}],
        "meshes":[{{"name":"panel","primitives":[{{"attributes":{{"POSITION":0,"TEXCOORD_0":1}},"indices":2}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":6,"type":"VEC3"}},
                     {{"bufferView":1,"componentType":5121,"normalized":true,"count":6,"type":"VEC2"}},
                     {{"bufferView":2,"componentType":5123,"count":6,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":96,"byteStride":16}},
                       {{"buffer":0,"byteOffset":96,"byteLength":24,"byteStride":4}},
                       {{"buffer":0,"byteOffset":120,"byteLength":12}}],
        "buffers":[{{"byteLength":132,"uri":"{uri}"}}]}}"#
    )
}

fn gltf_buffer() -> Vec<u8> {
    let mut data = Vec::new();
    let corners = [[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]];
    for [x, y] in corners {
        for v in [x as f32, y as f32, 0.0, f32::NAN] {
            data.extend(v.to_le_bytes()); // the fourth word is padding
        }
    }
    for (i, [x, y]) in corners.iter().enumerate() {
        // The second triangle has coordinates of its own: a seam along the diagonal.
        let shift = if i < 3 { 0 } else { 51 };
        data.extend([(x * 102 + shift) as u8, (y * 102) as u8, 0, 0]);
    }
    for i in 0..6u16 {
        data.extend(i.to_le_bytes());
    }
    data
}

/// Base64 by its definition, six bits at a time.
fn base64(data: &[u8]) -> String {
    let letters: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let bits: Vec<u8> = data.iter().flat_map(|b| (0..8).rev().map(move |i| b >> i & 1)).collect();
    let mut text: String = bits
        .chunks(6)
        .map(|c| letters[c.iter().fold(0, |w, b| 2 * w + *b as usize) << (6 - c.len())])
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

#[test]
fn gltf_joins_split_vertices_and_applies_nodes() {
    let uri = format!("data:application/octet-stream;base64,{}", base64(&gltf_buffer()));
    let read = parse_mesh(gltf(&uri).as_bytes(), MeshFormat::Gltf).unwrap();
    assert_eq!(read.positions.len(), 8, "4 joined vertices for each of 2 instances");
    assert_eq!(read.positions[2], [2.0, 2.0, 10.0]);
    assert_eq!(read.faces[..2], [[0, 1, 2], [0, 2, 3]]);
    // Mirrored and turned by a quarter: (1, 0) goes to (0, -1), and the front stays in front.
    let p = read.positions[5];
    assert!((p[0]).abs() < 1e-15 && (p[1] + 2.0).abs() < 1e-15, "{p:?}");
    assert_eq!(read.faces[2], [4, 6, 5]);
    let normal_z = |f: [u32; 3]| {
        let [a, b, c] = f.map(|i| read.positions[i as usize]);
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    assert!(normal_z(read.faces[0]) > 0.0 && normal_z(read.faces[2]) > 0.0);
    let uvs = read.face_uvs.as_ref().unwrap();
    assert_ne!(uvs[0][0], uvs[1][0], "both sides of the seam");
    assert_eq!(read.uvs[uvs[0][1] as usize], [0.4, 1.0]);
    assert_eq!(read.groups["panel"].faces, [0, 1, 2, 3]);
    assert_eq!(read.groups["right"].vertices, [4, 5, 6, 7]);
    assert_eq!(read.notes, ["4 vertices were joined to others at the same position"]);
}

#[test]
fn gltf_buffers_are_found_beside_the_file_and_nowhere_else() {
    let folder = std::env::temp_dir().join(format!("toile-gltf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("my data.bin"), gltf_buffer()).unwrap();
    let path = folder.join("panel.gltf");
    std::fs::write(&path, gltf("my%20data.bin")).unwrap();
    assert_eq!(read_mesh(&path).unwrap().positions.len(), 8);
    for uri in ["../secret.bin", "/etc/passwd", "file:///etc/passwd", "a//b", "%2e%2e/x"] {
        std::fs::write(&path, gltf(uri)).unwrap();
        let error = read_mesh(&path).unwrap_err().to_string();
        assert!(error.contains("leads outside the folder"), "{error}");
    }
    let error = parse_mesh(gltf("my.bin").as_bytes(), MeshFormat::Gltf).unwrap_err();
    assert_eq!(
        error.to_string(),
        "input, buffers[0]: the data lies in another file, \"my.bin\"; \
         keep the .bin file beside the .gltf, or export as GLB"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn obj_understands_polygons_negative_indices_continuations_and_groups() {
    let text = "# a comment\nmtllib x.mtl\no My Dress\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\\\n\nv 0 1 \\\n 0\n\
                vt 0 0\nvt 1\nvt 1 1 0\nvt 0 1\ng front waist # two names\nf 1/1/1 2/2 3/3 -1/-1\n\
                g back\nf 1/1 3/3 4/4\ng waist\np 2\nl 1 2\n";
    let read = parse_mesh(text.as_bytes(), MeshFormat::Obj).unwrap();
    assert_eq!(read.positions[3], [0.0, 1.0, 0.0]);
    assert_eq!(read.faces, [[0, 1, 2], [0, 2, 3], [0, 2, 3]]);
    assert_eq!(read.face_uvs.unwrap()[1], [0, 2, 3]);
    assert_eq!(read.uvs[1], [1.0, 0.0]);
    assert_eq!(read.groups["front"].faces, [0, 1]);
    assert_eq!(read.groups["back"].vertices, [0, 2, 3]);
    assert_eq!(read.groups["waist"].vertices, [0, 1, 2, 3]);
    assert_eq!(read.groups["My Dress"].faces, [0, 1, 2]);
    assert_eq!(
        read.notes,
        [
            "1 polygons were cut into triangles, as fans from their first corner",
            "1 lines starting with `l` were passed over"
        ]
    );
}

#[test]
fn obj_vertices_are_not_doubled_along_a_texture_seam() {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 5 5\nvt 6 6\nvt 5 6\n\
                f 1/1 2/2 3/3\nf 1/4 3/5 4/6\n";
    let read = parse_mesh(text.as_bytes(), MeshFormat::Obj).unwrap();
    assert_eq!(read.positions.len(), 4);
    assert_eq!(read.faces, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(read.face_uvs.unwrap(), [[0, 1, 2], [3, 4, 5]]);
}

#[test]
fn stitches_are_kept_as_written() {
    let text = b"stitch 12 3 4 0.25\n# sewn\nstitch 13 4 5 1\n";
    let expected = [
        Stitch { vertex: 12, edge: [3, 4], weight: 0.25 },
        Stitch { vertex: 13, edge: [4, 5], weight: 1.0 },
    ];
    assert_eq!(parse_stitches(text).unwrap(), expected);
}

#[test]
fn a_lying_extension_is_seen_through() {
    let (positions, faces) = grid();
    let path = std::env::temp_dir().join(format!("toile-lie-{}.stl", std::process::id()));
    write_obj(&path, &positions, &faces, &ObjWriter::default()).unwrap();
    let read = read_mesh(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.faces, faces);
    assert_eq!(read.notes, ["the name says STL, but the content is OBJ: read as OBJ"]);
}

#[test]
fn centimetres_and_y_up_come_back_as_they_were() {
    let axes = Axes { up: Up::Y, scale: 0.01 };
    let text = "v 10 170.5 -3\nv 11 170.5 -3\nv 10 172.5 -3\nf 1 2 3\n";
    let read = parse_mesh(text.as_bytes(), MeshFormat::Obj).unwrap();
    let inside = axes.all_to_internal(&read.positions);
    assert!((inside[2][2] - 1.725).abs() < 1e-15, "up is z inside: {:?}", inside[2]);
    let mut out = Vec::new();
    obj_to(&mut out, &axes.all_to_file(&inside), &read.faces, &ObjWriter::default()).unwrap();
    let back = parse_mesh(&out, MeshFormat::Obj).unwrap();
    for (a, b) in read.positions.iter().flatten().zip(back.positions.iter().flatten()) {
        assert!((a - b).abs() <= 2e-16 * a.abs(), "{a} became {b}");
    }
}
