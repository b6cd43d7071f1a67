use std::sync::Arc;
use toile_report::picture::ColourMap;
use toile_report::stage::{Body, Field, Form, Layer, Stage, Touch};
use toile_report::{Shown, shots};

fn stage() -> Stage {
    let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.3], [0.0, 1.0, 0.0]];
    let faces = Arc::new(vec![[0, 1, 2], [0, 2, 3]]);
    let field = Field {
        name: "stretch",
        label: "stretch",
        values: vec![0.0, 0.1, 0.2, 0.3],
        map: ColourMap::Amount,
    };
    let layer = |name: &str, fields| Layer {
        name: name.into(),
        form: Form::Surface(faces.clone()),
        positions: positions.clone(),
        fields,
    };
    Stage {
        layers: vec![layer("equilibrium", vec![field]), layer("rest", vec![])],
        bodies: vec![Body {
            name: "body".into(),
            positions: positions.iter().map(|p| [p[0], p[1], p[2] - 0.2]).collect(),
            faces: vec![[0, 1, 2]],
        }],
        touches: vec![Touch {
            point: [0.5, 0.5, 0.1],
            normal: [0.0, 0.0, 1.0],
            force: [0.0, 0.0, 2.0],
            friction: 0.5,
            slips: false,
        }],
    }
}

fn has(shown: &Shown, test: fn([u8; 4]) -> bool) -> bool {
    shown.picture.pixels.chunks_exact(4).any(|p| test([p[0], p[1], p[2], p[3]]))
}

#[test]
fn every_side_field_force_and_layer_has_its_picture() {
    let all = shots(&stage());
    let captions: Vec<&str> = all.iter().map(|s| s.caption.as_str()).collect();
    assert!(captions.iter().any(|c| c.contains("coloured by stretch")), "{captions:?}");
    assert!(captions.contains(&"rest"), "{captions:?}");
    let forces = all.iter().find(|s| s.caption.contains("1 contact forces")).unwrap();
    let green = |p: [u8; 4]| {
        p[3] == 255 && p[1] > p[0].saturating_add(40) && p[1] > p[2].saturating_add(20)
    };
    assert!(has(forces, green), "the arrow is green");
    assert!(!has(&all[0], green), "and only there");
    let legend = all.iter().find_map(|s| s.legend.as_ref()).unwrap();
    assert_eq!(legend.range, (0.0, 0.3));
    assert!(shots(&Stage::default()).is_empty());
}

#[test]
fn fibres_show_as_tubes() {
    let mut stage = stage();
    stage.layers.truncate(1);
    stage.layers[0].form = Form::Strands { starts: Arc::new(vec![0, 2]), radius: 1e-6 };
    let all = shots(&stage);
    assert!(has(&all[0], |p| p[3] == 255 && p[0] > p[2].saturating_add(30)), "brown fibres");
    assert!(all.iter().any(|s| s.legend.is_some()));
}
