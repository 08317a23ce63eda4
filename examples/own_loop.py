"""A training loop of your own with value_and_grad: gradients are clipped, rates fall, a second result comes along.

The data is made: points on two spirals, which no straight line tells apart.
"""

from __future__ import annotations

import argparse

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops


def spirals(count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Points of two spirals with some noise, and which spiral each belongs to."""
    label = rng.integers(0, 2, count)
    turn = np.sqrt(rng.random(count)) * 2 * np.pi
    angle = turn + np.pi * label
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], 1) / 6
    points += rng.normal(scale=0.02, size=points.shape)
    return Tensor(points.astype(np.float32)), Tensor(label.astype(np.int32))


def main() -> None:
    """Train a small network step by step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    ms.set_seed(2)
    rng = np.random.default_rng(2)

    net = nn.SequentialCell(
        nn.Dense(2, 48), nn.Tanh(), nn.Dense(48, 48), nn.Tanh(), nn.Dense(48, 2)
    )
    rates = nn.cosine_decay_lr(1e-4, 1e-2, options.steps, options.steps, decay_epoch=1)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=rates)

    def forward(points: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        scores = net(points)
        right = (scores.argmax(1) == label).astype(ms.float32).mean()
        return ops.cross_entropy(scores, label), right

    # The first result is differentiated, by the weights; the others come along.
    gradient = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)

    def step(points: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        (loss, right), gradients = gradient(points, label)
        optimizer(ops.clip_by_global_norm(gradients, 1.0))
        return loss, right

    if options.mode == "graph":
        step = ms.jit(step)  # one compiled graph: loss, gradients, clipping and update
    net.set_train()
    for number in range(1, options.steps + 1):
        loss, right = step(*spirals(128, rng))
        if number % max(1, options.steps // 5) == 0:
            print(f"step {number}: loss {float(loss):.4f}, right {float(right):.1%}")

    net.set_train(False)
    points, label = spirals(2000, rng)
    print(f"accuracy: {float((net(points).argmax(1) == label).astype(ms.float32).mean()):.3f}")


if __name__ == "__main__":
    main()
