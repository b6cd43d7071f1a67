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
from .results import Drape, Fibres, Inversion, RodDrape, RodInversion
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
) -> Drape | Fibres[RodDrape]:
    """Finds a stable equilibrium of a scene (or scene file), in the air or on its colliders.

    A search that ends early is no error: what was reached comes back with a certificate that says so. ``drift`` is the
    simulated time [s] in which a result on colliders must not move (0: a fifth of a second where it touches inside edges
    and faces or itself, else none). A scene of rods gives a list with one result each, and
    the judgement of the whole (`Fibres`).
    """
    scene = _scene(scene)
    if scene._native.has_rods():
        return Fibres(_native.drape_rods(scene._native, max_steps, drift, progress, push_out), RodDrape)
    return Drape(_native.drape(scene._native, tolerance, max_steps, push_out, drift, progress))


def invert(
    scene: Scene | str | os.PathLike,
    *,
    max_steps: int | None = None,
    drift: float = 1.0,
    naive_sag: bool = True,
    push_out: bool = False,
    progress: Progress | None = None,
) -> Inversion | Fibres[RodInversion]:
    """Finds the rest shape for which the meshes of a scene are a stable equilibrium under gravity and friction.

    Of drawn fibres (rods with a ``curve``, hair) it finds their natural shapes, and among colliders or with self-contact the
    forces that hold them: a list with one result each, and the judgement of the whole (`Fibres`). ``push_out`` moves strands
    that go through a collider to its surface first; drawn cloth always is.
    """
    scene = _scene(scene)
    if scene._native.has_rods():
        return Fibres(_native.invert_rods(scene._native, drift, progress, push_out), RodInversion)
    return Inversion(_native.invert(scene._native, max_steps, drift, naive_sag, progress))


@dataclass(frozen=True)
class Frame:
    """A moment of a simulation."""

    index: int
    time: float
    shells: list[NDArray[np.float64]]
    """Positions of every shell, (n, 3); of a scene of fibres the joints of every fibre."""
    kinetic_energy: float
    potential_energy: float
    steps: list[dict[str, Any]]
    """How the steps since the last frame went."""
    _simulation: Any

    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of the first shell or fibre."""
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
    step, duration, between = time
    if scene._native.has_rods():
        fibres = _native.FibreSimulation(scene._native, push_out)
        return _frames(fibres, fibres.step, step, duration, between, progress)
    cloth = _native.Simulation(scene._native, push_out)
    return _frames(cloth, lambda: cloth.step(step), step, duration, between, progress)


def _frames(
    simulation: _native.Simulation | _native.FibreSimulation,
    advance: Callable[[], dict[str, Any]],
    step: float,
    duration: float,
    between: float,
    progress: Progress | None,
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
        report = advance()
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
