"""Layers and losses with open batches, images and sequences: one compile, and the results of fixed sizes, bit for bit."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, jit, nn, ops


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class While(nn.Cell):
    def construct(self, x):
        i, s = Tensor(0), x
        while i < 3:
            s = s * 1.1 + x.mean(axis=0)
            i = i + 1
        return s


class Branch(nn.Cell):
    def construct(self, x):
        if x.sum() > 0:
            return x * 2
        return x - x.shape[0]


LAYERS = {
    "convolution": (lambda: nn.Conv2d(2, 3, 3, 2, "valid"), (-1, 2, -1, -1)),
    "same convolution": (lambda: nn.Conv2d(2, 3, 3), (-1, 2, -1, 8)),
    "transposed": (lambda: nn.Conv2dTranspose(2, 3, 3), (-1, 2, 6, 6)),
    "one dimension": (lambda: nn.Conv1d(2, 3, 3), (-1, 2, -1)),
    "maximum": (lambda: nn.MaxPool2d(2, 2), (-1, 2, -1, -1)),
    "average": (lambda: nn.AvgPool2d(2, 2, pad_mode="same"), (-1, 2, -1, 6)),
    "adaptive": (lambda: nn.AdaptiveAvgPool2d(2), (-1, 2, -1, -1)),
    "batch norm": (lambda: nn.BatchNorm2d(2).set_train(), (-1, 2, -1, 4)),
    "layer norm": (lambda: nn.LayerNorm((4,)), (-1, -1, 4)),
    "group norm": (lambda: nn.GroupNorm(2, 4), (-1, 4, 5, 5)),
    "lstm": (lambda: nn.LSTM(4, 5, batch_first=True), (-1, 3, 4)),
    "gru": (lambda: nn.GRU(4, 5, batch_first=True), (-1, 3, 4)),
    "prelu": (lambda: nn.PReLU(4), (-1, 4)),
    "dropout": (lambda: nn.Dropout(p=0.5).set_train(), (-1, 4)),
    "padding": (lambda: nn.Pad(((0, 0), (1, 2))), (-1, 4)),
    "loop": (While, (-1, 4)),
    "branch": (Branch, (-1, 4)),
}

FUNCTIONS = {
    "deviation": lambda x: x.std(axis=0),
    "roll": lambda x: ops.roll(x, 1, 0),
    "repeat": lambda x: ops.repeat_interleave(x, 2, 0),
    "chunk": lambda x: ops.chunk(x, 2, 1),
    "top": lambda x: ops.topk(x, 2),
    "masked": lambda x: ops.masked_fill(x, x > 0, 1.0),
    "scatter": lambda x: ops.tensor_scatter_add(x, Tensor([[0]]), x[:1]),
    "normal": lambda x: x + ops.standard_normal(x.shape),
    "full": lambda x: ops.full((x.shape[0], 2), 3.0),
    "grid": lambda x: ops.meshgrid(ops.arange(x.shape[0]), ops.arange(3)),
    "linspace": lambda x: ops.linspace(0.0, 1.0, x.shape[0]),
    "eye": lambda x: ops.eye(x.shape[0], x.shape[0], ms.float32) @ x,
    "divergence": lambda x: ops.kl_div(ops.log_softmax(x), ops.softmax(x), reduction="batchmean"),
    "entropy": lambda x: ops.cross_entropy(x, ops.argmax(x, 1).astype(ms.int32)),
    "likelihood": lambda x: ops.nll_loss(ops.log_softmax(x), ops.argmax(x, 1).astype(ms.int32)),
    "smooth": lambda x: nn.SmoothL1Loss(reduction="mean")(x, x * 2),
    "tangents": lambda x: ms.jvp(lambda a: a * a, x, x),
    "second order": lambda x: ms.grad(lambda a: (ms.grad(lambda b: (b**3).mean())(a) ** 2).sum())(
        x
    ),
    "positions": lambda x: x[Tensor([0, 0])],
    "new axes": lambda x: x[..., None, 1:],
    "pieces": lambda x: ops.unbind(x, 1),
}


def parts(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in parts(item)]
    return [value.asnumpy()]


def compare(function, shape):
    dynamic = jit(function, input_signature=Tensor(shape=list(shape), dtype=ms.float32))
    static = jit(function)
    for n in (3, 2, 6, 4):
        sizes = [n if s == -1 and axis == 0 else s for axis, s in enumerate(shape)]
        sizes = [6 + n + axis if s == -1 else s for axis, s in enumerate(sizes)]
        x = Tensor(np.random.default_rng(n).standard_normal(sizes).astype(np.float32))
        results = []
        for compiled in (dynamic, static):
            ms.set_seed(1)
            results.append(parts(compiled(x)))
        for got, expected in zip(*results, strict=True):
            assert np.array_equal(got, expected, equal_nan=True)
    assert not dynamic.cache.static and dynamic.cache.compiled == 1


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    make, shape = LAYERS[name]
    layer = make()
    compare(lambda x: layer(x), shape)


@pytest.mark.parametrize("name", [n for n in LAYERS if n != "dropout"])
def test_gradients_of_layers(name):
    make, shape = LAYERS[name]
    layer = make()
    several = name in ("lstm", "gru")
    compare(ms.grad(lambda x: ((layer(x)[0] if several else layer(x)) ** 2).sum()), shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    compare(FUNCTIONS[name], (-1, 4))


def test_embedding_of_open_sentences():
    layer = nn.Embedding(7, 4)
    spec = Tensor(shape=[None, None], dtype=ms.int32)
    dynamic = jit(lambda ids: layer(ids).mean(axis=1), input_signature=spec)
    for n, t in ((2, 3), (1, 1), (4, 2)):
        ids = Tensor(np.arange(n * t).reshape(n, t).astype(np.int32) % 7)
        expected = layer.embedding_table.asnumpy()[ids.asnumpy()].mean(1)
        np.testing.assert_allclose(dynamic(ids).asnumpy(), expected, rtol=1e-6)
    assert dynamic.cache.compiled == 1


def test_train_one_step_cell_with_declared_inputs():
    forward = nn.WithLossCell(nn.Dense(3, 2), nn.MSELoss())
    net = nn.TrainOneStepCell(forward, nn.SGD(forward.trainable_params(), 0.1))
    net.set_inputs(
        Tensor(shape=[None, 3], dtype=ms.float32), Tensor(shape=[None, 2], dtype=ms.float32)
    )
    for n in (4, 2, 6):
        loss = net(Tensor(np.ones((n, 3), np.float32)), Tensor(np.zeros((n, 2), np.float32)))
        assert np.isfinite(loss.asnumpy())
    assert net._compiled_versions.compiled == 1
