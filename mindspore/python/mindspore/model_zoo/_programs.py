"""What the programs of the zoo share: their options, a training that goes on where it was stopped, an evaluation."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

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
        parser.add_argument(f"--{name}", type=type(value), default=value)
    chosen = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if chosen.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(chosen.seed)
    return chosen


def model_of(net: nn.Cell, chosen: argparse.Namespace, steps: int) -> Model:
    """A classifier's Model: cross-entropy, momentum, a rate that falls to 0 along a cosine."""
    epochs = max(chosen.epochs, 1)
    rates = nn.cosine_decay_lr(0.0, chosen.rate, epochs * steps, steps, epochs)
    optimizer = nn.Momentum(
        net.trainable_params(), rates, chosen.momentum, weight_decay=chosen.weight_decay
    )
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, optimizer, metrics={"accuracy"})


def train(
    net: nn.Cell, data: Callable[[argparse.Namespace], Sets], chosen: argparse.Namespace
) -> float:
    """Train and evaluate; the accuracy. Started again after a stop, it goes on from the last whole epoch."""
    training, testing = data(chosen)
    model = model_of(net, chosen, training.get_dataset_size())
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
    return _told(model.eval(testing)["accuracy"])


def evaluate(
    net: nn.Cell, data: Callable[[argparse.Namespace], Sets], chosen: argparse.Namespace
) -> float:
    """The accuracy of a checkpoint."""
    ms.load_checkpoint(chosen.checkpoint, net, strict_load=True)
    testing = data(chosen)[1]
    model = Model(
        net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), metrics={"accuracy"}
    )
    return _told(model.eval(testing)["accuracy"])


def _told(accuracy: float) -> float:
    print(f"accuracy: {accuracy:.4f}", flush=True)
    return accuracy
