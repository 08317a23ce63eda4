"""Arrays made from values, sizes and other arrays."""

from __future__ import annotations

import sys
from typing import Annotated, Any, TypeAlias

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count, Ints, Sizes, within
from mindspore.common._size import require_memory
from mindspore.numpy._grids import (
    indices,
    ix_,
    meshgrid,
    mgrid,
    ogrid,
)
from mindspore.numpy._histograms import histogram_bin_edges
from mindspore.numpy._padding import pad
from mindspore.numpy._random import rand, randint, randn
from mindspore.numpy._sequences import (
    arange,
    bartlett,
    blackman,
    geomspace,
    hamming,
    hanning,
    linspace,
    logspace,
    vander,
)
from mindspore.numpy._triangles import (
    diag,
    diag_indices,
    diagflat,
    diagonal,
    trace,
    tri,
    tril,
    tril_indices,
    tril_indices_from,
    triu,
    triu_indices,
    triu_indices_from,
)
from mindspore.numpy.dtypes import Dtype, float32, number_type
from mindspore.numpy.utils import MOST_AXES, Array, Operand, as_tensor, cast, is_floating
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _ints

_Rank: TypeAlias = Annotated[int, within(0, MOST_AXES, "both")]
_fill, _identity = raw("Fill"), raw("Identity")


def array(obj: Array, dtype: Dtype = None, copy: bool = True, ndmin: _Rank = 0) -> Tensor:
    """A tensor of numbers, nested tuples and lists of numbers or tensors, or of an array; with ones in front of its sizes where
    it has fewer than `ndmin` axes."""
    made = cast(obj, dtype)
    if made.ndim < ndmin:
        return ops.reshape(made, (1,) * (ndmin - made.ndim) + tuple(made.shape))
    return _identity(made) if copy and made is obj else made


def asarray(a: Array, dtype: Dtype = None) -> Tensor:
    """As `array`, but a tensor of that dtype stays the one that it is."""
    return cast(a, dtype)


def asfarray(a: Array, dtype: Dtype = float32) -> Tensor:
    """An array of floats: of Float32 where the dtype is not one of floats."""
    made = cast(a, dtype)
    return made if is_floating(made) else ops.cast(made, float32)


def copy(a: Array) -> Tensor:
    """Another tensor of the same elements."""
    return _identity(a)


# ---- of one value -----------------------------------------------------------------------------------------------------------
def _filled(name: str, shape: Any, value: Any, dtype: Any) -> Tensor:
    sizes = _ints(name, shape)
    if min(sizes, default=0) < 0:
        raise ValueError(f"For '{name}', the sizes must not be negative, but got {sizes}.")
    if isinstance(value, Tensor):
        return ops.broadcast_to(cast(value, dtype), sizes)
    return _fill(dtype=number_type(value) if dtype is None else dtype, shape=sizes, value=value)


def zeros(shape: Sizes, dtype: Dtype = float32) -> Tensor:
    """Zeros of a shape."""
    return _filled("zeros", shape, 0, dtype or float32)


def ones(shape: Sizes, dtype: Dtype = float32) -> Tensor:
    """Ones of a shape."""
    return _filled("ones", shape, 1, dtype or float32)


def empty(shape: Sizes, dtype: Dtype = float32) -> Tensor:
    """An array of a shape whose elements mean nothing; they are zeros."""
    return _filled("empty", shape, 0, dtype or float32)


def full(shape: Sizes, fill_value: Operand, dtype: Dtype = None) -> Tensor:
    """A value, or an array that broadcasts, spread over a shape."""
    return _filled("full", shape, fill_value, dtype)


def _like(name: str, x: Tensor, value: Any, dtype: Any, shape: Any) -> Tensor:
    sizes = tuple(x.shape) if shape is None else shape
    return _filled(name, sizes, value, x.dtype if dtype is None else dtype)


def zeros_like(a: Array, dtype: Dtype = None, shape: Ints | None = None) -> Tensor:
    """Zeros in the dtype and shape of an array, where no others are given."""
    return _like("zeros_like", a, 0, dtype, shape)


def ones_like(a: Array, dtype: Dtype = None, shape: Ints | None = None) -> Tensor:
    """Ones in the dtype and shape of an array, where no others are given."""
    return _like("ones_like", a, 1, dtype, shape)


def empty_like(prototype: Array, dtype: Dtype = None, shape: Ints | None = None) -> Tensor:
    """An array in the dtype and shape of another, where no others are given; its elements mean nothing."""
    return _like("empty_like", prototype, 0, dtype, shape)


def full_like(
    a: Array, fill_value: Operand, dtype: Dtype = None, shape: Ints | None = None
) -> Tensor:
    """A value, or an array that broadcasts, in the dtype and shape of an array, where no others are given."""
    return _like("full_like", a, as_tensor(fill_value), dtype, shape)


def eye(N: Count, M: Count | None = None, k: int = 0, dtype: Dtype = float32) -> Tensor:
    """Ones on a diagonal of N rows and M columns, zeros elsewhere."""
    columns = N if M is None else M
    require_memory("eye", N * columns, 8)
    if k == 0:
        return ops.eye(N, columns, dtype or float32)
    return Tensor(np.eye(N, columns, max(-N, min(k, columns))), dtype or float32)


def identity(n: Count, dtype: Dtype = float32) -> Tensor:
    """The square matrix with ones on the diagonal."""
    return eye(n, n, 0, dtype)


__all__ = [
    "arange",
    "array",
    "asarray",
    "asfarray",
    "bartlett",
    "blackman",
    "copy",
    "diag",
    "diag_indices",
    "diagflat",
    "diagonal",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "geomspace",
    "hamming",
    "hanning",
    "histogram_bin_edges",
    "identity",
    "indices",
    "ix_",
    "linspace",
    "logspace",
    "meshgrid",
    "mgrid",
    "ogrid",
    "ones",
    "ones_like",
    "pad",
    "rand",
    "randint",
    "randn",
    "trace",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "vander",
    "zeros",
    "zeros_like",
]

check_functions(sys.modules[__name__], __all__)
