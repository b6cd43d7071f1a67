//! What the names of written files tell.

/// Frame and shell of `frame_00012.obj` or `frame_00012_3.obj`.
pub(crate) fn frame_of(name: &str) -> Option<(usize, usize)> {
    let middle = name.strip_prefix("frame_")?.strip_suffix(".obj")?;
    match middle.split_once('_') {
        None => Some((middle.parse().ok()?, 0)),
        Some((frame, shell)) => Some((frame.parse().ok()?, shell.parse().ok()?)),
    }
}

/// Stands for all shells in one file.
pub(crate) const JOINED: usize = usize::MAX;

/// Order (rest first) and shell of `rest.obj`, `equilibrium_2.obj`, ….
pub(crate) fn shape_of(name: &str) -> Option<(usize, usize)> {
    let stem = name.strip_suffix(".obj")?;
    ["rest", "equilibrium"].iter().enumerate().find_map(|(kind, word)| {
        let tail = stem.strip_prefix(word)?;
        if tail.is_empty() {
            return Some((kind, JOINED));
        }
        Some((kind, tail.strip_prefix('_')?.parse().ok()?))
    })
}

/// What a file of a result holds.
pub(crate) fn meaning(name: &str) -> &'static str {
    let stem = name.trim_end_matches(|c: char| c != '.').trim_end_matches('.');
    match name {
        "certificate.json" => "figures, verdict and reason",
        "log.jsonl" => "one line per step of the solver",
        "steps.jsonl" => "one line per step in time: energies, contacts, errors",
        "contacts.jsonl" => "every contact with its force",
        "contacts.ply" => "contact forces with normals and the friction they use",
        "maps.ply" | "maps.vtp" => {
            "stretch, bending, tension, force left over and distance from the target per vertex"
        }
        "edges.csv" => "stretch and bend of every edge",
        "inversion.glb" => {
            "target, rest shape, equilibrium and the target made as drawn, side by side"
        }
        "simulation.toml" => "a scene in which the result should stay where it is",
        "inverted.toml" => "a scene whose drape is the drawn shape",
        "summary.json" => "times, errors and energies of the whole",
        "checkpoint.txt" => "where --resume goes on",
        "solution.json" | "answers.json" => "forces, velocities and states of the contacts",
        _ if name.ends_with(".png") => "a picture",
        _ if name.ends_with(".svg") => "a plot",
        _ if stem.starts_with("rest") => "the rest shape",
        _ if stem.starts_with("equilibrium") => "the equilibrium",
        _ if stem.starts_with("rod") => "places and frames along a rod",
        _ if stem.starts_with("natural") => "natural curvatures along a rod",
        _ if name.ends_with(".csv") => "the table",
        _ if stem.starts_with("frame") => "the shape at one time",
        _ if stem.starts_with("fibres") => "the fibres at one time",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_frame_and_shell() {
        assert_eq!(frame_of("frame_00012.obj"), Some((12, 0)));
        assert_eq!(frame_of("frame_00012_3.obj"), Some((12, 3)));
        assert_eq!(frame_of("frame_x.obj"), None);
        assert_eq!(shape_of("rest.obj"), Some((0, JOINED)));
        assert_eq!(shape_of("equilibrium_2.obj"), Some((1, 2)));
        assert_eq!(shape_of("restless.obj"), None);
    }

    #[test]
    fn files_are_explained() {
        assert_eq!(meaning("rest_1.obj"), "the rest shape");
        assert_eq!(meaning("equilibrium.png"), "a picture");
        assert_eq!(meaning("unheard.of"), "");
    }
}
