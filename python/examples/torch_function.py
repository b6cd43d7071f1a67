"""An equilibrium as a differentiable layer of PyTorch: gradients flow through `Drape.vjp`.

Without PyTorch the same pair of functions is checked with NumPy; JAX takes it through `jax.custom_vjp` in the same way.
"""

import numpy as np

import toile

PINS = [0, 4]


def faces(n: int) -> np.ndarray:
    made = []
    for j in range(n - 1):
        for i in range(n - 1):
            a = j * n + i
            made += [(a, a + 1, a + n), (a + 1, a + n + 1, a + n)]
    return np.array(made)


FACES = faces(5)


def equilibrium(rest: np.ndarray, bending: float) -> toile.Drape:
    shell = toile.Shell(
        (rest, FACES), 1e-3, 0.2, toile.Koiter(young=5e4, poisson=0.3, bending=float(bending)), rest=rest, pins=PINS
    )
    found = toile.drape(toile.Scene([shell], solver={"tolerance": 1e-12}))
    if not found.certified:
        raise RuntimeError(found.reason)
    return found


def pull(found: toile.Drape, slope: np.ndarray) -> tuple[np.ndarray, float]:
    """dL/d rest, dL/d bending; the rest shape is also where the pins are."""
    gradient = found.vjp(slope)
    return gradient.rest_positions + gradient.supports, gradient.parameters["bending"]


side = np.linspace(0.0, 0.4, 5)
flat = np.stack([*np.meshgrid(side, side), 0.01 * np.ones((5, 5))], axis=-1).reshape(-1, 3)

try:
    import torch
except ImportError:
    torch = None

if torch is None:
    found = equilibrium(flat, 1e-3)
    slope = np.zeros_like(flat)
    slope[-1, 2] = 1.0  # L = height of the far corner
    by_rest, by_bending = pull(found, slope)
    way = np.sin(np.arange(75.0)).reshape(-1, 3)

    def height(s: float) -> float:
        return float(equilibrium(flat + s * way, 1e-3 + s * 1e-3).positions()[-1, 2])

    expected = (height(1e-5) - height(-1e-5)) / 2e-5
    got = float(np.sum(by_rest * way) + by_bending * 1e-3)
    print("PyTorch is not installed; NumPy says", got, "and differences say", expected)
    assert abs(got - expected) < 1e-4 * abs(expected)
else:

    class Equilibrium(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rest, bending):
            ctx.found = equilibrium(rest.detach().numpy(), bending.item())
            return torch.from_numpy(ctx.found.positions())

        @staticmethod
        def backward(ctx, slope):
            by_rest, by_bending = pull(ctx.found, slope.numpy())
            return torch.from_numpy(by_rest), torch.tensor(by_bending, dtype=torch.float64)

    rest = torch.tensor(flat, requires_grad=True)
    bending = torch.tensor(1e-3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Equilibrium.apply, (rest, bending), eps=1e-7, atol=1e-6, rtol=1e-4)
    print("torch.autograd.gradcheck agrees")
