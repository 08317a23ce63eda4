"""A value that nobody uses is not computed, but an index out of range on the way to it is an error in both modes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, ops


def read(x, i):
    y = x[i]  # noqa: F841
    return x * 2


def read_and_computed_with(x, i):
    ops.tanh(x[i] * 3).sum()
    return x * 2


def read_in_a_branch(x, i):
    if x.sum() > 0:
        x[i] + 1
    return x * 2


def read_in_a_loop(x, i):
    n = Tensor(0, ms.int32)
    while n < 2:
        n += 1
        ops.tanh(x[i])
    return x * 2


def read_in_a_function(x, i):
    def helper(a):
        return ops.exp(a[i]).sum()

    helper(x)
    return x * 2


def read_in_recursion(x, i):
    def again(k):
        if k <= 0:
            return x * 2
        x[i] + k
        return again(k - 1)

    return again(Tensor(2))


def written(x, i):
    y = x * 1
    y[i] = 0
    return x * 2


def gathered(x, i):
    ops.gather_nd(x, ops.stack((i,)))
    return x * 2


def read_in_what_is_differentiated(x, i):
    def function(a):
        a[i] * 2
        return (a * a).sum()

    return ms.grad(function)(x)


def read_in_a_batch(x, i):
    def function(a):
        a[i - 1] * 2
        return a.sum()

    return ms.vmap(function)(x)


PROGRAMS = [
    read,
    read_and_computed_with,
    read_in_a_branch,
    read_in_a_loop,
    read_in_a_function,
    read_in_recursion,
    written,
    gathered,
    read_in_what_is_differentiated,
    read_in_a_batch,
]
X = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_an_index_out_of_range_is_an_error(program: Callable) -> None:
    for run in (program, jit(program, fullgraph=True)):
        np.testing.assert_array_equal(run(X, Tensor(1)).shape, program(X, Tensor(1)).shape)
        with pytest.raises(IndexError, match=r"must be in \["):
            run(X, Tensor(7))


def test_a_label_out_of_range_is_an_error() -> None:
    def program(x, labels):
        ops.cross_entropy(x, labels)
        return x * 2

    labels = Tensor(np.array([0, 1, 2], np.int32))
    for run in (program, jit(program, fullgraph=True)):
        with pytest.raises(ValueError, match=r"the labels must be in \[0, 2\)"):
            run(X, labels)
