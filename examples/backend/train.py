"""Trains a network on the device of toy_backend.cc: `python train.py build/toy_backend.so`."""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn


def train(net: nn.Cell, images: np.ndarray, labels: np.ndarray, steps: int = 20) -> list[float]:
    """The losses of some steps."""
    loss = nn.SoftmaxCrossEntropyWithLogits(reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        value, gradients = step(Tensor(images), Tensor(labels))
        optimizer(gradients)
        losses.append(float(value))
    return losses


def main() -> None:
    """Both modes, an MLP and the dense part of LeNet."""
    ms.set_device(ms.register_backend(sys.argv[1]))
    random = np.random.default_rng(0)
    images = random.normal(size=(32, 400)).astype(np.float32)
    labels = np.eye(10, dtype=np.float32)[random.integers(0, 10, 32)]
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(1)
        mlp = nn.SequentialCell(nn.Dense(400, 16), nn.Tanh(), nn.Dense(16, 10))
        lenet = nn.SequentialCell(
            nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)
        )
        for name, net in (("MLP", mlp), ("LeNet", lenet)):
            losses = train(net, images, labels)
            print(f"{name} on {net[0].weight.device}: {losses[0]:.3f} -> {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
