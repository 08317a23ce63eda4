"""vmap over an open size: one compile serves any number of items, with the results of PYNATIVE_MODE."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, grad, jit, nn, ops, vmap

W = Tensor(np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32))
DENSE, NORM, CONV = nn.Dense(4, 2), nn.LayerNorm((4,)), nn.Conv2d(1, 2, 2)


def count(v):
    i = 0
    while v.sum() < 10 and i < 5:
        v = v + i + 1
        i = i + 1
    return v


def products(x):
    return vmap(lambda v: ops.matmul(v, W))(x), vmap(lambda v, u: v @ u, (0, None))(x, W)


def axes(x):
    return vmap(lambda v: v * 2, 0, 1)(x), vmap(lambda v: v.sum(), 1)(x)


def gradients(x):
    return vmap(grad(lambda v: (v**3).sum()))(x), vmap(ms.jacrev(lambda v: ops.sin(v) * v.sum()))(x)


def tangents(x):
    return vmap(lambda v: ms.jvp(lambda u: u * u * u, v, v)[1])(x)


def gradient_of_a_batch(x):
    return grad(lambda t: vmap(lambda v: ops.tanh(v @ W).sum())(t).sum())(x)


def branches(x):
    return vmap(lambda v: v * 2 if v.sum() > 0 else -v)(x)


def loops(x):
    return vmap(count)(x)


def nested(x):
    return vmap(vmap(lambda a: a * a + 1))(x)


def pairs(x):
    return vmap(lambda a: vmap(lambda b: (a - b).abs().sum())(x))(x)


def layers(x):
    return vmap(lambda v: DENSE(v))(x), vmap(lambda v: NORM(v))(x)


def images(x):
    return vmap(lambda v: CONV(v.reshape(1, 1, 2, 2)))(x)


def positions(x):
    def pick(v):
        best = ops.one_hot(v.argmax(), 4, Tensor(1.0), Tensor(0.0))
        return ops.gather(v, Tensor([0, 2]), 0), v[1:3] * v[0], ops.topk(v, 2)[0], best

    return vmap(pick)(x)


def numbers(x):
    """What becomes a Python number, or a bool, is one for each item."""
    low = vmap(lambda v: 1.0 if not v > 0 else 0.5)(x[:, 0])
    sign = vmap(lambda v: not v < 0)(x[:, 0])
    return low, sign, vmap(lambda v: v * float(v.max()) + int(v[0] * 9))(x)


FUNCTIONS = [products, axes, gradients, tangents, gradient_of_a_batch, branches, loops, nested]
FUNCTIONS += [pairs, layers, images, positions, numbers]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_compile_for_any_number_of_items(function):
    compiled = jit(function, input_signature=Tensor(shape=[None, 4], dtype=ms.float32))
    random = np.random.default_rng(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for items in (2, 1, 5, 3):
            x = Tensor(random.standard_normal((items, 4)).astype(np.float32))
            got, expected = compiled(x), function(x)
            if not isinstance(got, tuple):
                got, expected = (got,), (expected,)
            for a, b in zip(got, expected):
                np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=2e-5, atol=1e-5)
    assert compiled.cache.compiled == 1


def test_what_takes_items_one_by_one_is_compiled_for_each_size():
    def filters(x):  # as many groups as items
        return vmap(lambda v: ops.conv2d(v.reshape(1, 1, 2, 2), v.reshape(1, 1, 2, 2)))(x)

    compiled = jit(filters, input_signature=Tensor(shape=[None, 4], dtype=ms.float32))
    x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
    with pytest.warns(UserWarning, match="compiled for every shape"):
        got = compiled(x)
    np.testing.assert_allclose(got.asnumpy(), filters(x).asnumpy(), rtol=1e-5)


def test_numbers_of_items_are_those_of_each_item_by_itself():
    x = Tensor(np.array([[1.5, -2.0], [-0.5, 3.0], [0.0, 1.0]], np.float32))

    def scaled(v):
        return v.sum() * float(v[0]) if not v[1] > 0 else v.sum() * int(v[1])

    for function in (scaled, grad(scaled)):
        expected = np.stack([function(x[i]).asnumpy() for i in range(3)])
        for batched in (vmap(function), jit(vmap(function))):
            np.testing.assert_array_equal(batched(x).asnumpy(), expected)
    slope = grad(lambda t: vmap(scaled)(t).sum())(x)
    expected = np.stack([grad(scaled)(x[i]).asnumpy() for i in range(3)])
    np.testing.assert_array_equal(slope.asnumpy(), expected)
