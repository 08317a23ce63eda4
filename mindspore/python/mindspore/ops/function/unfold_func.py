"""Windows side by side, back into images, and what is built of them: patches, morphology."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common._kinds import Ints, Sizes
from mindspore.ops._bind import raw
from mindspore.ops._windows import pads, sizes
from mindspore.ops.function import array_func
from mindspore.ops.primitive import PythonPrimitive

_unfold, _fold = raw("Unfold"), raw("Fold")
_reshape, _transpose = raw("Reshape"), raw("Transpose")


def _windows(
    owner: str, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> dict[str, Any]:
    return {
        "kernel_size": sizes(owner, "kernel_size", kernel_size, 2, 1),
        "dilation": sizes(owner, "dilation", dilation, 2, 1),
        "pad": pads(owner, sizes(owner, "padding", padding, 2, 0), 2),
        "strides": sizes(owner, "stride", stride, 2, 1),
    }


def unfold(
    input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Tensor:
    """The windows of images [N, C, H, W] as columns: [N, C * elements of a window, windows]."""
    if input.ndim != 4:
        raise ValueError(
            f"For 'unfold', 'input' must have 4 dimensions, but got shape {input.shape}."
        )
    columns = _unfold(input, **_windows("unfold", kernel_size, dilation, padding, stride))
    n, c, taps, windows = columns.shape
    return _reshape(columns, shape=(n, c * taps, windows))


def _folded(owner: str, columns: Tensor, output_size: Sizes, windows: dict[str, Any]) -> Tensor:
    """Columns [N, C, elements of a window, windows] summed into images."""
    size = array_func._ints(owner, output_size)
    if len(size) != 2 or min(size) < 1:
        raise ValueError(f"For '{owner}', 'output_size' must hold 2 positive ints, but got {size}.")
    return _fold(columns, input_size=(*columns.shape[:2], *size), **windows)


def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Tensor:
    """Columns [N, C * elements of a window, windows] summed into images of `output_size`."""
    windows = _windows("fold", kernel_size, dilation, padding, stride)
    taps = math.prod(windows["kernel_size"])
    if input.ndim != 3 or input.shape[1] % taps:
        raise ValueError(
            f"For 'fold', 'input' must have 3 dimensions, the second one divisible by {taps}, "
            f"but got shape {input.shape}."
        )
    n, rows, count = input.shape
    columns = _reshape(input, shape=(n, rows // taps, taps, count))
    return _folded("fold", columns, output_size, windows)


def col2im(
    input_x: Tensor,
    output_size: Sizes,
    kernel_size: Ints,
    dilation: Ints,
    padding_value: Ints,
    stride: Ints,
) -> Tensor:
    """Columns [N, C, elements of a window, windows] summed into images of `output_size`."""
    return Col2Im(kernel_size, dilation, padding_value, stride)(input_x, output_size)


class Im2Col(PythonPrimitive):
    """The windows of images as columns: [N, C, elements of a window, windows]."""

    def __init__(
        self, ksizes: Ints, strides: Ints = 1, dilations: Ints = 1, pads: Ints = 0
    ) -> None:
        super().__init__(ksizes, strides, dilations, pads)

    def __call__(self, x: Tensor) -> Tensor:
        windows = _windows(self.name, self.ksizes, self.dilations, self.pads, self.strides)
        if x.ndim != 4:
            raise ValueError(
                f"For '{self.name}', 'x' must have 4 dimensions, but got shape {x.shape}."
            )
        return _unfold(x, **windows)


class Col2Im(PythonPrimitive):
    """Columns [N, C, elements of a window, windows] summed into images."""

    def __init__(
        self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)

    def __call__(self, x: Tensor, output_size: Sizes) -> Tensor:
        windows = _windows(self.name, self.kernel_size, self.dilation, self.padding, self.stride)
        taps = math.prod(windows["kernel_size"])
        if x.ndim != 4 or x.shape[2] != taps:
            raise ValueError(
                f"For '{self.name}', 'x' must have shape [N, C, {taps}, L], but got {x.shape}."
            )
        return _folded(self.name, x, output_size, windows)


def _inner(owner: str, argument: str, value: Sequence[int], rank: int, channels: int) -> Ints:
    """The spatial sizes of a list that has a 1 for the batch and one for the channels, at `channels`."""
    items = tuple(value)
    if len(items) != rank + 2 or items[0] != 1 or items[channels] != 1 or min(items) < 1:
        raise ValueError(
            f"For '{owner}', '{argument}' must hold {rank + 2} positive ints with a 1 for the batch "
            f"and one for the channels, but got {value}."
        )
    return items[1:-1] if channels == -1 else items[2:]


class ExtractImagePatches(PythonPrimitive):
    """Patches of images: [N, rows * columns of a patch * C, patches down, patches across]."""

    def __init__(
        self,
        ksizes: Sequence[int],
        strides: Sequence[int],
        rates: Sequence[int],
        padding: str = "VALID",
    ) -> None:
        super().__init__(ksizes, strides, rates, padding)

    def __call__(self, input_x: Tensor) -> Tensor:
        kernel, step, dilation = (
            _inner(self.name, argument, getattr(self, argument), 2, -1)
            for argument in ("ksizes", "strides", "rates")
        )
        return _patches(self.name, input_x, kernel, step, dilation, self.padding)


class ExtractVolumePatches(PythonPrimitive):
    """Patches of volumes: [N, elements of a patch * C, patches along each dimension]."""

    def __init__(self, kernel_size: Ints, strides: Ints, padding: str) -> None:
        super().__init__(kernel_size, strides, padding)

    def __call__(self, input_x: Tensor) -> Tensor:
        kernel, step = (
            (value,) * 3
            if isinstance(value, int)
            else tuple(value)
            if len(value) == 3
            else _inner(self.name, argument, value, 3, 1)
            for argument, value in (("kernel_size", self.kernel_size), ("strides", self.strides))
        )
        return _patches(self.name, input_x, kernel, step, 1, self.padding)


def _patches(owner: str, x: Tensor, kernel: Any, step: Any, dilation: Any, padding: str) -> Tensor:
    rank = len(kernel)
    if x.ndim != rank + 2:
        raise ValueError(
            f"For '{owner}', 'input_x' must have {rank + 2} dimensions, but got shape {x.shape}."
        )
    if not isinstance(padding, str) or padding.upper() not in ("SAME", "VALID"):
        raise ValueError(
            f"For '{owner}', 'padding' must be 'same' or 'valid', but got {padding!r}."
        )
    same = padding.upper() == "SAME"
    columns = _unfold(
        x, kernel_size=kernel, strides=step, dilation=dilation, pad_mode=padding.lower()
    )
    n, c, taps, _ = columns.shape
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, sizes(owner, "rates", dilation, rank)))
    out = tuple(
        -(-size // s) if same else (size - r) // s + 1
        for size, s, r in zip(x.shape[2:], step, reach)
    )
    return _reshape(_transpose(columns, perm=(0, 2, 1, 3)), shape=(n, taps * c, *out))


class Dilation2D(PythonPrimitive):
    """Grey dilation: the largest sum of a filter [C, rows, columns] and each window of images."""

    def __init__(
        self, stride: Ints, dilation: Ints, pad_mode: str = "SAME", data_format: str = "NCHW"
    ) -> None:
        super().__init__(stride, dilation, pad_mode, data_format)

    def __call__(self, x: Tensor, filter: Tensor) -> Tensor:
        name = self.name
        if x.ndim != 4 or filter.ndim != 3 or filter.shape[0] != x.shape[1]:
            raise ValueError(
                f"For '{name}', 'x' must have 4 dimensions and 'filter' 3, with as many channels, "
                f"but got shapes {x.shape} and {filter.shape}."
            )
        if self.data_format != "NCHW" or self.pad_mode.upper() not in ("SAME", "VALID"):
            raise ValueError(
                f"For '{name}', 'data_format' must be 'NCHW' and 'pad_mode' 'same' or 'valid', "
                f"but got {self.data_format!r} and {self.pad_mode!r}."
            )
        step, rate = (
            tuple(value)[2:]
            if isinstance(value, (tuple, list)) and len(value) == 4
            else sizes(name, argument, value, 2, 1)
            for argument, value in (("stride", self.stride), ("dilation", self.dilation))
        )
        kernel = filter.shape[1:]
        around = [0, 0, 0, 0]
        for size, k, s, d in zip(x.shape[2:], kernel, step, rate):
            total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
            around += (
                [total // 2, total - total // 2] if self.pad_mode.upper() == "SAME" else [0, 0]
            )
        # What lies outside is never the largest.
        padded = raw("Pad")(x, paddings=around, value=-np.inf) if any(around) else x
        columns = _unfold(padded, kernel_size=kernel, strides=step, dilation=rate)
        sums = columns + _reshape(filter, shape=(filter.shape[0], -1, 1))
        out = tuple(
            (size - (k - 1) * d - 1) // s + 1
            for size, k, s, d in zip(padded.shape[2:], kernel, step, rate)
        )
        return _reshape(raw("ReduceMax")(sums, axis=(2,)), shape=(*x.shape[:2], *out))


CLASSES = {
    c.__name__: c for c in (Col2Im, Dilation2D, ExtractImagePatches, ExtractVolumePatches, Im2Col)
}
__all__ = ["col2im", "fold", "unfold"]
METHODS = [col2im, fold, unfold]
