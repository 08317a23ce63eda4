"""The forms in which public models write attention: each becomes the op, and gives what it gave before."""

import math

import numpy as np
import pytest

import mindspore
from mindspore import Tensor, context, jit, nn, ops, value_and_grad
from mindspore import dtype as mstype

pytestmark = pytest.mark.fast_stage
B, H, S, D = 2, 3, 6, 4
CAUSAL = Tensor(np.tril(np.ones((S, S), np.float32)))
SEEN = Tensor(np.tril(np.ones((S, S), bool)))
FORMS = {}


def form(function):
    FORMS[function.__name__] = function
    return function


def product(q, k):
    return ops.matmul(q, k.swapaxes(-1, -2))


def weigh(scores, v):
    return ops.matmul(ops.softmax(scores, -1), v)


@form
def scaled_queries(q, k, v, m):
    return weigh(product(q * D**-0.5, k), v)


@form
def both_scaled(q, k, v, m):
    return weigh(product(q * D**-0.25, k * D**-0.25), v)


@form
def mask_by_ten_thousand(q, k, v, m):
    return weigh(product(q, k) * D**-0.5 + (1.0 - CAUSAL) * -10000.0, v)


@form
def mask_before_scale(q, k, v, m):
    return weigh((product(q, k) + (1 - CAUSAL) * -1e9) / math.sqrt(D), v)


@form
def filled_before_scale(q, k, v, m):
    return weigh(product(q, k).masked_fill(CAUSAL == 0, -1e9) / math.sqrt(D), v)


@form
def filled_with_infinity(q, k, v, m):
    return weigh((product(q, k) / math.sqrt(D)).masked_fill(CAUSAL == 0, float("-inf")), v)


@form
def selected_from_constants(q, k, v, m):
    s = product(q, k) / math.sqrt(D)
    return weigh(ops.select(ops.broadcast_to(SEEN, s.shape), s, ops.ones_like(s) * -1e9), v)


@form
def where_least_number(q, k, v, m):
    s = product(q, k) * 0.5
    return weigh(ops.where(SEEN, s, ops.full_like(s, float(np.finfo(np.float32).min))), v)


@form
def padding_added(q, k, v, m):
    return weigh(product(q, k) / math.sqrt(D) + ((1.0 - m) * -10000.0)[:, None, None, :], v)


@form
def padding_filled_twice(q, k, v, m):
    s = ops.masked_fill(product(q, k) / math.sqrt(D), CAUSAL == 0, -1e9)
    return weigh(ops.masked_fill(s, m[:, None, None, :] == 0, -1e9), v)


@form
def infinity_then_padding(q, k, v, m):
    s = ops.masked_fill(product(q, k) / math.sqrt(D), CAUSAL == 0, float("-inf"))
    return weigh(s + ((1.0 - m) * -10000.0)[:, None, None, :], v)


@form
def heads_and_batch_as_one(q, k, v, m):
    q, k, v = (x.reshape(B * H, S, D) for x in (q, k, v))
    s = ops.bmm(q * D**-0.5, k.transpose(0, 2, 1)).view(B, H, S, S)
    s = s.masked_fill(m[:, None, None, :] == 0, float("-inf")).view(B * H, S, S)
    return ops.bmm(ops.softmax(s, -1), v)


@form
def shared_keys(q, k, v, m):
    return weigh(product(q, k[:, :1]) * 0.3, v[:, :1])


@form
def softmax_written_out(q, k, v, m):
    s = product(q, k) * 0.3
    e = ops.exp(s - s.max(axis=-1, keepdims=True))
    return ops.matmul(e / e.sum(-1, keepdims=True), v)


@form
def exp_of_log_softmax(q, k, v, m):
    return ops.matmul(ops.exp(ops.log_softmax(product(q, k) * 0.3, -1)), v)


@form
def half_products(q, k, v, m):
    q, k, v = (x.astype(mstype.float16) for x in (q, k, v))
    s = product(q, k).astype(mstype.float32) * D**-0.5
    s = s + ((1.0 - m) * -1e9)[:, None, None, :]
    return ops.matmul(ops.softmax(s, -1).astype(mstype.float16), v)


@form
def bfloat16_products(q, k, v, m):
    q, k, v = (x.astype(mstype.bfloat16) for x in (q, k, v))
    s = product(q, k) / math.sqrt(D)
    return ops.matmul(ops.softmax(s.astype(mstype.float32), -1).astype(mstype.bfloat16), v)


def gradients(attend, inputs, mask):
    def loss(q, k, v, m):
        return (attend(q, k, v, m).astype(mstype.float32) ** 2).sum()

    value, grads = jit(value_and_grad(loss, (0, 1, 2)))(*inputs, mask)
    return [t.asnumpy() for t in (value, *grads)]


@pytest.mark.parametrize("name", FORMS)
def test_form_becomes_the_op_and_agrees(name, tmp_path):
    rng = np.random.default_rng(len(name))
    inputs = [Tensor(rng.standard_normal((B, H, S, D)).astype(np.float32)) for _ in range(3)]
    mask = Tensor(np.array([[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0]], np.float32))
    mindspore.set_seed(1)
    context.set_context(save_graphs=3, save_graphs_path=str(tmp_path))
    try:
        fast = gradients(FORMS[name], inputs, mask)
    finally:
        context.set_context(save_graphs=0)
    last = sorted(tmp_path.rglob("*.ir"))[-1].read_text()
    assert "AttentionGrad(" in last and "Softmax" not in last
    context.set_context(enable_graph_kernel=False)
    try:
        plain = gradients(FORMS[name], inputs, mask)
    finally:
        context.set_context(enable_graph_kernel=True)
    loose = {"half_products": 1e-2, "bfloat16_products": 5e-2}.get(name, 1e-4)
    largest = max(np.abs(b).max() for b in plain[1:])
    for a, b in zip(fast, plain):
        np.testing.assert_allclose(a, b, rtol=loose, atol=max(1e-6, loose / 10) * largest)


class Padded(nn.Cell):
    """A layer of attention that is given its padding as numbers; gives a loss."""

    def __init__(self):
        super().__init__()
        self.query, self.value = nn.Dense(D, D), nn.Dense(D, D)

    def construct(self, x, mask):
        q = self.query(x)
        scores = product(q, x) + ((1.0 - mask) * -10000.0)[:, None, :]
        return (weigh(scores, self.value(x)) ** 2).sum()


def test_padding_given_to_a_training_step(tmp_path):
    """The step does not ask for the gradient of its inputs, so that the mask's is not in the way."""
    net = Padded()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    x = Tensor(np.ones((B, S, D), np.float32))
    context.set_context(mode=context.GRAPH_MODE, save_graphs=3, save_graphs_path=str(tmp_path))
    try:
        step(x, Tensor(np.ones((B, S), np.float32)))
    finally:
        context.set_context(save_graphs=0, mode=context.PYNATIVE_MODE)
    last = sorted(tmp_path.rglob("*.ir"))[-1].read_text()
    assert "AttentionGrad(" in last and "Softmax" not in last


def test_gradient_of_padding():
    """Where the mask's gradient is asked for, it is the one of the plain graph."""
    rng = np.random.default_rng(5)
    q, k, v = (Tensor(rng.standard_normal((B, S, D)).astype(np.float32)) for _ in range(3))
    mask = Tensor(rng.standard_normal((B, 1, S)).astype(np.float32))

    def loss(q, k, v, m):
        return (weigh(product(q, k) + m * 2.0, v) ** 2).sum()

    run = jit(value_and_grad(loss, (0, 1, 2, 3)))
    fast = run(q, k, v, mask)[1]
    context.set_context(enable_graph_kernel=False)
    try:
        plain = jit(value_and_grad(loss, (0, 1, 2, 3)))(q, k, v, mask)[1]
    finally:
        context.set_context(enable_graph_kernel=True)
    for a, b in zip(fast, plain):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-4, atol=1e-5)
