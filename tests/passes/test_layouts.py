"""Convolutional networks with the fast stage and without: layouts and joined normalisation.

Sums over pixels are taken in another order, so results differ by rounding: a few units in the last
place of the largest values, which three steps of training with a large rate may multiply."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, nn, ops


@pytest.fixture(autouse=True)
def graph_mode():
    before = context.get_context("mode"), context.get_context("enable_graph_kernel")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=before[0], enable_graph_kernel=before[1])


def conv(inputs, outputs, kernel, stride=1, **more):
    return nn.Conv2d(
        inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, has_bias=False, **more
    )


class Residual(nn.Cell):
    """A block of ResNet: 1x1, strided 3x3, projection on the shortcut."""

    def __init__(self, inputs=8, width=16, stride=2):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.shortcut = nn.SequentialCell(conv(inputs, width, 1, stride), nn.BatchNorm2d(width))
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(self.shortcut(x) + y)


class Inverted(nn.Cell):
    """A block of MobileNetV2: expansion, depthwise, projection, and the input added."""

    def __init__(self, channels=8):
        super().__init__()
        hidden = channels * 3
        self.body = nn.SequentialCell(
            conv(channels, hidden, 1),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(),
            conv(hidden, hidden, 3, group=hidden),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(),
            conv(hidden, channels, 1),
            nn.BatchNorm2d(channels),
        )

    def construct(self, x):
        return x + self.body(x)


class Dense(nn.Cell):
    """Layers whose outputs are joined, with a pooling between, and a bias."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(8, 8, 3, has_bias=True, dilation=2)
        self.conv2 = nn.Conv2d(16, 24, 3, group=2, pad_mode="same", has_bias=True)
        self.average, self.largest = nn.AvgPool2d(2, 2), nn.MaxPool2d(3, 2, pad_mode="same")

    def construct(self, x):
        y = ops.concat((x, ops.tanh(self.conv1(x))), 1)
        z = self.conv2(self.average(y))
        return self.largest(ops.pad(z, (1, 2, 0, 1))) * ops.sigmoid(ops.mean(z, (2, 3), True))


class Net(nn.Cell):
    """Images to scores."""

    def __init__(self, block, channels):
        super().__init__()
        self.stem, self.norm, self.relu = conv(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU()
        self.narrow, self.block = conv(16, 8, 1), block
        self.pool, self.fc = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1), nn.Dense(channels, 5)

    def construct(self, x):
        x = self.pool(self.relu(self.norm(self.stem(x))))
        return self.fc(ops.mean(self.block(self.narrow(x)), (2, 3)))


NETS = {
    "residual": (lambda: Residual(), 16),
    "inverted": (lambda: Inverted(), 8),
    "dense": (lambda: Dense(), 24),
}


def make(name):
    block, channels = NETS[name]
    net = Net(block(), channels)
    random = np.random.default_rng(3)
    for p in net.trainable_params():
        centre = 1.0 if "gamma" in p.name else 0.0
        p.set_data(Tensor((random.normal(size=p.shape) * 0.3 + centre).astype(np.float32)))
    return net


def images(count=3):
    return np.random.default_rng(4).normal(size=(count, 3, 19, 21)).astype(np.float32)


def train(name, steps=3):
    """Losses, the state afterwards, and scores in inference."""
    net = make(name)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.02, 0.9)
    )
    step.set_train()
    x, labels = Tensor(images()), Tensor(np.array([0, 3, 4], np.int32))
    losses = [float(step(x, labels).asnumpy()) for _ in range(steps)]
    state = {p.name: p.asnumpy() for p in net.get_parameters()}
    net.set_train(False)
    return losses, state, net(Tensor(images(2))).asnumpy()


@pytest.mark.parametrize("name", NETS)
def test_training_is_the_same_to_rounding(name):
    context.set_context(enable_graph_kernel=False)
    losses, state, scores = train(name)
    context.set_context(enable_graph_kernel=True)
    fast_losses, fast_state, fast_scores = train(name)
    np.testing.assert_allclose(fast_losses, losses, rtol=2e-5)
    for key, value in state.items():
        np.testing.assert_allclose(fast_state[key], value, rtol=1e-3, atol=2e-4, err_msg=key)
    np.testing.assert_allclose(fast_scores, scores, rtol=1e-3, atol=1e-3)


def test_checkpoints_are_plain(tmp_path):
    path = str(tmp_path / "net.ckpt")
    net = make("residual")
    net.set_train(False)
    expected = net(Tensor(images())).asnumpy()
    weight = net.block.conv2.weight
    before = weight.asnumpy().copy()
    ms.save_checkpoint(net, path)
    np.testing.assert_array_equal(ms.load_checkpoint(path)[weight.name].asnumpy(), before)
    other = make("residual")
    for p in other.get_parameters():
        p.set_data(Tensor(np.zeros(p.shape, np.float32)))
    other.set_train(False)
    other(Tensor(images()))
    ms.load_param_into_net(other, ms.load_checkpoint(path))
    np.testing.assert_array_equal(other(Tensor(images())).asnumpy(), expected)


def test_a_change_of_a_parameter_is_seen():
    net = make("residual")
    net.set_train(False)
    x = Tensor(images())
    first = net(x).asnumpy()
    for p in net.get_parameters():
        value = p.asnumpy() * np.float32(1.5)
        p.set_data(Tensor(value))
        fast = net(x).asnumpy()
        assert not np.array_equal(fast, first) or p.name.endswith("moving_mean"), p.name
        first = fast
    context.set_context(enable_graph_kernel=False)
    np.testing.assert_allclose(first, net(x).asnumpy(), rtol=2e-3, atol=2e-3)


def test_dynamic_images():
    net = make("residual")
    net.set_train(False)
    net.set_inputs(Tensor(shape=[None, 3, None, None], dtype=ms.float32))
    for count in (1, 3):
        x = images(count)
        context.set_context(enable_graph_kernel=True)
        fast = net(Tensor(x)).asnumpy()
        context.set_context(enable_graph_kernel=False)
        np.testing.assert_allclose(fast, net(Tensor(x)).asnumpy(), rtol=1e-3, atol=1e-3)


@pytest.mark.host_device
def test_writes_through_numpy_are_seen():
    """An array shares the memory of a Parameter; what is kept of it must not outlive the value."""
    net = make("residual")
    net.set_train(False)
    x = Tensor(images())
    weight = net.stem.weight
    view = weight.asnumpy()
    before = net(x).asnumpy()
    view *= 2  # the array lives on while results are kept
    after = net(x).asnumpy()
    assert not np.array_equal(after, before)
    view *= 2
    assert not np.array_equal(net(x).asnumpy(), after)
    del view
    before = net(x).asnumpy()
    weight.asnumpy()[...] = 0
    zero = net(x).asnumpy()  # that array came and went between two calls
    assert not np.array_equal(zero, before)
    context.set_context(enable_graph_kernel=False)
    np.testing.assert_allclose(zero, net(x).asnumpy(), rtol=1e-3, atol=1e-3)


def test_training_after_inference_is_seen():
    """Steps write Parameters in place; inference before and after sees each value."""
    net = make("inverted")
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.02, 0.9)
    )
    x, labels = Tensor(images()), Tensor(np.array([0, 3, 4], np.int32))
    for _ in range(3):
        net.set_train(False)
        fast = net(x).asnumpy()
        context.set_context(enable_graph_kernel=False)
        np.testing.assert_allclose(fast, net(x).asnumpy(), rtol=1e-3, atol=1e-3)
        context.set_context(enable_graph_kernel=True)
        step.set_train()
        step(x, labels)
