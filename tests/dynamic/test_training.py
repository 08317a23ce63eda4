"""Train steps (forward, loss, gradients, optimizer) with an open batch equal those compiled for every batch, bit for bit."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, context, jit, nn, ops


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Mlp(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(6, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Dense(8, 4), nn.Tanh(), nn.Dense(4, 3)
        )

    def construct(self, x):
        return self.layers(x)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3, pad_mode="valid")
        self.norm = nn.BatchNorm2d(3)
        self.conv2 = nn.Conv2d(3, 4, 3, pad_mode="same")
        self.pool = nn.MaxPool2d(2, 2)
        self.mean = nn.AvgPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(4 * 2 * 2, 3)

    def construct(self, x):
        x = self.pool(ops.relu(self.norm(self.conv1(x))))
        x = self.mean(ops.relu(self.conv2(x)))
        return self.fc(self.flatten(x))


class Block(nn.Cell):
    """A layer of a transformer over [batch, time, 8], and a classifier of the mean over time."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Dense(8, 8), nn.Dense(8, 8), nn.Dense(8, 8)
        self.norm1, self.norm2 = nn.LayerNorm((8,)), nn.LayerNorm((8,))
        self.up, self.down, self.out = nn.Dense(8, 16), nn.Dense(16, 8), nn.Dense(8, 3)

    def split(self, x):
        b, t, _ = x.shape
        return x.reshape(b, t, 2, 4).transpose(0, 2, 1, 3)

    def construct(self, x):
        b, t, _ = x.shape
        h = self.norm1(x)
        q, k, v = self.split(self.query(h)), self.split(self.key(h)), self.split(self.value(h))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / 2.0
        mask = ops.tril(ops.ones((t, t), ms.float32))
        scores = ops.select(
            (mask > 0).broadcast_to((b, 2, t, t)), scores, ops.full_like(scores, -1e9)
        )
        mixed = ops.matmul(ops.softmax(scores), v).transpose(0, 2, 1, 3).reshape(b, t, 8)
        x = x + mixed
        x = x + self.down(ops.gelu(self.up(self.norm2(x))))
        return self.out(x.mean(axis=1))


def make_step(network, optimizer, loss, specs):
    ms.set_seed(3)
    net = network()
    opt = optimizer(net.trainable_params())
    forward = lambda x, y: loss(net(x), y)
    gradients = ms.value_and_grad(forward, None, opt.parameters)

    @jit(input_signature=specs)
    def step(x, y):
        value, grads = gradients(x, y)
        opt(grads)
        return value

    net.set_train()
    return net, step


NETWORKS = {
    "mlp": (Mlp, [-1, 6], lambda n: (n, 6)),
    "conv": (LeNet, [-1, 1, 10, 10], lambda n: (n, 1, 10, 10)),
    "transformer": (Block, [-1, -1, 8], lambda n: (n, 2 * n % 5 + 1, 8)),
}
LOSSES = {
    "sparse": (nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), ms.int32),
    "dense": (nn.MSELoss(), ms.float32),
}


def batch(shape, kind, seed):
    rng = np.random.default_rng(seed)
    x = Tensor(rng.standard_normal(shape).astype(np.float32))
    if kind == ms.int32:
        return x, Tensor(rng.integers(0, 3, shape[0]).astype(np.int32))
    return x, Tensor(rng.standard_normal((shape[0], 3)).astype(np.float32))


@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", NETWORKS)
def test_train_steps(name, loss, optimizer):
    network, open_shape, shape_of = NETWORKS[name]
    loss_fn, kind = LOSSES[loss]
    make = {"momentum": lambda p: nn.Momentum(p, 0.1, 0.9), "adam": lambda p: nn.Adam(p, 0.01)}[
        optimizer
    ]
    specs = (
        Tensor(shape=open_shape, dtype=ms.float32),
        Tensor(shape=[None] if kind == ms.int32 else [None, 3], dtype=kind),
    )
    open_net, open_step = make_step(network, make, loss_fn, specs)
    fixed_net, fixed_step = make_step(network, make, loss_fn, None)
    runs = None
    for i, n in enumerate((4, 2, 7, 3, 4)):
        x, y = batch(shape_of(n), kind, i)
        before = _core.pass_runs()
        value = open_step(x, y)
        runs = _core.pass_runs() - before if runs is None else runs + _core.pass_runs() - before
        assert np.array_equal(value.asnumpy(), fixed_step(x, y).asnumpy()), (i, n)
        for p, q in zip(open_net.get_parameters(), fixed_net.get_parameters(), strict=True):
            assert np.array_equal(p.asnumpy(), q.asnumpy()), (i, n, p.name)
    assert not open_step.cache.static and open_step.cache.compiled == 1
    assert runs == 1, "the passes ran again for another size"


def test_batch_norm_with_one_row_is_a_version_of_its_own():
    network, open_shape, shape_of = NETWORKS["mlp"]
    loss_fn, kind = LOSSES["dense"]
    specs = (Tensor(shape=open_shape, dtype=ms.float32), Tensor(shape=[None, 3], dtype=kind))
    _, step = make_step(network, lambda p: nn.SGD(p, 0.1), loss_fn, specs)
    for i, n in enumerate((4, 1, 3, 1)):
        assert np.isfinite(step(*batch(shape_of(n), kind, i)).asnumpy())
    assert step.cache.compiled <= 2


def test_grad_of_a_cell_with_declared_inputs():
    net = Mlp()
    net.set_inputs(Tensor(shape=[None, 6], dtype=ms.float32))
    gradients = ms.grad(net, 0)
    for n in (2, 5, 3):
        assert gradients(batch((n, 6), ms.float32, n)[0]).shape == (n, 6)
    assert gradients._compiled_versions.compiled == 1
