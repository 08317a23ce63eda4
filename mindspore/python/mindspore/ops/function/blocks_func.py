"""Elements moved between channels, batch and space, and at the borders: views of other shapes, transposed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Ints, PositiveInt, Sizes
from mindspore.ops._bind import raw
from mindspore.ops.function import array_func, nn_func
from mindspore.ops.primitive import PythonPrimitive

Pairs: TypeAlias = Sequence[Sequence[int]] | Tensor

_reshape, _transpose, _pad, _slice = raw("Reshape"), raw("Transpose"), raw("Pad"), raw("Slice")


# ---- channels ------------------------------------------------------------------------------------
def channel_shuffle(x: Tensor, groups: PositiveInt) -> Tensor:
    """The channels [N, C, ...] of `groups` groups in turn: the first of each, then the second, ..."""
    return _shuffled("channel_shuffle", x, groups)


def _shuffled(owner: str, x: Tensor, groups: int) -> Tensor:
    if x.ndim < 4 or x.shape[1] % groups:
        raise ValueError(
            f"For '{owner}', 'x' must have more than 3 dimensions and a multiple of {groups} "
            f"channels, but got shape {x.shape}."
        )
    n, c, *space = x.shape
    split = _reshape(x, shape=(n, groups, c // groups, math.prod(space)))
    return _reshape(_transpose(split, perm=(0, 2, 1, 3)), shape=x.shape)


def _image(owner: str, x: Tensor) -> tuple[tuple[int, ...], int, int, int]:
    """What is before the channels, and the sizes of the image."""
    if x.ndim < 3:
        raise ValueError(
            f"For '{owner}', 'input' must have at least 3 dimensions, but got shape {x.shape}."
        )
    *before, c, h, w = x.shape
    return tuple(before), c, h, w


def pixel_shuffle(input: Tensor, upscale_factor: PositiveInt) -> Tensor:
    """[..., C * r * r, H, W] to [..., C, H * r, W * r]."""
    before, c, h, w = _image("pixel_shuffle", input)
    r, n = upscale_factor, len(before)
    if c % (r * r):
        raise ValueError(
            f"For 'pixel_shuffle', the channels must be divisible by {r * r}, but got {c}."
        )
    split = _reshape(input, shape=(*before, c // (r * r), r, r, h, w))
    moved = _transpose(split, perm=(*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return _reshape(moved, shape=(*before, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: PositiveInt) -> Tensor:
    """[..., C, H * r, W * r] to [..., C * r * r, H, W]."""
    before, c, h, w = _image("pixel_unshuffle", input)
    r, n = downscale_factor, len(before)
    if h % r or w % r:
        raise ValueError(
            f"For 'pixel_unshuffle', the image must be divisible by {r}, but got {h} and {w}."
        )
    split = _reshape(input, shape=(*before, c, h // r, r, w // r, r))
    moved = _transpose(split, perm=(*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return _reshape(moved, shape=(*before, c * r * r, h // r, w // r))


class ChannelShuffle(PythonPrimitive):
    """The channels of groups in turn: the first of each, then the second, ..."""

    def __init__(self, group: PositiveInt) -> None:
        super().__init__(group)

    def __call__(self, x: Tensor) -> Tensor:
        return _shuffled(self.name, x, self.group)


def _pairs(owner: str, value: Any) -> Sequence[Sequence[int]]:
    """Pairs of ints, also those of a tensor whose values are known."""
    if not isinstance(value, Tensor):
        return value
    if value.ndim != 2:
        raise ValueError(
            f"For '{owner}', a tensor of pairs must have 2 dimensions, but got shape {value.shape}."
        )
    return value.asnumpy().tolist()


# ---- batch ---------------------------------------------------------------------------------------
def _blocks(
    owner: str, rank: int, block: Any, borders: Any, what: str
) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
    """Block sizes of the last dimensions, and what is added or cut before and after each."""
    borders = _pairs(owner, borders)
    sizes = array_func._ints(owner, block)
    pairs = [tuple(array_func._ints(owner, pair)) for pair in borders]
    if isinstance(block, int):
        sizes = sizes * len(pairs)
    fits = len(sizes) == len(pairs) and 0 < len(pairs) < rank
    if not fits or min(sizes) < 1 or any(len(p) != 2 or min(p) < 0 for p in pairs):
        raise ValueError(
            f"For '{owner}', there must be a positive block size and two {what} that are not "
            f"negative for each of the last dimensions, but got {block} and {borders} for {rank} "
            "dimensions."
        )
    return sizes, [(p[0], p[1]) for p in pairs]


def _space_to_batch(owner: str, x: Tensor, block: Any, paddings: Any) -> Tensor:
    sizes, pairs = _blocks(owner, x.ndim, block, paddings, "paddings")
    kept = x.ndim - len(sizes)
    if any(a or b for a, b in pairs):
        x = _pad(x, paddings=[0, 0] * kept + [p for pair in pairs for p in pair])
    space = x.shape[kept:]
    if any(n % b for n, b in zip(space, sizes)):
        raise ValueError(
            f"For '{owner}', the padded sizes must be divisible by the blocks, "
            f"but got {tuple(space)} and {sizes}."
        )
    split = [part for n, b in zip(space, sizes) for part in (n // b, b)]
    blocks = range(kept + 1, kept + len(split), 2)
    rest = range(kept, kept + len(split), 2)
    y = _transpose(
        _reshape(x, shape=(*x.shape[:kept], *split)), perm=(*blocks, *range(kept), *rest)
    )
    batch = x.shape[0] * math.prod(sizes)
    return _reshape(y, shape=(batch, *x.shape[1:kept], *(n // b for n, b in zip(space, sizes))))


def _batch_to_space(owner: str, x: Tensor, block: Any, crops: Any) -> Tensor:
    sizes, pairs = _blocks(owner, x.ndim, block, crops, "crops")
    kept, count = x.ndim - len(sizes), len(sizes)
    batch, rest = divmod(x.shape[0], math.prod(sizes))
    space = [n * b for n, b in zip(x.shape[kept:], sizes)]
    left = [n - a - b for n, (a, b) in zip(space, pairs)]
    if rest or min(left) < 1:
        raise ValueError(
            f"For '{owner}', the batch must be divisible by the blocks, and more than the crops must "
            f"be there, but got shape {x.shape}, blocks {sizes} and crops {pairs}."
        )
    split = _reshape(x, shape=(*sizes, batch, *x.shape[1:]))
    order = [p for i in range(count) for p in (count + kept + i, i)]
    moved = _transpose(split, perm=(*range(count, count + kept), *order))
    y = _reshape(moved, shape=(batch, *x.shape[1:kept], *space))
    if left == space:
        return y
    begin = [0] * kept + [a for a, _ in pairs]
    return _slice(y, begin=begin, size=[batch, *x.shape[1:kept], *left])


def space_to_batch_nd(input_x: Tensor, block_size: Sizes, paddings: Pairs) -> Tensor:
    """The last dimensions, padded, cut into blocks, whose elements become items of the batch."""
    return _space_to_batch("space_to_batch_nd", input_x, block_size, paddings)


def batch_to_space_nd(input_x: Tensor, block_shape: Sizes, crops: Pairs) -> Tensor:
    """Items of the batch laid into blocks of the last dimensions, whose borders are then cut off."""
    return _batch_to_space("batch_to_space_nd", input_x, block_shape, crops)


class SpaceToBatch(PythonPrimitive):
    """Images, padded, cut into square blocks, whose elements become items of the batch."""

    def __init__(self, block_size: int, paddings: Pairs) -> None:
        super().__init__(block_size, paddings)

    def __call__(self, input_x: Tensor) -> Tensor:
        _square(self.name, input_x, self.block_size)
        return _space_to_batch(self.name, input_x, (self.block_size,) * 2, self.paddings)


class BatchToSpace(PythonPrimitive):
    """Items of the batch laid into square blocks of images, whose borders are then cut off."""

    def __init__(self, block_size: int, crops: Pairs) -> None:
        super().__init__(block_size, crops)

    def __call__(self, input_x: Tensor) -> Tensor:
        _square(self.name, input_x, self.block_size)
        return _batch_to_space(self.name, input_x, (self.block_size,) * 2, self.crops)


def _square(owner: str, x: Tensor, block_size: Any) -> None:
    if x.ndim != 4 or not isinstance(block_size, int) or block_size < 2:
        raise ValueError(
            f"For '{owner}', 'input_x' must have 4 dimensions and 'block_size' be an int of at least "
            f"2, but got shape {x.shape} and {block_size}."
        )


class SpaceToBatchND(PythonPrimitive):
    """The last dimensions, padded, cut into blocks, whose elements become items of the batch."""

    def __init__(self, block_shape: Ints, paddings: Pairs) -> None:
        super().__init__(block_shape, paddings)

    def __call__(self, input_x: Tensor) -> Tensor:
        return _space_to_batch(self.name, input_x, self.block_shape, self.paddings)


class BatchToSpaceND(PythonPrimitive):
    """Items of the batch laid into blocks of the last dimensions, whose borders are then cut off."""

    def __init__(self, block_shape: Ints, crops: Pairs) -> None:
        super().__init__(block_shape, crops)

    def __call__(self, input_x: Tensor) -> Tensor:
        return _batch_to_space(self.name, input_x, self.block_shape, self.crops)


class BatchToSpaceNDV2(PythonPrimitive):
    """BatchToSpaceND, with the block and the crops given in the call."""

    def __call__(self, input_x: Tensor, block_shape: Sizes, crops: Any) -> Tensor:
        return _batch_to_space(self.name, input_x, block_shape, crops)


# ---- borders -------------------------------------------------------------------------------------
def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """The last dimension, of size 1, filled with zeros up to `pad_dim_size`."""
    return Padding(pad_dim_size)(x)


class Padding(PythonPrimitive):
    """The last dimension, of size 1, filled with zeros up to a size."""

    def __init__(self, pad_dim_size: PositiveInt = 8) -> None:
        super().__init__(pad_dim_size)

    def __call__(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or x.shape[-1] != 1 or self.pad_dim_size < 1:
            raise ValueError(
                f"For '{self.name}', the last of at least 2 dimensions must have size 1, and "
                f"'pad_dim_size' be positive, but got shape {x.shape} and {self.pad_dim_size}."
            )
        return _pad(x, paddings=[0, 0] * (x.ndim - 1) + [0, self.pad_dim_size - 1])


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "circular": "circular"}


class PadV3(PythonPrimitive):
    """Elements around the last axes: (before, after) of the last axis, then of the one before it, and so on."""

    def __init__(self, mode: str = "constant", paddings_contiguous: bool = True) -> None:
        super().__init__(mode, paddings_contiguous)

    def __call__(self, x: Tensor, paddings: Sizes, constant_value: Any = None) -> Tensor:
        if self.mode not in _MODES:
            raise ValueError(
                f"For '{self.name}', 'mode' must be one of {list(_MODES)}, but got {self.mode!r}."
            )
        numbers = array_func._ints(self.name, paddings)
        if not self.paddings_contiguous:  # all that is before, then all that is after
            half = len(numbers) // 2
            numbers = tuple(n for pair in zip(numbers[:half], numbers[half:]) for n in pair)
        value = constant_value if self.mode == "constant" else None
        return array_func.pad(x, numbers, _MODES[self.mode], value)  # type: ignore[arg-type]


def mirror_pad(
    input_x: Tensor,
    paddings: Pairs,
    mode: Literal["REFLECT", "SYMMETRIC"],
) -> Tensor:
    """Elements mirrored at the borders: with the border itself in mode 'SYMMETRIC', without in 'REFLECT'."""
    pairs = _pairs("mirror_pad", paddings)
    return raw("MirrorPad")(input_x, paddings=[n for pair in pairs for n in pair], mode=mode)


# ---- names of dimensions -------------------------------------------------------------------------
def _order(owner: str, source: str, target: str) -> list[int]:
    """Where each dimension of the target format is in the source format."""
    if source not in ("NHWC", "NCHW") or target not in ("NHWC", "NCHW"):
        raise ValueError(
            f"For '{owner}', the formats must be 'NHWC' or 'NCHW', but got {source!r} and {target!r}."
        )
    return [source.index(name) for name in target]


class DataFormatDimMap(PythonPrimitive):
    """For each number of a dimension in the target format, that of the same dimension in the source format."""

    def __init__(self, src_format: str = "NHWC", dst_format: str = "NCHW") -> None:
        super().__init__(src_format, dst_format)

    def __call__(self, input_x: Tensor) -> Tensor:
        order = _order(self.name, self.src_format, self.dst_format)
        table = Tensor(np.array(order), input_x.dtype)
        wrapped = raw("FloorMod")(input_x, Tensor(4, input_x.dtype))
        return raw("Gather")(table, wrapped, axis=0)


class DataFormatVecPermute(PythonPrimitive):
    """Sizes [4], or pairs [4, 2], in the order of one format of images from that of another one."""

    def __init__(self, src_format: str = "NHWC", dst_format: str = "NCHW") -> None:
        super().__init__(src_format, dst_format)

    def __call__(self, input_x: Tensor) -> Tensor:
        if tuple(input_x.shape) not in ((4,), (4, 2)):
            raise ValueError(
                f"For '{self.name}', 'input_x' must have shape (4,) or (4, 2), but got {input_x.shape}."
            )
        if input_x.dtype not in (_core.int32, _core.int64):
            raise TypeError(
                f"For '{self.name}', 'input_x' must be of int32 or int64, but got {input_x.dtype}."
            )
        order = _order(self.name, self.src_format, self.dst_format)
        return raw("Gather")(input_x, Tensor(np.array(order, np.int32)), axis=0)


class LRN(PythonPrimitive):
    """`x / (bias + alpha * sum of squares of neighbouring channels) ** beta`."""

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__(depth_radius, bias, alpha, beta, norm_region)

    def __call__(self, x: Tensor) -> Tensor:
        return nn_func.lrn(x, self.depth_radius, self.bias, self.alpha, self.beta, self.norm_region)


CLASSES = {
    c.__name__: c
    for c in (
        BatchToSpace,
        BatchToSpaceND,
        BatchToSpaceNDV2,
        ChannelShuffle,
        DataFormatDimMap,
        DataFormatVecPermute,
        LRN,
        PadV3,
        Padding,
        SpaceToBatch,
        SpaceToBatchND,
    )
}
__all__ = [
    "batch_to_space_nd",
    "channel_shuffle",
    "mirror_pad",
    "padding",
    "pixel_shuffle",
    "pixel_unshuffle",
    "space_to_batch_nd",
]
