"""Scenes: what is there, and the forces on it. Names are those of the scene file."""

from __future__ import annotations

import copy
import json
import os
import re
from dataclasses import dataclass, fields
from typing import Any, Mapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._native import ToileError

Mesh = Union[str, os.PathLike, Mapping[str, Any], "tuple[ArrayLike, ArrayLike]"]
"""A file, a table ``{"generate": …}``, or arrays ``(vertices, faces)``."""


def _table(thing: Any) -> Any:
    """A dataclass as a table of the scene file, without what was left out."""
    if isinstance(thing, (Koiter, DiscreteShells, SelfContact, Time)):
        named = {f.name: _table(getattr(thing, f.name)) for f in fields(thing)}
        return {key: value for key, value in named.items() if value is not None}
    if isinstance(thing, Mapping):
        return {key: _table(value) for key, value in thing.items()}
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, (list, tuple)):
        return [_table(value) for value in thing]
    if isinstance(thing, os.PathLike):
        return os.fspath(thing)
    return thing


@dataclass
class Koiter:
    """Discrete Koiter shell: Young's modulus [Pa] (two for orthotropic cloth), Poisson's ratio, see the scene file."""

    young: float | Sequence[float]
    poisson: float
    shear: float | None = None
    warp: Sequence[float] | None = None
    normals: str | None = None
    membrane: str | None = None
    bending: float | Sequence[float] | None = None
    model: str = "koiter"


@dataclass
class DiscreteShells:
    """Springs on edges [N], areas [N/m] and hinges [N·m]."""

    k_length: float
    k_area: float
    k_bend: float
    model: str = "discrete-shells"


@dataclass
class SelfContact:
    """Cloth that touches itself: friction, and the distance layers keep [m]."""

    friction: float
    thickness: float | None = None


@dataclass
class Time:
    """How ``simulate`` goes through time [s]."""

    step: float
    duration: float
    frame: float | None = None
    integrator: str | None = None
    damping: float | None = None
    newton_steps: int | None = None


@dataclass
class Shell:
    """A thin elastic surface. ``mesh`` is the start for drape and simulate, the target for invert.

    ``rest`` is an array (n, 3) over the same faces, a file, "uv", or the mesh itself by default. ``pins`` are vertex
    numbers, or a table with ``vertices``, ``box`` or ``group``. ``damping`` [s] is that inside the material, in motion.
    """

    mesh: Mesh
    thickness: float
    areal_density: float
    material: Koiter | DiscreteShells | Mapping[str, Any]
    rest: str | os.PathLike | ArrayLike | None = None
    pins: Sequence[int] | ArrayLike | Mapping[str, Any] | None = None
    scale: float | None = None
    velocity: Sequence[float] | None = None
    damping: float | None = None


@dataclass
class Collider:
    """Something solid: exactly one shape, as in the scene file (``box`` is a table with center, size, rotation)."""

    mesh: str | os.PathLike | tuple[ArrayLike, ArrayLike] | None = None
    plane: Mapping[str, Any] | None = None
    sphere: Mapping[str, Any] | None = None
    cylinder: Mapping[str, Any] | None = None
    capsule: Mapping[str, Any] | None = None
    cone: Mapping[str, Any] | None = None
    box: Mapping[str, Any] | None = None
    torus: Mapping[str, Any] | None = None
    friction: float = 0.0
    gap: float | None = None
    scale: float | None = None
    sides: str | None = None
    motion: Mapping[str, Any] | None = None


@dataclass
class Rod:
    """A rod clamped at one end; ``curve`` is a drawn one for invert, a file or points (n, 3), root first, ``rest`` the same as it rests."""

    bending_stiffness: Sequence[float]
    twisting_stiffness: float
    linear_density: float
    elements: int | None = None
    length: float | None = None
    clamp: Mapping[str, Any] | None = None
    natural_curvature: Mapping[str, Any] | str | None = None
    curve: str | os.PathLike | ArrayLike | None = None
    rest: str | os.PathLike | ArrayLike | None = None
    model: str = "super-clothoid"
    radius: float | None = None
    accuracy: float | None = None


@dataclass
class Hair:
    """Many drawn rods of one material: a file, or a sequence of points (n, 3), roots first; ``rest`` the same strands as they rest."""

    strands: str | os.PathLike | Sequence[ArrayLike]
    bending_stiffness: Sequence[float]
    twisting_stiffness: float
    linear_density: float
    elements: int | None = None
    model: str = "super-clothoid"
    radius: float | None = None
    noise: float | None = None
    tolerance: float | None = None
    scale: float | None = None
    rest: str | os.PathLike | Sequence[ArrayLike] | None = None


class Scene:
    """Shells, rods, hair, colliders, gravity, time: everything a solver needs.

    Made from parts here or read by :meth:`load`; checked when made, so that a mistake is told at once.
    """

    def __init__(
        self,
        shells: Sequence[Shell] = (),
        colliders: Sequence[Collider] = (),
        rods: Sequence[Rod] = (),
        hair: Sequence[Hair] = (),
        *,
        gravity: Sequence[float] | None = None,
        up: str | None = None,
        self_contact: SelfContact | Mapping[str, Any] | None = None,
        time: Time | Mapping[str, Any] | None = None,
        solver: Mapping[str, Any] | None = None,
        invert: Mapping[str, Any] | None = None,
    ) -> None:
        self._meshes: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._strands: dict[str, list[np.ndarray]] = {}
        self._path: str | None = None
        table: dict[str, Any] = {
            "up": up,
            "gravity": _table(gravity),
            "shell": [self._shell(i, s) for i, s in enumerate(shells)],
            "collider": [self._collider(i, c) for i, c in enumerate(colliders)],
            "rod": [self._rod(i, r) for i, r in enumerate(rods)],
            "hair": [self._hair(i, h) for i, h in enumerate(hair)],
            "self_contact": _table(self_contact),
            "time": _table(time),
            "solver": _table(solver),
            "invert": _table(invert),
        }
        self._table = {k: v for k, v in table.items() if v is not None and (k == "shell" or v != [])}
        self._native = self._parse()

    @classmethod
    def load(cls, path: str | os.PathLike) -> Scene:
        """Reads a scene file, TOML or JSON; paths in it are relative to it."""
        return cls._from_native(_native.load_scene(os.fspath(path)), os.fspath(path))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], path: str | os.PathLike | None = None) -> Scene:
        """A scene from a table with the keys of the scene file; paths in it are relative to the file ``path``."""
        scene = cls.__new__(cls)
        scene._meshes, scene._strands = {}, {}
        scene._path = None if path is None else os.fspath(path)
        scene._table = _table(table)
        scene._native = scene._parse()
        return scene

    @classmethod
    def _from_native(cls, native: _native.Scene, path: str) -> Scene:
        scene = cls.__new__(cls)
        scene._meshes, scene._strands, scene._path = {}, {}, path
        scene._table = json.loads(native.to_json())
        scene._native = native
        return scene

    def to_dict(self) -> dict[str, Any]:
        """The scene as a table with the keys of the scene file; meshes that came as arrays are names."""
        return copy.deepcopy(self._table)

    def to_toml(self) -> str:
        """The scene as a scene file; meshes that came as arrays are names."""
        return self._native.to_toml()

    def replace(self, changes: Mapping[str, Any]) -> Scene:
        """The scene with other values at keys such as ``"shell[0].material.young"``."""
        changed = self.__class__.__new__(self.__class__)
        changed._meshes, changed._strands = dict(self._meshes), dict(self._strands)
        changed._path, changed._table = self._path, copy.deepcopy(self._table)
        for key, value in changes.items():
            _set(changed._table, key, _table(value))
        changed._native = changed._parse()
        return changed

    def __repr__(self) -> str:
        counts = [(k, len(self._table.get(k, []))) for k in ("shell", "rod", "hair", "collider")]
        return "<toile.Scene: " + ", ".join(f"{n} {k}" for k, n in counts if n) + ">"

    def __reduce__(self) -> Any:
        return _restore, (self._table, self._path, self._meshes, self._strands)

    def _parse(self) -> _native.Scene:
        text = json.dumps(self._table)
        return _native.parse_scene(text, self._path, self._meshes, self._strands)

    def _attach(self, name: str, mesh: Any) -> str:
        try:
            vertices, faces = mesh
        except (TypeError, ValueError):
            raise ToileError(f"{name} must be a file or arrays (vertices, faces)") from None
        vertices = np.ascontiguousarray(vertices, dtype=np.float64)
        given = np.asarray(faces)
        if given.dtype.kind not in "iu":
            raise ToileError(f"{name}: faces are {given.dtype}; give vertex numbers as integers")
        faces = np.ascontiguousarray(given, dtype=np.int64)
        for what, array in (("vertices", vertices), ("faces", faces)):
            if array.ndim != 2 or array.shape[1] != 3:
                raise ToileError(f"{name}: {what} have shape {array.shape}; give an array of shape (n, 3)")
        self._meshes[name] = (vertices, faces)
        return name

    def _mesh(self, name: str, mesh: Any) -> Any:
        if isinstance(mesh, (str, os.PathLike)):
            return os.fspath(mesh)
        if isinstance(mesh, Mapping):
            return _table(mesh)
        return self._attach(name, mesh)

    def _shell(self, i: int, shell: Shell | Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(shell, Mapping):
            return _table(shell)
        name = f"shell[{i}].mesh"
        table = {
            "mesh": self._mesh(name, shell.mesh),
            "thickness": _table(shell.thickness),
            "areal_density": _table(shell.areal_density),
            "material": _table(shell.material),
            "scale": _table(shell.scale),
            "velocity": _table(shell.velocity),
            "damping": _table(shell.damping),
        }
        if isinstance(shell.rest, (str, os.PathLike)):
            table["rest"] = os.fspath(shell.rest)
        elif shell.rest is not None:
            if name not in self._meshes:
                raise ToileError(f"shell[{i}].rest is an array, so mesh must be arrays (vertices, faces) too")
            if np.shape(shell.rest) != self._meshes[name][0].shape:
                found, wanted = np.shape(shell.rest), self._meshes[name][0].shape
                raise ToileError(f"shell[{i}].rest has shape {found}, but the mesh has vertices of shape {wanted}")
            table["rest"] = self._attach(f"shell[{i}].rest", (shell.rest, self._meshes[name][1]))
        if isinstance(shell.pins, Mapping):
            table["pins"] = _table(shell.pins)
        elif shell.pins is not None:
            table["pins"] = {"vertices": np.asarray(shell.pins).astype(np.int64).ravel().tolist()}
        return {key: value for key, value in table.items() if value is not None}

    def _collider(self, i: int, collider: Collider | Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(collider, Mapping):
            return _table(collider)
        table = {f.name: getattr(collider, f.name) for f in fields(collider)}
        if collider.mesh is not None:
            table["mesh"] = self._mesh(f"collider[{i}].mesh", collider.mesh)
        return {key: _table(value) for key, value in table.items() if value is not None}

    def _rod(self, i: int, rod: Rod | Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(rod, Mapping):
            return _table(rod)
        table = {f.name: getattr(rod, f.name) for f in fields(rod)}
        if rod.curve is not None and not isinstance(rod.curve, (str, os.PathLike)):
            table["curve"] = self._lines(f"rod[{i}].curve", [rod.curve])
        if rod.rest is not None and not isinstance(rod.rest, (str, os.PathLike)):
            table["rest"] = self._lines(f"rod[{i}].rest", [rod.rest])
        return {key: _table(value) for key, value in table.items() if value is not None}

    def _hair(self, i: int, hair: Hair | Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(hair, Mapping):
            return _table(hair)
        table = {f.name: getattr(hair, f.name) for f in fields(hair)}
        if not isinstance(hair.strands, (str, os.PathLike)):
            table["strands"] = self._lines(f"hair[{i}].strands", hair.strands)
        if hair.rest is not None and not isinstance(hair.rest, (str, os.PathLike)):
            table["rest"] = self._lines(f"hair[{i}].rest", hair.rest)
        return {key: _table(value) for key, value in table.items() if value is not None}

    def _lines(self, name: str, lines: Sequence[ArrayLike]) -> str:
        self._strands[name] = [np.ascontiguousarray(line, dtype=np.float64) for line in lines]
        for i, line in enumerate(self._strands[name]):
            if line.ndim != 2:
                raise ToileError(f"{name}: strand {i} has shape {line.shape}; give an array of shape (n, 3)")
        return name


def _restore(table: Any, path: str | None, meshes: Any, strands: Any) -> Scene:
    scene = Scene.__new__(Scene)
    scene._table, scene._path, scene._meshes, scene._strands = table, path, meshes, strands
    scene._native = scene._parse()
    return scene


def _set(table: Any, key: str, value: Any) -> None:
    """Sets a value at a key such as ``shell[0].material.young``."""
    steps = re.findall(r"[^.\[\]]+|\[\d+\]", key)
    if not steps or "".join(steps) != key.replace(".", ""):
        raise ToileError(f"{key!r} is no key; write for example shell[0].material.young")
    at, where = table, ""
    for n, step in enumerate(steps):
        index: Any = int(step[1:-1]) if step[0] == "[" else step
        last = n == len(steps) - 1
        if isinstance(index, int):
            if not isinstance(at, list) or index >= len(at):
                raise ToileError(f"{key!r}: the scene has no {where}[{index}]")
        elif not isinstance(at, dict):
            raise ToileError(f"{key!r}: {where or 'the scene'} is no table")
        elif not last:
            at.setdefault(index, {})
        where += step if isinstance(index, int) or not where else f".{step}"
        if last:
            at[index] = value
        else:
            at = at[index]
