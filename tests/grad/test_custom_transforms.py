"""Gradients of users under vmap, vjp and forward mode, which is the transpose of what the user wrote."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_both_modes_ask_for_it(mode):
    f = lambda v: square(v)
    tens = [[10, 0, 0], [0, 20, 0], [0, 0, 30]]
    assert values(ops.jacrev(f)(X)) == tens
    assert values(ops.jacfwd(f)(X)) == tens
    assert values(ops.vjp(f, X)[1](X)[0]) == [10, 40, 90]
    out, tangent = ops.jvp(square, X, X)
    assert (values(out), values(tangent)) == ([1, 4, 9], [10, 40, 90])


class Mixed(nn.Cell):
    """Two inputs and two outputs; the rule mixes both tangents and reads inputs and outputs."""

    def construct(self, x, y):
        return x * y, ops.sin(x)

    def bprop(self, x, y, out, dout):
        product, sine = out
        return dout[0] * y * 3 + dout[1] * product, dout[0] * sine - dout[1] * x * x


mixed = Mixed()


def test_forward_is_the_transpose(mode):
    """<u, J v> = <J^T u, v>."""
    y, v, w = (Tensor(np.array(a, np.float32)) for a in ([2, 0.5, 1], [1, -1, 2], [3, 1, 0.25]))
    u = (Tensor(np.array([1, 2, -1], np.float32)), Tensor(np.array([0.5, -2, 1], np.float32)))
    f = lambda a, b: mixed(a, b)
    forward = ops.jvp(f, (X, y), (v, w))[1]
    backward = ops.vjp(f, X, y)[1](*u)
    left = sum(float((a * b).sum()) for a, b in zip(forward, u))
    right = sum(float((a * b).sum()) for a, b in zip(backward, (v, w)))
    np.testing.assert_allclose(left, right, rtol=1e-5)


@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("inner", ["jacfwd", "jacrev"])
def test_second_order_differentiates_the_rule(mode, outer, inner):
    """d (10 x) / dx, by the rule of the rule's own ops; and with an inner function around it."""
    f = lambda v: ops.sin(square(v)).sum()
    x = Tensor(np.array([0.3, 0.7], np.float64))
    got = getattr(ops, outer)(getattr(ops, inner)(f))(x).asnumpy()
    # f' = 10 x cos(x^2) by the rule; and of its x^2, which is square again, 10 x once more
    at = x.asnumpy()
    expected = np.diag(10 * np.cos(at**2) - 10 * at * 10 * at * np.sin(at**2))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_forward_through_branches_and_loops(mode):
    def f(v):
        total = v
        for _ in range(2):
            total = square(total)
        if v.sum() > 0:
            total = square(total) * 0.5
        while total.sum() < 1e6:
            total = square(total)
        return total

    for x in (X, -X):
        columns = ops.jacfwd(f)(x).asnumpy()
        np.testing.assert_allclose(columns, ops.jacrev(f)(x).asnumpy(), rtol=1e-5)


def test_forward_through_hooks_and_gradient_inserts(mode):
    triple = ops.InsertGradientOf(lambda d: d * 3)

    def hooked(v):
        w = v * 2
        w.register_hook(lambda d: d * 5)
        return w * w

    assert values(ops.jvp(lambda v: triple(v * v), X, X)[1]) == [6, 24, 54]
    assert values(ops.jvp(hooked, X, X)[1]) == [40, 160, 360]


def test_a_batch_of_forward_modes(mode):
    moved = ops.vmap(lambda v, d: ops.jvp(square, v, d)[1])(ROWS, ROWS)
    np.testing.assert_array_equal(moved.asnumpy(), 10 * ROWS.asnumpy() ** 2)


def test_a_rule_that_is_not_linear_is_linear_at_one(mode):
    """As MindSpore has it: the derivative by the tangent is taken at a tangent of ones."""

    class Odd(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (dout * dout * x * 10 + dout * 3,)

    x = Tensor(np.array([2, 3], np.float32))
    assert values(ops.jvp(Odd(), x, ops.ones_like(x))[1]) == [43, 63]


class Outside(nn.Cell):
    """Its gradient is computed by NumPy."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (Tensor(dout.asnumpy() * x.asnumpy() * 10),)


def test_a_rule_that_python_computes_is_refused(mode):
    with pytest.raises(RuntimeError, match="custom gradient must be differentiable"):
        ops.jvp(Outside(), X, X)


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
