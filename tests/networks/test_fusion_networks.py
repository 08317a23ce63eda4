"""Layers and their gradients with the fast stage against plain graphs: what fusion and expansion change is the order of sums."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import JitConfig, Tensor, jit, nn, ops

RNG = np.random.default_rng(0)


def tensor(*shape: int, dtype: type = np.float32) -> Tensor:
    return Tensor(RNG.normal(0, 1, shape).astype(dtype))


def both(f, *args):
    plain = jit(f, jit_config=JitConfig(jit_level="O0"), fullgraph=True)(*args)
    return jit(f, fullgraph=True)(*args), plain


def compare(fast, plain, tolerance: float) -> None:
    if isinstance(fast, (tuple, list)):
        assert len(fast) == len(plain)
        for a, b in zip(fast, plain):
            compare(a, b, tolerance)
        return
    assert fast.dtype == plain.dtype and fast.shape == plain.shape
    a, b = fast.asnumpy().astype(np.float64), plain.asnumpy().astype(np.float64)
    scale = max(1.0, np.abs(b).max())
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)


def norm_gelu_softmax(x, gamma, beta):
    y = ops.layer_norm(x, (x.shape[-1],), gamma, beta, 1e-5)
    return ops.softmax(ops.gelu(y))


def attention_scores(x, mask):
    return ops.softmax(x * 0.125 + mask, axis=-1)


def log_probabilities(x, weight):
    return (ops.log_softmax(x * 2, axis=-1) * weight).sum()


@pytest.mark.parametrize("shape", [(6, 33), (130, 257), (3, 40, 64)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_norm_gelu_softmax_and_gradient(shape, dtype):
    n = shape[-1]
    x, gamma, beta = tensor(*shape, dtype=dtype), tensor(n, dtype=dtype), tensor(n, dtype=dtype)
    weight = tensor(*shape, dtype=dtype)
    tolerance = 2e-3 if dtype == np.float16 else 1e-5
    compare(*both(norm_gelu_softmax, x, gamma, beta), tolerance)
    grad = ms.grad(lambda *a: (norm_gelu_softmax(*a) * weight).sum(), (0, 1, 2))
    compare(*both(lambda *a: grad(*a), x, gamma, beta), 10 * tolerance)


def test_softmax_of_masked_scores():
    x, mask = tensor(2, 4, 50, 70), tensor(2, 1, 1, 70)
    compare(*both(attention_scores, x, mask), 1e-5)
    grad = ms.grad(lambda x, mask: (attention_scores(x, mask) * x).sum(), (0, 1))
    compare(*both(lambda *a: grad(*a), x, mask), 1e-4)


def test_log_softmax():
    x, weight = tensor(40, 100), tensor(40, 100)
    compare(*both(log_probabilities, x, weight), 1e-5)
    grad = ms.grad(log_probabilities, (0, 1))
    compare(*both(lambda *a: grad(*a), x, weight), 1e-4)


def test_infinities_and_nans_stay():
    values = np.zeros((4, 65), np.float32)
    values[0, 3], values[1, 5], values[2, 7], values[3] = np.inf, -np.inf, np.nan, -np.inf
    fast, plain = both(lambda x: ops.softmax(x + 0.5), Tensor(values))
    np.testing.assert_allclose(fast.asnumpy(), plain.asnumpy(), rtol=1e-6)


class Block(nn.Cell):
    """A convolution, statistics, and what follows them."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.dense = nn.Dense(8, 5)

    def construct(self, x):
        y = ops.relu(self.norm(self.conv(x)))
        return self.dense((y * ops.sigmoid(y)).mean((2, 3)))


def test_a_training_step():
    x = tensor(4, 3, 20, 20)
    labels = Tensor(np.array([0, 1, 2, 3], np.int32))
    results = []
    for level in ("O0", "O1"):
        ms.set_seed(1)
        net = Block()
        start = np.random.default_rng(2)
        for p in net.get_parameters():
            p.set_data(Tensor(start.normal(0, 0.3, p.shape).astype(np.float32)))
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"))
        step = nn.TrainOneStepCell(loss, optimizer).set_train()
        step.set_jit_config(JitConfig(jit_level=level))
        mode = ms.get_context("mode")
        ms.set_context(mode=ms.GRAPH_MODE)
        losses = [step(x, labels) for _ in range(3)]
        ms.set_context(mode=mode)
        results.append((losses, [Tensor(p) for p in net.get_parameters()]))
    compare(results[1], results[0], 1e-4)


def test_assigned_parameters_are_written_in_place():
    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(tensor(100, 70), name="w")
            self.m = ms.Parameter(tensor(100, 70), name="m")

        def construct(self, g):
            m = self.m * 0.9 + g
            ops.assign(self.m, m)
            ops.assign(self.w, self.w - 0.1 * m)
            return self.w.sum()

    mode = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    step, g = Step(), tensor(100, 70)
    w, m = step.w.asnumpy().copy(), step.m.asnumpy().copy()
    for _ in range(3):
        step(g)
        m = m * np.float32(0.9) + g.asnumpy()
        w = w - np.float32(0.1) * m
    ms.set_context(mode=mode)
    np.testing.assert_allclose(step.w.asnumpy(), w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(step.m.asnumpy(), m, rtol=1e-5, atol=1e-6)
