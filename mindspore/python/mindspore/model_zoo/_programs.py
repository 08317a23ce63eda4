"""What the programs of the zoo share: their options, a training that goes on where it was stopped, an evaluation."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Model, nn
from mindspore.train import (
    BackupAndRestore,
    CheckpointConfig,
    LossMonitor,
    ModelCheckpoint,
    TimeMonitor,
)

Sets = tuple[Any, Any]  # datasets of batches, to train with and to evaluate with


def _cross_entropy() -> nn.Cell:
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def right_classes(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of each label from 0 on, whether its class has the highest logit; the classes are along the last axis."""
    return (logits.argmax(-1) == labels)[labels >= 0]


@dataclass(frozen=True)
class Learning:
    """What a network learns from the columns of its data.

    Args:
        inputs: how many columns the network takes, from the first on.
        loss: makes the cell that takes the network's output and the other columns, and gives the loss.
        right: of arrays, the output and the column after the inputs, which cases are right.
        adam: whether Adam trains it; otherwise momentum.
    """

    inputs: int = 1
    loss: Callable[[], nn.Cell] = _cross_entropy
    right: Callable[[Any, np.ndarray], np.ndarray] = right_classes
    adam: bool = False


class _WithLoss(nn.Cell):
    """The loss of a network, of all columns."""

    def __init__(self, net: nn.Cell, learning: Learning) -> None:
        super().__init__(auto_prefix=False)
        self.net, self.loss, self.inputs = net, learning.loss(), learning.inputs

    def construct(self, *columns: Any) -> Any:
        """The loss of a batch."""
        return self.loss(self.net(*columns[: self.inputs]), *columns[self.inputs :])


class _Judged(nn.Cell):
    """The output of a network beside what it should be."""

    def __init__(self, net: nn.Cell, learning: Learning) -> None:
        super().__init__(auto_prefix=False)
        self.net, self.inputs = net, learning.inputs

    def construct(self, *columns: Any) -> Any:
        """Both, of a batch."""
        return self.net(*columns[: self.inputs]), columns[self.inputs]


class _Accuracy(nn.Metric):
    """The part of all cases that is right."""

    def __init__(self, right: Callable[[Any, np.ndarray], np.ndarray]) -> None:
        super().__init__()
        self._right = right
        self.clear()

    def clear(self) -> None:
        """Forget all cases."""
        self._hits = self._cases = 0

    def update(self, *inputs: Any) -> None:
        """Count a batch."""
        output, label = inputs
        arrays = [t.asnumpy() for t in output] if isinstance(output, tuple) else output.asnumpy()
        right = self._right(arrays, label.asnumpy())
        self._hits, self._cases = self._hits + int(right.sum()), self._cases + right.size

    def eval(self) -> float:
        """The accuracy so far."""
        return self._hits / max(self._cases, 1)


class _Count(argparse.Action):
    """How many of something: at least one."""

    def __call__(self, parser: Any, space: Any, value: Any, option: Any = None) -> None:
        """Keep the number."""
        if value < 1:
            parser.error(f"argument {option}: must be at least 1, but got {value}")
        setattr(space, self.dest, value)


def options(what: str, config: dict[str, Any], trains: bool) -> argparse.Namespace:
    """The options of a program; each entry of the config is one."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument(
        "--data",
        default=os.environ.get("MS_TEST_DATA"),
        help="folder of the data, as README.md says; without it (or MS_TEST_DATA) a planted rule is learnt",
    )
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    if trains:
        parser.add_argument("--output", default="output", help="folder for all that is written")
    else:
        parser.add_argument("--checkpoint", required=True, help="file that the training wrote")
    for name, value in config.items():
        counts = type(value) is int and value > 0 and name != "seed"
        parser.add_argument(
            f"--{name}", type=type(value), default=value, action=_Count if counts else "store"
        )
    chosen = parser.parse_args()
    if chosen.data and not os.path.isdir(chosen.data):
        parser.error(f"--data (or MS_TEST_DATA) must be a folder, but got {chosen.data!r}")
    ms.set_context(mode=ms.GRAPH_MODE if chosen.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(chosen.seed)
    return chosen


def require(holds: bool, what: str) -> None:
    """End the program with what its options must be, unless they are."""
    if not holds:
        raise SystemExit(f"error: {what}")


def sets_of(data: Callable[[argparse.Namespace], Sets], chosen: argparse.Namespace) -> Sets:
    """The data, both with a batch at least."""
    try:
        sets = data(chosen)
        sizes = [part.get_dataset_size() for part in sets]
    except ValueError as error:  # a source of no rows
        if "must not be empty" not in str(error):
            raise
        sizes = [0]
    told = f"--rows {chosen.rows}" if hasattr(chosen, "rows") else f"--data {chosen.data}"
    require(
        min(sizes) >= 1,
        f"there are too few rows to train with and to evaluate with, each a batch of {getattr(chosen, 'batch', 1)}: {told}",
    )
    return sets


def model_of(net: nn.Cell, learning: Learning, chosen: argparse.Namespace, steps: int) -> Model:
    """A network's Model, with a rate that falls to 0 along a cosine."""
    epochs = max(chosen.epochs, 1)
    rates = nn.cosine_decay_lr(0.0, chosen.rate, epochs * steps, steps, epochs)
    decay = {"weight_decay": chosen.weight_decay}
    weights = net.trainable_params()
    optimizer: nn.Optimizer = (
        nn.Adam(weights, rates, **decay)
        if learning.adam
        else nn.Momentum(weights, rates, chosen.momentum, **decay)
    )
    return Model(
        _WithLoss(net, learning),
        optimizer=optimizer,
        metrics={"accuracy": _Accuracy(learning.right)},
        eval_network=_Judged(net, learning),
    )


def train(
    net: nn.Cell,
    data: Callable[[argparse.Namespace], Sets],
    chosen: argparse.Namespace,
    learning: Learning = Learning(),
) -> float:
    """Train and evaluate; the accuracy. Started again after a stop, it goes on from the last whole epoch."""
    training, testing = sets_of(data, chosen)
    model = model_of(net, learning, chosen, training.get_dataset_size())
    os.makedirs(chosen.output, exist_ok=True)
    config = CheckpointConfig(
        save_checkpoint_steps=training.get_dataset_size(), keep_checkpoint_max=1
    )
    callbacks = [
        LossMonitor(100),
        TimeMonitor(),
        BackupAndRestore(os.path.join(chosen.output, "backup")),
        ModelCheckpoint("net", chosen.output, config),
    ]
    model.fit(chosen.epochs, training, testing, valid_frequency=chosen.epochs, callbacks=callbacks)
    ms.save_checkpoint(net, os.path.join(chosen.output, "final.ckpt"))
    return tell(model.eval(testing)["accuracy"])


def evaluate(
    net: nn.Cell,
    data: Callable[[argparse.Namespace], Sets],
    chosen: argparse.Namespace,
    learning: Learning = Learning(),
) -> float:
    """The accuracy of a checkpoint."""
    ms.load_checkpoint(chosen.checkpoint, net, strict_load=True)
    testing = sets_of(data, chosen)[1]
    judged = _Judged(net, learning)
    model = Model(judged, eval_network=judged, metrics={"accuracy": _Accuracy(learning.right)})
    return tell(model.eval(testing)["accuracy"])


def tell(accuracy: float) -> float:
    """Print the accuracy, as the last line."""
    print(f"accuracy: {accuracy:.4f}", flush=True)
    return accuracy
