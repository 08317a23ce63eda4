"""Poolings whose windows are data: the inverse of a maximum, by its positions, and maxima over windows at random places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Ints
from mindspore.ops._bind import bound, raw
from mindspore.ops._windows import sizes
from mindspore.ops.function import math_func, random_func

_reshape, _fill, _gather, _cast = raw("Reshape"), raw("Fill"), raw("GatherD"), raw("Cast")
_scatter, _broadcast_to = raw("TensorScatterElements"), raw("BroadcastTo")


# ---- inverse of a maximum ------------------------------------------------------------------------
def unpooled(owner: str, x: Tensor, indices: Tensor, size: tuple[int, ...]) -> Tensor:
    """Zeros of spatial sizes `size` with the elements of x at positions in each image."""
    rank = len(size)
    if tuple(indices.shape) != tuple(x.shape):
        raise ValueError(
            f"For '{owner}', 'indices' must have the shape of 'x', {tuple(x.shape)}, "
            f"but got {tuple(indices.shape)}."
        )
    before = x.shape[: x.ndim - rank]
    flat = (*before, math.prod(x.shape[x.ndim - rank :]))
    zeros = _fill(dtype=x.dtype, shape=(*before, math.prod(size)), value=0)
    y = _scatter(zeros, _reshape(indices, shape=flat), _reshape(x, shape=flat), axis=-1)
    return _reshape(y, shape=(*before, *size))


def _max_unpool(
    rank: int,
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    output_size: Sequence[int] | None,
) -> Tensor:
    owner = f"max_unpool{rank}d"
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(
            f"For '{owner}', 'x' must have {rank + 1} or {rank + 2} dimensions, "
            f"but got shape {tuple(x.shape)}."
        )
    kernel = sizes(owner, "kernel_size", kernel_size, rank, 1)
    step = kernel if stride in (None, 0) else sizes(owner, "stride", stride, rank, 1)  # type: ignore[arg-type]
    pad = sizes(owner, "padding", padding, rank, 0)
    usual = tuple(
        (n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[x.ndim - rank :], step, pad, kernel)
    )
    size = usual
    if output_size:
        given = tuple(output_size)
        if len(given) not in (rank, x.ndim) or given[:-rank] != tuple(x.shape[: len(given) - rank]):
            raise ValueError(
                f"For '{owner}', 'output_size' must hold {rank} sizes, or all, but got {given} "
                f"for shape {tuple(x.shape)}."
            )
        size = given[-rank:]
        if any(not u - s < n < u + s for n, u, s in zip(size, usual, step)):
            raise ValueError(
                f"For '{owner}', 'output_size' must be within a stride of {usual}, but got {size}."
            )
    if min(size) < 1:
        raise ValueError(
            f"For '{owner}', the output must not be empty, but its size would be {size}."
        )
    return unpooled(owner, x, indices, size)


def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the elements of sequences where a max_pool1d has found them."""
    return _max_unpool(1, x, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the elements of images where a max_pool2d has found them."""
    return _max_unpool(2, x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the elements of volumes where a max_pool3d has found them."""
    return _max_unpool(3, x, indices, kernel_size, stride, padding, output_size)


# ---- windows at random places --------------------------------------------------------------------
def _starts(samples: Tensor, size: int, out: int, kernel: int) -> Tensor:
    """Where `out` windows begin, [..., out], from one random number each [..., 1]."""
    room = size - kernel
    if out == 1:
        return _cast(raw("ZerosLike")(samples), dtype=_core.int32) + room
    step = Tensor(np.float32(room) / np.float32(out - 1), _core.float32)
    numbers = Tensor(np.arange(out, dtype=np.float32))
    floors = bound.floor((numbers + samples) * step) - bound.floor(samples * step)
    starts = math_func.clamp(_cast(floors, dtype=_core.int32), 0, room)
    last = Tensor(np.arange(out) == out - 1)
    return raw("Select")(last, raw("ZerosLike")(starts) + room, starts)


def fractional_positions(
    samples: Tensor, image: Sequence[int], out: Sequence[int], kernel: Sequence[int]
) -> Tensor:
    """Positions in the image of the elements of windows, [n, c, windows, elements of a window]."""
    rank = len(image)
    shape = samples.shape[:2]
    total: Any = None
    for i, (size, windows, k) in enumerate(zip(image, out, kernel)):
        sample = raw("Slice")(samples, begin=(0, 0, i), size=(*shape, 1))
        starts = _reshape(_starts(sample, size, windows, k), shape=(*shape, windows, 1))
        along = starts + Tensor(np.arange(k, dtype=np.int32))  # [n, c, windows, k]
        place = [1] * (2 * rank)
        place[i], place[rank + i] = windows, k
        along = _reshape(along, shape=(*shape, *place))
        total = along if total is None else total * size + along
    full = (*shape, *out, *kernel)
    return _reshape(
        _broadcast_to(total, shape=full), shape=(*shape, math.prod(out), math.prod(kernel))
    )


def fractional_max(
    owner: str, x: Tensor, samples: Tensor, kernel: Sequence[int], out: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows of [n, c, ...] that `samples` [n, c, dimensions] place, and their positions."""
    image = x.shape[2:]
    if any(k > n or o < 1 or n - k + 1 < o for n, k, o in zip(image, kernel, out)):
        raise ValueError(
            f"For '{owner}', the output must fit in the image, but got a kernel of {tuple(kernel)} "
            f"and an output of {tuple(out)} for shape {tuple(x.shape)}."
        )
    if tuple(samples.shape) != (*x.shape[:2], len(image)):
        raise ValueError(
            f"For '{owner}', the random samples must have shape {(*x.shape[:2], len(image))}, "
            f"but got {tuple(samples.shape)}."
        )
    if not samples.is_floating_point():
        raise TypeError(
            f"For '{owner}', the random samples must be floats, but got {samples.dtype}."
        )
    samples = _cast(samples, dtype=_core.float32)
    positions = fractional_positions(samples, image, out, kernel)
    flat = _reshape(x, shape=(*x.shape[:2], -1))
    lines = _reshape(positions, shape=(*x.shape[:2], -1))
    windows = _reshape(_gather(flat, lines, dim=2), shape=positions.shape)
    best = _reshape(raw("Argmax")(windows, axis=-1), shape=(*positions.shape[:3], 1))
    shape = (*x.shape[:2], *out)
    values = _reshape(_gather(windows, best, dim=3), shape=shape)
    return values, _reshape(_gather(positions, best, dim=3), shape=shape)


def _fractional_max_pool(
    rank: int,
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None,
    output_ratio: float | Sequence[float] | None,
    return_indices: bool,
    samples: Tensor | None,
) -> Any:
    owner = f"fractional_max_pool{rank}d"
    if input.ndim not in (rank + 1, rank + 2):
        raise ValueError(
            f"For '{owner}', 'input' must have {rank + 1} or {rank + 2} dimensions, "
            f"but got shape {tuple(input.shape)}."
        )
    if (output_size is None) == (output_ratio is None):
        raise ValueError(
            f"For '{owner}', one of 'output_size' and 'output_ratio' must be given, "
            f"but got {output_size} and {output_ratio}."
        )
    x = input if input.ndim == rank + 2 else _reshape(input, shape=(1, *input.shape))
    kernel = sizes(owner, "kernel_size", kernel_size, rank, 1)
    if output_ratio is not None:
        ratios = (output_ratio,) * rank if isinstance(output_ratio, float) else tuple(output_ratio)
        if len(ratios) != rank or not all(0 < r < 1 for r in ratios):
            raise ValueError(
                f"For '{owner}', 'output_ratio' must hold {rank} numbers in (0, 1), "
                f"but got {output_ratio}."
            )
        out = tuple(int(n * r) for n, r in zip(x.shape[2:], ratios))
    else:
        out = sizes(owner, "output_size", output_size, rank, 1)  # type: ignore[arg-type]
    if samples is None:
        samples = random_func.rand(*x.shape[:2], rank, dtype=_core.float32)
    elif rank == 2:
        samples = _across(samples)
    values, positions = fractional_max(owner, x, samples, kernel, out)
    if input.ndim == rank + 1:
        values = _reshape(values, shape=values.shape[1:])
        positions = _reshape(positions, shape=positions.shape[1:])
    return (values, _cast(positions, dtype=_core.int64)) if return_indices else values


def _across(samples: Tensor) -> Tensor:
    """Samples of the height and the width from those of images, which are (width, height)."""
    return raw("ReverseV2")(samples, axis=(samples.ndim - 1,))


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements over windows of images whose places are random, with their positions when asked for."""
    return _fractional_max_pool(
        2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements over windows of volumes whose places are random, with their positions when asked for."""
    return _fractional_max_pool(
        3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]
