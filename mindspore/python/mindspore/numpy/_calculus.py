"""Running sums and products, differences, gradients and what lies between samples."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count, Ints, Real
from mindspore.numpy.dtypes import Dtype, bool_, int8, int16, int32, uint8, uint16
from mindspore.numpy.utils import (
    Array,
    Operand,
    along,
    as_tensor,
    axes_of,
    axis_of,
    cast,
    floating,
    is_floating,
    of_one_type,
    part,
)

_SMALL = (bool_, int8, int16, uint8, uint16)


# ---- running --------------------------------------------------------------------------------------------------------------
def _running(name: str, op: Callable, a: Tensor, axis: int | None, dtype: Any) -> Tensor:
    if axis is None:
        a, axis = ops.ravel(a), 0
    if dtype is None:
        dtype = int32 if a.dtype in _SMALL else a.dtype
    return op(cast(a, dtype), axis_of(name, axis, a.ndim), dtype)


def cumsum(a: Array, axis: int | None = None, dtype: Dtype = None) -> Tensor:
    """The running sum along an axis, or of the flattened array; of integers below 32 bits, as Int32."""
    return _running("cumsum", ops.cumsum, a, axis, dtype)


def cumprod(a: Array, axis: int | None = None, dtype: Dtype = None) -> Tensor:
    """The running product along an axis, or of the flattened array; of integers below 32 bits, as Int32."""
    return _running("cumprod", ops.cumprod, a, axis, dtype)


def nancumsum(a: Array, axis: int | None = None, dtype: Dtype = None) -> Tensor:
    """The running sum in which nan counts as zero."""
    return cumsum(ops.where(ops.isnan(a), 0.0, a) if is_floating(a) else a, axis, dtype)


# ---- differences ----------------------------------------------------------------------------------------------------------
def _beside(given: Any, x: Tensor, axis: int) -> Tensor:
    """Elements to put beside an array: a number stands for one of it everywhere."""
    added = as_tensor(given)
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return ops.broadcast_to(added, shape) if added.ndim == 0 else added


def diff(
    a: Array,
    n: Count = 1,
    axis: int = -1,
    prepend: Operand | None = None,
    append: Operand | None = None,
) -> Tensor:
    """The differences of neighbours along an axis, taken n times, with elements put before and behind it at first."""
    place = axis_of("diff", axis, a.ndim)
    parts = [a]
    if prepend is not None:
        parts.insert(0, _beside(prepend, a, place))
    if append is not None:
        parts.append(_beside(append, a, place))
    x = ops.concat(of_one_type(parts), place) if len(parts) > 1 else a
    return ops.diff(x, n, place)


def ediff1d(ary: Array, to_end: Array | None = None, to_begin: Array | None = None) -> Tensor:
    """The differences of neighbours of the flattened array, with elements before and behind them."""
    differences = diff(ops.ravel(ary))
    parts = [differences]
    if to_begin is not None:
        parts.insert(0, cast(ops.ravel(to_begin), ary.dtype))
    if to_end is not None:
        parts.append(cast(ops.ravel(to_end), ary.dtype))
    return ops.concat(parts, 0) if len(parts) > 1 else differences


def trapz(y: Array, x: Array | None = None, dx: Real = 1.0, axis: int = -1) -> Tensor:
    """The area under samples along an axis, of trapezoids: at points `x`, or at a distance of `dx`."""
    place = axis_of("trapz", axis, y.ndim)
    y = floating(y)
    if x is not None:
        y, x = of_one_type([y, floating(x)])
        if x.ndim == 1:
            steps: Any = along(diff(x), place, y.ndim)
        else:
            steps = diff(x, axis=axis)
    else:
        steps = dx
    n = y.shape[place]
    middle = (part(y, place, 1, n) + part(y, place, 0, n - 1)) / 2
    return ops.sum(middle * steps, place)


def gradient(f: Array, *varargs: Operand, axis: Ints | None = None, edge_order: int = 1) -> Any:
    """The slopes along each of the axes, a list of them where these are several: in the middle of the two neighbours, at the
    edges to the only one (of `edge_order` 2 by a parabola). The distances are 1, a number for all axes, or one number or vector
    of coordinates for each."""
    axes = axes_of("gradient", axis, f.ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise ValueError(
            f"For 'gradient', there must be no distance, one, or {len(axes)}, but got {len(varargs)}."
        )
    if edge_order not in (1, 2):
        raise ValueError(f"For 'gradient', 'edge_order' must be 1 or 2, but got {edge_order}.")
    spaces = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    f = floating(f)
    slopes = [_slope(f, a, s, edge_order) for a, s in zip(axes, spaces)]
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(f: Tensor, axis: int, space: Any, edge_order: int) -> Tensor:
    n = f.shape[axis]
    if n <= edge_order:
        raise ValueError(
            f"For 'gradient', an axis must have {edge_order + 1} elements at least, but got {n}."
        )
    if not isinstance(space, Tensor) or space.ndim == 0:
        h = space
    elif tuple(space.shape) == (n,):
        h = along(cast(diff(space), f.dtype), axis, f.ndim)
    else:
        raise ValueError(
            f"For 'gradient', the coordinates of an axis must be {n}, but got shape {space.shape}."
        )
    rises = diff(f, axis=axis) / h
    first, last = part(rises, axis, 0, 1), part(rises, axis, n - 2, n - 1)
    if n == 2:
        return ops.concat((first, last), axis)
    if h is space:
        inner = (part(f, axis, 2, n) - part(f, axis, 0, n - 2)) / (2 * h)
    else:
        before, after = part(h, axis, 0, n - 2), part(h, axis, 1, n - 1)
        left, right = part(rises, axis, 0, n - 2), part(rises, axis, 1, n - 1)
        inner = (left * after + right * before) / (before + after)
    if edge_order == 2:
        first = 2 * first - part(inner, axis, 0, 1)
        last = 2 * last - part(inner, axis, n - 3, n - 2)
    return ops.concat((first, inner, last), axis)


def unwrap(p: Array, discont: Real = math.pi, axis: int = -1) -> Tensor:
    """Angles in which steps beyond `discont` are replaced by those that differ from them by a multiple of 2 pi."""
    p = floating(p)
    place = axis_of("unwrap", axis, p.ndim)
    steps = diff(p, axis=place)
    wrapped = ops.floor_mod(steps + math.pi, 2 * math.pi) - math.pi
    wrapped = ops.where(ops.logical_and(wrapped == -math.pi, steps > 0), math.pi, wrapped)
    change = ops.where(ops.abs(steps) < discont, 0.0, wrapped - steps)
    n = p.shape[place]
    return ops.concat(
        (part(p, place, 0, 1), part(p, place, 1, n) + ops.cumsum(change, place)), place
    )


def interp(
    x: Array, xp: Array, fp: Array, left: Operand | None = None, right: Operand | None = None
) -> Tensor:
    """The values at `x` of the straight lines through the points (xp, fp), `xp` being sorted; below and above these, `left` and
    `right`, by default the first and the last value."""
    if xp.ndim != 1 or xp.shape != fp.shape or xp.shape[0] == 0:
        raise ValueError(
            f"For 'interp', 'xp' and 'fp' must be vectors of one size, but got shapes {xp.shape} and {fp.shape}."
        )
    x, xp, fp = of_one_type([floating(x), floating(xp), floating(fp)])
    n = xp.shape[0]
    flat = ops.ravel(x)
    after = ops.clamp(xp.searchsorted(flat, "right"), 1, max(n - 1, 1)) if n > 1 else None
    if after is None:
        result = ops.broadcast_to(fp, flat.shape)
    else:
        x0, x1, y0, y1 = (ops.gather(v, i, 0) for v in (xp, fp) for i in (after - 1, after))
        width = ops.where(x1 == x0, 1.0, x1 - x0)
        result = y0 + (y1 - y0) * (flat - x0) / width
    low = fp[0] if left is None else cast(as_tensor(left), fp.dtype)
    high = fp[n - 1] if right is None else cast(as_tensor(right), fp.dtype)
    result = ops.where(flat < xp[0], low, ops.where(flat > xp[n - 1], high, result))
    return ops.reshape(result, x.shape)


__all__ = [
    "cumprod",
    "cumsum",
    "diff",
    "ediff1d",
    "gradient",
    "interp",
    "nancumsum",
    "trapz",
    "unwrap",
]
check_functions(sys.modules[__name__], __all__)
