import numpy as np
import pytest

import toile
from toile import friction


def problem():
    a = np.sin(3.0 * np.arange(9)[:, None] + 5.0 * np.arange(9)[None, :])
    w = 0.05 * a @ a.T + np.eye(9)
    return (w + w.T) / 2, np.array([-1.0, 2.0, -0.7, -1.0, 0.1, 0.05, 3.0, 0.4, 0.2]), np.array([0.4, 0.6, 0.5])


def test_a_block_slides_slowed_by_friction():
    found = friction.solve(np.eye(3), [-1.0, 2.0, 0.0], 0.5)
    assert found.converged and found.status == "S"
    assert np.allclose(found.u, [0.0, 1.5, 0.0]) and np.allclose(found.r, [1.0, -0.5, 0.0])


@pytest.mark.parametrize("solver", ["auto", "gauss-seidel", "newton", "admm"])
def test_solvers_agree(solver):
    w, b, mu = problem()
    found = friction.solve(w, b, mu, solver=solver)
    assert found.converged and found.residual < 1e-8 and found.status == "STO"
    assert np.allclose(found.u, w @ found.r + b)
    assert np.allclose(found.r, friction.solve(w, b, mu).r, atol=1e-6)


def test_derivatives_agree_with_differences():
    w, b, mu = problem()
    rng = np.random.default_rng(3)
    dr, du, db, dm = rng.normal(size=9), rng.normal(size=9), rng.normal(size=9), rng.normal(size=3)
    dw = rng.normal(size=(9, 9))
    dw = dw + dw.T

    def value(s):
        found = friction.solve(w + s * dw, b + s * db, mu + s * dm, tolerance=1e-13)
        return dr @ found.r + du @ found.u

    expected = (value(1e-6) - value(-1e-6)) / 2e-6
    gw, gb, gm = friction.vjp(friction.solve(w, b, mu, tolerance=1e-13), dr, du)
    assert np.sum(gw * dw) + gb @ db + gm @ dm == pytest.approx(expected, rel=1e-6)
    assert gm[0] != 0 and gm[1] == 0 and gm[2] == 0, "only what slips feels its friction"


def test_wrong_problems_are_told():
    with pytest.raises(toile.ToileError, match="square"):
        friction.solve(np.zeros((3, 4)), np.zeros(3), 0.3)
    with pytest.raises(toile.ToileError, match="negative|zero or a positive"):
        friction.solve(np.eye(3), np.zeros(3), -0.3)
    with pytest.raises(toile.ToileError, match="called"):
        friction.solve(np.eye(3), np.zeros(3), 0.3, solver="magic")
    with pytest.raises(toile.ToileError, match="dimension"):
        friction.solve(np.eye(4), np.zeros(4), 0.3, dimension=4)
