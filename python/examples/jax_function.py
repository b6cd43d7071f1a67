"""An equilibrium as a differentiable function of JAX: gradients flow through `Drape.vjp`, under `jit` too.

JAX wants pure functions of arrays: both ways are host callbacks, and the way back finds the equilibrium of the way there by its input.
"""

import functools

import numpy as np

import toile

try:
    import jax
except ImportError:
    raise SystemExit("JAX is not installed: pip install jax")

jax.config.update("jax_enable_x64", True)

PINS = [0, 4]
SIDE = np.linspace(0.0, 0.4, 5)
FLAT = np.stack([*np.meshgrid(SIDE, SIDE), 0.01 * np.ones((5, 5))], axis=-1).reshape(-1, 3)
CELLS = [j * 5 + i for j in range(4) for i in range(4)]
FACES = np.array([f for a in CELLS for f in ((a, a + 1, a + 5), (a + 1, a + 6, a + 5))])


@functools.lru_cache(maxsize=8)
def solved(rest: bytes, bending: float) -> toile.Drape:
    points = np.frombuffer(rest).reshape(-1, 3)
    material = toile.Koiter(young=5e4, poisson=0.3, bending=bending)
    shell = toile.Shell((points, FACES), 1e-3, 0.2, material, rest=points, pins=PINS)
    found = toile.drape(toile.Scene([shell], solver={"tolerance": 1e-12}))
    if not found.certified:
        raise RuntimeError(found.reason)
    return found


def forward(rest, bending):
    return solved(np.asarray(rest).tobytes(), float(bending)).positions()


def backward(rest, bending, slope):
    gradient = solved(np.asarray(rest).tobytes(), float(bending)).vjp(np.asarray(slope))
    # The rest shape is also where the pins are.
    return gradient.rest_positions + gradient.supports, np.float64(gradient.parameters["bending"])


@jax.custom_vjp
def equilibrium(rest, bending):
    """Positions at rest, (n, 3), of a sheet with this rest shape and bending stiffness [N·m]."""
    return jax.pure_callback(forward, jax.ShapeDtypeStruct(rest.shape, rest.dtype), rest, bending)


def remember(rest, bending):
    return equilibrium(rest, bending), (rest, bending)


def pull(kept, slope):
    shapes = tuple(jax.ShapeDtypeStruct(jax.numpy.shape(k), slope.dtype) for k in kept)
    return jax.pure_callback(backward, shapes, *kept, slope)


equilibrium.defvjp(remember, pull)


@jax.jit
def loss(rest, bending):
    x = equilibrium(rest, bending)
    return x[-1, 2] + 0.5 * jax.numpy.sum(x**2)


by_rest, by_bending = jax.grad(loss, argnums=(0, 1))(FLAT, 1e-3)
way = np.sin(np.arange(75.0)).reshape(-1, 3)
step = 1e-6
expected = (loss(FLAT + step * way, 1e-3 * (1 + step)) - loss(FLAT - step * way, 1e-3 * (1 - step))) / (2 * step)
got = np.sum(by_rest * way) + by_bending * 1e-3
print(f"JAX says {got:.9f}, differences say {expected:.9f}")
assert abs(got - expected) < 1e-6 * abs(expected)
