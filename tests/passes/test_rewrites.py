"""Rewrites written as Python: `before` must compile to the same graph as `after`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from graph_text import compiled_text

import mindspore as ms
from mindspore import Tensor, _core, ops


def tensor(*shape: int) -> Tensor:
    return Tensor(np.random.RandomState(0).randn(*shape).astype(np.float32))


CASES: dict[str, tuple[Callable, Callable, tuple]] = {
    "times one": (lambda x: x * 1, lambda x: _core.alias(x), (tensor(2),)),
    "plus zero": (lambda x: 0 + x, lambda x: _core.alias(x), (Tensor(np.arange(2)),)),
    "double negation": (lambda x: ops.neg(ops.neg(x)), lambda x: _core.alias(x), (tensor(2),)),
    "minus negated": (lambda x, y: x - (-y), lambda x, y: x + y, (tensor(2), tensor(2))),
    "common subexpression": (
        lambda x: ops.sin(x) + ops.sin(x) * 2,
        lambda x: (lambda s: s + s * 2)(ops.sin(x)),
        (tensor(2),),
    ),
    "dead code": (lambda x: (ops.exp(x), ops.sin(x))[1], lambda x: ops.sin(x), (tensor(2),)),
    "reshapes": (
        lambda x: x.reshape(6).reshape(3, 2).reshape(2, 3) + 1,
        lambda x: x + 1,
        (tensor(2, 3),),
    ),
    "transpositions": (
        lambda x: x.transpose(1, 0).transpose(1, 0) * 2,
        lambda x: x * 2,
        (tensor(2, 3),),
    ),
    "casts": (lambda x: x.astype(ms.float32) + 1, lambda x: x + 1, (tensor(2),)),
    "known branch": (
        lambda x: ops.sin(x) if x.ndim == 1 else ops.cos(x),
        lambda x: ops.sin(x),
        (tensor(2),),
    ),
    "gradient of a square": (
        lambda x: ops.grad(lambda v: (v * v).sum())(x),
        lambda x: x + x,
        (tensor(3),),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_before_equals_after(name: str) -> None:
    before, after, args = CASES[name]
    assert compiled_text(before, *args) == compiled_text(after, *args)


def test_zero_times_infinity_is_kept() -> None:
    x = Tensor(np.array([np.inf, 1.0], np.float32))
    result = ms.jit(lambda v: v * 0.0)(x).asnumpy()
    assert np.isnan(result[0]) and result[1] == 0


def test_broadcasts_are_left_to_the_ops_that_can() -> None:
    text = compiled_text(lambda x, b: x * b.broadcast_to((4, 3)), tensor(4, 3), tensor(3))
    assert "BroadcastTo" not in text


def test_graphs_are_saved_where_the_context_says(tmp_path: Path) -> None:
    ms.set_context(save_graphs=True, save_graphs_path=str(tmp_path / "graphs"))
    try:
        ms.jit(lambda x: x * 1 + 41)(tensor(2))
    finally:
        ms.set_context(save_graphs=False, save_graphs_path=".")
    saved = sorted((tmp_path / "graphs").glob("*.ir"))
    assert saved[0].name.endswith("_Parse.ir")
    assert "Mul" in saved[0].read_text() and "Mul" not in saved[-1].read_text()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 1 / (0 - x),
        lambda x: 1 / (x + 0),
        lambda x: 1 / (0.0 + x),
        lambda x: 1 / (x - 0),
        lambda x: 1 / -(x - x * 1),
        lambda x: 1 / (x * -1),
        lambda x: 1 / sum([x, x]),
        lambda x: 1 / (x + -x),
    ],
)
def test_both_zeros_keep_their_signs(function: Callable) -> None:
    x = Tensor(np.array([0.0, -0.0, 2.0], np.float32))
    np.testing.assert_array_equal(ms.jit(function)(x).asnumpy(), function(x).asnumpy())
