"""Gradients of users under vmap and vjp, and under forward mode, which does not ask for them."""

from __future__ import annotations

import numpy as np

from mindspore import Tensor, nn, ops

X = Tensor(np.array([1, 2, 3], np.float32))
ROWS = Tensor(np.arange(6).reshape(2, 3).astype(np.float32))


class Square(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (dout * x * 10,)


square = Square()


def values(result):
    """Nested lists."""
    return result.asnumpy().tolist()


def test_batches(mode):
    tens = (ROWS.asnumpy() * 10).tolist()
    assert values(ops.grad(ops.vmap(square))(ROWS)) == tens
    assert values(ops.vmap(ops.grad(lambda v: square(v).sum()))(ROWS)) == tens


def test_a_batch_of_second_gradients(mode):
    def first(v):
        return ops.grad(lambda u: square(u).sum())(v).sum()

    assert values(ops.vmap(ops.grad(first))(ROWS)) == [[10, 10, 10], [10, 10, 10]]


def test_an_argument_that_all_items_share(mode):
    triple = ops.InsertGradientOf(lambda d: d * 3)

    def f(w):
        return ops.vmap(lambda v, w: triple(v * w), (0, None))(ROWS, w)

    assert values(ops.grad(f)(X)) == [9, 15, 21]


def test_reverse_mode_asks_and_forward_mode_does_not(mode):
    f = lambda v: square(v)
    assert values(ops.jacrev(f)(X)) == [[10, 0, 0], [0, 20, 0], [0, 0, 30]]
    assert values(ops.jacfwd(f)(X)) == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert values(ops.vjp(f, X)[1](X)[0]) == [10, 40, 90]


def test_recomputation_under_transforms(mode):
    class Tanh(nn.Cell):
        def construct(self, x):
            return ops.tanh(x) * x

    again = Tanh()
    again.recompute()
    plain = ops.vmap(ops.grad(lambda v: (ops.tanh(v) * v).sum()))(ROWS)
    assert values(ops.vmap(ops.grad(lambda v: again(v).sum()))(ROWS)) == values(plain)
    tangent = ops.jvp(ops.grad(lambda v: again(v).sum()), X, X)[1]
    expected = ops.jvp(ops.grad(lambda v: (ops.tanh(v) * v).sum()), X, X)[1]
    np.testing.assert_allclose(tangent.asnumpy(), expected.asnumpy(), rtol=1e-5)
