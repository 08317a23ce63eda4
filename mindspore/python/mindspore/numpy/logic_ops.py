"""Comparisons, truth values and what kind of number there is."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Ints
from mindspore.numpy._sets import in1d, isin, setdiff1d
from mindspore.numpy.dtypes import Dtype
from mindspore.numpy.utils import (
    Array,
    Operand,
    axes_of,
    binary,
    cast,
    floating,
    is_floating,
    of_one_shape,
    of_one_type,
    unary,
)
from mindspore.ops._bind import bound

equal = binary("equal", bound.equal)
not_equal = binary("not_equal", bound.not_equal)
greater = binary("greater", bound.greater)
greater_equal = binary("greater_equal", bound.greater_equal)
less = binary("less", bound.less)
less_equal = binary("less_equal", bound.less_equal)
logical_and = binary("logical_and", bound.logical_and)
logical_or = binary("logical_or", bound.logical_or)
logical_xor = binary("logical_xor", bound.logical_xor)
isfinite = unary("isfinite", bound.isfinite)
isinf = unary("isinf", bound.isinf)
isnan = unary("isnan", bound.isnan)
signbit = unary("signbit", ops.signbit)


def logical_not(a: Array, dtype: Dtype = None) -> Tensor:
    """Whether the element is zero."""
    return cast(bound.logical_not(a), dtype)


def isneginf(x: Array) -> Tensor:
    """Whether the number is -inf."""
    return ops.isneginf(floating(x))


def isposinf(x: Array) -> Tensor:
    """Whether the number is inf."""
    return ops.isposinf(floating(x))


def isscalar(element: Any) -> bool:
    """Whether something is a number or text, not an array."""
    return isinstance(element, (bool, int, float, str, np.number, np.bool_))


def isclose(
    a: Array, b: Array, rtol: Operand = 1e-05, atol: Operand = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether two numbers differ by at most `atol + rtol * abs(b)`."""
    x, y = of_one_type([floating(a), floating(b)])
    near = ops.abs(x - y) <= atol + rtol * ops.abs(y)
    finite = ops.logical_and(ops.isfinite(x), ops.isfinite(y))
    close = ops.where(finite, near, x == y)
    if not equal_nan:
        return close
    return ops.logical_or(close, ops.logical_and(ops.isnan(x), ops.isnan(y)))


def _same(x: Tensor, y: Tensor, equal_nan: bool) -> Tensor:
    same = equal(x, y)
    if equal_nan and is_floating(x) and is_floating(y):
        same = ops.logical_or(same, ops.logical_and(ops.isnan(x), ops.isnan(y)))
    return ops.all(same)


def array_equal(a1: Array, a2: Array, equal_nan: bool = False) -> Tensor:
    """Whether two arrays have one shape and the same elements."""
    if a1.shape != a2.shape:
        return Tensor(False)
    return _same(a1, a2, equal_nan)


def array_equiv(a1: Array, a2: Array) -> Tensor:
    """Whether two arrays have the same elements where they are broadcast."""
    try:
        x, y = of_one_shape("array_equiv", [a1, a2])
    except ValueError:
        return Tensor(False)
    return _same(x, y, False)


def sometrue(a: Array, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    """Whether any element over axes is not zero."""
    return ops.any(a != 0, axes_of("sometrue", axis, a.ndim), keepdims)


__all__ = [
    "array_equal",
    "array_equiv",
    "equal",
    "greater",
    "greater_equal",
    "in1d",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isscalar",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "setdiff1d",
    "signbit",
    "sometrue",
]
check_functions(sys.modules[__name__], __all__)
