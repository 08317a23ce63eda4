"""Diagonals and bands of matrices, and products that are named."""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import COMPLEX, floating, rounded
from mindspore.common._kinds import PositiveInt, Real, Sizes
from mindspore.common._size import require_memory, require_rank
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import (
    _axis,
    _ints,
    _number,
    diag_embed,
    diagonal,
    meshgrid,
    moveaxis,
)
from mindspore.ops.function.factor_func import _require_matrices
from mindspore.ops.function.linalg_func import outer

_reshape, _cast, _gather, _concat = raw("Reshape"), raw("Cast"), raw("Gather"), raw("Concat")
_sum, _stack, _broadcast_to, _select = (
    raw("ReduceSum"),
    raw("Stack"),
    raw("BroadcastTo"),
    raw("Select"),
)
Align = Literal["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"]


# ---- diagonals of stacks of matrices ------------------------------------------------------------
class _Diagonals:
    """Where diagonals k[0] ... k[1] of matrices of `rows` by `columns` lie, and where their elements stand when they are rows
    of one length, the highest diagonal first. `align` says at which end the ones above and below the main diagonal begin."""

    def __init__(self, name: str, k: tuple[int, ...], rows: int, columns: int, align: str):
        low, high = k[0], k[-1]
        if (
            len(k) > 2
            or low > high
            or not ((-rows < low and high < columns) or rows * columns == 0)
        ):
            raise ValueError(
                f"For '{name}', 'k' must be one diagonal or two in order, in ({-rows}, {columns}), but got {k}."
            )
        above, below = (a == "LEFT" for a in align.split("_"))
        self.count, self.single = high - low + 1, len(k) == 1
        self.length = min(rows + min(high, 0), columns + min(-low, 0))
        self.matrix = np.full((rows, columns), -1)  # which element of the rows is there
        self.rows = np.full((self.count, self.length), -1)  # which element of the matrix
        for number, k_ in enumerate(range(high, low - 1, -1)):
            size = min(rows + min(k_, 0), columns - max(k_, 0))
            left = (k_ >= 0 and above) or (k_ <= 0 and below)
            at = np.arange(size) + (0 if left else self.length - size)
            i, j = np.arange(size) + max(-k_, 0), np.arange(size) + max(k_, 0)
            self.matrix[i, j] = number * self.length + at
            self.rows[number, at] = i * columns + j

    @property
    def shape(self) -> tuple[int, ...]:
        """The last dimensions of the rows."""
        return (self.length,) if self.single else (self.count, self.length)


def _picked(parts: list[Tensor], batch: tuple, places: np.ndarray, shape: tuple) -> Tensor:
    """Elements of all parts, each flat behind the batch, at places."""
    flat = [_reshape(p, shape=(*batch, -1)) for p in parts]
    joined = _concat(flat, axis=-1) if len(flat) > 1 else flat[0]
    taken = _gather(joined, Tensor(places.reshape(-1).astype(np.int32)), axis=len(batch))
    return _reshape(taken, shape=(*batch, *shape))


def _padding(name: str, x: Tensor, value: Real | Tensor, batch: tuple) -> Tensor:
    padding = value if isinstance(value, Tensor) else Tensor(value)
    if padding.size != 1:
        raise ValueError(
            f"For '{name}', 'padding_value' must be one number, but got shape {padding.shape}."
        )
    return _broadcast_to(
        _reshape(_cast(padding, dtype=x.dtype), shape=(1,) * (len(batch) + 1)), shape=(*batch, 1)
    )


_FAR = 1 << 24  # a diagonal beyond would make a matrix that no memory holds


def _offsets(name: str, k: Sizes) -> tuple[int, ...]:
    """The numbers of one diagonal, or of the first and the last of some."""
    offsets = _ints(name, k)
    if len(offsets) not in (1, 2) or max(map(abs, offsets)) > _FAR:
        raise ValueError(
            f"For '{name}', 'k' must be one int or two, of at most {_FAR}, but got {offsets}."
        )
    return offsets


def matrix_diag(
    x: Tensor,
    k: Sizes = 0,
    num_rows: int | Tensor = -1,
    num_cols: int | Tensor = -1,
    padding_value: Real | Tensor = 0,
    align: Align = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with given diagonals: the one numbered k, or those between two numbers, in rows from the highest on. Elsewhere is
    `padding_value`; `align` says where diagonals stand in their rows, those above the main one and those below."""
    offsets = _offsets("matrix_diag", k)
    low, high = offsets[0], offsets[-1]
    many = len(offsets) > 1
    if x.ndim < 1 + many or (many and x.shape[-2] != high - low + 1):
        raise ValueError(
            f"For 'matrix_diag', 'x' must hold a row for each diagonal of {offsets}, but got shape {x.shape}."
        )
    batch, length = x.shape[: -1 - many], x.shape[-1]
    least = (length - min(high, 0), length + max(low, 0))
    rows, columns = (int(_number("matrix_diag", n)) for n in (num_rows, num_cols))
    if rows == columns == -1:
        rows = columns = max(least)
    rows, columns = (n if given == -1 else given for n, given in zip(least, (rows, columns)))
    larger = rows >= least[0] and columns >= least[1]
    if not larger or (rows > least[0] and columns > least[1]):
        raise ValueError(
            f"For 'matrix_diag', matrices must be as large as diagonals {offsets} of {length} elements need, {least}, in one "
            f"direction at least, but got {(rows, columns)}."
        )
    require_memory("matrix_diag", rows * columns, 8)
    places = _Diagonals("matrix_diag", offsets, rows, columns, align).matrix
    size = int(np.prod(x.shape[len(batch) :]))
    places = np.where(places < 0, size, places)
    return _picked(
        [x, _padding("matrix_diag", x, padding_value, batch)], batch, places, (rows, columns)
    )


def matrix_diag_part(
    x: Tensor, k: Sizes, padding_value: Real | Tensor, align: Align = "RIGHT_LEFT"
) -> Tensor:
    """The diagonal numbered k, or those between two numbers, as rows from the highest on, filled up with `padding_value`."""
    _require_matrices("matrix_diag_part", "x", x)
    rows, columns = x.shape[-2:]
    where = _Diagonals("matrix_diag_part", _offsets("matrix_diag_part", k), rows, columns, align)
    batch = x.shape[:-2]
    places = np.where(where.rows < 0, rows * columns, where.rows)
    filling = _padding("matrix_diag_part", x, padding_value, batch)
    return _picked([x, filling], batch, places, where.shape)


def matrix_set_diag(
    x: Tensor, diagonal: Tensor, k: Sizes = 0, align: Align = "RIGHT_LEFT"
) -> Tensor:
    """Matrices in which the diagonal numbered k, or those between two numbers, are replaced."""
    _require_matrices("matrix_set_diag", "x", x)
    rows, columns = x.shape[-2:]
    where = _Diagonals("matrix_set_diag", _offsets("matrix_set_diag", k), rows, columns, align)
    batch = x.shape[:-2]
    if diagonal.shape != (*batch, *where.shape):
        raise ValueError(
            f"For 'matrix_set_diag', 'diagonal' must have shape {(*batch, *where.shape)}, but got {diagonal.shape}."
        )
    own = np.arange(rows * columns).reshape(rows, columns)
    places = np.where(where.matrix < 0, own, rows * columns + where.matrix)
    return _picked([x, _cast(diagonal, dtype=x.dtype)], batch, places, (rows, columns))


def matrix_band_part(x: Tensor, lower: int | Tensor, upper: int | Tensor) -> Tensor:
    """The elements of matrices on the main diagonal, on `lower` ones below and `upper` ones above it, zeros elsewhere. All of
    them where that is negative."""
    _require_matrices("matrix_band_part", "x", x)
    below, above = (_diagonals(name, n) for name, n in (("lower", lower), ("upper", upper)))
    if below >= 0:
        x = raw("Triu")(x, diagonal=-below)
    return raw("Tril")(x, diagonal=above) if above >= 0 else raw("Identity")(x)


def _diagonals(name: str, count: int | Tensor) -> int:
    if isinstance(count, Tensor) and count.ndim:
        raise ValueError(
            f"For 'matrix_band_part', '{name}' must be a scalar, but got shape {count.shape}."
        )
    return int(_number("matrix_band_part", count))


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on a diagonal."""
    return diag_embed(_reshape(input, shape=(-1,)), offset)


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """The input with the diagonal of two axes replaced."""
    wanted = diagonal(input, offset, dim1, dim2).shape
    if src.shape != wanted:
        raise ValueError(
            f"For 'diagonal_scatter', 'src' must have shape {wanted}, but got {src.shape}."
        )
    rank = input.ndim
    axes = _axis("diagonal_scatter", dim1, rank), _axis("diagonal_scatter", dim2, rank)
    last = moveaxis(input, axes, (-2, -1))
    if not wanted[-1]:
        return raw("Identity")(input)
    return moveaxis(matrix_set_diag(last, src, offset), (-2, -1), axes)


def trace(input: Tensor) -> Tensor:
    """The sum of the main diagonal of a matrix."""
    require_rank("trace", "input", input, 2)
    return _sum(diagonal(input), axis=(-1,), keep_dims=False)


# ---- products -----------------------------------------------------------------------------------
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Blocks of `other`, each times one element of the input."""
    rank = max(input.ndim, other.ndim)
    a = (1,) * (rank - input.ndim) + input.shape
    b = (1,) * (rank - other.ndim) + other.shape
    left = _reshape(input, shape=[n for size in a for n in (size, 1)])
    right = _reshape(other, shape=[n for size in b for n in (1, size)])
    return _reshape(left * right, shape=[m * n for m, n in zip(a, b)])


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross products of vectors of three elements along an axis, by default the first such."""
    rank = max(input.ndim, other.ndim)
    shapes = [(1,) * (rank - x.ndim) + tuple(x.shape) for x in (input, other)]
    if dim is None:
        fitting = [i for i in range(rank) if all(shape[i] == 3 for shape in shapes)]
        if not fitting:
            raise ValueError(
                f"For 'cross', there must be an axis of size 3, but got shapes {input.shape} and {other.shape}."
            )
        axis = fitting[0]
    else:
        axis = _axis("cross", dim, rank)
        if any(shape[axis] != 3 for shape in shapes):
            raise ValueError(
                f"For 'cross', axis {dim} must have size 3, but got shapes {input.shape} and {other.shape}."
            )
    x, y = (_reshape(t, shape=shape) for t, shape in zip((input, other), shapes))
    next_, last = Tensor([1, 2, 0], _core.int32), Tensor([2, 0, 1], _core.int32)
    x1, x2, y1, y2 = (_gather(t, i, axis=axis) for t in (x, y) for i in (next_, last))
    return x1 * y2 - x2 * y1


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """The sums of products along an axis; of complex numbers the first are conjugated."""
    if x.dtype in COMPLEX:
        x = raw("Conj")(x)
    return (x * y).sum(axis)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Rows of the powers of each element, from the highest down to 0."""
    require_rank("vander", "x", x, 1)
    count = x.shape[0] if N is None else N
    if count <= 0:
        raise ValueError(f"For 'vander', 'N' must be greater than 0, but got {count}.")
    return raw("ReverseV2")(powers("vander", x, count), axis=(1,))


def powers(name: str, x: Tensor, count: int) -> Tensor:
    """Columns of the powers of a vector's elements, from 0 up: those that are there, by a power of theirs, are as many more."""
    require_memory(name, count * x.size, 3 * x.itemsize)
    step = _reshape(x, shape=(x.size, 1))
    columns = raw("OnesLike")(step)
    while columns.shape[1] < count:
        more = columns[:, : count - columns.shape[1]] * step
        columns, step = _concat(columns, more, axis=1), step * step
    return columns[:, :count]


def _ger(x1: Tensor, x2: Tensor) -> Tensor:
    return outer(x1, x2)


def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """For each row of both inputs and each matrix of the weight, `input1 @ weight @ input2`, and the bias."""
    if input1.shape[:-1] != input2.shape[:-1] or not input1.ndim or not input2.ndim:
        raise ValueError(
            f"For 'bidense', the inputs must have the same dimensions but for the last, but got shapes {input1.shape} and "
            f"{input2.shape}."
        )
    require_rank("bidense", "weight", weight, 3)
    count, first, second = weight.shape
    if (first, second) != (input1.shape[-1], input2.shape[-1]):
        raise ValueError(
            f"For 'bidense', 'weight' must hold matrices of {input1.shape[-1]} by {input2.shape[-1]}, but got shape {weight.shape}."
        )
    rows, columns = (_reshape(x, shape=(-1, x.shape[-1])) for x in (input1, input2))
    wide = raw("MatMul")(
        rows, _reshape(raw("Transpose")(weight, perm=(1, 0, 2)), shape=(first, count * second))
    )
    products = _reshape(wide, shape=(-1, count, second)) * _reshape(columns, shape=(-1, 1, second))
    result = _reshape(
        _sum(products, axis=(-1,), keep_dims=False), shape=(*input1.shape[:-1], count)
    )
    return result if bias is None else result + bias


def _tridiagonal_product(
    superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor
) -> Tensor:
    """Matrices given by three diagonals, [..., 1, m], times others. The last element of the upper one and the first of the lower
    one are not read."""
    _require_matrices("TridiagonalMatMul", "rhs", rhs)
    wanted = (*rhs.shape[:-2], 1, rhs.shape[-2])
    for x in (superdiag, maindiag, subdiag):
        if x.shape != wanted:
            raise ValueError(
                f"For 'TridiagonalMatMul', the diagonals must have shape {wanted}, but got {x.shape}."
            )
    above, main, below = (
        _reshape(x, shape=(*x.shape[:-2], x.shape[-1], 1)) for x in (superdiag, maindiag, subdiag)
    )
    still = [0, 0] * (rhs.ndim - 2)
    later = raw("Pad")(rhs[..., 1:, :], paddings=[*still, 0, 1, 0, 0])
    earlier = raw("Pad")(rhs[..., :-1, :], paddings=[*still, 1, 0, 0, 0])
    return above * later + main * rhs + below * earlier


# ---- statistics and choices ---------------------------------------------------------------------
def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariances of rows, whose columns are observations: `fweights` says how often each was made, `aweights` how much it
    counts. The sum of the weights is lessened by `correction`."""
    if input.ndim > 2:
        raise ValueError(
            f"For 'cov', 'input' must have at most 2 dimensions, but got shape {input.shape}."
        )
    x = floating(input)
    x = _reshape(x, shape=(1, -1)) if x.ndim < 2 else x
    weights = _weights(x, fweights, aweights)
    if weights is None:
        total: Any = x.shape[1]
        mean = x.mean(axis=1, keep_dims=True)
        factor: Any = total - correction
        weighted = centred = x - mean
    else:
        total = weights.sum()
        centred = x - _sum(x * weights, axis=(1,), keep_dims=True) / total
        weighted = centred * weights
        factor = total - correction
        if aweights is not None:
            counts = _cast(aweights, dtype=x.dtype)
            factor = total - correction * (weights * counts).sum() / total
    products = raw("MatMul")(
        weighted, raw("Conj")(centred) if x.dtype in COMPLEX else centred, transpose_b=True
    )
    if not isinstance(factor, Tensor):
        factor = Tensor(max(factor, 0), x.dtype)
    result = rounded(products / factor, input)
    return _reshape(result, shape=()) if input.ndim < 2 else result


def _weights(x: Tensor, counts: Tensor | None, weights: Tensor | None) -> Tensor | None:
    both = None
    for name, w in (("fweights", counts), ("aweights", weights)):
        if w is None:
            continue
        if w.shape != (x.shape[1],):
            raise ValueError(
                f"For 'cov', '{name}' must have shape ({x.shape[1]},), but got {w.shape}."
            )
        w = _cast(w, dtype=x.dtype)
        both = w if both is None else both * w
    return both


def cartesian_prod(*inputs: Tensor) -> Tensor:
    """All choices of an element of each vector, as rows."""
    if not inputs:
        raise ValueError("For 'cartesian_prod', there must be at least one Tensor, but got 0.")
    for x in inputs:
        require_rank("cartesian_prod", "inputs", x, 1)
    return _stack([_reshape(g, shape=(-1,)) for g in meshgrid(*inputs, indexing="ij")], axis=1)


def combinations(input: Tensor, r: PositiveInt = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, as rows."""
    require_rank("combinations", "input", input, 1)
    count = input.shape[0]
    kinds = count + r - 1 if with_replacement else count
    # Of 64 out of at least 128 there are more than any memory holds: no need to know how many.
    rows = 0 if r > kinds else math.comb(kinds, min(r, kinds - r, 64))
    require_memory("combinations", rows * r, 4)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = list(choose(range(count), r)) if rows else []
    taken = _gather(input, Tensor(np.array(chosen, np.int32).reshape(-1)), axis=0)
    return _reshape(taken, shape=(rows, r))


METHODS = ("cov", "cross", "diagflat", "diagonal_scatter")
__all__ = [
    "bidense",
    "cartesian_prod",
    "combinations",
    "cov",
    "cross",
    "diagflat",
    "diagonal_scatter",
    "kron",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "trace",
    "vander",
    "vecdot",
]
