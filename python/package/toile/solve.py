"""The questions one can put to a scene."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from . import _native, _process
from ._native import ToileError
from .results import Drape, Inversion, RodDrape, RodInversion
from .scene import Scene

Progress = Callable[[dict[str, Any]], Any]
"""Told of every step; ends the search by returning False."""


def _scene(scene: Scene | str | os.PathLike) -> Scene:
    _process.check()
    return scene if isinstance(scene, Scene) else Scene.load(scene)


def drape(
    scene: Scene | str | os.PathLike,
    *,
    tolerance: float | None = None,
    max_steps: int | None = None,
    push_out: bool = False,
    drift: float = 0.0,
    progress: Progress | None = None,
) -> Drape | list[RodDrape]:
    """Finds a stable equilibrium of a scene (or scene file), in the air or on its colliders.

    A search that ends early is no error: what was reached comes back with a certificate that says so. ``drift`` is the
    simulated time [s] in which a result on colliders must not move. A scene of rods gives a list with one result each.
    """
    scene = _scene(scene)
    if scene._native.has_rods():
        found = _native.drape_rods(scene._native)
        return [RodDrape(r.certificate, r.curvatures, r) for r in found]
    return Drape(_native.drape(scene._native, tolerance, max_steps, push_out, drift, progress))


def invert(
    scene: Scene | str | os.PathLike,
    *,
    max_steps: int | None = None,
    drift: float = 1.0,
    naive_sag: bool = True,
    progress: Progress | None = None,
) -> Inversion | list[RodInversion]:
    """Finds the rest shape for which the meshes of a scene are a stable equilibrium under gravity and friction."""
    scene = _scene(scene)
    if scene._native.has_rods():
        found = _native.invert_rods(scene._native)
        return [RodInversion(r.certificate, r.natural, r) for r in found]
    return Inversion(_native.invert(scene._native, max_steps, drift, naive_sag, progress))


@dataclass(frozen=True)
class Frame:
    """A moment of a simulation."""

    index: int
    time: float
    shells: list[NDArray[np.float64]]
    """Positions of every shell, (n, 3)."""
    kinetic_energy: float
    potential_energy: float
    steps: list[dict[str, Any]]
    """How the steps since the last frame went."""
    _simulation: Any

    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of the first shell."""
        return self.shells[0]

    def contacts(self) -> list[dict[str, Any]]:
        """Contacts of the simulation *now*: ask before the next frame."""
        return self._simulation.contacts()


def simulate(
    scene: Scene | str | os.PathLike,
    *,
    push_out: bool = False,
    progress: Progress | None = None,
) -> Iterator[Frame]:
    """Moves a scene with exact dry friction, frame after frame, as its table ``time`` says; frame 0 is the start.

    Frames are made when they are asked for: stop whenever you like.
    """
    scene = _scene(scene)
    time = scene._native.time()
    if time is None:
        raise ToileError("the scene has no time; add for example time=toile.Time(step=0.01, duration=2.0)")
    if scene._native.has_rods():
        raise ToileError("fibres are not simulated from Python yet; use `toile simulate` on the command line")
    step, duration, between = time
    return _frames(_native.Simulation(scene._native, push_out), step, duration, between, progress)


def _frames(
    simulation: _native.Simulation, step: float, duration: float, between: float, progress: Progress | None
) -> Iterator[Frame]:
    per_frame = max(1, round(between / step))
    steps = max(1, math.ceil(duration / step - 1e-9))

    def frame(index: int, reports: list[dict[str, Any]]) -> Frame:
        shells = [simulation.positions(i) for i in range(len(simulation))]
        kinetic, potential = simulation.energies()
        return Frame(index, simulation.time, shells, kinetic, potential, reports, simulation)

    yield frame(0, [])
    reports: list[dict[str, Any]] = []
    for done in range(1, steps + 1):
        report = simulation.step(step)
        reports.append(report)
        if progress is not None and progress({"step": done, "time": simulation.time, **report}) is False:
            return
        if done % per_frame == 0 or done == steps:
            yield frame(-(-done // per_frame), reports)
            reports = []


def validate(name: str, *, quick: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    """Puts the solver through a protocol against published curves: ``verdict``, ``worst``, ``text``, ``csv``, ``figures``."""
    _process.check()
    return _native.validate(name, quick, progress)
