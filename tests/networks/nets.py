"""The networks of the comparison, each written twice: for MindSpore and for PyTorch.

Both versions of a network list their parameters in the same order with the same shapes, so that
weights carry over one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from peers import torch

import mindspore as ms
from mindspore import nn

tnn = torch.nn


class MLP(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Flatten(),
            nn.Dense(64, 128, activation="relu"),
            nn.Dense(128, 64),
            nn.Tanh(),
            nn.Dense(64, 10),
        )

    def construct(self, x):
        return self.layers(x)


def torch_mlp():
    return tnn.Sequential(
        tnn.Flatten(),
        tnn.Linear(64, 128),
        tnn.ReLU(),
        tnn.Linear(128, 64),
        tnn.Tanh(),
        tnn.Linear(64, 10),
    )


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def torch_lenet():
    relu, pool = tnn.ReLU(), tnn.MaxPool2d(2)
    return tnn.Sequential(
        *(tnn.Conv2d(1, 6, 5), relu, pool, tnn.Conv2d(6, 16, 5), relu, pool, tnn.Flatten()),
        *(tnn.Linear(400, 120), relu, tnn.Linear(120, 84), relu, tnn.Linear(84, 10)),
    )


ALEXNET = ((3, 64, 11, 4, 2), (64, 192, 5, 1, 2), (192, 384, 3, 1, 1), (384, 256, 3, 1, 1))
POOLED = (0, 1)


class AlexNet(nn.Cell):
    """For 95 x 95 images; the classifier is narrowed."""

    def __init__(self):
        super().__init__()
        layers = []
        for i, (inputs, outputs, kernel, stride, pad) in enumerate(ALEXNET):
            conv = nn.Conv2d(inputs, outputs, kernel, stride, "pad", pad, has_bias=True)
            layers += [conv, nn.ReLU()]
            if i in POOLED:
                layers.append(nn.MaxPool2d(3, 2))
        layers += [nn.Conv2d(256, 256, 3, has_bias=True), nn.ReLU(), nn.MaxPool2d(3, 2)]
        self.features = nn.SequentialCell(layers)
        self.flatten = nn.Flatten()
        self.classifier = nn.SequentialCell(
            nn.Dropout(p=0.0), nn.Dense(1024, 256), nn.ReLU(), nn.Dense(256, 10)
        )

    def construct(self, x):
        return self.classifier(self.flatten(self.features(x)))


def torch_alexnet():
    layers = []
    for i, (inputs, outputs, kernel, stride, pad) in enumerate(ALEXNET):
        layers += [tnn.Conv2d(inputs, outputs, kernel, stride, pad), tnn.ReLU()]
        if i in POOLED:
            layers.append(tnn.MaxPool2d(3, 2))
    layers += [tnn.Conv2d(256, 256, 3, padding=1), tnn.ReLU(), tnn.MaxPool2d(3, 2), tnn.Flatten()]
    return tnn.Sequential(*layers, tnn.Linear(1024, 256), tnn.ReLU(), tnn.Linear(256, 10))


def conv(inputs, outputs, kernel, stride):
    return nn.Conv2d(inputs, outputs, kernel, stride, "pad", kernel // 2)


def torch_conv(inputs, outputs, kernel, stride):
    return tnn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


def residual_layers(lib, conv, norm, channels, sizes):
    """A block's layers; `sizes` are (kernel, channels out, stride) of its convolutions."""
    layers = []
    for i, (kernel, outputs, stride) in enumerate(sizes):
        layers += [conv(channels, outputs, kernel, stride), norm(outputs)]
        if i + 1 < len(sizes):
            layers.append(lib.ReLU())
        channels = outputs
    return layers


class Block(nn.Cell):
    def __init__(self, channels, sizes, project):
        super().__init__()
        self.body = nn.SequentialCell(residual_layers(nn, conv, nn.BatchNorm2d, channels, sizes))
        self.shortcut = None
        if project:
            out, stride = sizes[-1][1], max(size[2] for size in sizes)
            self.shortcut = nn.SequentialCell(conv(channels, out, 1, stride), nn.BatchNorm2d(out))
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.body(x)
        if self.shortcut is not None:
            x = self.shortcut(x)
        return self.relu(x + y)


class TorchBlock(tnn.Module):
    def __init__(self, channels, sizes, project):
        super().__init__()
        self.body = tnn.Sequential(
            *residual_layers(tnn, torch_conv, tnn.BatchNorm2d, channels, sizes)
        )
        self.shortcut = None
        if project:
            out, stride = sizes[-1][1], max(size[2] for size in sizes)
            self.shortcut = tnn.Sequential(
                torch_conv(channels, out, 1, stride), tnn.BatchNorm2d(out)
            )

    def forward(self, x):
        return torch.relu((x if self.shortcut is None else self.shortcut(x)) + self.body(x))


def stages(make, counts, bottleneck):
    """The blocks of a ResNet and the channels they end with."""
    made, channels = [], 64
    for stage, count in enumerate(counts):
        width = 64 * 2**stage
        for index in range(count):
            stride = 2 if index == 0 and stage > 0 else 1
            out = width * 4 if bottleneck else width
            sizes = [(3, width, stride), (3, out, 1)]
            if bottleneck:
                sizes = [(1, width, 1), (3, width, stride), (1, out, 1)]
            made.append(make(channels, sizes, channels != out or stride > 1))
            channels = out
    return made, channels


class ResNet(nn.Cell):
    def __init__(self, counts, bottleneck):
        super().__init__()
        self.stem = nn.SequentialCell(
            conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, "pad", 1)
        )
        made, channels = stages(Block, counts, bottleneck)
        self.blocks = nn.CellList(made)
        self.head = nn.Dense(channels, 10)

    def construct(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class TorchResNet(tnn.Module):
    def __init__(self, counts, bottleneck):
        super().__init__()
        stem = (torch_conv(3, 64, 7, 2), tnn.BatchNorm2d(64), tnn.ReLU(), tnn.MaxPool2d(3, 2, 1))
        self.stem = tnn.Sequential(*stem)
        made, channels = stages(TorchBlock, counts, bottleneck)
        self.blocks = tnn.Sequential(*made)
        self.head = tnn.Linear(channels, 10)
        for module in self.modules():
            if isinstance(module, tnn.Conv2d):
                tnn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        for block in made:  # quiet branches: else gradients explode and rounding decides the curve
            tnn.init.constant_(block.body[-1].weight, 0.2)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class CellLoop(nn.Cell):
    """An LSTM as a loop over a cell."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 16)
        self.head = nn.Dense(16, 10)

    def construct(self, x):
        h = c = ms.ops.zeros((x.shape[0], 16), ms.float32)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.head(h)


class LSTM(nn.Cell):
    """An LSTM layer."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.head = nn.Dense(16, 10)

    def construct(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class TorchLSTM(tnn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = tnn.LSTM(8, 16, batch_first=True)
        self.head = tnn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Pair(NamedTuple):
    """One network twice, the shape of its input (batch first) and a learning rate that fits."""

    ours: object
    theirs: object
    shape: tuple
    rate: float


def resnet(counts, bottleneck, rate):
    return Pair(
        lambda: ResNet(counts, bottleneck),
        lambda: TorchResNet(counts, bottleneck),
        (8, 3, 64, 64),
        rate,
    )


PAIRS = {
    "mlp": Pair(MLP, torch_mlp, (16, 64), 0.05),
    "lenet": Pair(LeNet, torch_lenet, (16, 1, 32, 32), 0.05),
    "lstm": Pair(LSTM, TorchLSTM, (16, 6, 8), 0.1),
    "lstm_cell": Pair(CellLoop, TorchLSTM, (16, 6, 8), 0.1),
    "alexnet": Pair(AlexNet, torch_alexnet, (4, 3, 95, 95), 0.01),
    "resnet18": resnet((2, 2, 2, 2), False, 0.003),
    "resnet50": resnet((3, 4, 6, 3), True, 0.0002),
}
