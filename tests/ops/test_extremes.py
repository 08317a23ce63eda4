"""Largest and smallest elements: the two forms of Tensor.max and Tensor.min, their functions, positions and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, ops

X = Tensor(np.array([[1, 5, 3], [4, 2, 6]], np.float32))
TIES = Tensor(np.array([[1, 3, 3, 1], [3, 3, 0, 1]], np.float32))
W = Tensor(np.array([[True, False, True], [True, True, False]]))


def plain(value: Any) -> Any:
    """Shape, dtype and values; tuples for tuples."""
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return str(value.dtype), value.asnumpy().tolist()


def both(function: Callable, *args: Any) -> Any:
    """What both modes give."""
    eager = plain(function(*args))
    assert plain(jit(function, fullgraph=True)(*args)) == eager
    return eager


F, L = "Float32", "Int64"
MAX_0 = ((F, [4, 5, 6]), (L, [1, 0, 1]))
MIN_0 = ((F, [1, 2, 3]), (L, [0, 1, 0]))
KEPT_0 = ((F, [[4, 5, 6]]), (L, [[1, 0, 1]]))
ALL = ((F, 6), (L, 0))

CASES: dict[str, tuple[Callable, Any]] = {
    # An axis by position, or as dim: values and positions.
    "max(0)": (lambda x, w: x.max(0), MAX_0),
    "max(-2)": (lambda x, w: x.max(-2), MAX_0),
    "max(0, True)": (lambda x, w: x.max(0, True), KEPT_0),
    "max(0, keepdim)": (lambda x, w: x.max(0, keepdim=True), KEPT_0),
    "max(dim)": (lambda x, w: x.max(dim=0), MAX_0),
    "max(dim, keepdim)": (lambda x, w: x.max(dim=0, keepdim=True), KEPT_0),
    "min(0)": (lambda x, w: x.min(0), MIN_0),
    "min(dim)": (lambda x, w: x.min(dim=1), ((F, [1, 2]), (L, [0, 1]))),
    # An axis by name, several axes, or none: values alone, unless positions are asked for.
    "max()": (lambda x, w: x.max(), (F, 6)),
    "max(None)": (lambda x, w: x.max(None), (F, 6)),
    "max(())": (lambda x, w: x.max(()), (F, 6)),
    "max((0, 1))": (lambda x, w: x.max((0, 1)), (F, 6)),
    "max([0])": (lambda x, w: x.max([0]), (F, [4, 5, 6])),
    "max(axis)": (lambda x, w: x.max(axis=0), (F, [4, 5, 6])),
    "max(axis, keepdims)": (lambda x, w: x.max(axis=0, keepdims=True), (F, [[4, 5, 6]])),
    "max(0, keepdims)": (lambda x, w: x.max(0, keepdims=True), (F, [[4, 5, 6]])),
    "max(axis, indices)": (lambda x, w: x.max(axis=0, return_indices=True), MAX_0),
    "max(0, indices)": (lambda x, w: x.max(0, return_indices=True), MAX_0),
    "max(0, no indices)": (lambda x, w: x.max(0, return_indices=False), (F, [4, 5, 6])),
    "max(0, True, indices)": (lambda x, w: x.max(0, True, return_indices=True), KEPT_0),
    "max(indices)": (lambda x, w: x.max(return_indices=True), ALL),
    "min(axis)": (lambda x, w: x.min(axis=0), (F, [1, 2, 3])),
    # A bound, and a choice of elements.
    "max(initial)": (lambda x, w: x.max(axis=0, initial=4.5), (F, [4.5, 5, 6])),
    "max(0, initial)": (lambda x, w: x.max(0, False, initial=4.5), (F, [4.5, 5, 6])),
    "max() initial": (lambda x, w: x.max(initial=10), (F, 10)),
    "max(where)": (lambda x, w: x.max(0, where=w, initial=0), (F, [4, 2, 3])),
    "max() where": (lambda x, w: x.max(where=w, initial=0), (F, 4)),
    "max(initial, indices)": (
        lambda x, w: x.max(axis=0, initial=4.5, return_indices=True),
        ((F, [4.5, 5, 6]), (L, [0, 0, 1])),
    ),
    "ops.max": (lambda x, w: ops.max(x, 0), MAX_0),
    "ops.max all": (lambda x, w: ops.max(x), ALL),
    "ops.max initial": (
        lambda x, w: ops.max(x, axis=0, initial=3.5, where=w),
        ((F, [4, 3.5, 3.5]), (L, [1, 0, 0])),
    ),
    "ops.min initial": (
        lambda x, w: ops.min(x, axis=0, initial=2.5),
        ((F, [1, 2, 2.5]), (L, [0, 1, 0])),
    ),
    "argmax_with_value": (lambda x, w: x.argmax_with_value(0), MAX_0),
    "argmin_with_value": (lambda x, w: x.argmin_with_value(), MIN_0),
    "ArgMaxWithValue": (lambda x, w: ops.ArgMaxWithValue()(x), MAX_0[::-1]),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_positions(name: str) -> None:
    function, expected = CASES[name]
    assert both(function, X, W) == expected


@pytest.mark.parametrize("dtype", [ms.int32, ms.int64, ms.uint8, ms.float16, ms.float64])
def test_positions_come_with_every_dtype(dtype: Any) -> None:
    values, positions = both(lambda x: x.max(0), X.astype(dtype))
    assert values == (str(dtype), [4, 5, 6]) and positions == (L, [1, 0, 1])


def test_scalars_and_parameters() -> None:
    assert both(lambda x: x.max(0), Tensor(3.0)) == ((F, 3), (L, 0))
    weight = Parameter(X, name="weight")
    assert plain(weight.max(0)) == MAX_0
    assert plain(jit(lambda: weight.min(0))()) == MIN_0


BAD: dict[str, tuple[Callable, type, str]] = {
    "mixed": (lambda x: x.max(axis=0, keepdim=True), TypeError, "the call must be max"),
    "unknown": (lambda x: x.max(out=x), TypeError, "'Tensor.max'.*'out'"),
    "three": (lambda x: x.min(0, False, True), TypeError, "'Tensor.min'.*3 positional"),
    "twice": (lambda x: x.max(0, dim=0), TypeError, "the call must be max"),
    "bool": (lambda x: x.max(True), TypeError, "must be an int"),
    "number": (lambda x: x.max(0, 1), TypeError, "must be a bool"),
    "axis": (lambda x: x.max(2), ValueError, "axis must be in"),
    "where": (lambda x: x.max(axis=0, where=x > 2), ValueError, "'initial' must be given"),
    "axes": (lambda x: x.max(axis=(0, 1), return_indices=True), TypeError, "must be an? int"),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals(name: str) -> None:
    function, kind, text = BAD[name]
    for f in (function, jit(function, fullgraph=True)):
        with pytest.raises(kind, match=text):
            f(X)


FIRST_0 = [[0, 1, 1, 1], [1, 0, 0, 0]]
SHARED_0 = [[0, 0.5, 1, 0.5], [1, 0.5, 0, 0.5]]
SHARED = [[0, 0.25, 0.25, 0], [0.25, 0.25, 0, 0]]
GRADIENTS: dict[str, tuple[Callable, list]] = {
    # Along one axis, the first of equal elements has it all ...
    "max(0)": (lambda x: x.max(0)[0].sum(), FIRST_0),
    "max(axis=0)": (lambda x: x.max(axis=0).sum(), FIRST_0),
    "max(axis=0, keepdims)": (lambda x: x.max(axis=0, keepdims=True).sum(), FIRST_0),
    "max(axis=-1)": (lambda x: x.max(axis=-1).sum(), [[0, 1, 0, 0], [1, 0, 0, 0]]),
    "min(1)": (lambda x: x.min(1)[0].sum(), [[1, 0, 0, 0], [0, 0, 1, 0]]),
    "min(axis=1)": (lambda x: x.min(axis=1).sum(), [[1, 0, 0, 0], [0, 0, 1, 0]]),
    "ops.max": (lambda x: ops.max(x, 0)[0].sum(), FIRST_0),
    "argmax_with_value": (lambda x: x.argmax_with_value(0)[0].sum(), FIRST_0),
    # ... over axes, they share it.
    "max(axis=(0,))": (lambda x: x.max(axis=(0,)).sum(), SHARED_0),
    "amax": (lambda x: x.amax(0).sum(), SHARED_0),
    "max()": (lambda x: x.max(), SHARED),
    "ops.max()": (lambda x: ops.max(x)[0], SHARED),
    # A bound that an element equals has half of what comes to that element.
    "initial": (
        lambda x: x.max(axis=0, initial=3.0).sum(),
        [[0, 0.5, 0.5, 0], [0, 0, 0, 0]],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_where_elements_are_equal(name: str) -> None:
    function, expected = GRADIENTS[name]
    assert both(ms.grad(function), TIES) == (F, expected)
