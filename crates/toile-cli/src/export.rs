//! `toile export`: the shapes of a result for other programs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toile::io::{
    MeshData, ObjWriter, Up, UsdMesh, UsdStage, read_mesh, write_mdd, write_obj, write_pc2,
    write_pvd, write_usda, write_vtp,
};

use crate::args::{ExportArgs, ExportFormat, Global, UpAxis};
use crate::drape::make_folder;
use crate::names::{JOINED, frame_of, shape_of};
use crate::{Failure, Outcome, json};

pub(crate) fn run(args: &ExportArgs, global: &Global) -> Result<Outcome, Failure> {
    let shapes = Shapes::find(&args.dir, args.fps)?;
    let to = args.to.as_deref().unwrap_or(&args.dir);
    make_folder(to)?;
    let names = match args.format {
        ExportFormat::Pc2 | ExportFormat::Mdd => shapes.caches(to, args.format)?,
        ExportFormat::Usda => shapes.usd(to, args)?,
        ExportFormat::Vtk => shapes.vtk(to)?,
    };
    if !global.quiet && !global.json {
        json::print(&format!(
            "{} frame(s) of {} shell(s), {} vertices; written to {}: {}",
            shapes.times.len(),
            shapes.shells.len(),
            shapes.first.iter().map(|m| m.positions.len()).sum::<usize>(),
            to.display(),
            shorten(&names)
        ));
    } else if global.json {
        let line = json::Object::default()
            .with("frames", shapes.times.len())
            .with("shells", shapes.shells.len())
            .with("files", names);
        json::print(&line.line());
    }
    Ok(Outcome::Good)
}

fn shorten(names: &[String]) -> String {
    if names.len() <= 6 {
        return names.join(", ");
    }
    format!("{}, … ({} files)", names[..4].join(", "), names.len())
}

/// The shapes of a folder: files per shell and frame, the time of each frame.
struct Shapes {
    /// `shells[shell][frame]`.
    shells: Vec<Vec<PathBuf>>,
    times: Vec<f64>,
    rate: f64,
    /// The first frame of every shell.
    first: Vec<MeshData>,
}

/// Rate of shapes without time \[1/s\].
const RATE: f64 = 24.0;

impl Shapes {
    fn find(dir: &Path, fps: Option<f64>) -> Result<Self, Failure> {
        let shown = dir.display();
        let entries = fs::read_dir(dir).map_err(|e| {
            Failure(format!("cannot read the folder {shown}: {e}; give the folder of a result"))
        })?;
        let mut frames: BTreeMap<usize, BTreeMap<usize, PathBuf>> = BTreeMap::new();
        let mut still: BTreeMap<(usize, usize), PathBuf> = BTreeMap::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if let Some((frame, shell)) = frame_of(name) {
                frames.entry(shell).or_default().insert(frame, path);
            } else if let Some((kind, shell)) = shape_of(name) {
                still.insert((shell, kind), path);
            }
        }
        let moving = !frames.is_empty();
        let shells: Vec<Vec<PathBuf>> = if moving {
            frames.into_values().map(|f| f.into_values().collect()).collect()
        } else {
            // With several shells the joined file is left aside.
            let several = still.keys().any(|(shell, _)| *shell != JOINED);
            still.retain(|(shell, _), _| !several || *shell != JOINED);
            let mut found: BTreeMap<usize, Vec<PathBuf>> = BTreeMap::new();
            for ((shell, _), path) in still {
                found.entry(shell).or_default().push(path);
            }
            found.into_values().collect()
        };
        let Some(count) = shells.first().map(Vec::len) else {
            return Err(Failure(format!(
                "{shown} holds no frame_00000.obj, rest.obj or equilibrium.obj; give the folder that `toile simulate`, \
                 `invert` or `drape` wrote"
            )));
        };
        if let Some(shell) = shells.iter().position(|s| s.len() != count) {
            return Err(Failure(format!(
                "shell {shell} has {} frames and shell 0 has {count}: some files are missing in {shown}",
                shells[shell].len()
            )));
        }
        let first = shells.iter().map(|s| read_mesh(&s[0])).collect::<Result<_, _>>()?;
        let times = match fps {
            None if moving => simulated_times(dir, count),
            _ => None,
        };
        let rate = fps.unwrap_or(RATE);
        let times = times.unwrap_or_else(|| (0..count).map(|i| i as f64 / rate).collect());
        let rate = match (fps, &times[..]) {
            (None, [a, b, ..]) if b > a => 1.0 / (b - a),
            _ => rate,
        };
        Ok(Self { shells, times, rate, first })
    }

    fn name(&self, shell: usize) -> String {
        if self.shells.len() > 1 { format!("shell_{shell}") } else { "shell".into() }
    }

    fn frame(&self, shell: usize, frame: usize) -> io::Result<MeshData> {
        read_mesh(&self.shells[shell][frame])
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))
    }

    fn caches(&self, to: &Path, format: ExportFormat) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        for (shell, mesh) in self.first.iter().enumerate() {
            let name = self.name(shell);
            let extras = ObjWriter {
                uvs: &mesh.uvs,
                face_uvs: mesh.face_uvs.as_deref(),
                groups: Some(&mesh.groups),
                comment: Some("toile: the mesh of a point cache"),
            };
            write_obj(to.join(format!("{name}.obj")), &mesh.positions, &mesh.faces, &extras)?;
            let mut frames = |frame: usize| Ok(self.frame(shell, frame)?.positions);
            let points = mesh.positions.len();
            let file = if format == ExportFormat::Pc2 {
                let file = format!("{name}.pc2");
                write_pc2(to.join(&file), points, self.times.len(), &mut frames)?;
                file
            } else {
                let file = format!("{name}.mdd");
                write_mdd(to.join(&file), points, &self.times, &mut frames)?;
                file
            };
            names.extend([file, format!("{name}.obj")]);
        }
        Ok(names)
    }

    fn usd(&self, to: &Path, args: &ExportArgs) -> Result<Vec<String>, Failure> {
        let labels: Vec<String> = (0..self.shells.len()).map(|i| self.name(i)).collect();
        let meshes: Vec<UsdMesh<'_>> = self
            .first
            .iter()
            .zip(&labels)
            .map(|(m, name)| UsdMesh { name, faces: &m.faces, points: m.positions.len() })
            .collect();
        let up = if args.up == UpAxis::Y { Up::Y } else { Up::Z };
        let stage = UsdStage { up, unit: args.unit, rate: self.rate, times: &self.times };
        let mut frames = |shell: usize, frame: usize| Ok(self.frame(shell, frame)?.positions);
        write_usda(to.join("shapes.usda"), &stage, &meshes, &mut frames)?;
        Ok(vec!["shapes.usda".into()])
    }

    fn vtk(&self, to: &Path) -> Result<Vec<String>, Failure> {
        let mut files = Vec::new();
        for (frame, time) in self.times.iter().enumerate() {
            let (mut points, mut faces, mut which) = (Vec::new(), Vec::new(), Vec::new());
            for shell in 0..self.shells.len() {
                let mesh = self.frame(shell, frame).map_err(|e| Failure(e.to_string()))?;
                let base = points.len() as u32;
                faces.extend(mesh.faces.iter().map(|f| f.map(|v| base + v)));
                which.resize(which.len() + mesh.positions.len(), shell as f64);
                points.extend(mesh.positions);
            }
            let file = format!("shapes_{frame:05}.vtp");
            write_vtp(to.join(&file), &points, &faces, &[("shell", &which)])?;
            files.push((*time, file));
        }
        write_pvd(to.join("shapes.pvd"), &files)?;
        Ok(["shapes.pvd".into()].into_iter().chain(files.into_iter().map(|(_, f)| f)).collect())
    }
}

/// Times of the frames of a simulation, from its log of steps.
fn simulated_times(dir: &Path, frames: usize) -> Option<Vec<f64>> {
    let log = fs::read_to_string(dir.join("steps.jsonl")).ok()?;
    let time_of = |line: &str| -> Option<f64> {
        let rest = line.split_once("\"time\":")?.1;
        rest.split([',', '}']).next()?.trim().parse().ok()
    };
    let times: Vec<f64> = log.lines().filter_map(time_of).collect();
    if frames < 2 || times.len() + 1 < frames {
        return None;
    }
    // Every so many steps is a frame, and the last step always is one.
    let per_frame = times.len().div_ceil(frames - 1);
    Some(
        (0..frames)
            .map(|f| if f == 0 { 0.0 } else { times[(f * per_frame).min(times.len()) - 1] })
            .collect(),
    )
}
