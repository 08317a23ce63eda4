"""Pooling over sequences, images and volumes by fixed and by adaptive windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import Ints, Real
from mindspore.common._size import require_memory
from mindspore.ops._bind import bound, raw
from mindspore.ops._windows import images, lead, pads, restored, sizes

_MAX = {2: raw("MaxPool"), 3: raw("MaxPool3D")}
_MAX_INDEXED = {2: raw("MaxPoolWithArgmax"), 3: raw("MaxPool3DWithArgmax")}
_AVG = {2: raw("AvgPool"), 3: raw("AvgPool3D")}
_ADAPTIVE_AVG = {2: raw("AdaptiveAvgPool2D"), 3: raw("AdaptiveAvgPool3D")}
_ADAPTIVE_MAX = {2: raw("AdaptiveMaxPool2D"), 3: raw("AdaptiveMaxPool3D")}
_cast = raw("Cast")

_BYTES_OF_WINDOW = 64  # its share of the result, and where it lies

OutputSize = int | Sequence[int | None] | None


def _windows(
    owner: str, rank: int, kernel_size: Ints, stride: Ints | None, padding: Ints, ceil_mode: bool
) -> dict[str, Any]:
    """The attributes of the ops. Those of sequences have sizes of height 1 in front."""
    kernel = sizes(owner, "kernel_size", kernel_size, rank)
    step = kernel if stride is None else sizes(owner, "stride", stride, rank)
    return {
        "kernel_size": lead(rank, 1) + kernel,
        "strides": lead(rank, 1) + step,
        "pad_mode": "pad",
        "pad": lead(rank, 0) * 2 + pads(owner, padding, rank),
        "ceil_mode": ceil_mode,
    }


# ---- maximum -------------------------------------------------------------------------------------
def _max_pool(
    rank: int,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    owner = f"max_pool{rank}d"
    windows = _windows(owner, rank, kernel_size, stride, padding, ceil_mode)
    windows["dilation"] = sizes(owner, "dilation", dilation, rank)
    batch = images(owner, x, rank)
    if not return_indices:
        return restored(x, _MAX[rank](batch, **windows), rank)
    values, positions = restored(x, _MAX_INDEXED[rank](batch, **windows), rank)
    return values, _cast(positions, dtype=_core.int64)


def max_pool2d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window, with its position in the plane when asked for."""
    return _max_pool(2, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window, with its position in the volume when asked for."""
    return _max_pool(3, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


# ---- mean ----------------------------------------------------------------------------------------
def _avg_pool(
    rank: int,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int,
) -> Tensor:
    owner = f"avg_pool{rank}d"
    y = _AVG[max(rank, 2)](
        images(owner, x, rank),
        **_windows(owner, rank, kernel_size, stride, padding, ceil_mode),
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )
    return restored(x, y, rank)


def avg_pool1d(
    input_x: Tensor,
    kernel_size: Ints = 1,
    stride: Ints = 1,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of sequences."""
    return _avg_pool(1, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, 0)


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Ints = 1,
    stride: Ints = 1,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """The mean of each window of images."""
    return _avg_pool(
        2, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input_x: Tensor,
    kernel_size: Ints = 1,
    stride: Ints = 1,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """The mean of each window of volumes."""
    return _avg_pool(
        3, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


# ---- power mean ----------------------------------------------------------------------------------
def _lp_pool(
    rank: int, x: Tensor, norm_type: Real, kernel_size: Ints, stride: Ints | None, ceil_mode: bool
) -> Tensor:
    owner = f"lp_pool{rank}d"
    if norm_type == 0:
        raise ValueError(f"For '{owner}', 'norm_type' must not be 0.")
    windows = _windows(owner, rank, kernel_size, stride, 0, ceil_mode)
    batch = images(owner, x, rank)
    if math.isinf(norm_type):
        return restored(x, _MAX[2](batch, **windows), rank)
    batch = wide(batch)
    powers = batch if norm_type == 1 else bound.pow(batch, norm_type)
    # A window that reaches over the end counts as much as a whole one.
    total = _AVG[2](powers, **windows) * math.prod(windows["kernel_size"])
    mean = total if norm_type == 1 else bound.pow(total, 1.0 / norm_type)
    return restored(x, rounded(mean, x), rank)


def lp_pool1d(
    x: Tensor,
    norm_type: Real,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The sum of powers of each window of sequences, to one over that power: `sum(x ** p) ** (1 / p)`."""
    return _lp_pool(1, x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    x: Tensor,
    norm_type: Real,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The sum of powers of each window of images, to one over that power: `sum(x ** p) ** (1 / p)`."""
    return _lp_pool(2, x, norm_type, kernel_size, stride, ceil_mode)


# ---- adaptive ------------------------------------------------------------------------------------
def grid(owner: str, output_size: Any) -> Any:
    """The size of a grid as the ops take it: -1 for None, which keeps a size of the input."""
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,)
    if not all(s is None or (isinstance(s, int) and not isinstance(s, bool)) for s in given):
        raise TypeError(
            f"For '{owner}', 'output_size' must be an int, None, or a tuple of them, but got {output_size!r}."
        )
    require_memory(owner, math.prod(abs(s) for s in given if isinstance(s, int)), _BYTES_OF_WINDOW)
    if output_size is None:
        return -1
    return (
        output_size
        if isinstance(output_size, int)
        else tuple(-1 if s is None else s for s in output_size)
    )


def _adaptive_max(
    owner: str, rank: int, x: Tensor, output_size: Any, return_indices: bool, index_type: Any
) -> Any:
    both = _ADAPTIVE_MAX[max(rank, 2)](
        x if rank > 1 else images(owner, x, 1), output_size=_line(owner, rank, output_size)
    )
    values, positions = restored(x, both, 1) if rank == 1 else both
    return (values, _cast(positions, dtype=index_type)) if return_indices else values


def _line(owner: str, rank: int, output_size: Any) -> Any:
    """The size of a grid of images, also for sequences."""
    if rank > 1:
        return grid(owner, output_size)
    return grid(owner, (1, *sizes(owner, "output_size", output_size, 1, 1)))


def adaptive_avg_pool1d(input: Tensor, output_size: Ints) -> Tensor:
    """Means over `output_size` windows of sequences."""
    owner = "adaptive_avg_pool1d"
    y = _ADAPTIVE_AVG[2](images(owner, input, 1), output_size=_line(owner, 1, output_size))
    return restored(input, y, 1)


def adaptive_avg_pool2d(input: Tensor, output_size: OutputSize) -> Tensor:
    """Means over a grid of `output_size` windows; None keeps a size of the input."""
    return _ADAPTIVE_AVG[2](input, output_size=grid("adaptive_avg_pool2d", output_size))


def adaptive_avg_pool3d(input: Tensor, output_size: OutputSize) -> Tensor:
    """Means over a grid of `output_size` windows of volumes; None keeps a size of the input."""
    return _ADAPTIVE_AVG[3](input, output_size=grid("adaptive_avg_pool3d", output_size))


def adaptive_max_pool1d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements over `output_size` windows of sequences, with their positions when asked for."""
    return _adaptive_max("adaptive_max_pool1d", 1, input, output_size, return_indices, _core.int64)


def adaptive_max_pool2d(
    input: Tensor, output_size: OutputSize, return_indices: bool = False
) -> Any:
    """The largest elements over a grid of `output_size` windows, with their positions in the plane when asked for."""
    return _adaptive_max("adaptive_max_pool2d", 2, input, output_size, return_indices, _core.int64)


def adaptive_max_pool3d(
    input: Tensor, output_size: OutputSize, return_indices: bool = False
) -> Any:
    """The largest elements over a grid of `output_size` windows, with their positions in the volume when asked for."""
    return _adaptive_max("adaptive_max_pool3d", 3, input, output_size, return_indices, _core.int32)


__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "max_pool2d",
    "max_pool3d",
]
