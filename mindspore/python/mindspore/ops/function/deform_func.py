"""Convolution whose windows are bent: each element is taken at an offset of its own, between pixels if need be."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Ints, PositiveInt
from mindspore.ops._bind import bound, raw
from mindspore.ops._windows import pads, sizes
from mindspore.ops.function import conv_func, math_func
from mindspore.ops.primitive import PythonPrimitive

_reshape, _transpose, _cast, _slice = raw("Reshape"), raw("Transpose"), raw("Cast"), raw("Slice")


def _spatial(owner: str, argument: str, value: Ints) -> tuple[int, ...]:
    """(vertical, horizontal) of one int, two, or four with a 1 for the batch and the channels."""
    if not isinstance(value, int) and len(value) == 4:
        if tuple(value[:2]) != (1, 1):
            raise ValueError(
                f"For '{owner}', '{argument}' must be 1 for the batch and the channels, but got {value}."
            )
        value = tuple(value)[2:]
    return sizes(owner, argument, value, 2, 1)


def _corner(flat: Tensor, y: Tensor, x: Tensor, height: int, width: int) -> Tensor:
    """Elements of images [n, groups, c, height * width] at whole positions [n, groups, m]; 0 outside."""
    row, column = math_func.clamp(y, 0, height - 1), math_func.clamp(x, 0, width - 1)
    inside = bound.logical_and(bound.equal(row, y), bound.equal(column, x))
    at = row * width + column
    at = _cast(raw("Select")(inside, at, raw("ZerosLike")(at)), dtype=_core.int32)
    n, groups, m = at.shape
    index = raw("BroadcastTo")(_reshape(at, shape=(n, groups, 1, m)), shape=(*flat.shape[:3], m))
    taken = raw("GatherD")(flat, index, dim=3)
    return taken * _reshape(_cast(inside, dtype=flat.dtype), shape=(n, groups, 1, m))


def _between(image: Tensor, y: Tensor, x: Tensor, groups: int) -> Tensor:
    """Elements of images [n, c, h, w] at positions [n, groups, m], linear between pixels: [n, groups, c / groups, m]."""
    n, c, height, width = image.shape
    flat = _reshape(image, shape=(n, groups, c // groups, height * width))
    top, left = bound.floor(y), bound.floor(x)
    down, right = y - top, x - left
    total: Any = None
    for row, vertical in ((top, 1 - down), (top + 1, down)):
        for column, horizontal in ((left, 1 - right), (left + 1, right)):
            share = _reshape(vertical * horizontal, shape=(n, groups, 1, -1))
            part = _corner(flat, row, column, height, width) * share
            total = part if total is None else total + part
    return total


def _places(out: int, kernel: int, stride: int, dilation: int, before: int) -> np.ndarray:
    """Where the elements of windows lie without offsets: [out, kernel]."""
    start = np.arange(out)[:, None] * stride - before
    return (start + np.arange(kernel)[None] * dilation).astype(np.float32)


def _bent(
    owner: str,
    x: Tensor,
    offsets: Tensor,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    modulated: bool,
) -> Tensor:
    """The elements of all windows: [n, c, out height * kernel height, out width * kernel width]."""
    if x.ndim != 4 or x.shape[1] % groups:
        raise ValueError(
            f"For '{owner}', 'x' must have 4 dimensions and a multiple of {groups} channels, "
            f"but got shape {x.shape}."
        )
    if x.dtype != offsets.dtype:
        raise TypeError(
            f"For '{owner}', 'x' and 'offsets' must have the same dtype, "
            f"but got {x.dtype} and {offsets.dtype}."
        )
    n, c, *space = x.shape
    out = [
        (size + pad[2 * i] + pad[2 * i + 1] - (kernel[i] - 1) * dilation[i] - 1) // stride[i] + 1
        for i, size in enumerate(space)
    ]
    parts = 3 if modulated else 2
    wanted = (n, parts * groups * kernel[0] * kernel[1], *out)
    if tuple(offsets.shape) != wanted:
        raise ValueError(
            f"For '{owner}', 'offsets' must have shape {wanted}, but got {tuple(offsets.shape)}."
        )
    # Part by part [n, groups, out height, kernel height, out width, kernel width].
    split = _reshape(offsets, shape=(n, parts, groups, *kernel, *out))
    split = _transpose(split, perm=(1, 0, 2, 5, 3, 6, 4))
    shape = tuple(split.shape[1:])

    def part(i: int) -> Tensor:
        return _reshape(_slice(split, begin=[i] + [0] * 6, size=[1, *shape]), shape=shape)

    def along(i: int, offset: Tensor) -> Tensor:
        grid = _places(out[i], kernel[i], stride[i], dilation[i], pad[2 * i])
        place = grid[:, :, None, None] if i == 0 else grid[None, None]
        return _reshape(offset + Tensor(place, offset.dtype), shape=(n, groups, -1))

    taken = _between(x, along(0, part(1)), along(1, part(0)), groups)
    if modulated:
        taken = taken * _reshape(part(2), shape=(n, groups, 1, -1))
    return _reshape(taken, shape=(n, c, out[0] * kernel[0], out[1] * kernel[1]))


class DeformableOffsets(PythonPrimitive):
    """The elements of windows whose places are moved by offsets: horizontal ones, vertical ones, and then factors."""

    def __init__(
        self,
        strides: Ints,
        pads: Ints,
        ksize: Ints,
        dilations: Ints = (1, 1, 1, 1),
        data_format: str = "NCHW",
        deformable_groups: PositiveInt = 1,
        modulated: bool = True,
    ) -> None:
        super().__init__(strides, pads, ksize, dilations, data_format, deformable_groups, modulated)

    def __call__(self, x: Tensor, offsets: Tensor) -> Tensor:
        name = self.name
        if self.data_format != "NCHW":
            raise ValueError(
                f"For '{name}', 'data_format' must be 'NCHW', but got {self.data_format!r}."
            )
        return _bent(
            name,
            x,
            offsets,
            sizes(name, "ksize", self.ksize, 2, 1),
            _spatial(name, "strides", self.strides),
            pads(name, self.pads, 2, "pads"),
            _spatial(name, "dilations", self.dilations),
            self.deformable_groups,
            self.modulated,
        )


def deformable_conv2d(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor,
    kernel_size: Ints,
    strides: Ints,
    padding: Ints,
    bias: Tensor | None = None,
    dilations: Ints = (1, 1, 1, 1),
    groups: PositiveInt = 1,
    deformable_groups: PositiveInt = 1,
    modulated: bool = True,
) -> Tensor:
    """Convolution of images with windows whose elements are moved by `offsets`: horizontal ones, vertical ones, and then
    factors where `modulated`."""
    owner = "deformable_conv2d"
    kernel = sizes(owner, "kernel_size", kernel_size, 2, 1)
    taken = _bent(
        owner,
        x,
        offsets,
        kernel,
        _spatial(owner, "strides", strides),
        pads(owner, padding, 2),
        _spatial(owner, "dilations", dilations),
        deformable_groups,
        modulated,
    )
    return conv_func.conv2d(taken, weight, bias, kernel, groups=groups)


CLASSES = {"DeformableOffsets": DeformableOffsets}
__all__ = ["deformable_conv2d"]
