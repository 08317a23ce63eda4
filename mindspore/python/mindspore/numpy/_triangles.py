"""Diagonals and triangles of matrices."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count
from mindspore.common._size import require_memory
from mindspore.numpy.dtypes import Dtype, float32, int32
from mindspore.numpy.utils import Array
from mindspore.ops._bind import raw
from mindspore.ops.function.creation_func import _cut

_tril, _triu = raw("Tril"), raw("Triu")


def diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    return ops.diagonal(a, offset, axis1, axis2)


def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Dtype = None) -> Tensor:
    """The sum of a diagonal; of integers, as Int64."""
    return ops.sum(diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


def diag(v: Array, k: int = 0) -> Tensor:
    """The matrix with a vector on its k-th diagonal; of a matrix, that diagonal."""
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"For 'diag', 'v' must have 1 or 2 dimensions, but got shape {v.shape}.")
    return ops.diag_embed(v, k) if k else ops.diag(v)


def diagflat(v: Array, k: int = 0) -> Tensor:
    """The matrix with all elements on its k-th diagonal."""
    return diag(ops.reshape(v, (-1,)), k)


def tri(N: Count, M: Count | None = None, k: int = 0, dtype: Dtype = float32) -> Tensor:
    """Ones on the k-th diagonal and below it, zeros above."""
    return _tril(ops.ones((N, N if M is None else M), dtype or float32), diagonal=k)


def _square(name: str, x: Tensor) -> Tensor:
    """A matrix; of a vector, one in whose rows it stands."""
    if x.ndim == 0:
        raise ValueError(f"For '{name}', 'm' must have a dimension, but got a scalar.")
    return ops.broadcast_to(x, (x.shape[0], x.shape[0])) if x.ndim == 1 else x


def tril(m: Array, k: int = 0) -> Tensor:
    """The matrices of the last two axes, with zeros above the k-th diagonal."""
    return _tril(_square("tril", m), diagonal=k)


def triu(m: Array, k: int = 0) -> Tensor:
    """The matrices of the last two axes, with zeros below the k-th diagonal."""
    return _triu(_square("triu", m), diagonal=k)


def diag_indices(n: Count, ndim: Count = 2) -> tuple[Tensor, ...]:
    """The coordinates of the main diagonal of an array that has n elements along each axis."""
    require_memory("diag_indices", n + ndim, 16)
    return (Tensor(np.arange(n), int32),) * ndim


def _coordinates(name: str, places: Any, n: int, k: int, m: int | None) -> tuple[Tensor, ...]:
    columns = n if m is None else m
    require_memory(name, n * columns, 32)
    return tuple(Tensor(p, int32) for p in places(n, _cut(k, n, columns), columns))


def tril_indices(n: Count, k: int = 0, m: Count | None = None) -> tuple[Tensor, ...]:
    """The rows and columns of the lower triangle of n rows and m columns."""
    return _coordinates("tril_indices", np.tril_indices, n, k, m)


def triu_indices(n: Count, k: int = 0, m: Count | None = None) -> tuple[Tensor, ...]:
    """The rows and columns of the upper triangle of n rows and m columns."""
    return _coordinates("triu_indices", np.triu_indices, n, k, m)


def _of_matrix(name: str, x: Tensor) -> tuple[int, int]:
    if x.ndim != 2:
        raise ValueError(f"For '{name}', 'arr' must have 2 dimensions, but got shape {x.shape}.")
    return x.shape[0], x.shape[1]


def tril_indices_from(arr: Array, k: int = 0) -> tuple[Tensor, ...]:
    """The rows and columns of a matrix's lower triangle."""
    rows, columns = _of_matrix("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Array, k: int = 0) -> tuple[Tensor, ...]:
    """The rows and columns of a matrix's upper triangle."""
    rows, columns = _of_matrix("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


__all__ = [
    "diag",
    "diag_indices",
    "diagflat",
    "diagonal",
    "trace",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
]
check_functions(sys.modules[__name__], __all__)
