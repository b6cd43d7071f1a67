"""The conic kernel alone: contacts with exact dry friction.

Find r in the cones with u = W r + b under Coulomb's law; components of a contact are normal first.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native, _process
from ._native import FrictionSolution, ToileError

__all__ = ["FrictionSolution", "solve", "vjp"]

Array = NDArray[np.float64]


def solve(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    *,
    dimension: int = 3,
    solver: str = "auto",
    tolerance: float = 1e-8,
    max_iterations: int = 2000,
    progress: Callable[[dict[str, Any]], Any] | None = None,
) -> FrictionSolution:
    """Solves for the forces ``r`` and velocities ``u`` of contacts with friction ``mu`` (one number, or one per contact).

    Never fails: ``converged`` tells whether the tolerance was met. ``status`` has a letter per contact: O open, T sticking,
    S slipping.
    """
    _process.check()
    w = np.ascontiguousarray(W, dtype=np.float64)
    rhs = np.ascontiguousarray(b, dtype=np.float64).ravel()
    if w.ndim != 2:
        raise ToileError(f"W has shape {w.shape}; it must be square")
    if dimension not in (2, 3, 6):
        raise ToileError(f"contacts of dimension {dimension}; 2, 3 and 6 are known")
    contacts = rhs.size // dimension
    friction = np.ascontiguousarray(np.broadcast_to(np.asarray(mu, dtype=np.float64), (contacts,)) if np.ndim(mu) == 0 else mu, dtype=np.float64)
    return _native.solve_friction(w, rhs, friction, dimension, solver, tolerance, max_iterations, progress)


def vjp(solution: FrictionSolution, dl_dr: ArrayLike, dl_du: ArrayLike | None = None) -> tuple[Array, Array, Array]:
    """Pulls dL/dr and dL/du back to (W, b, mu), where every contact is strictly open, sticking or slipping."""
    dr = np.ascontiguousarray(dl_dr, dtype=np.float64).ravel()
    du = np.zeros_like(dr) if dl_du is None else np.ascontiguousarray(dl_du, dtype=np.float64).ravel()
    return solution.vjp(dr, du)
