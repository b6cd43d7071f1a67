import numpy as np
import pytest

import toile

MATERIAL = dict(bending_stiffness=[1e-6, 1e-6], twisting_stiffness=7e-7, linear_density=2e-5)


def test_a_rod_hangs():
    clamp = dict(position=[0, 0, 0], d1=[0, 0, 1], d2=[0, -1, 0], d3=[1, 0, 0])
    rod = toile.Rod(length=0.2, clamp=clamp, elements=10, **MATERIAL)
    (found,) = toile.drape(toile.Scene(rods=[rod]))
    assert found.certified
    x = found.positions(31)
    assert x.shape == (31, 3) and np.allclose(x[0], 0) and x[-1, 2] < -0.03
    lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
    assert abs(lengths.sum() - 0.2) < 1e-3


def test_a_drawn_fibre_gets_its_nature_from_an_array():
    s = np.linspace(0, 0.1, 60)
    drawn = np.stack([0.02 * np.sin(20 * s), 0.02 * (1 - np.cos(20 * s)), -0.8 * s], axis=1)
    (found,) = toile.invert(toile.Scene(rods=[toile.Rod(curve=drawn, elements=20, **MATERIAL)]))
    assert found.certified, found.certificate["reason"]
    assert np.linalg.norm(found.positions(2)[1] - drawn[-1]) < 1e-3
    assert found.natural.shape[1] == 3


def test_hair_comes_as_arrays():
    s = np.linspace(0, 0.05, 20)
    strands = [np.stack([0.01 * k + 0 * s, 0.2 * s**1.5, -s], axis=1) for k in range(3)]
    found = toile.invert(toile.Scene(hair=[toile.Hair(strands, elements=8, **MATERIAL)]))
    assert len(found) == 3 and all(f.certified for f in found)


def test_what_is_not_there_yet_is_told():
    clamp = dict(position=[0, 0, 0], d1=[0, 0, 1], d2=[0, -1, 0], d3=[1, 0, 0])
    rod = toile.Rod(length=0.2, clamp=clamp, **MATERIAL)
    with pytest.raises(toile.ToileError, match="command line"):
        toile.simulate(toile.Scene(rods=[rod], time=toile.Time(step=1e-3, duration=0.1)))
