"""Recurrent networks over whole sequences, in JAX."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax import numpy as jnp

from cases.steps_jax import sgd_step


def _lstm(state, gates):
    h, c = state
    i, f, g, o = jnp.split(gates(h), 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def lstm() -> Callable[[], float]:
    """A training step of an LSTM."""
    keys = jax.random.split(jax.random.key(0), 5)
    weights = {
        "w_ih": 0.06 * jax.random.normal(keys[0], (256, 1024)),
        "w_hh": 0.06 * jax.random.normal(keys[1], (256, 1024)),
        "bias": jnp.zeros(1024),
        "fc": 0.06 * jax.random.normal(keys[2], (256, 10)),
    }
    x, labels = jax.random.normal(keys[3], (32, 100, 256)), jnp.arange(32) % 10

    def loss(w):
        from_x = (x @ w["w_ih"] + w["bias"]).swapaxes(0, 1)
        start = jnp.zeros((32, 256)), jnp.zeros((32, 256))
        (h, _), _ = jax.lax.scan(lambda s, g: _lstm(s, lambda h: g + h @ w["w_hh"]), start, from_x)
        return -jax.nn.log_softmax(h @ w["fc"])[jnp.arange(32), labels].mean()

    return sgd_step(loss, weights, 10)
