"""Polynomials by their coefficients, the highest power first, and convolutions of vectors."""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count
from mindspore.common._size import require_memory
from mindspore.numpy.dtypes import promoted
from mindspore.numpy.utils import Array, as_tensor, cast, floating, of_one_type, part


def _vector(name: str, x: Tensor) -> Tensor:
    if x.ndim > 1:
        raise ValueError(
            f"For '{name}', the arrays must have at most one dimension, but got shape {x.shape}."
        )
    return ops.atleast_1d(x)


def _before(x: Tensor, count: int) -> Tensor:
    """A vector with zeros in front."""
    return ops.concat((ops.zeros((count,), x.dtype), x), 0) if count else x


def _aligned(name: str, a1: Tensor, a2: Tensor) -> list[Tensor]:
    both = of_one_type([_vector(name, a1), _vector(name, a2)])
    n = max(x.shape[0] for x in both)
    return [_before(x, n - x.shape[0]) for x in both]


def polyadd(a1: Array, a2: Array) -> Tensor:
    """The sum of two polynomials."""
    x, y = _aligned("polyadd", a1, a2)
    return x + y


def polysub(a1: Array, a2: Array) -> Tensor:
    """The difference of two polynomials."""
    x, y = _aligned("polysub", a1, a2)
    return x - y


def polymul(a1: Array, a2: Array) -> Tensor:
    """The product of two polynomials."""
    return convolve(_vector("polymul", a1), _vector("polymul", a2))


def polyval(p: Array, x: Array) -> Tensor:
    """The values of a polynomial at points; of integers, as Float32."""
    dtype = promoted(floating(p).dtype, floating(x).dtype)
    p, x = cast(_vector("polyval", p), dtype), cast(x, dtype)
    result = ops.zeros_like(x)
    for coefficient in ops.unbind(p, 0) if p.shape[0] else ():
        result = result * x + coefficient
    return result


def polyder(p: Array, m: Count = 1) -> Tensor:
    """The m-th derivative of a polynomial."""
    p = _vector("polyder", p)
    for _ in range(m):
        n = p.shape[0]
        if n < 2:
            return part(p, 0, 0, 0)
        p = part(p, 0, 0, n - 1) * Tensor(np.arange(n - 1, 0, -1), p.dtype)
    return p


def polyint(p: Array, m: Count = 1, k: Array | None = None) -> Tensor:
    """The m-th antiderivative of a polynomial; `k` are the constants of integration, one for all or one for each, by default
    0."""
    p = floating(_vector("polyint", p))
    constants = ops.zeros((m,), p.dtype) if k is None else cast(_vector("polyint", k), p.dtype)
    if constants.shape[0] == 1 and m > 1 and k is not None:
        constants = ops.broadcast_to(constants, (m,))
    if constants.shape[0] < m:
        raise ValueError(
            f"For 'polyint', 'k' must be a number or hold {m}, but got shape {constants.shape}."
        )
    for i in range(m):
        powers = Tensor(np.arange(p.shape[0], 0, -1), p.dtype)
        p = ops.concat((p / powers, part(constants, 0, i, i + 1)), 0)
    return p


def convolve(a: Array, v: Array, mode: Literal["full", "same", "valid"] = "full") -> Tensor:
    """The convolution of two vectors: wherever they meet ('full'), of the longer one's size ('same'), or where they overlap
    wholly ('valid')."""
    a, v = _two("convolve", a, v)
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    return _slid(a, v, mode)


def correlate(a: Array, v: Array, mode: Literal["full", "same", "valid"] = "valid") -> Tensor:
    """The correlation of two vectors: sums of products in which `v` lies along `a`, one place further each."""
    a, v = _two("correlate", a, v)
    if a.shape[0] < v.shape[0]:
        return ops.flip(_slid(v, ops.flip(a, (0,)), mode), (0,))
    return _slid(a, ops.flip(v, (0,)), mode)


def _two(name: str, a: Any, v: Any) -> list[Tensor]:
    both = of_one_type([_vector(name, as_tensor(a)), _vector(name, as_tensor(v))])
    if any(x.shape[0] == 0 for x in both):
        raise ValueError(
            f"For '{name}', the vectors must not be empty, but got shapes {both[0].shape} and {both[1].shape}."
        )
    return both


def _slid(a: Tensor, v: Tensor, mode: str) -> Tensor:
    """The convolution of a vector and one that is not longer, of the windows of the first."""
    n, m = a.shape[0], v.shape[0]
    before, after = {
        "full": (m - 1, m - 1),
        "same": (m - 1 - (m - 1) // 2, (m - 1) // 2),
        "valid": (0, 0),
    }[mode]
    padded = ops.pad(a, (before, after)) if before or after else a
    count = n + before + after - m + 1
    require_memory("convolve", count * m, 8 + a.itemsize)
    places = np.arange(count)[:, None] + np.arange(m)[None, ::-1]
    windows = ops.gather(padded, Tensor(places), 0)
    return ops.matmul(windows, v)


__all__ = [
    "convolve",
    "correlate",
    "polyadd",
    "polyder",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
]
check_functions(sys.modules[__name__], __all__)
