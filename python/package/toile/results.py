"""What solvers give back. Positions are in the units and axes of the scene: metres and z up unless it says otherwise."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Sequence, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import ToileError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gradient:
    """Derivatives of a function of the equilibrium by what a shell is made of.

    ``rest_positions`` (n, 3); ``supports`` (n, 3), nonzero where vertices are pinned or stick to a collider;
    ``parameters`` by the names of the scene file: areal_density, young, poisson, thickness, bending, …. Friction that is not used up
    has no influence: its derivative is zero.
    """

    rest_positions: Array
    supports: Array
    parameters: dict[str, Any]


class _Result:
    """Shapes and certificate of a static result."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self.certificate_json: str = native.certificate_json()
        """What certificate.json holds, to the byte."""
        self.certificate: dict[str, Any] = json.loads(self.certificate_json)
        """Figures of the certificate; None where one does not apply."""

    def __len__(self) -> int:
        return len(self._native)

    @property
    def certified(self) -> bool:
        """Whether the result is proven to be a stable equilibrium."""
        return self.certificate["verdict"] == "certified"

    @property
    def reason(self) -> str:
        """Why, or why not, in words."""
        return self.certificate["reason"]

    def positions(self, shell: int = 0) -> Array:
        """The equilibrium of a shell, (n, 3)."""
        return self._native.positions(shell)

    def rest_positions(self, shell: int = 0) -> Array:
        """The rest shape of a shell, (n, 3)."""
        return self._native.rest_positions(shell)

    def faces(self, shell: int = 0) -> NDArray[np.uint32]:
        """Triangles of a shell, (m, 3)."""
        return self._native.faces(shell)

    def contacts(self) -> list[dict[str, Any]]:
        """Point [m], normal, force [N] and friction of every contact, z up."""
        return self._native.contacts()

    def __repr__(self) -> str:
        return f"<toile.{type(self).__name__}: {self.certificate['verdict']}: {self.reason}>"


class Drape(_Result):
    """An equilibrium, or the best that was found."""

    def fields(self, shell: int = 0) -> dict[str, Array]:
        """``stretch``, ``bending`` [1/m] and ``residual`` [N] at every vertex of a shell."""
        return self._native.fields(shell)

    def history(self) -> Array:
        """Residual after each Newton step."""
        return self._native.history()

    def vjp(self, dl_dx: ArrayLike | Sequence[ArrayLike]) -> Gradient | list[Gradient]:
        """Pulls dL/dx (n, 3), a list of them for several shells, back to rest shapes, supports and materials.

        By the adjoint: one factorisation, exact to rounding. A list of gradients comes back for a list.
        """
        several = isinstance(dl_dx, (list, tuple)) and len(dl_dx) > 0 and np.ndim(dl_dx[0]) == 2
        if not several and len(self) != 1:
            raise ToileError(f"the scene has {len(self)} shells; give a list with dL/dx of each")
        given = list(dl_dx) if several else [dl_dx]
        rows = [np.ascontiguousarray(d, dtype=np.float64) for d in given]
        for i, row in enumerate(rows):
            if row.ndim != 2:
                raise ToileError(f"dL/dx of shell {i} has shape {row.shape}; give an array of shape (n, 3)")
        found = [Gradient(**g) for g in self._native.vjp(rows)]
        return found if several else found[0]


class Inversion(_Result):
    """A rest shape, and the equilibrium it has."""

    def naive_positions(self, shell: int = 0) -> Array | None:
        """The target made as drawn, sagging; None if it was not asked for."""
        return self._native.naive_positions(shell)


class _Fibre:
    """One fibre of a result."""

    def __init__(self, native: _native.Fibres, place: int):
        self._native, self._place = native, place

    @property
    def certificate(self) -> dict[str, Any]:
        """Residual, stability and verdict of this fibre, with the contact forces on it."""
        return self._native.certificate(self._place)

    @property
    def certified(self) -> bool:
        """Whether it is proven to be a stable equilibrium."""
        return self.certificate["verdict"] == "certified"

    @property
    def natural(self) -> Array:
        """Natural curvatures k1, k2 and twist [1/m]."""
        return self._native.natural(self._place)

    @property
    def curvatures(self) -> Array:
        """Curvatures k1, k2 and twist at rest [1/m]."""
        return self._native.curvatures(self._place)

    def positions(self, stations: int = 21) -> Array:
        """Points of the shape at rest, at equal arclengths, (stations, 3)."""
        return self._native.positions(self._place, stations)

    def rest_positions(self, stations: int = 21) -> Array:
        """Points of the natural shape, at equal arclengths."""
        return self._native.rest_positions(self._place, stations)


class RodDrape(_Fibre):
    """A rod at rest."""


class RodInversion(_Fibre):
    """The nature behind a drawn fibre."""


_F = TypeVar("_F", bound=_Fibre)


class Fibres(Sequence[_F]):
    """The fibres of a scene, one result each, and the judgement of the whole."""

    def __init__(self, native: _native.Fibres, kind: type[_F]):
        self._native = native
        self._all = [kind(native, i) for i in range(len(native))]

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place):
        return self._all[place]

    @property
    def certificate_json(self) -> str:
        """What the command line writes into certificate.json, to the byte."""
        return self._native.certificate_json()

    @property
    def certificate(self) -> dict[str, Any]:
        """The worst figures of all fibres, verdict and reason."""
        return json.loads(self.certificate_json)

    @property
    def certified(self) -> bool:
        """Whether the whole is proven to be a stable equilibrium."""
        return self.certificate["verdict"] == "certified"

    @property
    def reason(self) -> str:
        """The verdict in words."""
        return self.certificate["reason"]

    @property
    def notes(self) -> list[str]:
        """What was unusual in the files."""
        return self._native.notes

    def contacts(self) -> list[dict[str, Any]]:
        """Contacts with their forces, in metres and newtons with z up."""
        return self._native.contacts()


def write_obj(path: str | os.PathLike, positions: ArrayLike, faces: ArrayLike) -> None:
    """Writes a mesh as OBJ, whole or not at all."""
    points, corners = np.asarray(positions, dtype=np.float64), np.asarray(faces)
    part = f"{os.fspath(path)}.part"
    with open(part, "w", encoding="ascii") as out:
        out.writelines(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.tolist())
        out.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in corners.tolist())
    os.replace(part, path)
