use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use toile_report::picture::ColourMap;
use toile_report::record::{BodyMotion, Frame, Progress, Recorder, Store, is_array_name};
use toile_report::stage::{Field, Form, Layer, Stage, Touch};

#[derive(Default)]
struct Memory {
    arrays: BTreeMap<String, Vec<u8>>,
    index: String,
}

impl Store for &mut Memory {
    fn array(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        assert!(is_array_name(name), "{name}");
        self.arrays.insert(name.into(), bytes.into());
        Ok(())
    }
    fn index(&mut self, text: &str) -> io::Result<()> {
        self.index = text.into();
        Ok(())
    }
}

fn read(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

const TOUCH: Touch = Touch {
    point: [1.0, 2.0, 3.0],
    normal: [0.0, 0.0, 1.0],
    force: [0.5, 0.0, 4.0],
    friction: 0.25,
    slips: true,
};

fn stage() -> Stage {
    let faces = Arc::new(vec![[0, 1, 2]]);
    let layer = |name: &str| Layer {
        name: name.into(),
        form: Form::Surface(faces.clone()),
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]],
        fields: vec![Field {
            name: "stretch",
            label: "stretch",
            values: vec![0.0, 0.5, 0.25],
            map: ColourMap::Amount,
        }],
    };
    Stage { layers: vec![layer("a"), layer("b")], bodies: vec![], touches: vec![TOUCH] }
}

#[test]
fn the_index_names_arrays_that_hold_the_numbers() {
    let mut memory = Memory::default();
    let mut recorder = Recorder::new(&mut memory, "t", "toile", "toile 1");
    recorder.stage(&stage()).unwrap();
    recorder.flush(Progress::Done, "").unwrap();
    let index: Value = serde_json::from_str(&memory.index).unwrap();
    let layer = &index["layers"][1];
    assert_eq!(layer["faces"], "faces_0.bin", "triangles are shared");
    let positions = &memory.arrays[layer["positions"].as_str().unwrap()];
    assert_eq!(read(positions)[6..], [0.0, 1.0, 0.5]);
    let field = &memory.arrays[layer["fields"][0]["file"].as_str().unwrap()];
    assert_eq!(read(field), [0.0, 0.5, 0.25]);
    let touches = read(&memory.arrays["touches.bin"]);
    assert_eq!(touches[6..], [0.5, 0.0, 4.0, 0.25, 1.0]);
}

#[test]
fn a_frame_holds_positions_fields_contacts_and_bodies_in_this_order() {
    let mut memory = Memory::default();
    let mut recorder = Recorder::new(&mut memory, "t", "toile", "toile 1");
    let stage = stage();
    recorder.stage(&stage).unwrap();
    recorder.begin_frames("time, s", 0, false);
    let layer = &stage.layers[0];
    let matrix = std::array::from_fn(|i| i as f64);
    for time in [0.0, 0.5] {
        let frame = Frame {
            time,
            positions: &layer.positions,
            fields: &layer.fields,
            touches: &stage.touches,
            bodies: &[(0, BodyMotion::Rigid(matrix))],
        };
        recorder.frame(&frame).unwrap();
    }
    recorder.flush(Progress::Running, "moving").unwrap();
    let index: Value = serde_json::from_str(&memory.index).unwrap();
    assert_eq!(index["frames"]["times"], json!([0.0, 0.5]));
    assert_eq!(index["frames"]["contacts"], json!([1, 1]));
    assert_eq!(index["state"], "running");
    let numbers = read(&memory.arrays["frame_00001.bin"]);
    assert_eq!(numbers.len(), 9 + 3 + 11 + 12);
    assert_eq!(numbers[9..12], [0.0, 0.5, 0.25]);
    assert_eq!(numbers[12..15], [1.0, 2.0, 3.0]);
    assert_eq!(numbers[34], 11.0);
}

#[test]
fn frames_go_on_where_an_index_ends() {
    let stage = stage();
    let layer = &stage.layers[0];
    let frame = |time: f64| Frame {
        time,
        positions: &layer.positions,
        fields: &layer.fields,
        touches: &stage.touches,
        bodies: &[],
    };
    let mut memory = Memory::default();
    let mut first = Recorder::new(&mut memory, "t", "toile", "toile 1");
    first.begin_frames("time, s", 0, false);
    for time in [0.0, 1.0, 2.0] {
        first.frame(&frame(time)).unwrap();
    }
    first.flush(Progress::Running, "").unwrap();
    let index = memory.index.clone();
    let mut second = Recorder::new(&mut memory, "t", "toile", "toile 1");
    second.begin_frames("time, s", 0, false);
    assert!(!second.continue_frames("nonsense", 1) && !second.continue_frames(&index, 9));
    assert!(second.continue_frames(&index, 2), "the third is cut");
    second.frame(&frame(7.0)).unwrap();
    second.flush(Progress::Done, "").unwrap();
    let index: Value = serde_json::from_str(&memory.index).unwrap();
    assert_eq!(index["frames"]["times"], json!([0.0, 1.0, 7.0]));
    assert_eq!(index["frames"]["fields"][0]["range"], json!([0.0, 0.5]));
}

#[test]
fn only_plain_names_are_arrays() {
    for bad in ["../x.bin", "x.bin/..", "", ".bin", "X.bin", "a/b.bin", "a.json", "a.bin\0"] {
        assert!(!is_array_name(bad), "{bad}");
    }
    assert!(is_array_name("frame_00012.bin"));
}
