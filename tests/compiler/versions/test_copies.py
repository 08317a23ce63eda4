"""Compiled versions belong to one object: its copies, and functions that wrap it, have their own."""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

X = Tensor(np.arange(1, 7, dtype=np.float32).reshape(2, 3, 1))


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    ms.set_context(mode=request.param)
    return request.param


class Scale(nn.Cell):
    def __init__(self):
        super().__init__()
        self.factor = 2.0

    def construct(self, x):
        return x * self.factor


class Holder:
    """An object of the user's with a compiled method, and a plain one."""

    def __init__(self):
        self.factor = 2.0

    @ms.jit
    def compiled(self, x):
        return x * self.factor

    def plain(self, x):
        return x * self.factor


class Slotted:
    """An object that nothing can refer to weakly."""

    __slots__ = ("__dict__",)

    def plain(self, x):
        return x * self.factor


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.dense = nn.Dense(1, 2)
        self.inner_gradient = ops.grad(self.scale)
        self.compiled = ms.jit(lambda x: x + 1)

    def construct(self, x):
        return self.dense(self.compiled(self.scale(x)))


def value(tensor):
    return float(tensor.asnumpy().ravel()[0])


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copied_cell_compiles_its_own_code(mode, how):
    cell = Scale()
    assert value(cell(X)) == value(ops.grad(cell)(X)) == 2
    other = how(cell)
    other.factor = 5.0
    assert value(other(X)) == value(ops.grad(other)(X)) == 5
    assert value(cell(X)) == value(ops.grad(cell)(X)) == 2


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", [Holder, Slotted])
def test_a_copied_object_compiles_its_own_methods(mode, how, kind):
    first = kind()
    first.factor = 2.0

    def results(thing):
        found = [ops.vmap(thing.plain)(X), ms.jvp(thing.plain, X, X)[1]]
        return [value(v) for v in (*found, *([thing.compiled(X)] if kind is Holder else []))]

    assert set(results(first)) == {2.0}
    other = how(first)
    other.factor = 5.0
    assert set(results(other)) == {5.0}
    assert set(results(first)) == {2.0}


def test_a_net_can_be_copied_after_it_was_run(mode):
    net = Net()
    expected = net(X).asnumpy()
    slope = ops.grad(net)(X).asnumpy()
    net.inner_gradient(X)
    other = copy.deepcopy(net)
    np.testing.assert_array_equal(other(X).asnumpy(), expected)
    other.dense.weight.set_data(other.dense.weight * 0)
    other.scale.factor = 3.0
    assert not ops.grad(other)(X).asnumpy().any()
    assert value(other.inner_gradient(X)) == 3
    np.testing.assert_array_equal(net(X).asnumpy(), expected)
    np.testing.assert_array_equal(ops.grad(net)(X).asnumpy(), slope)
    assert value(net.inner_gradient(X)) == 2


TRANSFORMS = {
    "vmap": lambda f: ops.vmap(f)(X),
    "vmap twice": lambda f: ops.vmap(ops.vmap(f))(X),
    "jacfwd": lambda f: ms.jacfwd(f)(X),
    "jacrev": lambda f: ms.jacrev(f)(X),
    "jvp": lambda f: ms.jvp(f, X, X)[0],
    "grad": lambda f: ops.grad(lambda x: f(x).sum())(X),
    "jit": lambda f: ms.jit(f)(X),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("inner", [lambda f: f, ops.vmap, ms.jit], ids=["plain", "vmap", "jit"])
def test_a_wrapping_function_is_not_the_one_it_wraps(mode, transform, inner):
    function = inner(lambda x: x * 2)
    expected = transform(function).asnumpy()

    @functools.wraps(function)
    def ten_times(x):
        return function(x) * 10

    np.testing.assert_allclose(transform(ten_times).asnumpy(), 10 * expected)
    np.testing.assert_array_equal(transform(function).asnumpy(), expected)


def test_a_cloned_tensor_has_its_own_value_and_the_gradient(mode):
    def changed(x):
        y = x.clone()
        y[0] = 0.0
        return (x * y).sum() + x.numel() + x.ndimension()

    for function in (changed, ms.jit(changed)):
        x = X.reshape(6).clone()
        assert value(function(x)) == 4 + 9 + 16 + 25 + 36 + 6 + 1
        assert ops.grad(function)(x).asnumpy().tolist() == [0.0, 4.0, 6.0, 8.0, 10.0, 12.0]
        assert value(x) == 1
