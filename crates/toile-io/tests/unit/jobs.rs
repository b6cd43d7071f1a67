use std::fs;
use std::path::PathBuf;
use toile_io::internal::fits;
use toile_io::plan_jobs;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-jobs-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("garments")).unwrap();
    for k in ["a", "b"] {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        fs::write(folder.join(format!("garments/{k}.obj")), text).unwrap();
    }
    let scene = "[[shell]]\nmesh = \"garments/a.obj\"\nthickness = 1e-3\nareal_density = 0.1\n\
                 material = { model = \"koiter\", young = 1e5, poisson = 0.3 }\npins = { vertices = [0] }\n";
    fs::write(folder.join("scene.toml"), scene).unwrap();
    folder
}

#[test]
fn every_combination_is_a_job_with_a_scene_of_its_own() {
    let folder = folder("grid");
    let list = "command = \"drape\"\nscene = \"scene.toml\"\n[meshes]\n\"shell[0].mesh\" = \"garments/*.obj\"\n\
                [grid]\n\"shell[0].material.young\" = [1e5, 2e5, 3e5]\ngravity = [[0, 0, -1], [0, 0, -2]]\n";
    fs::write(folder.join("jobs.toml"), list).unwrap();
    let plan = plan_jobs(folder.join("jobs.toml")).unwrap();
    assert_eq!(plan.jobs.len(), 12);
    assert_eq!(plan.columns, ["shell[0].mesh", "gravity", "shell[0].material.young"]);
    let last = &plan.jobs[11];
    assert!(
        last.scene.contains("garments/b.obj") && last.scene.contains("300000.0"),
        "{}",
        last.scene
    );
    let mut prints: Vec<_> = plan.jobs.iter().map(|j| j.fingerprint.clone()).collect();
    prints.dedup();
    assert_eq!(prints.len(), 12, "all differ");
    // Another content of a file is another job.
    fs::write(folder.join("garments/b.obj"), "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n").unwrap();
    let again = plan_jobs(folder.join("jobs.toml")).unwrap();
    assert_eq!(again.jobs[0].fingerprint, plan.jobs[0].fingerprint);
    assert_ne!(again.jobs[11].fingerprint, plan.jobs[11].fingerprint);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn mistakes_are_told_with_their_place() {
    let folder = folder("mistakes");
    let head = "command = \"drape\"\nscene = \"scene.toml\"\n";
    for (text, words) in [
        ("command = \"sing\"\nscene = \"scene.toml\"".to_string(), "sing"),
        (format!("{head}colour = 3"), "colour"),
        (format!("{head}[grid]\n\"shell[4].thickness\" = [1.0]"), "no shell[4]"),
        (format!("{head}[grid]\n\"shell[0].thickness\" = [-1.0]"), "must be positive"),
        (format!("{head}[grid]\n\"shell[0].thicknes\" = [1.0]"), "thicknes"),
        (format!("{head}[grid]\n\"shell[0].thickness\" = []"), "no list of values"),
        (format!("{head}[meshes]\n\"shell[0].mesh\" = \"none/*.obj\""), "none"),
        (format!("{head}[meshes]\n\"shell[0].mesh\" = \"garments/*.ply\""), "no file matches"),
        ("command = \"drape\"\nscene = \"gone.toml\"".to_string(), "gone.toml"),
    ] {
        fs::write(folder.join("jobs.toml"), &text).unwrap();
        let error = plan_jobs(folder.join("jobs.toml")).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn stars_stand_for_anything() {
    assert!(fits("dress.obj", "*.obj") && fits("a.b.obj", "a*.obj") && fits("x", "x"));
    assert!(fits("one_two_three", "one*two*three") && fits("ab", "*"));
    assert!(!fits("dress.ply", "*.obj") && !fits("one_three", "one*two*three") && !fits("xy", "x"));
}
