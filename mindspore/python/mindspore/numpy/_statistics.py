"""Statistics of arrays and of their axes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._dtypes import COMPLEX, rounded, wide
from mindspore.common._kinds import Ints, Real
from mindspore.numpy.dtypes import Dtype, float32, promoted
from mindspore.numpy.utils import (
    Array,
    Operand,
    along,
    as_tensor,
    axes_of,
    cast,
    floating,
    is_floating,
    of_one_type,
)


# ---- extremes -------------------------------------------------------------------------------------------------------------
def _extreme(
    name: str, reduce: Callable, a: Tensor, axis: Any, keepdims: bool, initial: Any, where: Any
) -> Tensor:
    axes = axes_of(name, axis, a.ndim)
    if isinstance(where, bool) and where:
        where = None
    if where is not None:
        where = ops.broadcast_to(as_tensor(where), a.shape)
    return reduce(a, axes, keepdims, initial=initial, where=where)


def amax(
    a: Array,
    axis: Ints | None = None,
    keepdims: bool = False,
    initial: Real | None = None,
    where: Operand = True,
) -> Tensor:
    """The largest element over axes; `initial` counts as one, and is needed where only those count for which `where` holds."""
    return _extreme("amax", ops.amax, a, axis, keepdims, initial, where)


def amin(
    a: Array,
    axis: Ints | None = None,
    keepdims: bool = False,
    initial: Real | None = None,
    where: Operand = True,
) -> Tensor:
    """The smallest element over axes; `initial` counts as one, and is needed where only those count for which `where` holds."""
    return _extreme("amin", ops.amin, a, axis, keepdims, initial, where)


def ptp(x: Array, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    """The largest element over axes less the smallest one."""
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def argmax(a: Array, axis: int | None = None) -> Tensor:
    """The position of the largest element along an axis, or in the flattened array."""
    return ops.argmax(a, axis)


def argmin(a: Array, axis: int | None = None) -> Tensor:
    """The position of the smallest element along an axis, or in the flattened array."""
    return ops.argmin(a, axis)


# ---- sums and means -------------------------------------------------------------------------------------------------------
def sum(
    a: Array,
    axis: Ints | None = None,
    dtype: Dtype = None,
    keepdims: bool = False,
    initial: Real | None = None,
) -> Tensor:
    """The sum over axes, and `initial`; of integers, as Int64 where no dtype is given."""
    total = ops.sum(a, axes_of("sum", axis, a.ndim), keepdims, dtype=dtype)
    return total if initial is None else total + initial


def mean(a: Array, axis: Ints | None = None, keepdims: bool = False, dtype: Dtype = None) -> Tensor:
    """The mean over axes; of integers, as Float32."""
    return cast(ops.mean(floating(a), axes_of("mean", axis, a.ndim), keepdims), dtype)


def var(x: Array, axis: Ints | None = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance over axes, divided by the count less `ddof`."""
    return ops.var(x, axes_of("var", axis, x.ndim), ddof, keepdims)


def std(x: Array, axis: Ints | None = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over axes, of a variance divided by the count less `ddof`."""
    return ops.std(x, axes_of("std", axis, x.ndim), ddof, keepdims)


def average(
    x: Array, axis: Ints | None = None, weights: Array | None = None, returned: bool = False
) -> Any:
    """The mean over axes in which elements have weights; with `returned` the sum of the weights, too."""
    if weights is None:
        result = mean(x, axis)
        count = math.prod(x.shape[a] for a in axes_of("average", axis, x.ndim))
        return (result, ops.full_like(result, count)) if returned else result
    if weights.shape != x.shape:
        if not isinstance(axis, int) or weights.shape != x.shape[axis : axis % x.ndim + 1]:
            raise ValueError(
                "For 'average', 'weights' must have the shape of 'x', or that of the one axis that is given, "
                f"but got shapes {weights.shape} and {x.shape} with axis {axis}."
            )
        weights = ops.broadcast_to(along(weights, axis % x.ndim, x.ndim), x.shape)
    x, weights = of_one_type([floating(x), floating(weights)])
    total = sum(weights, axis)
    result = sum(x * weights, axis) / total
    return (result, total) if returned else result


def count_nonzero(x: Array, axis: Ints | None = None, keepdims: bool = False) -> Tensor:
    """How many elements over axes are not zero."""
    return ops.count_nonzero(x, axes_of("count_nonzero", axis, x.ndim), keepdims)


# ---- without nan ----------------------------------------------------------------------------------------------------------
def _filled(a: Tensor, value: float) -> Tensor:
    return ops.where(ops.isnan(a), value, a) if is_floating(a) else a


def nansum(
    a: Array, axis: Ints | None = None, dtype: Dtype = None, keepdims: bool = False
) -> Tensor:
    """The sum over axes in which nan counts as zero."""
    return sum(_filled(a, 0.0), axis, dtype, keepdims)


def _known(a: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """How many elements over axes are not nan, as floats of the array's dtype."""
    return sum(ops.cast(ops.logical_not(ops.isnan(a)), a.dtype), axis, None, keepdims)


def _nanextreme(name: str, extreme: Callable, a: Tensor, rest: tuple, worst: float) -> Tensor:
    axis, dtype, keepdims = rest
    if not is_floating(a):
        return cast(extreme(a, axis, keepdims), dtype)
    found = extreme(_filled(a, worst), axis, keepdims)
    return cast(ops.where(_known(a, axis, keepdims) == 0, math.nan, found), dtype)


def nanmax(
    a: Array, axis: Ints | None = None, dtype: Dtype = None, keepdims: bool = False
) -> Tensor:
    """The largest element over axes that is not nan."""
    return _nanextreme("nanmax", amax, a, (axis, dtype, keepdims), -math.inf)


def nanmin(
    a: Array, axis: Ints | None = None, dtype: Dtype = None, keepdims: bool = False
) -> Tensor:
    """The smallest element over axes that is not nan."""
    return _nanextreme("nanmin", amin, a, (axis, dtype, keepdims), math.inf)


def nanmean(
    a: Array, axis: Ints | None = None, dtype: Dtype = None, keepdims: bool = False
) -> Tensor:
    """The mean over axes of the elements that are not nan."""
    a = floating(a)
    exact = wide(a)
    mean = nansum(exact, axis, None, keepdims) / _known(exact, axis, keepdims)
    return cast(rounded(mean, a), dtype)


def nanvar(
    a: Array,
    axis: Ints | None = None,
    dtype: Dtype = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Tensor:
    """The variance over axes of the elements that are not nan, divided by their count less `ddof`."""
    a = floating(a)
    return cast(rounded(_nanvar(a, axis, ddof, keepdims), a), dtype)


def _nanvar(a: Tensor, axis: Any, ddof: int, keepdims: bool) -> Tensor:
    """The variance, before it is rounded to half precision."""
    exact = wide(a)
    distance = exact - nanmean(exact, axis, None, True)
    divisor = _known(exact, axis, keepdims) - ddof
    total = nansum(distance * distance, axis, None, keepdims)
    return total / ops.where(divisor > 0, divisor, math.nan)


def nanstd(
    a: Array,
    axis: Ints | None = None,
    dtype: Dtype = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Tensor:
    """The standard deviation over axes of the elements that are not nan."""
    a = floating(a)
    return cast(rounded(ops.sqrt(_nanvar(a, axis, ddof, keepdims)), a), dtype)


# ---- of variables ---------------------------------------------------------------------------------------------------------
def _variables(name: str, m: Tensor, rowvar: bool) -> Tensor:
    """A matrix with a row for each variable."""
    if m.ndim > 2:
        raise ValueError(
            f"For '{name}', 'm' must have at most 2 dimensions, but got shape {m.shape}."
        )
    x = ops.atleast_2d(cast(m, promoted(m.dtype, float32)))
    return x if rowvar or m.ndim < 2 else ops.t(x)


def _weights(name: str, given: Tensor | None, count: int, exact: bool) -> Tensor | None:
    if given is None:
        return None
    if given.ndim != 1 or given.shape[0] != count:
        raise ValueError(
            f"For 'cov', '{name}' must have {count} elements, but got shape {given.shape}."
        )
    if exact and is_floating(given):
        raise TypeError(f"For 'cov', '{name}' must hold integers, but got {given.dtype}.")
    return floating(given)


def cov(
    m: Array,
    y: Array | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Array | None = None,
    aweights: Array | None = None,
    dtype: Dtype = None,
) -> Tensor:
    """The covariances of variables, which are the rows of a matrix (its columns without `rowvar`), and of those of `y`. An
    observation counts `fweights` times; `aweights` say how much it weighs. The divisor is the count less `ddof`, by default 0
    with `bias` and 1 without."""
    x = _variables("cov", m, rowvar)
    if y is not None:
        x = ops.concat(of_one_type([x, _variables("cov", y, rowvar)]), 0)
    x = cast(x, None if dtype is None else promoted(x.dtype, dtype))
    count = x.shape[1]
    freely = (0 if bias else 1) if ddof is None else ddof
    divisor: Any
    repeats = _weights("fweights", fweights, count, True)
    shares = _weights("aweights", aweights, count, False)
    if repeats is None and shares is None:
        weights, divisor = None, max(count - freely, 0) or math.nan
        distance = x - ops.mean(x, 1, True)
    else:
        both = [cast(w, x.dtype) for w in (repeats, shares) if w is not None]
        weights = both[0] * both[1] if len(both) > 1 else both[0]
        total = ops.sum(weights)
        distance = x - ops.sum(x * weights, 1, True) / total
        own = 1 if shares is None else ops.sum(weights * cast(shares, x.dtype)) / total
        divisor = total - freely * own
    scaled = distance if weights is None else distance * weights
    distance = ops.conj(distance) if distance.dtype in COMPLEX else distance
    result = ops.matmul(scaled, ops.t(distance)) / divisor
    return cast(ops.squeeze(result) if result.size == 1 else result, dtype)


def corrcoef(x: Array, y: Array | None = None, rowvar: bool = True, dtype: Dtype = None) -> Tensor:
    """The correlations of variables, which are the rows of a matrix (its columns without `rowvar`), and of those of `y`."""
    covariances = cov(x, y, rowvar)
    if covariances.ndim == 0:
        return cast(covariances / covariances, dtype)
    deviation = ops.sqrt(ops.diagonal(covariances))
    result = covariances / ops.expand_dims(deviation, 1) / ops.expand_dims(deviation, 0)
    return cast(ops.clamp(result, -1.0, 1.0), dtype)


__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "average",
    "corrcoef",
    "count_nonzero",
    "cov",
    "mean",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanstd",
    "nansum",
    "nanvar",
    "ptp",
    "std",
    "sum",
    "var",
]
check_functions(sys.modules[__name__], __all__)
