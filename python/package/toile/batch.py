"""Many scenes: the job lists of `toile batch`, run by anything that can call a function.

A job is a plain tuple of texts, :func:`run_job` a plain function of it, and what is done lies in a folder of its own: so jobs go over
a process pool, Dask, Ray or a SLURM array alike, may be run twice without harm, and a list can be taken up where it was left.
Folders and records are those of the command line; both take up each other's work.
"""

from __future__ import annotations

import csv
import json
import os
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable

from . import _native
from ._native import ToileError
from .results import write_obj
from .scene import Scene
from .solve import drape, invert, simulate

__all__ = ["Job", "Plan", "collect", "pending", "plan", "run", "run_dask", "run_job"]


@dataclass(frozen=True)
class Job:
    """One scene of a list."""

    name: str
    command: str
    scene: str
    """The scene as TOML, paths absolute."""
    fingerprint: str
    values: dict[str, Any]
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """All jobs of a list."""

    jobs: list[Job]
    columns: list[str]
    retries: int


def plan(path: str | os.PathLike) -> Plan:
    """Reads a job list, see ``toile batch --help``; every scene is checked."""
    told = _native.plan_jobs(os.fspath(path))
    jobs = [
        Job(name, told["command"], scene, fingerprint,
            dict(zip(told["columns"], map(json.loads, values))), tuple(told["arguments"]))
        for name, values, scene, fingerprint in told["jobs"]
    ]
    return Plan(jobs, told["columns"], told["retries"])


def _read(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _write(path: str, text: str) -> None:
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def pending(jobs: Iterable[Job], out: str | os.PathLike) -> list[Job]:
    """Jobs that are not done yet for the very scene they have now."""

    def missing(job: Job) -> bool:
        record = _read(os.path.join(out, job.name, "job.json"))
        return record is None or record.get("fingerprint") != job.fingerprint or record.get("state") == "failed"

    return [job for job in jobs if missing(job)]


def run_job(job: Job, out: str | os.PathLike) -> dict[str, Any]:
    """Runs one job and writes certificate.json, shapes and job.json into its folder; returns the record.

    Pure in its effect: running it again gives the same files.
    """
    folder = os.path.join(os.path.abspath(out), job.name)
    os.makedirs(folder, exist_ok=True)
    place = os.path.join(folder, "scene.toml")
    _write(place, job.scene)
    begun = time.perf_counter()
    record: dict[str, Any] = {"job": job.name, "fingerprint": job.fingerprint}
    try:
        scene = Scene.load(place)
        if scene._native.has_rods():
            raise ToileError("fibres are not run in batches from Python yet; use `toile batch`")
        if job.command == "simulate":
            for frame in simulate(scene):
                for i, positions in enumerate(frame.shells):
                    several = f"_{i}" if len(frame.shells) > 1 else ""
                    faces = frame._simulation.faces(i)
                    write_obj(os.path.join(folder, f"frame_{frame.index:05}{several}.obj"), positions, faces)
            record |= {"state": "finished", "reason": ""}
        else:
            wanted = _options(job)
            found = invert(scene, **wanted) if job.command == "invert" else drape(scene, **wanted)
            kinds = {"equilibrium": found.positions}
            if job.command == "invert":
                kinds["rest"] = found.rest_positions
            for kind, positions in kinds.items():
                for i in range(len(found)):
                    several = f"_{i}" if len(found) > 1 else ""
                    write_obj(os.path.join(folder, f"{kind}{several}.obj"), positions(i), found.faces(i))
            _write(os.path.join(folder, "certificate.json"), found.certificate_json + "\n")
            record |= {"state": "certified" if found.certified else "not certified"}
            record |= {"reason": "" if found.certified else found.reason}
    except ToileError as error:
        record |= {"state": "failed", "reason": " ".join(str(error).split())}
    record |= {"attempts": 1, "seconds": time.perf_counter() - begun}
    _write(os.path.join(folder, "job.json"), json.dumps(record, indent=2) + "\n")
    return record


def _options(job: Job) -> dict[str, Any]:
    """The words for the command as arguments of the function."""
    found: dict[str, Any] = {}
    words = list(job.arguments)
    while words:
        word = words.pop(0)
        if word == "--no-drift" and job.command == "invert":
            found["drift"] = 0.0
        elif word == "--push-out" and job.command == "drape":
            found["push_out"] = True
        elif word in ("--max-steps", "--tolerance", "--drift") and words:
            number = float(words.pop(0))
            found[word[2:].replace("-", "_")] = int(number) if word == "--max-steps" else number
        else:
            raise ToileError(f"the argument {word} is not known to batches from Python; use `toile batch`")
    return found


_FIGURES = (
    "residual", "cone_gap", "cone_margin", "penetration", "stability", "target_error_max", "naive_sag", "size",
)  # fmt: skip


def collect(plan: Plan, out: str | os.PathLike) -> list[dict[str, Any]]:
    """Writes summary.csv and summary.json from what lies in the folders; returns the rows."""
    rows = []
    for job in plan.jobs:
        folder = os.path.join(out, job.name)
        record = _read(os.path.join(folder, "job.json")) or {}
        if record.get("fingerprint") != job.fingerprint:
            record = {}
        state = record.get("state", "missing")
        figures = (_read(os.path.join(folder, "certificate.json")) or {}) if state in ("certified", "not certified") else {}
        row = {"job": job.name, **job.values, "state": state}
        row |= {key: record.get(key) for key in ("attempts", "seconds")}
        row |= {key: figures.get(key) for key in _FIGURES}
        row["reason"] = figures.get("reason", record.get("reason"))
        rows.append(row)
    _write(os.path.join(out, "summary.json"), "[\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n]\n")
    part = os.path.join(out, f"summary.csv.{os.getpid()}.part")
    with open(part, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    os.replace(part, os.path.join(out, "summary.csv"))
    return rows


def run(
    path: str | os.PathLike,
    out: str | os.PathLike,
    *,
    map: Callable[..., Iterable[Any]] = map,
) -> list[dict[str, Any]]:
    """Runs what is missing of a job list through any ``map`` (of a pool, say), in this process by default; returns the summary."""
    listed = plan(path)
    os.makedirs(out, exist_ok=True)
    missing = pending(listed.jobs, out)
    for _ in map(run_job, missing, [os.fspath(out)] * len(missing)):
        pass
    return collect(listed, out)


def run_dask(
    path: str | os.PathLike, out: str | os.PathLike, client: Any, *, retries: int | None = None
) -> list[dict[str, Any]]:
    """Runs what is missing of a job list on a Dask cluster whose workers see the folder ``out``; returns the summary.

    Jobs of a worker that dies are done by others: Dask gives them out again, and a job that was already recorded is
    simply written again, the same to the byte.
    """
    from distributed import as_completed

    listed = plan(path)
    os.makedirs(out, exist_ok=True)
    missing = pending(listed.jobs, out)
    place = os.path.abspath(out)
    again = max(listed.retries, 3) if retries is None else retries
    futures = client.map(run_job, missing, [place] * len(missing), pure=False, retries=again)
    faults = []
    for future in as_completed(futures):
        if future.status == "error":
            faults.append(future.exception())
    if faults:
        raise ToileError(f"{len(faults)} job(s) ended in an error of the cluster, the first: {faults[0]!r}")
    return collect(listed, out)
