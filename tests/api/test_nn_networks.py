"""Whole networks trained from the same weights: the losses equal PyTorch's in both modes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.common.initializer import HeNormal

RNG = np.random.default_rng(11)


# ---- the networks, twice ----
class MLP(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Flatten(),
            nn.Dense(64, 128, activation="relu"),
            nn.Dense(128, 64),
            nn.ReLU(),
            nn.Dense(64, 10),
        )

    def construct(self, x):
        return self.layers(x)


def torch_mlp():
    return torch.nn.Sequential(
        torch.nn.Flatten(),
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 10),
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
    relu, pool = torch.nn.ReLU(), torch.nn.MaxPool2d(2)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5),
        relu,
        pool,
        torch.nn.Conv2d(6, 16, 5),
        relu,
        pool,
        torch.nn.Flatten(),
        torch.nn.Linear(400, 120),
        relu,
        torch.nn.Linear(120, 84),
        relu,
        torch.nn.Linear(84, 10),
    )


class AlexNet(nn.Cell):
    def __init__(self):
        super().__init__()

        def conv(i, o, k, stride, pad):
            return nn.Conv2d(i, o, k, stride, "pad", pad, has_bias=True)

        relu, pool = nn.ReLU(), nn.MaxPool2d(3, 2)
        self.features = nn.SequentialCell(
            [
                conv(3, 64, 11, 4, 2),
                relu,
                pool,
                conv(64, 192, 5, 1, 2),
                relu,
                pool,
                conv(192, 384, 3, 1, 1),
                relu,
                conv(384, 256, 3, 1, 1),
                relu,
                conv(256, 256, 3, 1, 1),
                relu,
                pool,
            ]
        )
        self.flatten = nn.Flatten()
        self.classifier = nn.SequentialCell(
            [nn.Dropout(p=0.0), nn.Dense(1024, 256), relu, nn.Dense(256, 10)]
        )

    def construct(self, x):
        return self.classifier(self.flatten(self.features(x)))


def torch_alexnet():
    conv, relu, pool = torch.nn.Conv2d, torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2)
    return torch.nn.Sequential(
        conv(3, 64, 11, 4, 2),
        relu,
        pool,
        conv(64, 192, 5, 1, 2),
        relu,
        pool,
        conv(192, 384, 3, 1, 1),
        relu,
        conv(384, 256, 3, 1, 1),
        relu,
        conv(256, 256, 3, 1, 1),
        relu,
        pool,
        torch.nn.Flatten(),
        torch.nn.Linear(1024, 256),
        relu,
        torch.nn.Linear(256, 10),
    )


class Block(nn.Cell):
    """A residual block; `sizes` are (kernel, out channels, stride) of its convolutions."""

    def __init__(self, channels, sizes, project):
        super().__init__()
        layers = []
        current = channels
        for i, (kernel, out, stride) in enumerate(sizes):
            # A weak last scale keeps rounding errors from growing block by block.
            scale = 0.1 if i + 1 == len(sizes) else 1.0
            layers += [conv(current, out, kernel, stride), nn.BatchNorm2d(out, gamma_init=scale)]
            if i + 1 < len(sizes):
                layers.append(nn.ReLU())
            current = out
        self.body = nn.SequentialCell(layers)
        self.shortcut = None
        if project:
            stride = max(size[2] for size in sizes)
            self.shortcut = nn.SequentialCell(
                conv(channels, current, 1, stride), nn.BatchNorm2d(current)
            )
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.body(x)
        if self.shortcut is not None:
            x = self.shortcut(x)
        return self.relu(x + y)


def conv(i, o, kernel, stride):
    init = HeNormal(mode="fan_out", nonlinearity="relu")
    return nn.Conv2d(i, o, kernel, stride, "pad", kernel // 2, weight_init=init)


class TorchBlock(torch.nn.Module):
    def __init__(self, channels, sizes, project):
        super().__init__()
        layers = []
        current = channels
        for i, (kernel, out, stride) in enumerate(sizes):
            layers += [
                torch.nn.Conv2d(current, out, kernel, stride, kernel // 2, bias=False),
                torch.nn.BatchNorm2d(out),
            ]
            if i + 1 < len(sizes):
                layers.append(torch.nn.ReLU())
            current = out
        self.body = torch.nn.Sequential(*layers)
        self.shortcut = None
        if project:
            stride = max(size[2] for size in sizes)
            self.shortcut = torch.nn.Sequential(
                torch.nn.Conv2d(channels, current, 1, stride, bias=False),
                torch.nn.BatchNorm2d(current),
            )

    def forward(self, x):
        return torch.relu((x if self.shortcut is None else self.shortcut(x)) + self.body(x))


def blocks(make, counts, bottleneck):
    """The blocks of a ResNet."""
    made, channels = [], 64
    for stage, count in enumerate(counts):
        width = 64 * 2**stage
        for index in range(count):
            stride = 2 if index == 0 and stage > 0 else 1
            out = width * 4 if bottleneck else width
            if bottleneck:
                sizes = [(1, width, 1), (3, width, stride), (1, out, 1)]
            else:
                sizes = [(3, width, stride), (3, out, 1)]
            made.append(make(channels, sizes, channels != out or stride > 1))
            channels = out
    return made, channels


class ResNet(nn.Cell):
    def __init__(self, counts, bottleneck):
        super().__init__()
        self.stem = nn.SequentialCell(
            conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, "pad", 1)
        )
        made, channels = blocks(Block, counts, bottleneck)
        self.blocks = nn.CellList(made)
        self.head = nn.Dense(channels, 10)

    def construct(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class TorchResNet(torch.nn.Module):
    def __init__(self, counts, bottleneck):
        super().__init__()
        self.stem = torch.nn.Sequential(
            torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            torch.nn.BatchNorm2d(64),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(3, 2, 1),
        )
        made, channels = blocks(TorchBlock, counts, bottleneck)
        self.blocks = torch.nn.Sequential(*made)
        self.head = torch.nn.Linear(channels, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Sequences(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 16)
        self.head = nn.Dense(16, 10)

    def construct(self, x):
        h = c = ms.ops.zeros((x.shape[1], 16), ms.float32)
        for t in range(x.shape[0]):
            h, c = self.cell(x[t], (h, c))
        return self.head(h)


class TorchSequences(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 16)
        self.head = torch.nn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][-1])


# ---- the comparison ----
def losses(make, make_torch, shape, steps, rate, batch_axis=0):
    """The losses of both, step by step."""
    ms.set_seed(4)
    net, other = make(), make_torch()
    ours, theirs = net.trainable_params(), list(other.parameters())
    assert [tuple(p.shape) for p in ours] == [tuple(p.shape) for p in theirs]
    with torch.no_grad():
        for a, b in zip(ours, theirs):
            b.copy_(torch.tensor(a.asnumpy()))
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), nn.Momentum(ours, rate, 0.9))
    step.set_train()
    optimizer = torch.optim.SGD(theirs, rate, 0.9)
    pairs = []
    for _ in range(steps):
        x = RNG.standard_normal(shape).astype(np.float32)
        y = RNG.integers(0, 10, shape[batch_axis])
        optimizer.zero_grad()
        expected = torch.nn.functional.cross_entropy(other(torch.tensor(x)), torch.tensor(y))
        expected.backward()
        optimizer.step()
        loss = step(Tensor(x), Tensor(y.astype(np.int32)))
        pairs.append((float(loss.asnumpy()), expected.item()))
    return np.array(pairs).T


@pytest.mark.parametrize(
    ("make", "make_torch", "shape"),
    [
        (MLP, torch_mlp, (16, 64)),
        (LeNet, torch_lenet, (16, 1, 32, 32)),
    ],
    ids=["mlp", "lenet"],
)
def test_small_networks(make, make_torch, shape, mode):
    ours, theirs = losses(make, make_torch, shape, 20, 0.05)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize(
    ("make", "make_torch", "shape", "rate", "batch_axis"),
    [
        (AlexNet, torch_alexnet, (4, 3, 95, 95), 0.01, 0),
        (
            lambda: ResNet([2, 2, 2, 2], False),
            lambda: TorchResNet([2, 2, 2, 2], False),
            (8, 3, 64, 64),
            0.01,
            0,
        ),
        (
            lambda: ResNet([3, 4, 6, 3], True),
            lambda: TorchResNet([3, 4, 6, 3], True),
            (8, 3, 64, 64),
            0.001,
            0,
        ),
        (Sequences, TorchSequences, (6, 16, 8), 0.1, 1),
    ],
    ids=["alexnet", "resnet18", "resnet50", "lstm"],
)
def test_networks(make, make_torch, shape, rate, batch_axis, mode):
    ours, theirs = losses(make, make_torch, shape, 3, rate, batch_axis)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "make_torch", "shape", "rate", "batch_axis"),
    [
        (AlexNet, torch_alexnet, (4, 3, 95, 95), 0.01, 0),
        (
            lambda: ResNet([2, 2, 2, 2], False),
            lambda: TorchResNet([2, 2, 2, 2], False),
            (8, 3, 64, 64),
            0.01,
            0,
        ),
        (
            lambda: ResNet([3, 4, 6, 3], True),
            lambda: TorchResNet([3, 4, 6, 3], True),
            (8, 3, 64, 64),
            0.001,
            0,
        ),
        (Sequences, TorchSequences, (6, 16, 8), 0.1, 1),
    ],
    ids=["alexnet", "resnet18", "resnet50", "lstm"],
)
def test_networks_for_20_steps(make, make_torch, shape, rate, batch_axis, mode):
    ours, theirs = losses(make, make_torch, shape, 20, rate, batch_axis)
    np.testing.assert_allclose(ours, theirs, atol=1e-2)
