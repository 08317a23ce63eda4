"""Gradients through branches and loops, to second order, against differences in float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, grad, jit, ops


def loop(x: Tensor, n: Tensor) -> Tensor:
    s = x
    while n > 0:
        s = ops.sin(s) * x
        n = n - 1
    return s.sum()


def branch(x: Tensor, n: Tensor) -> Tensor:
    if x.sum() > n:
        y = x * x * x
    else:
        y = ops.cos(x) * n
    return (y * x).sum()


def branch_in_loop(x: Tensor, n: Tensor) -> Tensor:
    s = x
    while n > 0:
        if s.sum() > 0:
            s = ops.sin(s) * x
        else:
            s = s - x * x
        n = n - 1
    return (s * s).sum()


def early_return(x: Tensor, n: Tensor) -> Tensor:
    i = n - n
    s = x
    while i < n:
        s = s * x
        if s.sum() > 2:
            return (s * s).sum()
        i = i + 1
    return ops.exp(s).sum()


def loop_in_loop(x: Tensor, n: Tensor) -> Tensor:
    s = x
    i = n
    while i > 0:
        j = i
        while j > 0:
            s = ops.sin(s + x)
            j = j - 1
        s = s * x
        i = i - 1
    return s.sum()


FUNCTIONS = [loop, branch, branch_in_loop, early_return, loop_in_loop]
POINTS = [(0.4, 0.7), (1.3, 0.9), (-0.6, 0.2)]


def difference(function: Callable, x: np.ndarray, n: Tensor, direction: np.ndarray) -> float:
    h = 1e-5
    high, low = (function(Tensor(x + s * h * direction), n) for s in (1, -1))
    return float((high - low) / (2 * h))


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_first_and_second_order(function: Callable, point: tuple[float, float]) -> None:
    x, n = np.array(point), Tensor(3)
    direction = np.array([0.6, -0.8])

    def slope(x: Tensor, n: Tensor) -> Tensor:
        return (ops.grad(function, 0)(x, n) * Tensor(direction)).sum()

    def curvature(x: Tensor, n: Tensor) -> Tensor:
        return (ops.grad(slope, 0)(x, n) * Tensor(direction)).sum()

    value, first, second = ms.jit(function), ms.jit(slope), ms.jit(curvature)
    assert float(first(Tensor(x), n)) == pytest.approx(
        difference(value, x, n, direction), rel=1e-6, abs=1e-8
    )
    assert float(second(Tensor(x), n)) == pytest.approx(
        difference(first, x, n, direction), rel=1e-6, abs=1e-8
    )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_equals_eager(function: Callable) -> None:
    x, n = Tensor(np.array([0.4, 0.7])), Tensor(3)
    compiled = ms.jit(lambda x, n: ops.grad(function, 0)(x, n))(x, n)
    np.testing.assert_allclose(
        compiled.asnumpy(), ops.grad(function, 0)(x, n).asnumpy(), rtol=1e-12
    )


def test_a_hundred_thousand_steps() -> None:
    gradient = ms.jit(lambda x, n: ops.grad(loop, 0)(x, n))
    assert np.isfinite(gradient(Tensor(np.array([0.5, 0.9])), Tensor(100_000)).asnumpy()).all()


@pytest.mark.slow  # the way down to the limit of recursion takes seconds
def test_a_gradient_of_itself_is_refused() -> None:
    def selfish(x: Tensor) -> Tensor:
        return ops.grad(selfish)(x)

    with pytest.raises((RuntimeError, RecursionError)):
        ms.jit(selfish)(Tensor(1.0))


def halved(x, n):
    while n > 0:
        x = x * 0.5
        n = n - 1
    return x


def summed(x, n):
    if n == 0:
        return x
    return summed(x, n - 1) + x


@pytest.mark.parametrize(
    "call, says, line",
    [
        (jit(grad(halved)), "For 'grad', a compiled loop .* at most 1000000 calls", "while n > 0:"),
        (jit(grad(summed)), "For 'grad', a compiled .* at most 1000000 calls", "return summed"),
        (jit(summed), "For 'jit', the calls must nest at most 1000000 deep", "return summed"),
    ],
    ids=["loop", "recursion", "recursion without a gradient"],
)
def test_what_is_too_deep_names_its_line_and_the_limit(call, says, line):
    x = Tensor(1.0, ms.float32)
    with pytest.raises(RuntimeError, match=says) as caught:
        call(x, Tensor(1_000_100, ms.int32))
    text = str(caught.value)
    assert f"    {line}" in text and "▶" not in text
    assert np.isfinite(float(call(x, Tensor(3, ms.int32))))  # it can go on
