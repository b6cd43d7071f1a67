//! The protocols against published curves.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use toile::validate::protocol::{self as p, Outcome, ProtocolError, TableRow};

use crate::refused;
use crate::watch::Watch;

struct Found {
    ok: bool,
    worst: f64,
    text: String,
    csv: String,
    figures: Vec<(String, String)>,
}

fn gather<R: TableRow>(outcome: Result<Outcome<R>, ProtocolError>) -> Result<Found, ProtocolError> {
    let outcome = outcome?;
    let verdict = outcome.verdict();
    Ok(Found {
        ok: verdict.ok,
        worst: verdict.worst,
        text: outcome.to_string(),
        csv: outcome.csv(),
        figures: outcome.figures.into_iter().map(|f| (f.file, f.plot.to_svg())).collect(),
    })
}

/// Runs a protocol; `quick` takes a few cases only.
#[pyfunction]
#[pyo3(signature = (name, quick=false, progress=None))]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    name: &str,
    quick: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut watch = Watch::new(progress);
    macro_rules! run {
        ($run:path, $settings:path) => {{
            let settings = if quick { <$settings>::quick() } else { <$settings>::default() };
            py.detach(|| {
                let mut told = |fraction: f64, what: &str| {
                    watch.tell(|entries| {
                        entries.set_item("fraction", fraction)?;
                        entries.set_item("what", what)
                    })
                };
                gather($run(&settings, &mut told))
            })
        }};
    }
    let found = match name {
        "cantilever" => run!(p::cantilever, p::CantileverSettings),
        "lateral-buckling" => run!(p::lateral_buckling, p::BucklingSettings),
        "rotation" => run!(p::rotation, p::RotationSettings),
        "incline" => run!(p::incline, p::InclineSettings),
        "cylinder" => run!(p::cylinder, p::CylinderSettings),
        "capstan" => run!(p::capstan, p::CapstanSettings),
        "stick-slip" => run!(p::stick_slip, p::StickSlipSettings),
        "rod-cantilever" => run!(p::rod_cantilever, p::RodSettings),
        "frequencies" => run!(p::frequencies, p::RodSettings),
        "buckling" => run!(p::buckling, p::RodSettings),
        "bend-twist" => run!(p::bend_twist, p::RodSettings),
        other => {
            return Err(refused(format!(
                "no protocol is called {other}; there are cantilever, lateral-buckling, rotation, incline, cylinder, \
                 capstan, stick-slip, rod-cantilever, frequencies, buckling, bend-twist"
            )));
        }
    };
    watch.finish()?;
    let found = found.map_err(refused)?;
    let said = PyDict::new(py);
    said.set_item("verdict", if found.ok { "OK" } else { "KO" })?;
    said.set_item("worst", found.worst)?;
    said.set_item("text", found.text)?;
    said.set_item("csv", found.csv)?;
    said.set_item(
        "figures",
        found.figures.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    )?;
    Ok(said)
}
