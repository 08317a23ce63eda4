"""Reductions, sorting and cumulative functions in their 2.x forms."""

from __future__ import annotations

import math
from typing import Any

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import COMPLEX, FLOATS, INTEGERS, floating, rounded
from mindspore.common._kinds import Count, Ints, Real
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _axis

_cast, _select = raw("Cast"), raw("Select")
_sum, _mean, _prod = raw("ReduceSum"), raw("ReduceMean"), raw("ReduceProd")
_max, _min, _any = raw("ReduceMax"), raw("ReduceMin"), raw("ReduceAny")
_argmax_value, _argmin_value = raw("ArgMaxWithValue"), raw("ArgMinWithValue")
_arg = {"max": raw("Argmax"), "min": raw("Argmin")}
_cumsum, _cumprod, _sort, _top_k = raw("CumSum"), raw("CumProd"), raw("Sort"), raw("TopK")
_reshape, _slice = raw("Reshape"), raw("Slice")
_abs, _sqrt, _exp, _log = raw("Abs"), raw("Sqrt"), raw("Exp"), raw("Log")
_not_equal, _is_nan, _is_finite = raw("NotEqual"), raw("IsNan"), raw("IsFinite")
_stop_gradient, _zeros_like = raw("StopGradient"), raw("ZerosLike")


def _axes(axis: Ints | None) -> tuple:
    """An axis argument as a tuple; None and () mean all axes."""
    if axis is None:
        return ()
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)


def _one_axis(name: str, axis: int, rank: int) -> int:
    return _axis(name, axis, rank or 1)  # a scalar counts as having one axis


def _refuse_complex(name: str, input: Tensor) -> None:
    if input.dtype in COMPLEX:
        raise TypeError(f"For '{name}', 'input' must hold real numbers, but got {input.dtype}.")


def _count(input: Tensor, axes: tuple) -> int:
    chosen = axes or tuple(range(input.ndim))
    return math.prod(input.shape[a] for a in chosen) if input.ndim else 1


def _exact(input: Tensor) -> Tensor:
    """Integers and truth values as Int64, in which sums and products of them are taken."""
    return (
        _cast(input, dtype=_core.int64)
        if (input.dtype in INTEGERS or input.dtype is _core.bool) and input.dtype != _core.int64
        else input
    )


def sum(
    input: Tensor, dim: Ints | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Sum over axes. Integers and truth values are summed as Int64 where no dtype is given."""
    input = _exact(input) if dtype is None else _cast(input, dtype=dtype)
    return _sum(input, axis=_axes(dim), keep_dims=keepdim)


def prod(
    input: Tensor, axis: Ints | None = None, keep_dims: bool = False, dtype: DType | None = None
) -> Tensor:
    """Product over axes. Integers are multiplied as Int64 where no dtype is given."""
    input = _exact(input) if dtype is None else _cast(input, dtype=dtype)
    return _prod(input, axis=_axes(axis), keep_dims=keep_dims)


def nansum(
    input: Tensor, axis: Ints | None = None, keepdims: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Sum over axes in which nan counts as zero."""
    _refuse_complex("nansum", input)
    if input.dtype in FLOATS:
        input = _select(_is_nan(input), _zeros_like(input), input)
    return sum(input, axis, keepdims, dtype=dtype)


def _bounded(
    name: str,
    input: Tensor,
    initial: Real | Tensor | None,
    where: Tensor | None,
    smallest: bool,
) -> Tensor:
    """The input with `initial` where `where` is false and instead of what is less extreme than it."""
    if initial is None:
        if where is None:
            return input
        raise ValueError(f"For '{name}', 'initial' must be given when 'where' is, but got None.")
    initial = _cast(Tensor(initial), dtype=input.dtype)
    if where is not None:
        input = _select(where, input, initial)
    return raw("Minimum" if smallest else "Maximum")(input, initial)


def amax(
    input: Tensor,
    axis: Ints | None = None,
    keepdims: bool = False,
    *,
    initial: Real | Tensor | None = None,
    where: Tensor | None = None,
) -> Tensor:
    """Largest element over axes."""
    input = _bounded("amax", input, initial, where, False)
    return _max(input, axis=_axes(axis), keep_dims=keepdims)


def amin(
    input: Tensor,
    axis: Ints | None = None,
    keepdims: bool = False,
    *,
    initial: Real | Tensor | None = None,
    where: Tensor | None = None,
) -> Tensor:
    """Smallest element over axes."""
    input = _bounded("amin", input, initial, where, True)
    return _min(input, axis=_axes(axis), keep_dims=keepdims)


def _value_and_index(
    op: Any, reduce: Any, input: Tensor, axis: int | None, keepdims: bool
) -> tuple[Tensor, Tensor]:
    if axis is None:
        return reduce(input), Tensor(0, _core.int64)
    index, value = op(input, axis=axis, keep_dims=keepdims)
    return value, index


def max(
    input: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    initial: Real | Tensor | None = None,
    where: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest element along an axis and its position; over all axes, the position is 0."""
    input = _bounded("max", input, initial, where, False)
    return _value_and_index(_argmax_value, _max, input, axis, keepdims)


def min(
    input: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    initial: Real | Tensor | None = None,
    where: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Smallest element along an axis and its position; over all axes, the position is 0."""
    input = _bounded("min", input, initial, where, True)
    return _value_and_index(_argmin_value, _min, input, axis, keepdims)


def _position(which: str, input: Tensor, axis: int | None, keepdims: bool, index: Any) -> Tensor:
    if axis is None:
        return _arg[which](_reshape(input, shape=(-1,)), axis=-1, output_type=index)
    result = _arg[which](input, axis=axis, output_type=index)
    if not keepdims:
        return result
    axis = _one_axis("arg" + which, axis, input.ndim)
    return _reshape(result, shape=input.shape[:axis] + (1,) + input.shape[axis + 1 :])


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the largest element along an axis, or in the flattened tensor."""
    return _position("max", input, dim, keepdim, _core.int64)


def argmin(input: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the smallest element along an axis, or in the flattened tensor."""
    return _position("min", input, axis, keepdims, _core.int32)


def var(
    input: Tensor, axis: Ints | None = None, ddof: int | bool = 0, keepdims: bool = False
) -> Tensor:
    """Variance over axes, divided by the count less `ddof`."""
    return rounded(_moments("var", input, axis, ddof, keepdims)[0], input)


def std(
    input: Tensor, axis: Ints | None = None, ddof: int | bool = 0, keepdims: bool = False
) -> Tensor:
    """Standard deviation over axes, divided by the count less `ddof`."""
    return rounded(_sqrt(_moments("std", input, axis, ddof, keepdims)[0]), input)


def var_mean(
    input: Tensor, axis: Ints | None = None, ddof: int | bool = 0, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """Variance and mean over axes."""
    variance, mean = _moments("var_mean", input, axis, ddof, keepdims)
    return rounded(variance, input), rounded(mean, input)


def _moments(
    name: str, input: Tensor, axis: Ints | None, ddof: int | bool, keepdims: bool
) -> tuple[Tensor, Tensor]:
    """Variance and mean, before they are rounded to half precision, which has no room for many a variance."""
    _refuse_complex(name, input)
    input = floating(input)
    axes = _axes(axis)
    mean = _mean(input, axis=axes, keep_dims=True)
    distance = input - mean
    count = _count(input, axes)
    divisor = count - int(ddof)
    variance = _sum(distance * distance, axis=axes, keep_dims=keepdims) / (
        divisor if divisor > 0 else math.nan
    )
    return variance, mean if keepdims else _reshape(mean, shape=variance.shape)


def std_mean(
    input: Tensor, axis: Ints | None = None, ddof: int | bool = 0, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over axes."""
    variance, mean = _moments("std_mean", input, axis, ddof, keepdims)
    return rounded(_sqrt(variance), input), rounded(mean, input)


def logsumexp(input: Tensor, dim: Ints | None, keepdim: bool = False) -> Tensor:
    """Logarithm of the sum of exponentials over axes, without overflow."""
    axes, given = _axes(dim), input
    input = floating(input)
    if 0 in input.shape:
        return rounded(_log(_sum(_exp(input), axis=axes, keep_dims=keepdim)), given)
    largest = _stop_gradient(_max(input, axis=axes, keep_dims=True))
    largest = _select(_is_finite(largest), largest, _zeros_like(largest))
    total = _log(_sum(_exp(input - largest), axis=axes, keep_dims=True)) + largest
    total = total if keepdim else _reshape(total, shape=_sum(input, axis=axes).shape)
    return rounded(total, given)


def count_nonzero(
    x: Tensor, axis: Ints | None = (), keep_dims: bool = False, dtype: DType | None = _core.int32
) -> Tensor:
    """How many elements over axes are not zero."""
    hits = _cast(_not_equal(x, Tensor(0, x.dtype)), dtype=_core.int64)
    return _cast(_sum(hits, axis=_axes(axis), keep_dims=keep_dims), dtype=dtype)


# ---- along one axis -----------------------------------------------------------------------------
def cumsum(x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
    """Running sum along an axis."""
    return _cumsum(x if dtype is None else _cast(x, dtype=dtype), axis=axis)


def cumprod(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Running product along an axis; of integers, as Int64 where no dtype is given."""
    return _cumprod(_exact(input) if dtype is None else _cast(input, dtype=dtype), axis=dim)


def _to_last(input: Tensor, axis: int) -> tuple[Tensor, tuple[int, ...]]:
    order = [i for i in range(input.ndim) if i != axis] + [axis]
    return raw("Transpose")(input, perm=order), tuple(order.index(i) for i in range(input.ndim))


def topk(
    input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple:
    """The k largest (or smallest) elements along an axis, best first, and their positions."""
    rank = input.ndim
    if not rank:
        if k != 1:
            raise ValueError(f"For 'topk', 'k' must be 1 for a scalar, but got {k}.")
        alone = topk(_reshape(input, shape=(1,)), 1, dim, largest, sorted)
        return _reshape(alone[0], shape=()), _reshape(alone[1], shape=())
    axis = rank - 1 if dim is None else _one_axis("topk", dim, rank)
    if not largest:
        values, indices = _sort(input, axis=axis)
        if not 0 <= k <= input.shape[axis]:
            raise ValueError(f"For 'topk', 'k' must be in [0, {input.shape[axis]}], but got {k}.")
        size = input.shape[:axis] + (k,) + input.shape[axis + 1 :]
        begin = (0,) * rank
        return _slice(values, begin=begin, size=size), _slice(indices, begin=begin, size=size)
    if axis == rank - 1:
        return _top_k(input, k=k, sorted=sorted)
    moved, back = _to_last(input, axis)
    values, indices = _top_k(moved, k=k, sorted=sorted)
    return raw("Transpose")(values, perm=back), raw("Transpose")(indices, perm=back)


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """Positions that sort an axis."""
    return _sort(input, axis=axis, descending=descending)[1]


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The lower median along an axis and its position; nan, and the position of a nan, where there is one."""
    axis = _one_axis("median", axis, input.ndim)
    if input.ndim == 0:
        return input, Tensor(0, _core.int64)
    both = _sort(input, axis=axis)
    size = input.shape[:axis] + (1,) + input.shape[axis + 1 :]
    kept = size if keepdims else input.shape[:axis] + input.shape[axis + 1 :]

    def at(place: int) -> list[Tensor]:
        begin = [0] * input.ndim
        begin[axis] = place
        return [_reshape(_slice(t, begin=begin, size=size), shape=kept) for t in both]

    value, index = at((input.shape[axis] - 1) // 2)
    if input.dtype in FLOATS:
        last, place = at(input.shape[axis] - 1)  # sorted, a nan is the largest
        missing = _is_nan(last)
        value, index = _select(missing, last, value), _select(missing, place, index)
    return value, _cast(index, dtype=_core.int64)


def diff(
    x: Tensor,
    n: Count = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along an axis, taken n times."""
    axis = _axis("diff", axis, x.ndim)
    parts = [t for t in (prepend, x, append) if t is not None]
    x = raw("Concat")(parts, axis=axis) if len(parts) > 1 else x
    if n and not x.shape[axis]:
        raise ValueError(
            f"For 'diff', 'x' must not be empty along axis {axis}, but got shape {x.shape}."
        )
    if n > 1 and n >= x.shape[axis] > 0:
        return _slice(x, begin=[0] * x.ndim, size=[*x.shape[:axis], 0, *x.shape[axis + 1 :]])
    for _ in range(n):
        size = list(x.shape)
        size[axis] -= 1
        begin = [0] * x.ndim
        begin[axis] = 1
        x = _slice(x, begin=begin, size=size) - _slice(x, begin=[0] * x.ndim, size=size)
    return x


METHODS = (
    "amax",
    "amin",
    "argmin",
    "var",
    "std",
    "logsumexp",
    "count_nonzero",
    "cumprod",
    "topk",
    "argsort",
    "median",
    "nansum",
    "diff",
)
__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "diff",
    "logsumexp",
    "max",
    "median",
    "min",
    "nansum",
    "prod",
    "std",
    "std_mean",
    "sum",
    "topk",
    "var",
    "var_mean",
]
