"""Steps that the families share, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mindspore as ms
from cases.timing import best_of
from mindspore import Tensor, nn


def random(*shape: int) -> Tensor:
    """Normal numbers, the same ones in every run."""
    return Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def integers(limit: int, *shape: int) -> Tensor:
    """Integers in [0, limit), the same ones in every run."""
    return Tensor(np.random.default_rng(1).integers(0, limit, shape).astype(np.int32))


def train_step(
    net: nn.Cell, optimizer: nn.Optimizer, *inputs: Tensor, mode: int = ms.GRAPH_MODE
) -> Callable[[], object]:
    """A training step of a network that gives its loss."""
    ms.set_context(mode=mode)
    step = nn.TrainOneStepCell(net, optimizer)
    step.set_train()
    return lambda: step(*inputs).asnumpy()


def classifier_step(
    net: nn.Cell, images: Tensor, classes: int, mode: int = ms.GRAPH_MODE
) -> Callable[[], object]:
    """A training step with momentum that names classes."""
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    labels = integers(classes, images.shape[0])
    return train_step(nn.WithLossCell(net, loss), optimizer, images, labels, mode=mode)


def timed(step: Callable[[], object], repeats: int) -> Callable[[], float]:
    """A case's measure: the best of a few steps, after a first one."""
    step()
    return lambda: best_of(step, repeats)
