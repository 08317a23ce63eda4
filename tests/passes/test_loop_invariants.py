"""What a loop computes anew from values that never change is computed once in front of it: results, errors and effects stay."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops


def normal(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


def simple(x: Tensor, w: Tensor, n: Tensor) -> Tensor:
    i = 0 * n
    while i < n - 1 + 1:
        x = ops.tanh(x @ (ops.tanh(w) @ w)) + ops.exp(-w).sum()
        i = i + 1
    return x


def nested(x: Tensor, w: Tensor, n: Tensor) -> Tensor:
    i = 0 * n
    while i < n:
        j = 0 * n
        while j < i:
            x = ops.sin(x) * ops.exp(w) + ops.cos(w * i)
            j = j + 1
        i = i + 1
    return x


def changing(x: Tensor, w: Tensor, n: Tensor) -> Tensor:
    i = 0 * n
    while i < n:
        x = x + ops.tanh(w)
        if x.sum() > 3:
            w = w * 0.5
        i = i + 1
    return x * w


def through_for(x: Tensor, w: Tensor, n: Tensor) -> Tensor:
    for row in x:
        w = w + ops.tanh(x.T @ x) * row
    return w * n


@pytest.mark.parametrize("function", [simple, nested, changing, through_for])
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_same_as_eager(function: object, rounds: int) -> None:
    x, w, n = normal(3, 3), normal(3, 3) * 0.3, Tensor(rounds)
    expected = function(x, w, n)
    got = ms.jit(function)(x, w, n)
    np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), rtol=2e-6, atol=1e-6)
    eager = ops.grad(lambda x, w: function(x, w, n).sum(), (0, 1))(x, w)
    compiled = ms.jit(ops.grad(lambda x, w: function(x, w, n).sum(), (0, 1)))(x, w)
    for a, b in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(b.asnumpy(), a.asnumpy(), rtol=1e-5, atol=1e-5)


def test_what_a_loop_without_rounds_would_raise() -> None:
    @ms.jit
    def function(x: Tensor, at: Tensor, n: Tensor) -> Tensor:
        i = 0 * n
        while i < n:
            x = x + ops.gather(x, at * 2, 0)
            i = i + 1
        return x

    x = normal(4)
    np.testing.assert_array_equal(function(x, Tensor(50), Tensor(0)).asnumpy(), x.asnumpy())
    with pytest.raises(IndexError):
        function(x, Tensor(50), Tensor(1))


def test_effects_stay_in_each_round(capfd: pytest.CaptureFixture[str]) -> None:
    @ms.jit
    def function(x: Tensor, w: Tensor, n: Tensor) -> Tensor:
        i = 0 * n
        while i < n:
            y = ops.tanh(w)
            print("round", y)
            x = x + y
            i = i + 1
        return x

    function(normal(2), Tensor([0.0, 0.0]), Tensor(3)).asnumpy()
    assert capfd.readouterr().out.count("round") == 3


def test_random_numbers_are_new_in_each_round() -> None:
    @ms.jit
    def function(x: Tensor, n: Tensor) -> Tensor:
        i = 0 * n
        total = 0 * x
        while i < n:
            total = total + ops.dropout(x, p=0.5)
            i = i + 1
        return total

    total = function(ops.ones((1000,)), Tensor(2)).asnumpy()
    assert set(np.unique(total)) == {0.0, 2.0, 4.0}
