"""Single ops and short chains of them, in JAX."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax import numpy as jnp

from cases.steps_jax import timed
from cases.timing import best_of


def _random(*shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(0), shape)


def attention() -> Callable[[], float]:
    """The gradient with respect to all three."""

    def forward(q, k, v):
        scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        return (jax.nn.softmax(scores, -1) @ v).sum()

    inputs = [_random(4, 8, 1024, 64) for _ in range(3)]
    step = jax.jit(jax.grad(forward, argnums=(0, 1, 2)))
    return timed(lambda: step(*inputs), 3)


def norm_gelu_softmax() -> Callable[[], float]:
    """The gradient with respect to inputs and parameters."""

    def forward(x, weight, scale, bias):
        y = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return (jax.nn.softmax(jax.nn.gelu(y * scale + bias, approximate=False)) * weight).sum()

    inputs = _random(4096, 1024), _random(4096, 1024), jnp.ones(1024), jnp.zeros(1024)
    step = jax.jit(jax.grad(forward, argnums=(0, 1, 2, 3)))
    return timed(lambda: step(*inputs), 5)


def chain() -> Callable[[], float]:
    """The forward chain on 16 M floats."""
    inputs = [_random(16 * 2**20) for _ in range(3)]
    step = jax.jit(lambda x, y, z: jax.nn.sigmoid(jnp.tanh(1.5 * x + y)) * x + jnp.exp(-z * z) * y)
    return timed(lambda: step(*inputs), 5)


def adam() -> Callable[[], float]:
    """An update of 160 parameters from given gradients."""

    def update(parameters, gradients, means, squares, count):
        means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients, strict=True)]
        squares = [0.999 * v + 0.001 * g * g for v, g in zip(squares, gradients, strict=True)]
        rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        parameters = [
            p - rate * m / (jnp.sqrt(v) + 1e-8)
            for p, m, v in zip(parameters, means, squares, strict=True)
        ]
        return parameters, means, squares

    def ones() -> list[jax.Array]:
        return [jnp.ones((400, 400)) for _ in range(160)]

    gradients, state = ones(), [ones(), ones(), ones()]
    step = jax.jit(update, donate_argnums=(0, 2, 3))

    def run() -> object:
        parameters, means, squares = state
        state[:] = step(parameters, gradients, means, squares, 10)
        return state

    return timed(run, 10)


def add_pynative() -> Callable[[], float]:
    """The sum of two small arrays."""
    x, y = jnp.ones((4, 4)), jnp.ones((4, 4))
    return lambda: best_of(lambda: x + y, 50, 200)
