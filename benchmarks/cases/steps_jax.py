"""Steps that the families share, in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from cases.timing import best_of


def timed(step: Callable[[], object], repeats: int) -> Callable[[], float]:
    """A case's measure: the best of a few steps, after a first one."""
    jax.block_until_ready(step())
    return lambda: best_of(lambda: jax.block_until_ready(step()), repeats)


def sgd_step(loss: Callable[[Any], jax.Array], weights: Any, repeats: int) -> Callable[[], float]:
    """The measure of a training step with momentum on a tree of weights."""

    def update(weights, velocity):
        value, gradients = jax.value_and_grad(loss)(weights)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
        return value, jax.tree.map(lambda w, v: w - 0.01 * v, weights, velocity), velocity

    step = jax.jit(update, donate_argnums=(0, 1))
    state = [weights, jax.tree.map(lambda w: 0 * w, weights)]

    def run() -> object:
        value, *state[:] = step(*state)
        return value

    return timed(run, repeats)


def adam_step(loss: Callable[[Any], jax.Array], weights: Any, repeats: int) -> Callable[[], float]:
    """The measure of a training step with Adam on a tree of weights."""

    def update(weights, means, squares, count):
        value, g = jax.value_and_grad(loss)(weights)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, g)
        squares = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, squares, g)
        rate = 1e-4 * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count)
        weights = jax.tree.map(
            lambda w, m, v: w - rate * m / (v**0.5 + 1e-8), weights, means, squares
        )
        return value, weights, means, squares, count + 1

    step = jax.jit(update, donate_argnums=(0, 1, 2))
    zeros = [jax.tree.map(lambda w: 0 * w, weights) for _ in range(2)]
    state = [weights, *zeros, 1]

    def run() -> object:
        value, *state[:] = step(*state)
        return value

    return timed(run, repeats)
