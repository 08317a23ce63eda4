"""Numbers in a row: ranges, spaces, powers and windows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count, Real
from mindspore.common._size import require_memory
from mindspore.numpy.dtypes import Dtype, float32, promoted
from mindspore.numpy.utils import Array, Operand, along, as_tensor, axis_of, cast, floating
from mindspore.ops.function.array_func import _number
from mindspore.ops.function.matrix_func import powers


def arange(
    start: Real | Tensor,
    stop: Real | Tensor | None = None,
    step: Real | Tensor | None = None,
    dtype: Dtype = None,
) -> Tensor:
    """Numbers from `start` up to, but without, `stop`; from 0 where that is all that is given. Int32 where all are ints, else
    Float32."""
    if stop is None:
        start, stop = 0, start
    given = [_number("arange", v) for v in (start, stop, 1 if step is None else step)]
    if dtype is None:
        dtype = promoted(*(as_tensor(v).dtype for v in given))
    return ops.arange(*given, dtype=dtype)


def _spaced(
    name: str,
    between: Callable[[Any, Any, Any], Any],
    start: Any,
    stop: Any,
    num: int,
    endpoint: bool,
    dtype: Any,
    axis: int,
) -> Tensor:
    """`between` of the ends and of shares in [0, 1], which lie along a new axis. Of numbers, in the precision of Python."""
    require_memory(name, num, 64)
    count = num - 1 if endpoint else num
    shares = np.arange(num) / max(count, 1)
    if not isinstance(start, Tensor) and not isinstance(stop, Tensor):
        with np.errstate(all="ignore"):  # infinities and nan are results
            return Tensor(between(start, stop, shares), float32 if dtype is None else dtype)
    first, last = (floating(as_tensor(v)) for v in (start, stop))
    kind = promoted(first.dtype, last.dtype)
    rank = max(first.ndim, last.ndim)
    weights = along(Tensor(shares, kind), 0, rank + 1)
    made = between(cast(first, kind), cast(last, kind), weights)
    place = axis_of(name, axis, rank + 1)
    return cast(ops.moveaxis(made, 0, place) if place else made, dtype)


def _linear(start: Any, stop: Any, share: Any) -> Any:
    return start * (1 - share) + stop * share


def linspace(
    start: Operand,
    stop: Operand,
    num: Count = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Dtype = None,
    axis: int = 0,
) -> Any:
    """`num` numbers of equal distances from `start` to `stop`, which is the last of them with `endpoint`; with `retstep` the
    distance, too."""
    made = _spaced("linspace", _linear, start, stop, num, endpoint, dtype, axis)
    if not retstep:
        return made
    count = num - 1 if endpoint else num
    return made, floating(as_tensor((stop - start) / count if count > 0 else float("nan")))


def logspace(
    start: Operand,
    stop: Operand,
    num: Count = 50,
    endpoint: bool = True,
    base: Real = 10.0,
    dtype: Dtype = None,
    axis: int = 0,
) -> Tensor:
    """Powers of a base whose exponents have equal distances."""

    def between(a: Any, b: Any, share: Any) -> Any:
        return float(base) ** _linear(a, b, share)

    return _spaced("logspace", between, start, stop, num, endpoint, dtype, axis)


def geomspace(
    start: Operand,
    stop: Operand,
    num: Count = 50,
    endpoint: bool = True,
    dtype: Dtype = None,
    axis: int = 0,
) -> Tensor:
    """Numbers from `start` to `stop`, each the one before times the same factor."""
    if any(not isinstance(v, Tensor) and v == 0 for v in (start, stop)):
        raise ValueError(f"For 'geomspace', no end may be 0, but got {start} and {stop}.")

    def between(a: Any, b: Any, share: Any) -> Any:
        return a * (b / a) ** share

    return _spaced("geomspace", between, start, stop, num, endpoint, dtype, axis)


def vander(x: Array, N: Count | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, one in each column: the highest first, or 0 first."""
    if x.ndim != 1:
        raise ValueError(f"For 'vander', 'x' must have one dimension, but got shape {x.shape}.")
    count = x.shape[0] if N is None else N
    columns = powers("vander", x, count)
    return columns if increasing else ops.flip(columns, (1,))


def _window(name: str, values: Callable[[int], np.ndarray]) -> Any:
    def function(M: int) -> Tensor:
        require_memory(name, max(M, 0), 64)  # what NumPy takes on the way
        return Tensor(values(M), float32)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {name.capitalize()} window of M points."
    return function


bartlett = _window("bartlett", np.bartlett)
blackman = _window("blackman", np.blackman)
hamming = _window("hamming", np.hamming)
hanning = _window("hanning", np.hanning)

__all__ = [
    "arange",
    "bartlett",
    "blackman",
    "geomspace",
    "hamming",
    "hanning",
    "linspace",
    "logspace",
    "vander",
]
check_functions(sys.modules[__name__], __all__)
