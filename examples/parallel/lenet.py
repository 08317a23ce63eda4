"""LeNet on handwritten digits by several processes: each has a part of the images, and all have the same weights after each step.

    msrun --worker_num=2 --local_worker_num=2 --join=True examples/parallel/lenet.py

What differs from a program of one process is marked; alone it runs as well. The digits are scikit-learn's.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mindspore as ms
from mindspore import Model, Tensor, nn
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import Dataset, NumpySlicesDataset
from mindspore.train import LossMonitor

BATCH = 32  # of all processes together


class LeNet(nn.Cell):
    """Two convolutions with pooling, three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
        )
        self.head = nn.SequentialCell(
            nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)
        )

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.body(x).reshape((x.shape[0], -1)))


def digits() -> tuple[Dataset, Dataset]:
    """Batches to train on, of which each process gets its part, and the images that are held back."""
    small = load_digits()
    images = np.kron(small.images / 16, np.ones((1, 4, 4)))[:, None].astype(np.float32)
    columns = train_test_split(images, small.target.astype(np.int32), random_state=0)
    names = ["image", "label"]
    train = NumpySlicesDataset((columns[0], columns[2]), names, shuffle=True)
    held_back = NumpySlicesDataset((columns[1], columns[3]), names, shuffle=False)
    return train.batch(BATCH // get_group_size(), drop_remainder=True), held_back.batch(BATCH)


def main() -> None:
    """Train for some epochs and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    init()  # parallel
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)  # parallel
    ms.set_seed(1)

    train, held_back = digits()
    net = LeNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.02, momentum=0.9)
    model = Model(net, loss, optimizer, metrics={"accuracy"})
    steps = train.get_dataset_size() // get_group_size()
    model.train(options.epochs, train, callbacks=LossMonitor(steps))
    accuracy = model.eval(held_back)["accuracy"]  # of all processes together
    if get_rank() == 0:  # parallel
        print(f"accuracy: {accuracy:.3f}", flush=True)


if __name__ == "__main__":
    main()
