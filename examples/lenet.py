"""LeNet on handwritten digits with Model: train, evaluate in between, predict.

The digits are scikit-learn's: 1 797 images of 8 x 8, scaled up to 32 x 32.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mindspore as ms
from mindspore import Model, Tensor, nn
from mindspore.dataset import Dataset, NumpySlicesDataset
from mindspore.train import LossMonitor, TimeMonitor


class LeNet(nn.Cell):
    """Two convolutions with pooling, three dense layers."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True)
        self.second = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.relu = nn.ReLU()
        self.head = nn.SequentialCell(
            nn.Flatten(),
            nn.Dense(16 * 5 * 5, 120),
            nn.ReLU(),
            nn.Dense(120, 84),
            nn.ReLU(),
            nn.Dense(84, classes),
        )

    def construct(self, x: Tensor) -> Tensor:
        x = self.pool(self.relu(self.first(x)))
        x = self.pool(self.relu(self.second(x)))
        return self.head(x)


def digits() -> tuple[Dataset, Dataset]:
    """Batches to train on, and batches held back."""
    small = load_digits()
    images = np.kron(small.images / 16, np.ones((1, 4, 4)))[:, None].astype(np.float32)
    columns = train_test_split(images, small.target.astype(np.int32), random_state=0)
    names = ["image", "label"]
    train = NumpySlicesDataset((columns[0], columns[2]), names, shuffle=True)
    held_back = NumpySlicesDataset((columns[1], columns[3]), names, shuffle=False)
    return train.batch(32, drop_remainder=True), held_back.batch(32)


def main() -> None:
    """Train for some epochs and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(1)

    train, held_back = digits()
    net = LeNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.02, momentum=0.9)
    model = Model(net, loss, optimizer, metrics={"accuracy"})
    steps = train.get_dataset_size()
    model.fit(
        options.epochs, train, held_back, valid_frequency=2, callbacks=[LossMonitor(steps), TimeMonitor()]
    )  # fmt: skip

    image, label = next(held_back.create_tuple_iterator())
    print("predicted:", model.predict(image).asnumpy().argmax(1)[:10])
    print("in truth: ", label.asnumpy()[:10])
    print(f"accuracy: {model.eval(held_back)['accuracy']:.3f}")


if __name__ == "__main__":
    main()
