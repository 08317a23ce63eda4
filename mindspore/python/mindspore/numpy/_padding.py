"""`pad`: elements around an array, axis by axis. Those that are copies are gathered, by the positions that NumPy's pad makes of
0, 1, 2, ..."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Real
from mindspore.common._size import require_memory
from mindspore.numpy._applied import apply_along_axis
from mindspore.numpy.utils import Array, along, cast, floating, is_floating, part
from mindspore.ops._bind import raw

_pad = raw("Pad")


def _pairs(argument: str, given: Any, rank: int) -> list[tuple[Any, Any]]:
    """(before, after) of each axis, of a number, one pair, or a pair for each axis."""
    try:
        pairs = np.broadcast_to(np.array(given), (rank, 2)).tolist()
    except ValueError:
        raise ValueError(
            f"For 'pad', '{argument}' must be a number, a pair, or a pair for each of {rank} axes, but got {given}."
        ) from None
    return [(a, b) for a, b in pairs]


def _filled(x: Tensor, axis: int, counts: tuple, values: tuple) -> Tensor:
    """Values (numbers, or tensors with one element along the axis) before and behind an axis."""
    parts = [_block(x, axis, counts[0], values[0]), x, _block(x, axis, counts[1], values[1])]
    return ops.concat(parts, axis)


def _block(x: Tensor, axis: int, count: int, value: Any) -> Tensor:
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    if isinstance(value, Tensor):
        return ops.broadcast_to(value, shape)
    return ops.full(shape, value, dtype=x.dtype)


def _constant(x: Tensor, axis: int, counts: tuple, options: dict) -> Tensor:
    return _filled(x, axis, counts, options["constant_values"][axis])


def _copied(x: Tensor, axis: int, counts: tuple, options: dict) -> Tensor:
    n, mode = x.shape[axis], options["mode"]
    if n == 0:
        raise ValueError(
            f"For 'pad', no axis may be empty in mode {mode!r}, but got shape {x.shape}."
        )
    require_memory("pad", n + sum(counts), 32)
    if mode in ("reflect", "symmetric") and options["reflect_type"] == "odd" and n > 1:
        return _mirrored(x, axis, counts, int(mode == "reflect"))
    return ops.gather(x, Tensor(np.pad(np.arange(n), counts, mode)), axis)


def _mirrored(x: Tensor, axis: int, counts: tuple, skipped: int) -> Tensor:
    """Twice the edge less what lies behind it, mirrored; one period after the other."""
    period = x.shape[axis] - skipped
    left, right = counts
    while left or right:
        n = x.shape[axis]
        b, a = min(left, period), min(right, period)
        before = ops.flip(part(x, axis, skipped, skipped + b), (axis,))
        after = ops.flip(part(x, axis, n - skipped - a, n - skipped), (axis,))
        edges = 2 * part(x, axis, 0, 1), 2 * part(x, axis, n - 1, n)
        x = ops.concat((edges[0] - before, x, edges[1] - after), axis)
        left, right = left - b, right - a
    return x


def _ramp(x: Tensor, axis: int, counts: tuple, options: dict) -> Tensor:
    """Straight lines from the edges to the end values."""
    n, lines = x.shape[axis], []
    for side, count in enumerate(counts):
        edge = floating(part(x, axis, side * (n - 1), side * (n - 1) + 1))
        share = (np.arange(count) / max(count, 1))[:: -1 if side else 1]
        weight = along(Tensor(share.copy(), edge.dtype), axis, x.ndim)
        line = options["end_values"][axis][side] * (1 - weight) + edge * weight
        lines.append(cast(line if is_floating(x) else ops.floor(line), x.dtype))
    return ops.concat((lines[0], x, lines[1]), axis)


def _median(x: Tensor, axis: int) -> Tensor:
    ordered, n = ops.sort(floating(x), axis)[0], x.shape[axis]
    middle = [part(ordered, axis, i, i + 1) for i in ((n - 1) // 2, n // 2)]
    return (middle[0] + middle[1]) / 2


_STATISTICS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "maximum": lambda x, axis: ops.amax(x, axis, True),
    "minimum": lambda x, axis: ops.amin(x, axis, True),
    "mean": lambda x, axis: ops.mean(floating(x), axis, True),
    "median": _median,
}


def _statistic(x: Tensor, axis: int, counts: tuple, options: dict) -> Tensor:
    """A statistic of the elements next to each edge, or of all of them."""
    n, found = x.shape[axis], []
    for side, length in enumerate(options["stat_length"][axis]):
        k = n if length is None else min(int(length), n)
        value = _STATISTICS[options["mode"]](
            part(x, axis, side * (n - k), side * (n - k) + k), axis
        )
        exact = value if is_floating(x) or not is_floating(value) else ops.round(value)
        found.append(cast(exact, x.dtype))
    return _filled(x, axis, counts, tuple(found))


def _empty(x: Tensor, axis: int, counts: tuple, options: dict) -> Tensor:
    return _filled(x, axis, counts, (0, 0))


_MODES: dict[str, Callable[[Tensor, int, tuple, dict], Tensor]] = {
    "constant": _constant,
    **dict.fromkeys(("edge", "reflect", "symmetric", "wrap"), _copied),
    "linear_ramp": _ramp,
    **dict.fromkeys(_STATISTICS, _statistic),
    "empty": _empty,
}
_Mode: TypeAlias = Literal[
    "constant",
    "edge",
    "reflect",
    "symmetric",
    "wrap",
    "linear_ramp",
    "maximum",
    "minimum",
    "mean",
    "median",
    "empty",
]
_Values: TypeAlias = Real | Sequence[Any]


def pad(
    arr: Array,
    pad_width: int | Sequence[Any],
    mode: _Mode | Callable = "constant",
    stat_length: int | Sequence[Any] | None = None,
    constant_values: _Values = 0,
    end_values: _Values = 0,
    reflect_type: Literal["even", "odd"] = "even",
    **kwargs: Any,
) -> Tensor:
    """The array with elements around it: `pad_width` of them on all sides, or (before, after), or such a pair for each axis. A
    function as the mode gets each vector along an axis, the pair, the axis and `kwargs`, and gives the vector to use."""
    rank = arr.ndim
    widths = _pairs("pad_width", pad_width, rank)
    for pair in widths:
        if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in pair):
            raise ValueError(
                f"For 'pad', 'pad_width' must hold ints that are not negative, but got {pad_width}."
            )
    if callable(mode):
        padded = _pad(arr, paddings=[n for pair in widths for n in pair])
        for axis, pair in enumerate(widths):
            padded = apply_along_axis(mode, axis, padded, pair, axis, kwargs)
        return padded
    options = {
        "mode": mode,
        "reflect_type": reflect_type,
        "constant_values": _pairs("constant_values", constant_values, rank),
        "end_values": _pairs("end_values", end_values, rank),
        "stat_length": _pairs("stat_length", stat_length, rank),
    }
    for axis, pair in enumerate(widths):
        if any(pair):
            arr = _MODES[mode](arr, axis, pair, options)
    return arr


__all__ = ["pad"]
check_functions(sys.modules[__name__], __all__)
