"""Attention: gradients of its output, dropout, and that users' graphs become it and stay what they were."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore
from mindspore import Tensor, _core, context, grad, jit, nn, ops, value_and_grad

attention = _core.op("Attention")
reduce_sum = _core.op("ReduceSum")
NO_KEY = Tensor(np.zeros(2, np.int64))


@pytest.fixture(autouse=True)
def mode():
    before = context.get_context("mode")
    yield
    context.set_context(mode=before)


def sample(*shapes, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    return [random.uniform(-1, 1, shape).astype(dtype) for shape in shapes]


def masks():
    hides = np.random.default_rng(1).random((5, 4)) < 0.3
    hides[2] = True
    return [
        (np.zeros(()), {}),
        (sample((2, 1, 5, 1), seed=3)[0], {"scale": 0.4}),
        (hides, {"fill": -2.0}),
        (hides, {}),
        (np.zeros(()), {"causal": True}),
        (sample((4,), seed=3)[0], {"keep_prob": 0.7, "causal": True}),
    ]


def composed(q, k, v, mask, scale=1.0, causal=False, fill=-1e30, keep_prob=1.0):
    """The output in NumPy, with the random choice of op DropoutMask."""
    s = np.einsum("...id,...jd->...ij", q, k) * scale
    s = np.where(mask, fill, s) if mask.dtype == bool else s + mask
    if causal:
        s = np.where(np.arange(s.shape[-1]) > np.arange(s.shape[-2])[:, None], -np.inf, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    if keep_prob < 1:
        weights = _core.op("DropoutMask")(
            NO_KEY, shape=p.shape, keep_prob=keep_prob, dtype=mindspore.float64
        )
        p = p * weights.asnumpy()
    return p @ v


@pytest.mark.parametrize(("mask", "attrs"), masks())
def test_gradients_are_slopes(mask, attrs):
    """First and second order along random directions, in float64."""
    start = sample((2, 3, 5, 6), (2, 3, 4, 6), (2, 3, 4, 2))
    weights = Tensor(sample((2, 3, 5, 2), seed=7)[0])
    u, w = (sample(*[x.shape for x in start], seed=s) for s in (11, 12))

    def loss(q, k, v):
        out = attention(q, k, v, Tensor(mask), NO_KEY, **attrs)[0]
        return (out * weights).sum()

    def slope(*given):
        return sum((g * Tensor(d)).sum() for g, d in zip(grad(loss, (0, 1, 2))(*given), u))

    want = (composed(*start, mask, **attrs) * weights.asnumpy()).sum()
    np.testing.assert_allclose(loss(*map(Tensor, start)).asnumpy(), want, rtol=1e-10)
    for f in (loss, slope):
        ahead, behind = (
            float(f(*[Tensor(x + e * d) for x, d in zip(start, w)]).asnumpy())
            for e in (1e-6, -1e-6)
        )
        for call in (grad(f, (0, 1, 2)), jit(grad(f, (0, 1, 2)))):
            along = sum((g.asnumpy() * d).sum() for g, d in zip(call(*map(Tensor, start)), w))
            np.testing.assert_allclose(along, (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-7)


def test_gradient_of_the_mask():
    q, k, v, mask = sample((2, 3, 4), (2, 5, 4), (2, 5, 2), (3, 1))
    dv = sample((2, 3, 2), seed=5)[0]

    def loss(m):
        return (attention(Tensor(q), Tensor(k), Tensor(v), m, NO_KEY)[0] * Tensor(dv)).sum()

    wide = np.broadcast_to(sample((3, 5), seed=2)[0], (3, 5))
    found = grad(loss)(Tensor(wide)).asnumpy()
    for i, j in ((0, 0), (2, 4), (1, 3)):
        step = np.zeros((3, 5))
        step[i, j] = 1e-6
        both = [float(loss(Tensor(wide + s)).asnumpy()) for s in (step, -step)]
        np.testing.assert_allclose(found[i, j], (both[0] - both[1]) / 2e-6, rtol=1e-5, atol=1e-8)
    assert np.abs(grad(loss)(Tensor(mask)).asnumpy()).max() < 1e-12  # a shift of whole rows


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("keep_prob", [1.0, 0.6])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (97, 129, 16, 64), (200, 1030, 20, 5)])
def test_blocks_agree_with_float64(sizes, keep_prob, causal):
    queries, keys, depth, width = sizes
    q, k, v, mask, dout = sample(
        (2, 3, queries, depth), (2, 3, keys, depth), (2, 3, keys, width), (3, 1, keys),
        (2, 3, queries, width),
    )  # fmt: skip
    attrs = {"scale": 0.3, "keep_prob": keep_prob, "causal": causal}

    def run(dtype):
        def loss(q, k, v):
            out = attention(q, k, v, Tensor(mask.astype(dtype)), NO_KEY, **attrs)[0]
            return (out * Tensor(dout.astype(dtype))).sum(), out

        given = [Tensor(x.astype(dtype)) for x in (q, k, v)]
        (_, out), grads = value_and_grad(loss, (0, 1, 2), has_aux=True)(*given)
        return [x.asnumpy() for x in (out, *grads)]

    for narrow, wide in zip(run(np.float32), run(np.float64)):
        np.testing.assert_allclose(narrow, wide, rtol=2e-5, atol=3e-5)


def masks_that_end_rows():
    late = np.triu(np.ones((300, 300)), 1)
    padding = np.arange(300) >= np.array([300, 70, 0])[:, None]
    sparse = np.random.default_rng(6).random((300, 300)) < 0.9
    return {
        "causal": late * -1e9,
        "causal, never": np.where(late, -np.inf, 0),
        "causal, boolean": late > 0,
        "padding": padding[:, None, None, :] * -1e9,  # all of the last one
        "padding, boolean": padding[:, None, None, :],
        "not far enough below": late * -8.0,
        "one number for all": np.full((1, 1), -64.0),
        "sparse": sparse * -1e9,
    }


@pytest.mark.parametrize("name", masks_that_end_rows())
def test_what_masks_leave_out_is_zero(name):
    """Float32 leaves out keys whose probabilities must be zero; the float64 loops never do."""
    mask = masks_that_end_rows()[name]
    given = sample(*[(3, 2, 300, 8)] * 4)

    def run(dtype):
        q, k, v, dout = (Tensor((4 * x).astype(dtype)) for x in given)
        m = Tensor(mask if mask.dtype == bool else mask.astype(dtype))

        def loss(q, k, v):
            out = attention(q, k, v, m, NO_KEY, scale=0.3)[0]
            return (out * dout).sum(), out

        (_, out), grads = value_and_grad(loss, (0, 1, 2), has_aux=True)(q, k, v)
        return [x.asnumpy() for x in (out, *grads)]

    for narrow, wide in zip(run(np.float32), run(np.float64)):
        # Where all scores are -1e9 in float32, they are all alike there.
        rows = slice(0, 2) if name == "padding" else slice(None)
        np.testing.assert_allclose(narrow[rows], wide[rows], rtol=1e-4, atol=3e-4)
        assert np.isfinite(narrow).all()


def test_rows_that_are_hidden_weigh_alike():
    q, k, v = sample((3, 4), (6, 4), (6, 2), dtype=np.float32)
    hides = np.zeros((3, 6), bool)
    hides[1] = True
    out = attention(Tensor(q), Tensor(k), Tensor(v), Tensor(hides), NO_KEY)[0].asnumpy()
    np.testing.assert_allclose(out[1], v.mean(0), rtol=1e-5)
    dv = grad(lambda v: attention(Tensor(q), Tensor(k), v, Tensor(hides), NO_KEY)[0][1].sum())(
        Tensor(v)
    )
    np.testing.assert_allclose(dv.asnumpy(), np.full((6, 2), 1 / 6), rtol=1e-5)


def test_dropout_drops_as_often_as_it_says():
    ones = Tensor(np.ones((4, 64, 8), np.float32))
    key = _core.op("DropoutKey")()
    out = attention(ones, ones, ones, Tensor(np.zeros((), np.float32)), key, keep_prob=0.8)[0]
    kept = out.asnumpy()[..., 0] * 64 * 0.8  # of each row's 64
    assert abs(kept.mean() - 51.2) < 1
    assert 2 < kept.std() < 5  # of a binomial: 3.2


# ---- users' graphs ------------------------------------------------------------------------------
class Net(nn.Cell):
    """Attention as users write it."""

    def __init__(self, heads=2, depth=4, p=0.0, boolean=False):
        super().__init__()
        width = heads * depth
        self.heads, self.depth, self.boolean = heads, depth, boolean
        self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))
        self.softmax, self.dropout = nn.Softmax(), nn.Dropout(p=p)

    def split(self, x):
        b, n, _ = x.shape
        return x.reshape(b, n, self.heads, self.depth).transpose(0, 2, 1, 3)

    def construct(self, x, mask):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / self.depth**0.5
        if self.boolean:
            scores = ops.masked_fill(scores, mask > 0.5, -1e9)
        else:
            scores = scores + (1 - mask) * -10000.0
        p = self.dropout(self.softmax(scores))
        return ops.matmul(p, v).transpose(0, 2, 1, 3).reshape(x.shape)


def step_of(net, x, mask):
    def loss(x, mask):
        return (net(x, mask) ** 2).sum()

    step = jit(value_and_grad(loss, 0, net.trainable_params()))
    mindspore.set_seed(3)
    value, (dx, grads) = step(x, mask)
    return [t.asnumpy() for t in (value, dx, *grads)]


@pytest.mark.parametrize("boolean", [False, True])
@pytest.mark.parametrize("p", [0.0, 0.4])
def test_fast_and_plain_graphs_agree(p, boolean):
    mindspore.set_seed(1)
    net = Net(p=p, boolean=boolean).set_train()
    x = Tensor(sample((3, 7, 8), dtype=np.float32)[0])
    mask = Tensor(np.random.default_rng(2).integers(0, 2, (3, 1, 1, 7)).astype(np.float32))
    fast = step_of(net, x, mask)
    context.set_context(enable_graph_kernel=False)
    try:
        plain = step_of(net, x, mask)
    finally:
        context.set_context(enable_graph_kernel=True)
    # The gradient of the keys' bias is 0 but for rounding.
    largest = max(np.abs(b).max() for b in plain)
    for a, b in zip(fast, plain):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6 * largest)


@pytest.mark.fast_stage
@pytest.mark.parametrize("boolean", [False, True])
def test_users_graph_becomes_the_op(tmp_path, boolean):
    """The op and its gradient are there, and no softmax is left."""
    context.set_context(mode=context.GRAPH_MODE, save_graphs=3, save_graphs_path=str(tmp_path))
    try:
        step_of(
            Net(p=0.1, boolean=boolean).set_train(),
            *map(Tensor, sample((2, 5, 8), (2, 1, 1, 5), dtype=np.float32)),
        )
    finally:
        context.set_context(save_graphs=0)
    last = sorted(p for p in tmp_path.rglob("*.ir"))[-1].read_text()
    assert "AttentionGrad(" in last and "DropoutKey(" in last
    assert "Softmax" not in last and "BatchMatMul" not in last
