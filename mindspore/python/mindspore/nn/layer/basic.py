"""Basic layers: dense, dropout, flatten, padding, norms of tensors and small helpers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Count, Finite, Float, Ints, PositiveInt, Real, Where, within
from mindspore.common._size import require_memory
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.layer.image import Upsample  # noqa: F401, found here, too
from mindspore.ops import operations as P
from mindspore.ops.function.unfold_func import ExtractImagePatches

_PAIR = Where(lambda item: len(item) == 2, "have 2 numbers")


def check_dense_input_shape(x_shape: tuple[int, ...], prim_name: str | None = None) -> None:
    """Raise a ValueError when the input of a dense layer has no dimension for the channels."""
    if len(x_shape) < 1:
        raise ValueError(
            f"For '{prim_name or 'Dense'}', the input must have at least 1 dimension, "
            f"but got the shape {x_shape}."
        )


def dense_parameter(init: Any, shape: tuple[int, ...], name: str, owner: str, dtype: Any) -> Any:
    """The Parameter from what `initializer` takes; a tensor's shape is checked."""
    if isinstance(init, Tensor) and tuple(init.shape) != shape:
        raise ValueError(
            f"For '{owner}', the shape of '{name}_init' must be {shape}, but got "
            f"{tuple(init.shape)}."
        )
    return Parameter(initializer(init, shape, dtype), name=name)


class Dense(Cell):
    """A fully connected layer: activation(x @ weight.T + bias).

    Args:
        in_channels: The size of the last dimension of the input.
        out_channels: The size of the last dimension of the output.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(in_channels).
        has_bias: Whether a bias is added.
        activation: The name of an activation, a Cell or a Primitive.
        dtype: The dtype of the parameters.

    Inputs:
        x: [..., in_channels].

    Outputs:
        [..., out_channels].
    """

    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: str | Callable | None = None,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.has_bias = has_bias
        if weight_init is None:
            weight_init = HeUniform(math.sqrt(5))
        self.weight = dense_parameter(
            weight_init, (out_channels, in_channels), "weight", self.cls_name, dtype
        )
        self.bias = None
        if self.has_bias:
            if bias_init is None:
                bias_init = Uniform(1 / math.sqrt(in_channels))
            self.bias = dense_parameter(bias_init, (out_channels,), "bias", self.cls_name, dtype)
        self.matmul = P.MatMul(transpose_b=True)
        self.bias_add = P.BiasAdd()
        if isinstance(activation, str):
            activation = get_activation(activation, self.cls_name)
        self.activation: Any = activation
        self.activation_flag = self.activation is not None

    def construct(self, x: Tensor) -> Tensor:
        """The layer's output."""
        if x.ndim == 2:
            return self._project(x)
        x_shape = x.shape
        check_dense_input_shape(x_shape, self.cls_name)
        x = self._project(x.reshape((-1, x_shape[-1])))
        return x.reshape(x_shape[:-1] + (self.out_channels,))

    def _project(self, x: Tensor) -> Tensor:
        """The output for [N, in_channels]."""
        x = self.matmul(x, self.weight)
        if self.has_bias:
            x = self.bias_add(x, self.bias)
        if self.activation_flag:
            x = self.activation(x)
        return x

    def extend_repr(self) -> str:
        """The settings."""
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        return f"{text}, activation={self.activation}" if self.activation_flag else text


class Dropout(Cell):
    """In training, sets elements to zero at random and scales the others up.

    Args:
        keep_prob: The share that is kept, where `p` is not given.
        p: The share that is dropped, in [0, 1).
        dtype: Accepted; the output has the type of the input.
    """

    def __init__(
        self,
        keep_prob: Annotated[Float, within(0, 1, "right")] = 0.5,
        p: Annotated[float, within(0, 1, "left")] | None = None,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        del dtype
        self.keep_prob = keep_prob if p is None else 1.0 - p
        self.p = p
        self.dropout = P.Dropout(self.keep_prob)

    def construct(self, x: Tensor) -> Tensor:
        """The input with some elements dropped, or the input itself outside training."""
        if not self.training or self.keep_prob == 1:
            return x
        return self.dropout(x)[0]

    def extend_repr(self) -> str:
        """The settings."""
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _DropoutChannels(Cell):
    """In training, sets whole channels to zero at random and scales the others up."""

    _ranks: tuple[int, ...] = ()

    def __init__(self, p: Annotated[float, within(0, 1, "both")] = 0.5) -> None:
        super().__init__()
        self.p = p
        self.dropout = P.Dropout(1.0 - p) if p < 1 else None

    def construct(self, x: Tensor) -> Tensor:
        """The input with some channels dropped, or the input itself outside training."""
        if not self.training or self.p == 0:
            return x
        shape = x.shape
        if len(shape) not in self._ranks:
            raise ValueError(
                f"For '{self.cls_name}', the input must have {self._ranks[-1]} dimensions, "
                f"but got the shape {shape}."
            )
        channels = len(shape) - self._ranks[-1] + 2
        mask = ops.ones(shape[:channels] + (1,) * (len(shape) - channels), x.dtype)
        return x * (mask * 0 if self.dropout is None else self.dropout(mask)[0])

    def extend_repr(self) -> str:
        """The settings."""
        return f"p={self.p}"


class Dropout1d(_DropoutChannels):
    """Drops channels of [N, C, L].

    Args:
        p: The share that is dropped, in [0, 1].
    """

    _ranks = (2, 3)


class Dropout2d(_DropoutChannels):
    """Drops channels of [N, C, H, W].

    Args:
        p: The share that is dropped, in [0, 1].
    """

    _ranks = (4,)


class Dropout3d(_DropoutChannels):
    """Drops channels of [N, C, D, H, W].

    Args:
        p: The share that is dropped, in [0, 1].
    """

    _ranks = (5,)


class Flatten(Cell):
    """Joins the dimensions from `start_dim` to `end_dim` into one.

    Args:
        start_dim: The first one.
        end_dim: The last one.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def construct(self, x: Tensor) -> Tensor:
        """The reshaped input."""
        shape = x.shape
        rank = len(shape)
        start = self.start_dim + rank if self.start_dim < 0 else self.start_dim
        end = self.end_dim + rank if self.end_dim < 0 else self.end_dim
        if not (0 <= start < rank and 0 <= end < rank):
            raise ValueError(
                f"For '{self.cls_name}', 'start_dim' and 'end_dim' must be dimensions of the "
                f"input, but got {self.start_dim}, {self.end_dim} and the shape {shape}."
            )
        if start > end:
            raise ValueError(
                f"For '{self.cls_name}', 'start_dim' must not come after 'end_dim', "
                f"but got {self.start_dim} and {self.end_dim}."
            )
        size = 1
        for dim in shape[start : end + 1]:
            size = size * dim
        return x.reshape(shape[:start] + (size,) + shape[end + 1 :]).copy()


class Identity(Cell):
    """Returns its input. Arguments are accepted and ignored, so it can stand in for any layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        del args, kwargs

    def construct(self, x: Any) -> Any:
        """The input."""
        return x


class OneHot(Cell):
    """Turns indices into vectors with one entry set.

    Args:
        axis: Where the new dimension goes.
        depth: The size of the new dimension.
        on_value: The entry at the index.
        off_value: All other entries.
        dtype: The dtype of the output.
    """

    def __init__(
        self,
        axis: int = -1,
        depth: int = 1,
        on_value: Real = 1.0,
        off_value: Real = 0.0,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__()
        self.onehot = P.OneHot(axis)
        self.depth = depth
        self.dtype = dtype
        self.on_value = Tensor(on_value, dtype)
        self.off_value = Tensor(off_value, dtype)

    def construct(self, indices: Tensor) -> Tensor:
        """The vectors."""
        return self.onehot(indices, self.depth, self.on_value, self.off_value)


class Pad(Cell):
    """Pads every dimension.

    Args:
        paddings: A tuple with (before, after) for every dimension.
        mode: 'CONSTANT' pads with zeros, 'REFLECT' mirrors without the edge, 'SYMMETRIC' with it.
    """

    def __init__(
        self,
        paddings: tuple[Annotated[Sequence[Count], _PAIR], ...],
        mode: Literal["CONSTANT", "REFLECT", "SYMMETRIC"] = "CONSTANT",
    ) -> None:
        super().__init__()
        self.mode = mode
        self.paddings = tuple(tuple(item) for item in paddings)
        self.pad: Any = P.Pad(self.paddings) if mode == "CONSTANT" else P.MirrorPad(mode=mode)

    def construct(self, x: Tensor) -> Tensor:
        """The padded input."""
        if self.mode == "CONSTANT":
            return self.pad(x)
        return self.pad(x, self.paddings)


class Unfold(Cell):
    """Patches of images [N, C, H, W]: [N, rows * columns of a patch * C, patches down, patches across].

    Args:
        ksizes: The size of a patch, [1, rows, columns, 1].
        strides: The steps between patches, [1, rows, columns, 1].
        rates: The distances between elements of a patch, [1, rows, columns, 1].
        padding: 'same' pads so that there is a patch for each step in the image, 'valid' does not pad.
    """

    def __init__(
        self,
        ksizes: Sequence[int],
        strides: Sequence[int],
        rates: Sequence[int],
        padding: str = "valid",
    ) -> None:
        super().__init__()
        for name, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if len(value) != 4 or value[0] != 1 or value[3] != 1 or min(value) < 1:
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' must be [1, rows, columns, 1] of positive ints, "
                    f"but got {value}."
                )
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must be 'same' or 'valid', but got {padding!r}."
            )
        self.extract_image_patches = ExtractImagePatches(ksizes, strides, rates, padding)

    def construct(self, input_x: Tensor) -> Tensor:
        """The patches."""
        return self.extract_image_patches(input_x)


class Norm(Cell):
    """The Euclidean norm over one or more dimensions.

    Args:
        axis: The dimensions; () is all.
        keep_dims: Whether they stay with size 1.
    """

    def __init__(self, axis: Ints = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis = axis
        self.keep_dims = keep_dims
        self.reduce_sum = P.ReduceSum(self.keep_dims)
        self.sqrt = P.Sqrt()
        self.square = P.Square()

    def construct(self, x: Tensor) -> Tensor:
        """The norm."""
        return self.sqrt(self.reduce_sum(self.square(x), self.axis))

    def extend_repr(self) -> str:
        """The settings."""
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class ClipByNorm(Cell):
    """Scales a tensor down where its Euclidean norm is above a bound.

    Args:
        axis: The dimensions the norm is taken over; None is all.
    """

    def __init__(self, axis: Ints | None = None) -> None:
        super().__init__()
        self.axis = () if axis is None else axis
        self.reduce_sum = P.ReduceSum(keep_dims=True)
        self.sqrt = P.Sqrt()
        self.square = P.Square()
        self.maximum = P.Maximum()

    def construct(self, x: Tensor, clip_norm: Tensor | Real) -> Tensor:
        """The input, scaled so that its norm is at most `clip_norm`."""
        if not x.is_floating_point():
            raise TypeError(
                f"For '{self.cls_name}', the dtype of 'x' must be a float, but got {x.dtype}."
            )
        norm = self.sqrt(self.reduce_sum(self.square(x.astype(mstype.float32)), self.axis))
        scaled = x * clip_norm / self.maximum(norm, clip_norm)
        return scaled.astype(x.dtype)


class MatMul(Cell):
    """The matrix product of two tensors.

    Args:
        transpose_x1: Whether the last two dimensions of the first are swapped.
        transpose_x2: Whether the last two dimensions of the second are swapped.
    """

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = transpose_x1
        self.transpose_x2 = transpose_x2

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The product."""
        if self.transpose_x1:
            x1 = x1.swapaxes(-1, -2)
        if self.transpose_x2:
            x2 = x2.swapaxes(-1, -2)
        return x1.matmul(x2)


class Range(Cell):
    """A tensor of evenly spaced numbers.

    Args:
        start: The first number, or the limit where no `limit` is given.
        limit: The end, which is not included.
        delta: The step.
    """

    def __init__(
        self,
        start: Finite,
        limit: Finite | None = None,
        delta: Annotated[Finite, Where(lambda x: x != 0, "not be 0")] = 1,
    ) -> None:
        super().__init__()
        if limit is None:
            start, limit = 0, start
        require_memory(self.cls_name, max((limit - start) / delta, 0), 24)
        values = np.arange(start, limit, delta)
        exact = np.issubdtype(values.dtype, np.integer)
        self.result_tensor = Tensor(values, mstype.int32 if exact else mstype.float32)

    def construct(self) -> Tensor:
        """The numbers."""
        return self.result_tensor


__all__ = [
    "ClipByNorm",
    "Dense",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Flatten",
    "Identity",
    "MatMul",
    "Norm",
    "OneHot",
    "Pad",
    "Range",
    "Unfold",
]
