"""Primitive classes of array ops that are compositions: their calls are Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Count, IndexDType, PositiveInt, Sizes
from mindspore.ops._bind import raw
from mindspore.ops.function import array_func, index_func, join_func, random_func, reduce_func
from mindspore.ops.function.norm_func import _vector_norm
from mindspore.ops.function.random_func import Rate
from mindspore.ops.primitive import PythonPrimitive

Arguments = list[tuple[str, Any, bool]]  # name, default, has a default


class Meshgrid(PythonPrimitive):
    """Coordinates of a grid whose axes are given by vectors."""

    _constructor: Arguments = [("indexing", "xy", True)]

    def __call__(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return array_func.meshgrid(*inputs, indexing=self.indexing)


class Unique(PythonPrimitive):
    """The different elements of a concrete tensor, and which of them each element is."""

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return index_func.unique(x)


class NonZero(PythonPrimitive):
    """Coordinates of the elements of a concrete tensor that are not zero."""

    def __call__(self, input: Tensor) -> Tensor:
        return index_func.nonzero(input)


class MaskedSelect(PythonPrimitive):
    """The elements where a concrete mask is true."""

    def __call__(self, input: Tensor, mask: Tensor) -> Tensor:
        return index_func.masked_select(input, mask)


class MaskedFill(PythonPrimitive):
    """The input with one value where a mask is true."""

    def __call__(self, input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
        return index_func.masked_fill(input_x, mask, value)


class IndexAdd(PythonPrimitive):
    """Adds slices to a Parameter at positions of an axis."""

    _constructor: Arguments = [
        ("axis", None, False),
        ("use_lock", True, True),
        ("check_index_bound", True, True),
    ]

    def __call__(self, x: Tensor, indices: Tensor, y: Tensor) -> Tensor:
        return index_func.index_add(x, indices, y, self.axis)


class LpNorm(PythonPrimitive):
    """The p-norm over axes."""

    _constructor: Arguments = [
        ("axis", None, False),
        ("p", 2, True),
        ("keep_dims", False, True),
        ("epsilon", 1e-12, True),
    ]

    def __call__(self, input: Tensor) -> Tensor:
        return _vector_norm(input, self.p, reduce_func._axes(self.axis), self.keep_dims)


class ReduceStd(PythonPrimitive):
    """Standard deviation and mean over axes."""

    _constructor: Arguments = [
        ("axis", (), True),
        ("unbiased", True, True),
        ("keep_dims", False, True),
    ]

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return reduce_func.std_mean(x, self.axis, int(self.unbiased), self.keep_dims)


class Roll(PythonPrimitive):
    """Elements moved along axes; those that leave at one end enter at the other."""

    _constructor: Arguments = [("shifts", None, False), ("dims", None, True)]

    def __call__(self, input: Tensor) -> Tensor:
        return join_func.roll(input, self.shifts, self.dims)


class Randperm(PythonPrimitive):
    """The numbers 0 ... n - 1 in random order, padded to `max_length`."""

    def __init__(
        self, max_length: PositiveInt = 1, pad: int = -1, dtype: DType = _core.int32
    ) -> None:
        super().__init__(max_length, pad, dtype)

    def __call__(self, n: Sizes) -> Tensor:
        count = array_func._one_int("Randperm", "n", n)
        if not 0 <= count <= self.max_length:
            raise ValueError(
                f"For 'Randperm', 'n' must be in [0, {self.max_length}], but got {count}."
            )
        numbers = random_func.randperm(count, dtype=self.dtype)
        return raw("Pad")(numbers, paddings=(0, self.max_length - count), value=self.pad)


class RandomCategorical(PythonPrimitive):
    """Positions drawn with the probabilities whose logarithms are the elements of each row."""

    def __init__(self, dtype: IndexDType = _core.int64) -> None:
        super().__init__(dtype)

    def __call__(self, logits: Tensor, num_sample: Count, seed: int = 0) -> Tensor:
        if logits.ndim != 2:
            raise ValueError(
                f"For 'RandomCategorical', 'logits' must have 2 dimensions, but got {logits.ndim}."
            )
        return random_func.random_categorical(logits, num_sample, seed, self.dtype)


class RandomChoiceWithMask(PythonPrimitive):
    """Coordinates of `count` true elements chosen at random, and which of the rows are such."""

    def __init__(self, count: PositiveInt = 256, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(count, seed, seed2)

    def __call__(self, input_x: Tensor) -> tuple[Tensor, Tensor]:
        total = input_x.size
        keys = raw("UniformReal")(shape=(total,), seed=self.seed, seed2=self.seed2)
        keys = raw("Select")(raw("Reshape")(input_x, shape=(-1,)), keys, keys + 2.0)
        keys, order = raw("Sort")(keys)  # false elements come last
        taken = min(self.count, total)
        order = raw("Pad")(
            raw("Slice")(order, begin=(0,), size=(taken,)), paddings=(0, self.count - taken)
        )
        keys = raw("Slice")(keys, begin=(0,), size=(taken,))
        keys = raw("Pad")(keys, paddings=(0, self.count - taken), value=2.0)
        chosen = raw("Less")(keys, Tensor(1.5, _core.float32))
        order = raw("Select")(chosen, order, raw("ZerosLike")(order))
        columns = []
        for size in reversed(input_x.shape):
            columns.append(raw("FloorMod")(order, Tensor(size, _core.int32)))
            order = raw("FloorDiv")(order, Tensor(size, _core.int32))
        return raw("Stack")(columns[::-1], axis=-1), chosen


class _DropoutSlices(PythonPrimitive):
    """Dropout of whole channels, with the mask that was drawn."""

    _dimensions: int

    def __init__(self, keep_prob: Rate = 0.5) -> None:
        super().__init__(keep_prob)

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if x.ndim != self._dimensions:
            raise ValueError(
                f"For '{self.name}', 'x' must have {self._dimensions} dimensions, but got {x.ndim}."
            )
        if self.keep_prob == 0:
            return x * 0, raw("Zeros")(shape=x.shape, dtype=_core.bool)
        ones = raw("Ones")(shape=x.shape[:2] + (1,) * (x.ndim - 2), dtype=x.dtype)
        scaled, kept = raw("Dropout")(ones, keep_prob=float(self.keep_prob))
        mask = raw("Cast")(raw("BroadcastTo")(kept, shape=x.shape), dtype=_core.bool)
        return x * scaled, mask


class Dropout2D(_DropoutSlices):
    """Dropout of whole images of [batch, channels, height, width], and its mask."""

    _dimensions = 4


class Dropout3D(_DropoutSlices):
    """Dropout of whole volumes of [batch, channels, depth, height, width], and its mask."""

    _dimensions = 5


class DepthToSpace(PythonPrimitive):
    """Channels rearranged into blocks of the image: [n, c, h, w] to [n, c / b^2, h * b, w * b]."""

    def __init__(self, block_size: PositiveInt) -> None:
        super().__init__(block_size)

    def __call__(self, x: Tensor) -> Tensor:
        b = self.block_size
        n, c, h, w = _image("DepthToSpace", x)
        if b < 2 or c % (b * b):
            raise ValueError(
                f"For 'DepthToSpace', the {c} channels must be a multiple of {b} squared."
            )
        split = raw("Reshape")(x, shape=(n, b, b, c // (b * b), h, w))
        return raw("Reshape")(
            raw("Transpose")(split, perm=(0, 3, 4, 1, 5, 2)), shape=(n, c // (b * b), h * b, w * b)
        )


class SpaceToDepth(PythonPrimitive):
    """Blocks of the image rearranged into channels: [n, c, h, w] to [n, c * b^2, h / b, w / b]."""

    def __init__(self, block_size: PositiveInt) -> None:
        super().__init__(block_size)

    def __call__(self, x: Tensor) -> Tensor:
        b = self.block_size
        n, c, h, w = _image("SpaceToDepth", x)
        if b < 2 or h % b or w % b:
            raise ValueError(
                f"For 'SpaceToDepth', the image, {h} by {w}, must be a multiple of {b}."
            )
        split = raw("Reshape")(x, shape=(n, c, h // b, b, w // b, b))
        return raw("Reshape")(
            raw("Transpose")(split, perm=(0, 3, 5, 1, 2, 4)), shape=(n, c * b * b, h // b, w // b)
        )


def _image(name: str, x: Tensor) -> tuple[int, ...]:
    if x.ndim != 4:
        raise ValueError(f"For '{name}', 'x' must have 4 dimensions, but got {x.ndim}.")
    return tuple(x.shape)


class ReverseSequence(PythonPrimitive):
    """The first elements of an axis in reverse order, as many as a length for each batch says."""

    def __init__(self, seq_dim: int, batch_dim: int = 0) -> None:
        super().__init__(seq_dim, batch_dim)

    def __call__(self, x: Tensor, seq_lengths: Tensor) -> Tensor:
        along, batch = (
            array_func._axis(self.name, a, x.ndim) for a in (self.seq_dim, self.batch_dim)
        )
        if seq_lengths.shape != (x.shape[batch],) or along == batch:
            raise ValueError(
                f"For 'ReverseSequence', 'seq_lengths' must have shape ({x.shape[batch]},) and the "
                "axes must "
                f"differ, but got shape {tuple(seq_lengths.shape)} and axes {along} and {batch}."
            )
        place = [1] * x.ndim
        place[batch] = x.shape[batch]
        lengths = raw("Reshape")(seq_lengths, shape=place)
        steps = np.arange(x.shape[along]).reshape([-1 if i == along else 1 for i in range(x.ndim)])
        here = Tensor(steps, seq_lengths.dtype)
        there = raw("Select")(raw("Less")(here, lengths), lengths - 1 - here, here + lengths * 0)
        return raw("GatherD")(x, raw("BroadcastTo")(there, shape=x.shape), dim=along)


def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """The first elements of an axis in reverse order, as many as a length for each batch says."""
    return ReverseSequence(seq_dim, batch_dim)(x, seq_lengths)


CLASSES = {
    c.__name__: c
    for c in (
        DepthToSpace,
        Dropout2D,
        Dropout3D,
        IndexAdd,
        LpNorm,
        MaskedFill,
        MaskedSelect,
        Meshgrid,
        NonZero,
        RandomCategorical,
        RandomChoiceWithMask,
        Randperm,
        ReduceStd,
        ReverseSequence,
        Roll,
        SpaceToDepth,
        Unique,
    )
}
__all__ = ["reverse_sequence"]
