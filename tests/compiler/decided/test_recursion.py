"""Recursion that a tensor decides: compiled code gives what eager code gives, gradients too, however deep it goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_modes import POINTS, check

import mindspore as ms
from mindspore import Parameter, Tensor, grad, jit, nn, ops

PROGRAMS: list[Any] = []


def program(function: Any) -> Any:
    """Adds to the programs that must give the same in both modes."""
    PROGRAMS.append(function)
    return function


def fact(x, n):
    if n <= 0:
        return x
    return fact(x * 1.5, n - 1) + 1


@program
def rec1(x):
    return fact(x, ops.cast(ops.abs(x[1]), ms.int32))


def even(x, n):
    if n == 0:
        return x
    return odd(x * 1.1, n - 1)


def odd(x, n):
    if n == 0:
        return -x
    return even(x + 0.5, n - 1)


@program
def mutual(x):
    return even(x, ops.cast(ops.abs(x).sum(), ms.int32))


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@program
def fibo(x):
    return x * fib(ops.cast(ops.abs(x[2]) + 4, ms.int32))


@program
def nested_rec(x):
    k = x[0]

    def go(y, n):
        if n <= 0:
            return y * k
        return go(y * k + x, n - 1)

    return go(x, ops.cast(ops.abs(x[2]), ms.int32))


def grow(x, depth):
    if x.sum() > 100:
        return x * depth
    return grow(ops.abs(x) * 2, depth + 1)


@program
def rec_counter(x):
    return grow(x, 0)


def tree(x, n):
    if n == 0:
        return x
    if x.sum() > 0:
        return tree(x * 0.5, n - 1)
    return tree(x + 1, n - 1)


@program
def rec_tree(x):
    return tree(x, 9)


class Tree(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([0.9, 1.1, 0.7], ms.float32), name="w")

    def construct(self, x, n):
        if n <= 0:
            return x
        return self.construct(x * self.w, n - 1) + self.w


TREE = Tree()


@program
def rec_method(x):
    return TREE(x, ops.cast(ops.abs(x[2]) + 2, ms.int32))


def pairrec(x, n):
    if n <= 0:
        return x, 0
    a, d = pairrec(x * 1.2, n - 1)
    return a + x, d + 1


@program
def rec_tuple(x):
    a, d = pairrec(x, ops.cast(ops.abs(x[2]), ms.int32))
    return a * d


def ack(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ack(m - 1, n + 1)
    return ack(m - 1, ack(m, n - 1))


@program
def acker(x):
    return x * ack(ops.cast(x[0] > 0, ms.int32) + 1, ops.cast(x[2] > 0, ms.int32) + 1)


@pytest.mark.parametrize("point", POINTS, ids=["a", "b", "c", "d"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_equals_eager(function: Any, point: list) -> None:
    check(function, point)


def descend(x: Tensor, n: Tensor) -> Tensor:
    return x if n <= 0 else descend(x * 0.9999, n - 1) + 1


def test_a_hundred_thousand_calls_and_their_gradient() -> None:
    count = Tensor(100_000, ms.int32)
    value = jit(descend, fullgraph=True)(Tensor(2.0), count)
    assert float(value) == pytest.approx(100_000, rel=1e-4)
    total = jit(lambda x, n: grad(descend)(x, n), fullgraph=True)
    assert float(total(Tensor(2.0), count)) == pytest.approx(np.exp(-10), rel=1e-2)


def test_second_order_through_recursion() -> None:
    def power(x: Tensor, n: Tensor) -> Tensor:
        if n == 0:
            return x * x
        return power(ops.sin(x) * x, n - 1)

    curvature = jit(lambda x, n: grad(grad(power))(x, n), fullgraph=True)
    x, n, h = 0.8, Tensor(2), 1e-5
    slope = jit(lambda x, n: grad(power)(x, n), fullgraph=True)
    high, low = (float(slope(Tensor(x + s * h, ms.float64), n)) for s in (1, -1))
    assert float(curvature(Tensor(x, ms.float64), n)) == pytest.approx(
        (high - low) / (2 * h), rel=1e-5
    )


def test_parameters_assigned_by_a_recursive_method() -> None:
    class Counter(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.calls = Parameter(Tensor(0, ms.int32), name="calls", requires_grad=False)

        def construct(self, x: Tensor, n: Tensor) -> Tensor:
            self.calls += 1
            if n <= 0:
                return x * self.calls
            return self.construct(x + self.calls, n - 1) + self.calls

    results = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode, jit_syntax_level=ms.STRICT)
        net = Counter()
        results.append((float(net(Tensor(1.0), Tensor(3))), int(net.calls)))
    ms.set_context(mode=ms.PYNATIVE_MODE, jit_syntax_level=ms.LAX)
    assert results[0] == results[1]


def test_recursion_without_an_end_is_refused() -> None:
    def endless(x: Tensor, n: Tensor) -> Tensor:
        if n > 0:
            return endless(x, n - 1)
        return endless(x, n + 1)

    with pytest.raises(TypeError, match="does not end"):
        jit(endless, fullgraph=True)(Tensor(1.0), Tensor(1))


def test_results_of_changing_type_are_refused() -> None:
    def growing(x: Tensor, n: Tensor) -> Tensor:
        if n <= 0:
            return x
        return ops.concat((growing(x, n - 1), x))

    with pytest.raises(TypeError, match="must have one type"):
        jit(growing, fullgraph=True)(Tensor([1.0, 2.0]), Tensor(2))
    x = Tensor([1.0, 2.0])
    with pytest.warns(UserWarning):
        assert jit(growing)(x, Tensor(2)).shape == (6,)
