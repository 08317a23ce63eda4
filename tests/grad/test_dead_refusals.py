"""An index out of range is an error in both modes, also where a derivative does without the value: forward values that only a
transform makes dead are computed as long as they may fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, jit, ops

TABLE = Tensor(np.arange(6.0).reshape(2, 3), ms.float32)


def added(x, i):
    return (x + ops.gather(TABLE, i, 0)).sum()


def indexed(x, i):
    return (x + TABLE[i]).sum()


def in_a_branch(x, i):
    if x.sum() > 0:
        return (x + TABLE[i]).sum()
    return x.sum()


def in_a_loop(x, i):
    n = Tensor(0)
    while n < 2:
        x = x + TABLE[i]
        n = n + 1
    return x.sum()


def in_a_called_function(x, i):
    def pick(k):
        return TABLE[k] if k[0] > 0 else TABLE[k] * 2

    return (x + pick(i)).sum()


def in_vmap(x, i):
    return ops.vmap(lambda a: a + TABLE[i])(x).sum()


def in_jvp(x, i):
    return ms.jvp(lambda a: a + TABLE[i], x, x)[1].sum()


def in_a_gradient(x, i):
    return ms.grad(lambda a: (a + TABLE[i]).sum())(x).sum() + x.sum()


def gradient(f: Callable) -> Callable:
    return ms.grad(f)


def tangent(f: Callable) -> Callable:
    def call(x, i):
        return ms.jvp(lambda a: f(a, i), x, x)[1]

    return call


def pulled(f: Callable) -> Callable:
    def call(x, i):
        return ms.vjp(lambda a: f(a, i), x)[1](Tensor(1.0))[0]

    return call


FUNCTIONS = (
    added,
    indexed,
    in_a_branch,
    in_a_loop,
    in_a_called_function,
    in_vmap,
    in_jvp,
    in_a_gradient,
)


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
@pytest.mark.parametrize("transform", [gradient, tangent, pulled])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_refused(f: Callable, transform: Callable, mode: int) -> None:
    context.set_context(mode=mode)
    x = Tensor([1.0, 2.0, 3.0], ms.float32)
    for run in (transform(f), jit(transform(f))):
        expected = run(x, Tensor([1], ms.int32))
        with pytest.raises(IndexError):
            run(x, Tensor([5], ms.int32))
        np.testing.assert_array_equal(expected.asnumpy(), run(x, Tensor([1], ms.int32)).asnumpy())


def test_a_value_that_is_read_costs_nothing(tmp_path) -> None:
    """What keeps a value alive goes where the gradient reads the value."""

    def product(x, i):
        return (x * TABLE[i]).sum()

    compiled = jit(ms.grad(product))
    context.set_context(save_graphs=True, save_graphs_path=str(tmp_path))
    try:
        compiled(Tensor([1.0, 2.0, 3.0], ms.float32), Tensor([1], ms.int32))
    finally:
        context.set_context(save_graphs=False)
    last = sorted(p for p in tmp_path.rglob("*.ir"))[-1].read_text()
    assert "Gather" in last and "Require" not in last


def test_a_rule_that_refuses_does_so_every_time():
    context.set_context(mode=context.PYNATIVE_MODE)
    matrix = Tensor((np.eye(3) + 1j * np.tri(3)).astype(np.complex64))
    for _ in range(3):
        with pytest.raises(ValueError, match="For 'Svd'"):
            ms.grad(lambda a: ops.abs(ops.svd(a)[0]).sum())(matrix)
