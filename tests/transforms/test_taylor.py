"""jet and derivative against derivatives known in closed form, in both modes."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, context, nn, ops


@pytest.fixture(
    params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["eager", "graph"], autouse=True
)
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


class Product(nn.Cell):
    def construct(self, x, y):
        return ops.sin(x) * ops.cos(y)


X = np.array([[1.0, 2.0], [3.0, 4.0]])
FIRST = np.array([[1.0, 2.0], [1.0, 1.0]])
SECOND = np.array([[3.0, 0.0], [0.0, 1.0]])


def close(got, expected):
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-12, atol=1e-12)


def test_along_a_curve():
    """exp(2 x(t)): its first derivatives are 2 x' and 4 x'^2 + 2 x'' times the value."""
    value, series = ops.jet(
        lambda x: ops.exp(x) * ops.exp(x), Tensor(X), Tensor(np.stack([FIRST, SECOND]))
    )
    whole = np.exp(2 * X)
    close(value, whole)
    assert series.shape == (2, 2, 2)
    close(series[0], 2 * FIRST * whole)
    close(series[1], (4 * FIRST**2 + 2 * SECOND) * whole)


def test_two_inputs():
    """sin(x) cos(x) = sin(2 x) / 2."""
    both = Tensor(np.stack([FIRST, SECOND]))
    value, series = ops.jet(Product(), (Tensor(X), Tensor(X)), (both, both))
    close(value, np.sin(2 * X) / 2)
    close(series[0], np.cos(2 * X) * FIRST)
    close(series[1], np.cos(2 * X) * SECOND - 2 * np.sin(2 * X) * FIRST**2)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives_of_each_order(order):
    value, found = ops.derivative(ops.sin, Tensor(X), order)
    close(value, np.sin(X))
    close(found, np.sin(X + order * np.pi / 2))
    _, both = ops.derivative(Product(), (Tensor(X), Tensor(X)), order)
    close(both, 2 ** (order - 1) * np.sin(2 * X + order * np.pi / 2))


def test_structures_of_values():
    value, found = ops.derivative(lambda x: {"a": x * x, "b": (x,)}, Tensor(X), 2)
    close(value["a"], X * X)
    close(found["a"], np.full_like(X, 2))
    close(found["b"][0], np.zeros_like(X))


def test_integers_count_as_float32():
    value, series = ops.jet(ops.sin, Tensor(np.array([1, 2])), Tensor(np.array([[1, 1]])))
    assert value.dtype == series.dtype == Tensor(1.0).dtype
    np.testing.assert_allclose(series.asnumpy()[0], np.cos([1, 2]), rtol=1e-6)


def test_inside_other_transforms():
    x = Tensor(X)
    slope = ops.grad(lambda v: ops.derivative(ops.sin, v, 2)[1].sum())(x)
    close(slope, -np.cos(X))
    rows = ops.vmap(lambda v: ops.derivative(ops.exp, v, 3)[1])(x)
    close(rows, np.exp(X))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: ops.derivative(ops.sin, Tensor(X), 0), ValueError, "'order' must be at least 1"),
        (lambda: ops.derivative(ops.sin, Tensor(X), 1.5), TypeError, "'order' must be an int"),
        (lambda: ops.derivative(3, Tensor(X), 1), TypeError, "'fn' must be a function"),
        (lambda: ops.derivative(ops.sin, 1.0, 1), TypeError, "'primals' must be a Tensor"),
        (lambda: ops.jet(ops.sin, (), ()), ValueError, "must not be empty"),
        (lambda: ops.jet(ops.sin, Tensor(X), (Tensor(X),)), TypeError, "both Tensors or both"),
        (lambda: ops.jet(ops.sin, (Tensor(X),), ()), ValueError, "one Tensor for each of the 1"),
        (lambda: ops.jet(ops.sin, Tensor(X), Tensor(X)), ValueError, "derivatives of the shape"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
