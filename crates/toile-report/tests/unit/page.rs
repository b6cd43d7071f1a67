use toile_report::page::{Legend, Page, Shot, Table, Verdict};
use toile_report::picture::ColourMap;
use toile_report::plot::{Axis, Plot, Series};

fn page() -> Page {
    Page {
        title: "drape <b>.toml".into(),
        verdict: Some(Verdict { ok: false, word: "not certified".into(), reason: "a & b".into() }),
        scene: Some("[[shell]]\nmesh = \"<script>alert(1)</script>\"".into()),
        shots: vec![Shot {
            caption: "seen from \"above\"".into(),
            address: "data:image/png;base64,AAAA".into(),
            legend: Some(Legend {
                label: "stretch".into(),
                range: (0.0, 0.25),
                map: ColourMap::Amount,
            }),
        }],
        plots: (0..2)
            .map(|_| {
                Plot::new("convergence", Axis::linear("step"), Axis::log("residual"))
                    .with(Series::line("r", vec![(0.0, 1.0), (1.0, 1e-9)]))
            })
            .collect(),
        timings: vec![("assembly".into(), 1.0), ("factorisation".into(), 3.0)],
        tables: vec![Table {
            title: "t".into(),
            header: vec!["a".into()],
            rows: vec![vec!["x".into()]; 207], // of which 200 are shown
        }],
        command: "toile drape '<b>.toml' --out r".into(),
        version: "toile 9.9".into(),
        ..Page::default()
    }
}

#[test]
fn everything_is_escaped_and_nothing_comes_from_elsewhere() {
    let html = page().to_html();
    assert!(!html.contains("<script>") && !html.contains("<b>.toml"));
    assert!(html.contains("drape &lt;b&gt;.toml") && html.contains("a &amp; b"));
    assert!(html.contains("seen from &quot;above&quot;"));
    let elsewhere = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"));
    assert!(!html.contains("<link") && !html.contains(" src=\"/"));
}

#[test]
fn it_tells_verdict_times_and_command_in_both_lights() {
    let html = page().to_html();
    assert!(html.contains("class=\"verdict bad\"><strong>not certified</strong>"));
    assert!(html.contains("width:75.00%") && html.contains("3.00 s"));
    assert!(html.contains("toile drape") && html.contains("toile 9.9"));
    assert!(html.contains("prefers-color-scheme: dark"));
    assert!(html.contains("frame-0") && html.contains("frame-1"), "plots keep their own frames");
    assert!(html.contains("and 7 rows more"));
}
