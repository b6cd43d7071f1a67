"""Derivatives of equilibria against differences of equilibria."""

import numpy as np
import pytest
from conftest import grid

import toile

MESH = grid(5, 4, 0.5, 0.4)
PINS = [0, 1, 5, 6]


def scene(rest=None, young=2e4, bending=1e-3, density=0.2, start=None):
    shell = toile.Shell(
        mesh=(MESH[0] if start is None else start, MESH[1]),
        rest=MESH[0] if rest is None else rest,
        thickness=1e-3,
        areal_density=density,
        material=toile.Koiter(young=young, poisson=0.3, bending=bending),
        pins=PINS,
    )
    return toile.Scene([shell], gravity=[0.3, -1.0, -9.0], solver={"tolerance": 1e-13})


def weights(n):
    return np.sin(1.0 + np.arange(3 * n)).reshape(n, 3)


def loss(found):
    x = found.positions()
    return float(np.sum(weights(len(x)) * x) + 0.5 * np.sum(x[7] ** 2))


def dloss(found):
    x = found.positions()
    slope = weights(len(x)).copy()
    slope[7] += x[7]
    return slope


def test_rest_shape_supports_and_material_agree_with_differences():
    base = toile.drape(scene())
    assert base.certified, base.reason
    gradient = base.vjp(dloss(base))
    start = base.positions()
    way = np.random.default_rng(4).normal(size=start.shape)

    def slope(make, step):
        low, high = (toile.drape(make(s)) for s in (-step, step))
        assert low.certified and high.certified
        return (loss(high) - loss(low)) / (2 * step)

    found = np.sum(gradient.rest_positions * way)
    expected = slope(lambda s: scene(rest=MESH[0] + s * way, start=start), 1e-6)
    assert abs(expected) > 0.1 and found == pytest.approx(expected, rel=1e-6)

    held = np.zeros_like(way)
    held[PINS] = way[PINS]
    assert np.count_nonzero(gradient.supports) == 3 * len(PINS)
    expected = slope(lambda s: scene(start=start + s * held, rest=MESH[0]), 1e-6)
    assert np.sum(gradient.supports * held) == pytest.approx(expected, rel=1e-6)

    for name, key, value in [("young", "young", 2e4), ("bending", "bending", 1e-3), ("areal_density", "density", 0.2)]:
        expected = slope(lambda s: scene(start=start, **{key: value * (1 + s)}), 1e-5) / value
        assert abs(expected * value) > 1e-6, name
        assert gradient.parameters[name] == pytest.approx(expected, rel=1e-5), name
    assert set(gradient.parameters) == {"areal_density", "young", "poisson", "thickness", "bending"}


def test_cloth_on_a_table_feels_its_rest_shape_and_not_its_friction():
    """A strip clamped over the edge of a table, lying on it: what sticks stays, the rest follows."""
    vertices, faces = grid(8, 2, 0.4, 0.1)
    vertices[:, 2] = 1e-3

    def lying(rest, friction):
        shell = toile.Shell(
            (vertices, faces), 1e-3, 0.2, toile.Koiter(young=1e6, poisson=0.0, bending=2e-3), rest=rest,
            pins=[0, 1, 9, 10, 18, 19],
        )
        table = toile.Collider(plane={"point": [0, 0, 0]}, friction=friction)
        return toile.drape(toile.Scene([shell], [table], solver={"tolerance": 1e-13}))

    found = lying(vertices, 0.5)
    assert found.certified, found.reason
    gradient = found.vjp(weights(len(vertices)))
    assert "friction" not in gradient.parameters
    assert np.isfinite(gradient.rest_positions).all()


def test_a_mended_mesh_has_derivatives_at_the_vertices_of_its_file():
    """Two halves with doubled vertices along the seam, one of them wound the other way, and a vertex without faces."""
    vertices, faces = MESH
    middle = {v: len(vertices) + k for k, v in enumerate(np.flatnonzero(np.isclose(vertices[:, 0], 0.2)))}
    right = vertices[faces].mean(axis=1)[:, 0] > 0.2
    doubled = faces.copy()
    for k in np.flatnonzero(right):
        doubled[k] = [middle.get(v, v) for v in faces[k]][::-1]
    torn = np.vstack([vertices, vertices[list(middle)], [[9.0, 9.0, 9.0]]])
    last = len(torn) - 1

    def hung(points):
        shell = toile.Shell((points, doubled), 1e-3, 0.2, toile.Koiter(2e4, 0.3, bending=1e-3), pins=PINS)
        return toile.drape(toile.Scene([shell], gravity=[0.3, -1.0, -9.0], solver={"tolerance": 1e-13}))

    base = hung(torn)
    assert base.certified, base.reason
    x = base.positions()
    assert x.shape == torn.shape and np.array_equal(x[list(middle)], x[list(middle.values())])
    whole = toile.drape(
        toile.Scene(
            [toile.Shell(MESH, 1e-3, 0.2, toile.Koiter(2e4, 0.3, bending=1e-3), pins=PINS)],
            gravity=[0.3, -1.0, -9.0],
            solver={"tolerance": 1e-13},
        )
    )
    assert np.allclose(x[: len(vertices)], whole.positions(), atol=1e-9)

    slope = weights(len(torn))
    gradient = base.vjp(slope)
    assert gradient.rest_positions.shape == torn.shape
    assert not gradient.rest_positions[last].any(), "a vertex without faces matters to nobody"
    # Move the file's vertices, doubles together: the mesh is rest shape and place of the pins.
    way = np.random.default_rng(7).normal(size=torn.shape)
    way[list(middle.values())] = way[list(middle)]
    step = 1e-6
    low, high = hung(torn - step * way), hung(torn + step * way)
    assert low.certified and high.certified
    moved = (high.positions() - low.positions()) / (2 * step)
    moved[last] = 0.0  # it stays where the file puts it, which is no matter of mechanics
    found = np.sum((gradient.rest_positions + gradient.supports) * way)
    expected = np.sum(slope * moved)
    assert abs(expected) > 0.1 and found == pytest.approx(expected, rel=1e-5)


def test_several_shells_take_a_list():
    shells = [
        toile.Shell((MESH[0] + [0, 0, 2.0 * k], MESH[1]), 1e-3, 0.2, toile.Koiter(2e4, 0.3), pins=PINS) for k in (0, 1)
    ]
    found = toile.drape(toile.Scene(shells, solver={"tolerance": 1e-12}))
    one, other = found.vjp([weights(30), 2 * weights(30)])
    assert np.allclose(2 * one.rest_positions, other.rest_positions, rtol=1e-5, atol=1e-7)
    with pytest.raises(toile.ToileError, match="2 shells"):
        found.vjp(weights(30))


def test_derivatives_of_what_is_no_equilibrium_are_refused():
    found = toile.drape(scene(), max_steps=1)
    with pytest.raises(toile.ToileError, match="not certified"):
        found.vjp(weights(30))
    done = toile.drape(scene())
    with pytest.raises(toile.ToileError, match="rows"):
        done.vjp(np.zeros((4, 3)))
