"""How stiff is it? Find the bending stiffness behind a hanging shape, with derivatives by the adjoint.

A flag clamped at one side hangs with D = 1e-3 N·m; starting from five times that, Gauss–Newton on the logarithm finds it again.
"""

import math

import numpy as np

import toile


def flag(bending: float) -> toile.Drape:
    mesh = {"generate": "strip", "length": 0.3, "width": 0.1, "nx": 12, "ny": 4}
    pins = {"box": [[-0.01, -1, -1], [0.03, 1, 1]]}
    shell = toile.Shell(mesh, 5e-4, 0.2, toile.Koiter(young=1e6, poisson=0.3, bending=bending), pins=pins)
    return toile.drape(toile.Scene([shell], solver={"tolerance": 1e-11}))


target = flag(1e-3).positions()
guess = 5e-3
for step in range(12):
    found = flag(guess)
    assert found.certified, found.reason
    away = found.positions() - target
    error = 0.5 * float(np.sum(away**2))
    # dx/dD along the residual, and its square by one more pull: one number is looked for, so Gauss–Newton is a division.
    slope = found.vjp(away).parameters["bending"] * guess
    print(f"{step:2}  D = {guess:.9f} N·m  error {error:.3e}  slope {slope:+.3e}")
    if error < 1e-20:
        break
    # L is nearly quadratic in log D: a secant on its slope.
    trial = guess * math.exp(1e-4)
    other = flag(trial)
    curved = (other.vjp(other.positions() - target).parameters["bending"] * trial - slope) / 1e-4
    guess *= math.exp(max(-1.0, min(1.0, -slope / abs(curved))))

assert abs(guess / 1e-3 - 1) < 1e-6, guess
