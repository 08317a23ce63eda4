"""Networks that look rows up: a graph convolutional network, in JAX."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax import numpy as jnp

from cases.steps_jax import adam_step


def gcn() -> Callable[[], float]:
    """A training step with Adam on a graph of Cora's size."""
    nodes, edges = 2708, 10556
    keys = jax.random.split(jax.random.key(0), 8)
    sources, targets = jax.random.randint(keys[0], (2, edges), 0, nodes)
    norms, x = jax.random.uniform(keys[1], (edges, 1)), jax.random.normal(keys[2], (nodes, 1433))
    labels = jax.random.randint(keys[3], (nodes,), 0, 7)
    weights = {
        "w1": 0.05 * jax.random.normal(keys[4], (1433, 64)),
        "b1": jnp.zeros(64),
        "w2": 0.1 * jax.random.normal(keys[5], (64, 7)),
        "b2": jnp.zeros(7),
    }

    def spread(x):
        return jax.ops.segment_sum(x[sources] * norms, targets, nodes)

    def loss(w):
        hidden = jax.nn.relu(spread(x @ w["w1"] + w["b1"]))
        scores = jax.nn.log_softmax(spread(hidden @ w["w2"] + w["b2"]))
        return -scores[jnp.arange(nodes), labels].mean()

    return adam_step(loss, weights, 10)
