"""Quick start: LeNet on real handwritten digits, in graph mode and line by line.

Trains the same network twice from the same weights, evaluates, saves a checkpoint, loads it into
a fresh network, predicts, and fine-tunes a new head (odd or even?) on the frozen body. The digits
are scikit-learn's (1 797 images, 8 x 8), or MNIST with --mnist DIR.
"""

from __future__ import annotations

import argparse
import gzip
import math
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import sklearn.datasets

import mindspore as ms
from mindspore import Model, Tensor, context, nn
from mindspore import dataset as ds
from mindspore.train import Callback

BATCH = 32


class LeNet(nn.Cell):
    """LeNet-5 for 32 x 32 images: a body that makes 84 features and a linear head."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=2, stride=2),
            nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=2, stride=2),
            nn.Flatten(),
            nn.Dense(16 * 5 * 5, 120),
            nn.ReLU(),
            nn.Dense(120, 84),
            nn.ReLU(),
        )
        self.head = nn.Dense(84, classes)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


class Curve(Callback):
    """Keeps the loss and the wall time of every training step."""

    def __init__(self) -> None:
        super().__init__()
        self.losses: list[float] = []
        self.seconds: list[float] = []
        self._started = 0.0

    def on_train_step_begin(self, run_context: ms.train.RunContext) -> None:
        self._started = time.perf_counter()

    def on_train_step_end(self, run_context: ms.train.RunContext) -> None:
        loss = run_context.original_args().net_outputs
        self.losses.append(float(loss.asnumpy()))
        self.seconds.append(time.perf_counter() - self._started)


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's digits as 32 x 32 images in [0, 1], shuffled."""
    digits = sklearn.datasets.load_digits()
    images = np.kron(digits.images.astype(np.float32) / 16, np.ones((1, 4, 4), np.float32))
    return images, digits.target


def read_idx(directory: Path, name: str) -> np.ndarray | None:
    """One MNIST file, plain or gzipped; None when it is not there."""
    for path, opener in ((directory / name, open), (directory / f"{name}.gz", gzip.open)):
        if path.exists():
            with opener(path, "rb") as file:
                raw = file.read()
            rank = raw[3]
            shape = np.frombuffer(raw, ">i4", rank, 4)
            return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)
    return None


def load_mnist(directory: Path, part: str) -> tuple[np.ndarray, np.ndarray] | None:
    """MNIST's "train" or "t10k" part as 32 x 32 images in [0, 1]."""
    images = read_idx(directory, f"{part}-images-idx3-ubyte")
    labels = read_idx(directory, f"{part}-labels-idx1-ubyte")
    if images is None or labels is None:
        return None
    return np.pad(images.astype(np.float32) / 255, ((0, 0), (2, 2), (2, 2))), labels


def split(images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, ...]:
    """Shuffle and hold one fifth back."""
    order = np.random.RandomState(0).permutation(len(images))
    cut = len(images) * 4 // 5
    return images[order[:cut]], labels[order[:cut]], images[order[cut:]], labels[order[cut:]]


def load_data(mnist: str | None) -> tuple[str, tuple[np.ndarray, ...]]:
    """A name for the data, and training images, labels, held-back images, labels."""
    if mnist is None:
        return "scikit-learn digits", split(*load_digits())
    train, test = load_mnist(Path(mnist), "train"), load_mnist(Path(mnist), "t10k")
    if test is None:
        sys.exit(f"{mnist} must hold t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte (or .gz)")
    return "MNIST", (*train, *test) if train is not None else split(*test)


def batches(images: np.ndarray, labels: np.ndarray, shuffle: bool) -> ds.Dataset:
    """A dataset of (normalised image, label) batches."""
    columns = ((images[:, None] - 0.3) / 0.35, labels.astype(np.int32))
    data = ds.NumpySlicesDataset(columns, ["image", "label"], shuffle=shuffle)
    return data.batch(BATCH, drop_remainder=shuffle)


def train(net: nn.Cell, data: ds.Dataset, epochs: int, rate: float) -> tuple[Model, Curve]:
    """Train with momentum and a cosine learning rate."""
    steps = epochs * data.get_dataset_size()
    rates = [rate * (0.5 + 0.5 * math.cos(math.pi * step / steps)) for step in range(steps)]
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=rates, momentum=0.9)
    model = Model(net, loss_fn=loss, optimizer=optimizer, metrics={"accuracy"})
    curve = Curve()
    model.train(epochs, data, callbacks=[curve], dataset_sink_mode=False)
    return model, curve


def evaluate(model: Model, images: np.ndarray, labels: np.ndarray) -> float:
    """The share of right answers."""
    data = batches(images, labels, shuffle=False)
    return model.eval(data, dataset_sink_mode=False)["accuracy"]


def run_mode(mode: int, data: tuple[np.ndarray, ...], epochs: int) -> tuple[LeNet, Curve, float]:
    """Train a new LeNet in one mode; returns it, its curve and its accuracy on held-back images."""
    context.set_context(mode=mode)
    ms.set_seed(1)
    net = LeNet()
    model, curve = train(net, batches(data[0], data[1], shuffle=True), epochs, 0.02)
    return net, curve, evaluate(model, data[2], data[3])


def restore(path: str) -> LeNet:
    """A fresh LeNet with the weights of a checkpoint."""
    net = LeNet()
    missing, _ = ms.load_param_into_net(net, ms.load_checkpoint(path))
    if missing:
        sys.exit(f"the checkpoint lacks {missing}")
    return net


def fine_tune(net: LeNet, data: tuple[np.ndarray, ...]) -> tuple[float, bool]:
    """Teach a new head odd from even on the frozen body: its accuracy; is the body unchanged?"""
    for parameter in net.body.get_parameters():
        parameter.requires_grad = False
    before = [parameter.asnumpy().copy() for parameter in net.body.get_parameters()]
    net.head = nn.Dense(84, 2)
    model, _ = train(net, batches(data[0], data[1] % 2, shuffle=True), 3, 0.02)
    after = [parameter.asnumpy() for parameter in net.body.get_parameters()]
    unchanged = all(np.array_equal(a, b) for a, b in zip(before, after))
    return evaluate(model, data[2], data[3] % 2), unchanged


def report(results: dict[str, tuple[LeNet, Curve, float]]) -> float:
    """Print one line per mode; returns the largest difference of the two loss curves."""
    print(f"{'mode':<15}{'accuracy':>10}{'first loss':>12}{'last loss':>12}{'ms / step':>11}")
    for label, (_, curve, accuracy) in results.items():
        step = statistics.median(curve.seconds[1:]) * 1e3
        print(
            f"{label:<15}{accuracy:>10.2%}{curve.losses[0]:>12.4f}{curve.losses[-1]:>12.4f}{step:>11.2f}"
        )
    curves = [np.array(curve.losses) for _, curve, _ in results.values()]
    return float(np.abs(curves[0] - curves[1]).max())


def main() -> int:
    """Run the tour and print the table; the exit status says whether all of it held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnist", metavar="DIR", help="train on the IDX files of MNIST in DIR")
    parser.add_argument("--epochs", type=int, default=None, help="passes over the data")
    parser.add_argument("--output", default=".", help="where the checkpoint goes")
    options = parser.parse_args()
    name, data = load_data(options.mnist)
    epochs = options.epochs or (12 if len(data[0]) < 20_000 else 2)
    print(f"{name}: {len(data[0])} training images, {len(data[2])} held back, {epochs} epochs")

    results = {}
    for label, mode in (("GRAPH_MODE", ms.GRAPH_MODE), ("PYNATIVE_MODE", ms.PYNATIVE_MODE)):
        results[label] = run_mode(mode, data, epochs)
    difference = report(results)
    print(f"largest difference of the two loss curves: {difference:.1e}")

    context.set_context(mode=ms.GRAPH_MODE)
    net, _, accuracy = results["GRAPH_MODE"]
    path = str(Path(options.output) / "lenet.ckpt")
    ms.save_checkpoint(net, path)
    fresh = restore(path)
    sample = batches(data[2][:BATCH], data[3][:BATCH], shuffle=False)
    images, labels = next(sample.create_tuple_iterator())
    scores, expected = Model(fresh).predict(images), net(images)
    same = np.array_equal(scores.asnumpy(), expected.asnumpy())
    print(f"checkpoint: {path}, loaded into a fresh network, same scores: {same}")
    print(f"predicted: {scores.asnumpy().argmax(1)[:10]}, in truth: {labels.asnumpy()[:10]}")
    odd, frozen = fine_tune(fresh, data)
    print(f"new head, odd or even: {odd:.2%} right; frozen body unchanged: {frozen}")
    return int(not (same and frozen and accuracy >= 0.97))


if __name__ == "__main__":
    sys.exit(main())
