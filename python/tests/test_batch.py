"""Job lists by the command line, in this process, over a pool, and on a Dask cluster that loses a worker."""

import csv
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

import toile
from toile import batch

SCENE = """
[[shell]]
mesh = { generate = "strip", length = 0.2, width = 0.05, nx = 6, ny = 2 }
thickness = 1e-3
areal_density = 0.2
material = { model = "koiter", young = 1e8, poisson = 0.3 }
pins = { box = [[-0.01, -1, -1], [0.04, 1, 1]] }
"""


def study(folder: pathlib.Path, values: int, extra: str = "") -> pathlib.Path:
    (folder / "scene.toml").write_text(SCENE)
    young = [1e8 * (1 + 0.1 * k) for k in range(values)]
    (folder / "jobs.toml").write_text(
        f'command = "invert"\nscene = "scene.toml"\narguments = ["--no-drift"]\n{extra}\n'
        f'[grid]\n"shell[0].material.young" = {young}\n"shell[0].areal_density" = [0.2, 0.3]\n'
    )
    return folder / "jobs.toml"


def certificates(out: pathlib.Path) -> dict[str, str]:
    return {p.parent.name: p.read_text() for p in sorted(out.glob("*/certificate.json"))}


def test_the_command_a_pool_and_a_loop_agree_to_the_byte(tmp_path, command):
    jobs = study(tmp_path, 3)
    done = subprocess.run(
        [command, "batch", jobs, "--out", tmp_path / "cli", "--workers", "2", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["certified"] == 6
    rows = batch.run(jobs, tmp_path / "loop")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        batch.run(jobs, tmp_path / "pool", map=pool.map)
    first = certificates(tmp_path / "cli")
    assert len(first) == 6 and first == certificates(tmp_path / "loop") == certificates(tmp_path / "pool")
    with open(tmp_path / "cli" / "summary.csv", newline="") as file:
        told = list(csv.DictReader(file))
    assert [r["job"] for r in told] == [r["job"] for r in rows]
    for a, b in zip(told, rows):
        assert float(a["shell[0].material.young"]) == b["shell[0].material.young"]
        assert a["state"] == b["state"] == "certified" and float(a["residual"]) == b["residual"]


def test_what_is_done_is_not_done_again_and_each_takes_up_the_others_work(tmp_path, command):
    jobs = study(tmp_path, 2)
    listed = batch.plan(jobs)
    out = tmp_path / "out"
    batch.run_job(listed.jobs[1], out)
    stamp = (out / listed.jobs[1].name / "job.json").stat().st_mtime_ns
    done = subprocess.run([command, "batch", jobs, "--out", out, "--json"], capture_output=True, text=True)
    assert json.loads(done.stdout)["ran"] == 3
    assert (out / listed.jobs[1].name / "job.json").stat().st_mtime_ns == stamp
    assert batch.pending(listed.jobs, out) == []
    # Another scene is another result.
    (tmp_path / "scene.toml").write_text(SCENE.replace("1e-3", "2e-3"))
    assert len(batch.pending(batch.plan(jobs).jobs, out)) == 4


def test_a_job_that_fails_is_told_and_does_not_stop_the_others(tmp_path, command):
    jobs = study(tmp_path, 2)
    text = jobs.read_text().replace("[0.2, 0.3]", "[0.2]")
    jobs.write_text(text + '"shell[0].pins.vertices" = [[0], [9999]]\n')
    done = subprocess.run([command, "batch", jobs, "--out", tmp_path / "out", "--json"], capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert done.returncode == 1 and said["certified"] == 2 and said["failed"] == 2
    rows = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert all("9999" in r["reason"] for r in rows if r["state"] == "failed")
    again = batch.run(jobs, tmp_path / "loop")
    assert [r["state"] for r in again] == [r["state"] for r in rows]


def test_ctrl_c_leaves_a_list_that_goes_on(tmp_path, command):
    jobs = study(tmp_path, 60)
    out = tmp_path / "out"
    run = subprocess.Popen([command, "batch", jobs, "--out", out, "--workers", "2"], stderr=subprocess.PIPE, text=True)
    while not list(out.glob("*/job.json")):
        time.sleep(0.01)
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1 and "goes on" in said
    rows = json.loads((out / "summary.json").read_text())
    missing = sum(r["state"] == "missing" for r in rows)
    assert 0 < missing < 120
    done = subprocess.run([command, "batch", jobs, "--out", out, "--json"], capture_output=True, text=True)
    assert json.loads(done.stdout)["ran"] == missing and json.loads(done.stdout)["certified"] == 120


def test_nothing_is_lost_when_a_worker_of_a_cluster_dies(tmp_path):
    distributed = pytest.importorskip("distributed")
    jobs = study(tmp_path, 60)
    out = tmp_path / "out"
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster, distributed.Client(cluster) as client:
        victims = []

        def kill_one() -> None:
            while len(list(out.glob("*/job.json"))) < 3:
                time.sleep(0.005)
            victim = client.submit(os.getpid, pure=False, priority=1000).result()
            victims.append(victim)
            os.kill(victim, signal.SIGKILL)

        import threading

        killer = threading.Thread(target=kill_one)
        killer.start()
        rows = batch.run_dask(jobs, out, client)
        killer.join()
    assert victims, "a worker was killed in the middle"
    assert len(rows) == 120 and all(r["state"] == "certified" for r in rows)
    batch.run(jobs, tmp_path / "loop")
    assert certificates(out) == certificates(tmp_path / "loop")


def test_arguments_that_are_not_known_are_told(tmp_path):
    jobs = study(tmp_path, 1)
    jobs.write_text(jobs.read_text().replace("--no-drift", "--dance"))
    with pytest.raises(toile.ToileError, match="dance"):
        batch._options(batch.plan(jobs).jobs[0])


def _solve(young: float) -> str:
    strip = {"generate": "strip", "length": 0.2, "width": 0.05, "nx": 6, "ny": 2}
    shell = toile.Shell(strip, 1e-3, 0.2, toile.Koiter(young, 0.3), pins={"box": [[-1, -1, -1], [0.04, 1, 1]]})
    return toile.drape(toile.Scene([shell])).certificate["verdict"]


def test_a_fork_of_a_solving_process_is_told_and_does_not_hang():
    assert _solve(1e6) == "certified"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        with pytest.raises(toile.ToileError, match="spawn"):
            pool.submit(_solve, 1e6).result(timeout=60)
