"""Products of vectors and matrices."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count, Ints, Real
from mindspore.common._size import broadcast_shapes
from mindspore.numpy.dtypes import Dtype
from mindspore.numpy.utils import Array, Arrays, axis_of, cast, floating, of_one_type


def matmul(x1: Array, x2: Array, dtype: Dtype = None) -> Tensor:
    """The matrix product: vectors count as one row or one column, the axes before the last two broadcast."""
    return cast(ops.matmul(*of_one_type([x1, x2])), dtype)


def dot(a: Array, b: Array) -> Tensor:
    """The sums of products along the last axis of the first and the last but one of the second, the only one of a vector; of
    numbers, the product."""
    x, y = of_one_type([a, b])
    return x * y if x.ndim == 0 or y.ndim == 0 else ops.dot(x, y)


def inner(a: Array, b: Array) -> Tensor:
    """The sums of products along the last axis of both."""
    return ops.inner(*of_one_type([a, b]))


def outer(a: Array, b: Array) -> Tensor:
    """All products of an element of the first array, flattened, with one of the second."""
    return ops.expand_dims(ops.ravel(a), 1) * ops.ravel(b)


def tensordot(a: Array, b: Array, axes: int | Sequence[Ints] = 2) -> Tensor:
    """The sums of products over axes: so many at the end of the first and the start of the second, or a list for each."""
    x, y = of_one_type([a, b])
    return ops.tensor_dot(x, y, axes)


def kron(a: Array, b: Array) -> Tensor:
    """The second array times each element of the first, in their places."""
    rank = max(a.ndim, b.ndim)
    first, second = ((1,) * (rank - x.ndim) + tuple(x.shape) for x in (a, b))
    left = ops.reshape(a, tuple(n for size in first for n in (size, 1)))
    right = ops.reshape(b, tuple(n for size in second for n in (1, size)))
    return ops.reshape(left * right, tuple(m * n for m, n in zip(first, second)))


def cross(
    a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """The cross products of vectors of 2 or 3 elements along an axis; of two of 2 elements, the third element alone."""
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = []
    for x, place in ((a, axisa), (b, axisb)):
        moved = ops.moveaxis(x, axis_of("cross", place, x.ndim), -1)
        if moved.shape[-1] not in (2, 3):
            raise ValueError(
                f"For 'cross', the vectors must have 2 or 3 elements, but got {moved.shape[-1]}."
            )
        vectors.append(moved)
    x, y = of_one_type(vectors)
    both_flat = x.shape[-1] == y.shape[-1] == 2
    shape = broadcast_shapes("cross", tuple(x.shape[:-1]), tuple(y.shape[:-1]))
    place = 0 if both_flat else axis_of("cross", axisc, len(shape) + 1)
    x1, x2, *x3 = ops.unbind(x, -1)
    y1, y2, *y3 = ops.unbind(y, -1)
    last = x1 * y2 - x2 * y1
    if both_flat:
        return last
    height, other = x3[0] if x3 else ops.zeros_like(x1), y3[0] if y3 else ops.zeros_like(y1)
    parts = (x2 * other - height * y2, height * y1 - x1 * other, last)
    return ops.stack([ops.broadcast_to(p, shape) for p in parts], axis=place)


# ---- several --------------------------------------------------------------------------------------------------------------
def multi_dot(arrays: Arrays) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications; the first and the last may be
    vectors."""
    if len(arrays) < 2:
        raise ValueError(
            f"For 'multi_dot', there must be two arrays at least, but got {len(arrays)}."
        )
    parts = of_one_type(arrays)
    for i, x in enumerate(parts):
        if x.ndim != 2 and not (x.ndim == 1 and i in (0, len(parts) - 1)):
            raise ValueError(
                "For 'multi_dot', the arrays must be matrices, the first and the last may be vectors, "
                f"but got shape {x.shape}."
            )
    first, last = parts[0].ndim == 1, parts[-1].ndim == 1
    if first:
        parts[0] = ops.expand_dims(parts[0], 0)
    if last:
        parts[-1] = ops.expand_dims(parts[-1], 1)
    result = _product(parts, _cheapest([x.shape[0] for x in parts] + [parts[-1].shape[1]]))
    kept = [n for n, one in zip(result.shape, (first, last)) if not one]
    return ops.reshape(result, tuple(kept))


def _cheapest(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Behind which matrix the product of those from i to j is cut, for the fewest multiplications."""
    count = len(sizes) - 1
    cost: dict[tuple[int, int], float] = {(i, i): 0 for i in range(count)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length

            def price(k: int, i: int = i, j: int = j) -> float:
                return cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]

            cut[i, j] = min(range(i, j), key=price)
            cost[i, j] = price(cut[i, j])
    return cut


def _product(parts: list[Tensor], cut: dict[tuple[int, int], int]) -> Tensor:
    def of(i: int, j: int) -> Tensor:
        if i == j:
            return parts[i]
        k = cut[i, j]
        return ops.matmul(of(i, k), of(k + 1, j))

    return of(0, len(parts) - 1)


def matrix_power(a: Array, n: Count) -> Tensor:
    """A square matrix, or each of a stack, to a power."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(
            f"For 'matrix_power', the last two axes must be of one size, but got shape {a.shape}."
        )
    if n == 0:
        return ops.broadcast_to(ops.eye(a.shape[-1], a.shape[-1], a.dtype), a.shape)
    result = a
    for digit in f"{n:b}"[1:]:
        result = ops.matmul(result, result)
        if digit == "1":
            result = ops.matmul(result, a)
    return result


def norm(
    x: Array, ord: Real | str | None = None, axis: Ints | None = None, keepdims: bool = False
) -> Tensor:
    """The norm of the vectors along an axis, or of the matrices in two; of all elements where neither is given."""
    return ops.norm(floating(x), ord, axis, keepdims)


__all__ = [
    "cross",
    "dot",
    "inner",
    "kron",
    "matmul",
    "matrix_power",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
]
check_functions(sys.modules[__name__], __all__)
