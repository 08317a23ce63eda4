"""Views in functions that are compiled once for all sizes of an argument, or at places that only tensors know."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from viewlib import grid, open_sizes

import mindspore as ms
from mindspore import Tensor, context, nn


def test_sizes_that_change():
    @ms.jit
    def program(x):
        y = x + 0
        v = y[1:]
        v[0] = 7
        return y * 1, v * 1

    context.set_context(mode=context.GRAPH_MODE)
    for n in (3, 4, 5, 6, 7, 8):
        y, v = program(Tensor(grid(n)))
        expected = grid(n)
        expected[1] = 7
        np.testing.assert_array_equal(y.asnumpy(), expected)
        np.testing.assert_array_equal(v.asnumpy(), expected[1:])


def test_open_sizes():
    class Net(nn.Cell):
        def construct(self, x):
            y = x + 0
            y[1:][0] = 7
            y.reshape(-1)[0] = 8
            return y

    context.set_context(mode=context.GRAPH_MODE)
    net = Net()
    net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    for n in (2, 3, 5):
        expected = grid(n, 2)
        expected[1] = 7
        expected[0, 0] = 8
        np.testing.assert_array_equal(net(Tensor(grid(n, 2))).asnumpy(), expected)


def test_views_of_open_sizes():
    def ones(a):
        a = a * 1
        a[-2].expand_dims(-1).fill_(1)
        a[None].squeeze()[..., 0] = 7
        return a

    def decided_by_sizes(a):
        a = a * 1
        a[:, :2].reshape(-1)[0] = 9  # a copy, but for two columns
        return a

    context.set_context(mode=ms.GRAPH_MODE)
    for program in (ones, decided_by_sizes):
        net = open_sizes(program, None, None)
        for shape in ((3, 4), (2, 2), (5, 3)):
            context.set_context(mode=ms.PYNATIVE_MODE)
            a = Tensor(grid(*shape).astype(np.float32))
            expected = program(a).asnumpy()
            context.set_context(mode=ms.GRAPH_MODE)
            assert np.array_equal(net(a).asnumpy(), expected), (program.__name__, shape)


def _counted(a, n):
    for i in range(n):
        row = a[i]
        row[1:] += 10
    return a * 1


def _base_changes(a, n):
    total = a[0] * 0
    for i in range(n):
        row = a[i]
        a[:, 0] += 1
        total = total + row
    return total


def _split(a, n):
    for i in range(n):
        a[i].split(1)[0].add_(a[0, 1])
    return a * 1


@pytest.mark.parametrize("program", [_counted, _base_changes, _split])
def test_rows_at_a_place_that_a_tensor_counts_are_views(program):
    """In eager code `i` is an int, so that `a[i]` is a view; in a graph it is a tensor."""
    a, b, n = Tensor(grid(3, 3)), Tensor(grid(3, 3)), Tensor(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ms.jit(program)(b, n)
    np.testing.assert_array_equal(found.asnumpy(), program(a, n).asnumpy())
    np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_rows_that_nobody_writes_to_stay_compiled():
    @ms.jit(fullgraph=True)
    def program(a, n):
        b = a * 1
        for i in range(1, n):
            b[i] = b[i - 1] + a[i]
        return b

    np.testing.assert_array_equal(
        program(Tensor(grid(3, 3)), Tensor(3)).asnumpy(), np.cumsum(grid(3, 3), 0)
    )
