"""Networks that read text: a small Transformer, in JAX."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax import numpy as jnp

from cases.steps_jax import adam_step

VOCABULARY, WIDTH, HEADS, LAYERS, STEPS = 8192, 256, 8, 4, 128


def _weights() -> dict:
    keys = iter(jax.random.split(jax.random.key(0), 64))

    def dense(inputs: int, outputs: int) -> tuple[jax.Array, jax.Array]:
        return 0.05 * jax.random.normal(next(keys), (inputs, outputs)), jnp.zeros(outputs)

    def norm() -> tuple[jax.Array, jax.Array]:
        return jnp.ones(WIDTH), jnp.zeros(WIDTH)

    layers = [
        {
            "qkv": dense(WIDTH, 3 * WIDTH),
            "out": dense(WIDTH, WIDTH),
            "up": dense(WIDTH, 4 * WIDTH),
            "down": dense(4 * WIDTH, WIDTH),
            "norm1": norm(),
            "norm2": norm(),
        }
        for _ in range(LAYERS)
    ]
    return {
        "tokens": 0.02 * jax.random.normal(next(keys), (VOCABULARY, WIDTH)),
        "places": jnp.zeros((STEPS, WIDTH)),
        "layers": layers,
        "norm": norm(),
        "head": dense(WIDTH, VOCABULARY),
    }


def _dense(x, weights):
    return x @ weights[0] + weights[1]


def _norm(x, weights):
    y = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    return y * weights[0] + weights[1]


def _layer(x, w):
    b, n, width = x.shape
    qkv = _dense(_norm(x, w["norm1"]), w["qkv"]).reshape(b, n, 3, HEADS, width // HEADS)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) / (width // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e9)
    mixed = (jax.nn.softmax(scores, -1) @ v).swapaxes(1, 2).reshape(b, n, width)
    x = x + _dense(mixed, w["out"])
    y = jax.nn.gelu(_dense(_norm(x, w["norm2"]), w["up"]), approximate=False)
    return x + _dense(y, w["down"])


def transformer() -> Callable[[], float]:
    """A training step with Adam."""
    ids = jax.random.randint(jax.random.key(1), (8, STEPS), 0, VOCABULARY)

    def loss(w):
        x = w["tokens"][ids] + w["places"]
        for layer in w["layers"]:
            x = _layer(x, layer)
        scores = jax.nn.log_softmax(_dense(_norm(x, w["norm"]), w["head"]))
        return -jnp.take_along_axis(scores, ids[..., None], -1).mean()

    return adam_step(loss, _weights(), 3)
