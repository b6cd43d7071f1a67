"""Thin elastic things (cloth, shells, rods) under gravity and exact dry friction, every static result with a certificate.

Lengths are metres, everything is in SI units, arrays of points have shape (n, 3), z is up unless a scene says otherwise.

>>> import toile
>>> scene = toile.Scene(shells=[toile.Shell(
...     mesh={"generate": "sheet", "n": 5, "size": 1.0}, thickness=1e-3, areal_density=0.2,
...     material=toile.Koiter(young=1e6, poisson=0.3), pins=[20, 24])])
>>> hanging = toile.drape(scene)
>>> hanging.certified
True
"""

from . import batch, friction
from ._native import ToileError, __version__, scene_schema, set_threads
from .results import Drape, Fibres, Gradient, Inversion, RodDrape, RodInversion
from .scene import Collider, DiscreteShells, Hair, Koiter, Rod, Scene, SelfContact, Shell, Time
from .solve import Frame, drape, invert, simulate, validate

__all__ = [
    "Collider",
    "DiscreteShells",
    "Drape",
    "Fibres",
    "Frame",
    "Gradient",
    "Hair",
    "Inversion",
    "Koiter",
    "Rod",
    "RodDrape",
    "RodInversion",
    "Scene",
    "SelfContact",
    "Shell",
    "Time",
    "ToileError",
    "__version__",
    "batch",
    "drape",
    "friction",
    "invert",
    "scene_schema",
    "set_threads",
    "simulate",
    "validate",
]
