//! Damaged files, made from whole ones by a fixed sequence of random numbers.

use std::time::{Duration, Instant};
use toile_io::{
    GlbMesh, MeshFormat, PlyWriter, SceneFormat, glb_to, parse_friction, parse_mesh, parse_scene,
    parse_stitches, ply_to, sniff_format,
};

/// SplitMix64: small, and the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// What reads a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reader {
    /// A mesh of this format.
    Mesh(MeshFormat),
    /// A scene of this format.
    Scene(SceneFormat),
    /// Friction problems, JSON or FCLib's HDF5.
    Friction,
}

const OBJ: &str = "# dress\no dress\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.5\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
    g front waist\nf 1/1/1 2/2 3/3\nf 1/1 3/3 4/4\ng back\nf -4 -3 \\\n -2 -1\np 1 2\nstitch 1 2 3 0.5\nl 1 2\n";
const PLY: &str = "ply\nformat ascii 1.0\ncomment hand made\nelement vertex 4\nproperty float x\nproperty float y\n\
    property double z\nproperty float u\nproperty float v\nproperty uchar group_top\nelement face 2\n\
    property list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n\
    0 0 0 0 0 1\n1 0 0 1 0 0\n1 1 0 1 1 0\n0 1 0 0 1 1\n3 0 1 2 6 0 0 1 0 1 1\n3 0 2 3 6 0 0 1 1 0 1\n";
const STL: &str = "solid front\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\n\
    endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\n\
    endfacet\nendsolid front\n";
const GLTF: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"children":[1],
    "translation":[0,0,1],"rotation":[0,0,0.6,0.8]},{"mesh":0,"name":"a","scale":[2,2,-2]}],"meshes":[{"name":"m",
    "primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":2},"indices":1,"mode":4}]}],"accessors":[{"bufferView":0,
    "componentType":5126,"count":3,"type":"VEC3"},{"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"},
    {"bufferView":0,"byteOffset":4,"componentType":5126,"count":3,"type":"VEC2"}],
    "bufferViews":[{"buffer":0,"byteLength":36,"byteStride":12},{"buffer":0,"byteOffset":36,"byteLength":6}],
    "buffers":[{"byteLength":42,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIA"}]}"#;
const TOML: &str = r#"up = "z"
gravity = [0.0, 0.0, -9.81]
[[shell]]
mesh = "dress.obj"
rest = "uv"
scale = 0.01
thickness = 0.5e-3
areal_density = 0.2
material = { model = "koiter", young = [2.0e5, 1e5], poisson = 0.3, shear = 1e4, normals = "tan", bending = 1e-5 }
pins = { vertices = [0, 12], box = [[-1, -1, 0.9], [1, 1, 1.1]], group = "waist" }
[[shell]]
mesh = { generate = "annulus", inner_radius = 0.1, outer_radius = 1.0, rings = 3, around = 12 }
thickness = 0.5e-3
areal_density = 0.2
material = { model = "discrete-shells", k_length = 3.0, k_area = 1.0, k_bend = 1.0e-4 }
[solver]
tolerance = 1e-9
"#;
const JSON: &str = r#"{"up": "y", "shell": [{"mesh": {"generate": "sheet", "n": 5, "size": 1.0}, "thickness": 1e-3,
    "areal_density": 0.2, "material": {"model": "koiter", "young": 1e5, "poisson": 0.3}, "pins": {"vertices": [0, 4]}}]}"#;

const FRICTION: &str = r#"{"problems": [{"id": "a", "n": 1, "mu": [0.5], "W": [[1, 0.1], [0.1, 1]], "b": [-1, 2], "dimension": 2},
    {"mu": 0.3, "W": [[2, 0, 0], [0, 1, 0.5], [0, 0.5, 1]], "b": [-1e-3, 2, 0]}]}"#;

/// Whole files of every format.
pub(crate) fn seeds() -> Vec<(Reader, Vec<u8>)> {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.5]];
    let faces = [[0, 1, 2], [0, 2, 3]];
    let (mut little, mut glb) = (Vec::new(), Vec::new());
    let extras =
        PlyWriter { fields: &[("stretch", &[1.0, 2.0, 3.0, 4.0])], ..PlyWriter::default() };
    ply_to(&mut little, &positions, &faces, &extras).expect("a good mesh");
    let mesh = GlbMesh { name: "sheet", positions: &positions, faces: &faces, colors: None };
    glb_to(&mut glb, &[mesh, mesh]).expect("a good mesh");
    let mut big = b"ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty short x\nproperty short y\n\
        property uchar z\nelement face 1\nproperty list uint ushort vertex_index\nend_header\n"
        .to_vec();
    big.extend([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 2]);
    let mut stl = vec![b' '; 80];
    stl.extend(2u32.to_le_bytes());
    for face in faces {
        stl.extend([0; 12]);
        for v in face.iter().flat_map(|&i| positions[i as usize]) {
            stl.extend((v as f32).to_le_bytes());
        }
        stl.extend([0; 2]);
    }
    let text = |t: &str| t.as_bytes().to_vec();
    vec![
        (Reader::Mesh(MeshFormat::Obj), text(OBJ)),
        (Reader::Mesh(MeshFormat::Ply), text(PLY)),
        (Reader::Mesh(MeshFormat::Ply), little),
        (Reader::Mesh(MeshFormat::Ply), big),
        (Reader::Mesh(MeshFormat::Stl), text(STL)),
        (Reader::Mesh(MeshFormat::Stl), stl),
        (Reader::Mesh(MeshFormat::Gltf), glb),
        (Reader::Mesh(MeshFormat::Gltf), text(GLTF)),
        (Reader::Scene(SceneFormat::Toml), text(TOML)),
        (Reader::Scene(SceneFormat::Json), text(JSON)),
        (Reader::Friction, text(FRICTION)),
        (Reader::Friction, include_bytes!("data/classic.hdf5").to_vec()),
        (Reader::Friction, include_bytes!("data/latest.hdf5").to_vec()),
        (Reader::Friction, include_bytes!("data/global.hdf5").to_vec()),
    ]
}

const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "3",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e308",
    "1e999",
    "-1e-320",
    "nan",
    "inf",
    "0.1",
];

const WORDS: [&str; 40] = [
    "v ",
    "vt ",
    "f ",
    "g a b c d e f\n",
    "o x\n",
    "p 1\n",
    "stitch 1 2 3 0.5\n",
    "\\\n",
    "#",
    "//",
    "ply\n",
    "element vertex 4000000000\n",
    "element face 99999999\n",
    "element none 18446744073709551615\n",
    "property list uint double d\n",
    "property list char uchar vertex_indices\n",
    "end_header\n",
    "format binary_big_endian 1.0\n",
    "solid",
    "facet",
    "vertex 0 0 0\n",
    "endfacet\n",
    "glTF",
    "JSON",
    "BIN\0",
    "\"children\":[0,1]",
    "\"mode\":5",
    "\"byteStride\":0",
    "\"count\":1000000000",
    "\"matrix\":[1]",
    "[[shell]]\n",
    "[[rod]]\n",
    "[",
    "{",
    "]",
    "}",
    "\"",
    "=",
    "'''",
    "\u{feff}",
];

/// Extreme four-byte words for binary headers.
const RAW: [u32; 8] = [0, 1, 3, 0x7f, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fc0_0000];

/// Damages `bytes` a few times; `other` lends pieces.
pub(crate) fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let to = (at + random.below(40)).min(bytes.len());
        match random.below(10) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 if at < bytes.len() => bytes[at] = random.next() as u8,
            3 => bytes.truncate(at),
            4 => {
                bytes.drain(at..to);
            }
            5 => {
                // A piece of itself again, several times over.
                let piece = bytes[at..to].to_vec();
                for _ in 0..1 + random.below(8) {
                    bytes.splice(at..at, piece.iter().copied());
                }
            }
            6 => {
                let from = random.below(other.len() + 1);
                let end = (from + random.below(120)).min(other.len());
                bytes.splice(at..to, other[from..end].iter().copied());
            }
            7 => {
                // The next number becomes an extreme one.
                let digit = |c: &u8| c.is_ascii_digit() || matches!(c, b'-' | b'+' | b'.' | b'e');
                let start = bytes[at..].iter().position(u8::is_ascii_digit).map_or(at, |i| at + i);
                let end = bytes[start..]
                    .iter()
                    .position(|c| !digit(c))
                    .map_or(bytes.len(), |i| start + i);
                let number = NUMBERS[random.below(NUMBERS.len())];
                bytes.splice(start..end, number.bytes());
            }
            8 => {
                let word = WORDS[random.below(WORDS.len())];
                bytes.splice(at..at, word.bytes());
            }
            _ if at + 4 <= bytes.len() => {
                let raw = RAW[random.below(RAW.len())].to_le_bytes();
                bytes[at..at + 4].copy_from_slice(&raw);
            }
            _ => {}
        }
    }
    // Splices must not let inputs grow without end.
    bytes.truncate(64 * 1024);
    // A GLB of the wrong length would be refused before its content is looked at.
    let data = bytes.windows(4).position(|w| w == b"BIN\0").filter(|&at| at >= 24);
    if let Some(at) = data.filter(|_| bytes.starts_with(b"glTF") && random.below(4) > 0) {
        let length = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        bytes[12..16].copy_from_slice(&(at as u32 - 24).to_le_bytes());
        bytes[at - 4..at].copy_from_slice(&(length - at as u32 - 4).to_le_bytes());
    }
}

/// Reads one input and checks the promises of a mesh; tells whether it was accepted.
///
/// Panics when a reader breaks its word; the caller catches that and shows the input.
pub(crate) fn read_one(reader: Reader, bytes: &[u8]) -> bool {
    match reader {
        Reader::Mesh(format) => {
            let format = sniff_format(bytes).unwrap_or(format);
            if matches!(format, MeshFormat::Obj) {
                let _ = parse_stitches(bytes);
            }
            match parse_mesh(bytes, format) {
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.len() < 1000, "a message of {} bytes", text.len());
                    false
                }
                Ok(mesh) => {
                    let n = mesh.positions.len();
                    let uvs = mesh.uvs.len();
                    assert!(mesh.positions.iter().flatten().all(|v| v.is_finite()));
                    assert!(mesh.faces.iter().flatten().all(|&v| (v as usize) < n));
                    if let Some(corners) = &mesh.face_uvs {
                        assert_eq!(corners.len(), mesh.faces.len());
                        assert!(corners.iter().flatten().all(|&t| (t as usize) < uvs));
                    }
                    for group in mesh.groups.values() {
                        assert!(group.vertices.is_sorted_by(|a, b| a < b));
                        assert!(group.vertices.iter().all(|&v| (v as usize) < n));
                    }
                    // No reader may give much more than it was given.
                    let most = (8 * bytes.len()).max(1_000_000);
                    assert!(n <= most && mesh.faces.len() <= most, "{n} vertices");
                    true
                }
            }
        }
        Reader::Friction => match parse_friction(bytes) {
            Err(error) => {
                let text = error.to_string();
                assert!(text.len() < 1000, "a message of {} bytes", text.len());
                false
            }
            Ok(file) => {
                for problem in &file.problems {
                    assert_eq!(problem.b.len(), problem.dimension * problem.contacts());
                    assert!(problem.b.iter().chain(&problem.mu).all(|v| v.is_finite()));
                    assert!(problem.b.len() <= (200 * bytes.len()).max(1_000_000));
                }
                true
            }
        },
        Reader::Scene(format) => {
            let text = String::from_utf8_lossy(bytes);
            match parse_scene(&text, format) {
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        !error.problems().is_empty() && text.len() < 40_000,
                        "{} bytes",
                        text.len()
                    );
                    false
                }
                Ok(scene) => {
                    assert!(scene.shells.iter().all(|s| s.thickness > 0.0));
                    true
                }
            }
        }
    }
}

/// What a run of damaged inputs gave.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Per seed, the inputs read and those still accepted.
    pub(crate) accepted: Vec<(Reader, usize, usize)>,
    /// Inputs on which a reader panicked, with the text of the panic.
    pub(crate) panics: Vec<(Vec<u8>, String)>,
    /// Inputs that took longer than a second.
    pub(crate) hangs: Vec<Vec<u8>>,
    /// Longest time for one input.
    pub(crate) slowest: Duration,
}

/// Reads `count` damaged inputs; `step` is told the number of each.
pub(crate) fn run(count: usize, seed: u64, mut step: impl FnMut(usize)) -> Outcome {
    let seeds = seeds();
    let mut random = Random(seed);
    let mut outcome = Outcome {
        accepted: seeds.iter().map(|(reader, _)| (*reader, 0, 0)).collect(),
        ..Outcome::default()
    };
    // Damage adds up: what was accepted is damaged further, until it is started afresh.
    let mut grown: Vec<Vec<u8>> = seeds.iter().map(|(_, bytes)| bytes.clone()).collect();
    for i in 0..count {
        let which = i % seeds.len();
        let (reader, whole) = &seeds[which];
        if random.below(50) == 0 {
            grown[which].clone_from(whole);
        }
        let other = &seeds[random.below(seeds.len())].1;
        let mut input = grown[which].clone();
        mutate(&mut input, other, &mut random);
        let timed = || {
            let start = Instant::now();
            (std::panic::catch_unwind(|| read_one(*reader, &input)), start.elapsed())
        };
        let (result, mut time) = timed();
        // On a busy machine a second passes without the reader: what is slow is slow again.
        if time > Duration::from_secs(1) {
            time = time.min(timed().1);
        }
        outcome.slowest = outcome.slowest.max(time);
        match result {
            Ok(accepted) => {
                outcome.accepted[which].1 += 1;
                outcome.accepted[which].2 += usize::from(accepted);
                if accepted {
                    grown[which].clone_from(&input);
                }
            }
            Err(cause) => {
                let text = cause
                    .downcast_ref::<String>()
                    .cloned()
                    .or(cause.downcast_ref::<&str>().map(|s| s.to_string()))
                    .unwrap_or_default();
                outcome.panics.push((input.clone(), text));
            }
        }
        if time > Duration::from_secs(1) {
            outcome.hangs.push(input);
        }
        step(i);
    }
    outcome
}
