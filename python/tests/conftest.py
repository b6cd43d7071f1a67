"""Meshes made here, and the command line if it is built."""

import os
import pathlib
import shutil

import numpy as np
import pytest

import toile


def grid(nx: int, ny: int, width: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A lying rectangle, diagonals alternating."""
    x, y = np.meshgrid(np.linspace(0, width, nx + 1), np.linspace(0, height, ny + 1))
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    faces = []
    for j in range(ny):
        for i in range(nx):
            a, b = j * (nx + 1) + i, j * (nx + 1) + i + 1
            c, d = b + nx + 1, a + nx + 1
            faces += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return vertices, np.array(faces)


def tube(around: int, along: int, radius: float, bottom: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """An open cone frustum around z, `radius` at the top and `bottom` below, top at z = 0."""
    angles = 2 * np.pi * np.arange(around) / around
    vertices = []
    for j in range(along + 1):
        r = radius + (bottom - radius) * j / along
        vertices += [(r * np.cos(a), r * np.sin(a), -height * j / along) for a in angles]
    faces = []
    for j in range(along):
        for i in range(around):
            a, b = j * around + i, j * around + (i + 1) % around
            faces += [(a, a + around, b), (b, a + around, b + around)]
    return np.array(vertices), np.array(faces)


KOITER = dict(thickness=1e-3, areal_density=0.2, material=toile.Koiter(young=1e5, poisson=0.3))


@pytest.fixture
def hanging() -> toile.Scene:
    """A sheet held at two corners."""
    mesh = grid(5, 4, 0.5, 0.4)
    return toile.Scene([toile.Shell(mesh=mesh, pins=[0, 5], **KOITER)], solver={"tolerance": 1e-12})


@pytest.fixture
def skirt() -> toile.Scene:
    """A stiff skirt that friction holds on a cone."""
    vertices, faces = tube(24, 6, 0.2, 0.3, 0.3)
    # The body is a little steeper and starts a contact distance inside the first rows.
    body = toile.Collider(
        cone={"base": [0, 0, -0.6], "tip": [0, 0, 0.2], "radius": 0.2 + 0.6 / 3, "top_radius": 0.2 - 0.2 / 3},
        friction=0.6,
        gap=1e-3,
    )
    outward = vertices[:, :2] / np.linalg.norm(vertices[:, :2], axis=1, keepdims=True)
    vertices[:, :2] += outward * 1e-3 / np.cos(np.arctan(1 / 3))
    shell = toile.Shell(
        mesh=(vertices, faces), thickness=2e-3, areal_density=0.3, material=toile.Koiter(young=5e6, poisson=0.3)
    )
    return toile.Scene([shell], [body])


@pytest.fixture(scope="session")
def command() -> str:
    """The `toile` command, built beside the wheel."""
    root = pathlib.Path(__file__).resolve().parents[2]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    for place in (target / "release" / "toile", shutil.which("toile")):
        if place and pathlib.Path(place).is_file():
            return str(place)
    pytest.skip("the command line is not built: cargo build --release")
