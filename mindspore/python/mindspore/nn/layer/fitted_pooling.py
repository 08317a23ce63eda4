"""Pooling layers whose windows fit an output size or a norm, or undo another pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from mindspore import ops
from mindspore.common._kinds import Ints, PositiveInt, Real
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

_Size: TypeAlias = PositiveInt | Sequence[PositiveInt | None] | None


class _Adaptive(Cell):
    """What adaptive poolings share: the output size, of `_dims` dimensions."""

    _dims = 2

    def __init__(self, output_size: _Size) -> None:
        super().__init__()
        items: tuple[int | None, ...] = (
            (output_size,) * self._dims
            if output_size is None or isinstance(output_size, int)
            else tuple(output_size)
        )
        if len(items) != self._dims:
            raise ValueError(
                f"For '{self.cls_name}', 'output_size' must be an int or a tuple of {self._dims}, "
                f"but got {output_size}."
            )
        self.output_size = items


class _AdaptiveMax(_Adaptive):
    """With positions where asked."""

    def __init__(self, output_size: _Size, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveAvgPool1d(Cell):
    """The mean over windows of sequences, chosen so that the output has a given length.

    Args:
        output_size: The length.
    """

    def __init__(self, output_size: PositiveInt) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """The mean over windows chosen so that the output has a given size.

    Args:
        output_size: An int, or (height, width); None keeps the input's size.
    """

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool2d(x, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """The mean over windows of volumes, chosen so that the output has a given size.

    Args:
        output_size: An int, or (depth, height, width); None keeps the input's size.
    """

    _dims = 3

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool3d(x, self.output_size)


class AdaptiveMaxPool1d(Cell):
    """The maximum over windows of sequences, chosen so that the output has a given length.

    Args:
        output_size: The length.
    """

    def __init__(self, output_size: PositiveInt) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, x: Tensor) -> Tensor:
        """The maxima."""
        return ops.adaptive_max_pool1d(x, self.output_size)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The maximum over windows chosen so that the output has a given size.

    Args:
        output_size: An int, or (height, width); None keeps the input's size.
        return_indices: Whether positions in the plane are returned too.
    """

    def construct(self, x: Tensor) -> Any:
        """The maxima, and their positions where asked."""
        return ops.adaptive_max_pool2d(x, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The maximum over windows of volumes, chosen so that the output has a given size.

    Args:
        output_size: An int, or (depth, height, width); None keeps the input's size.
        return_indices: Whether positions in the volume are returned too.
    """

    _dims = 3

    def construct(self, x: Tensor) -> Any:
        """The maxima, and their positions where asked."""
        return ops.adaptive_max_pool3d(x, self.output_size, self.return_indices)


# ---- power means ---------------------------------------------------------------------------------
class _LPPool(Cell):
    """The sum of powers of each window, to one over that power."""

    def __init__(
        self,
        norm_type: Real,
        kernel_size: Ints,
        stride: Ints | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode


class LPPool1d(_LPPool):
    """The sum of powers of each window of sequences, to one over that power.

    Args:
        norm_type: The power.
        kernel_size: The length of a window.
        stride: The step; None is the length.
        ceil_mode: Whether a last window may reach over the end.
    """

    def construct(self, x: Tensor) -> Tensor:
        """The norms."""
        return ops.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPool):
    """The sum of powers of each window of images, to one over that power.

    Args:
        norm_type: The power.
        kernel_size: An int, or (height, width).
        stride: An int, or (vertical, horizontal); None is the size of a window.
        ceil_mode: Whether a last window may reach over the end.
    """

    def construct(self, x: Tensor) -> Tensor:
        """The norms."""
        return ops.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


# ---- random windows ------------------------------------------------------------------------------
class _FractionalMaxPool(Cell):
    """The maximum over windows at random places."""

    def __init__(
        self,
        kernel_size: Ints,
        output_size: Ints | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        if (output_size is None) == (output_ratio is None):
            raise ValueError(
                f"For '{self.cls_name}', one of 'output_size' and 'output_ratio' must be given, "
                f"but got {output_size} and {output_ratio}."
            )
        self.kernel_size = kernel_size
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices
        self._random_samples = _random_samples

    def _settings(self) -> tuple:
        return (
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maximum over windows of images at random places.

    Args:
        kernel_size: An int, or (height, width).
        output_size: The size of the output, or None.
        output_ratio: Its share of the size of the input, or None; one of the two is given.
        return_indices: Whether positions in the plane are returned too.
    """

    def construct(self, input: Tensor) -> Any:
        """The maxima, and their positions where asked."""
        return ops.fractional_max_pool2d(input, *self._settings())


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maximum over windows of volumes at random places.

    Args:
        kernel_size: An int, or (depth, height, width).
        output_size: The size of the output, or None.
        output_ratio: Its share of the size of the input, or None; one of the two is given.
        return_indices: Whether positions in the volume are returned too.
    """

    def construct(self, input: Tensor) -> Any:
        """The maxima, and their positions where asked."""
        return ops.fractional_max_pool3d(input, *self._settings())


# ---- inverse -------------------------------------------------------------------------------------
class _MaxUnpool(Cell):
    """Zeros with elements where a maximum has found them."""

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding


class MaxUnpool1d(_MaxUnpool):
    """Zeros with the elements of sequences where a MaxPool1d has found them.

    Args:
        kernel_size: The length of a window.
        stride: The step; None is the length.
        padding: The padding on both sides.
    """

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The longer sequences."""
        return ops.max_unpool1d(
            x, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool2d(_MaxUnpool):
    """Zeros with the elements of images where a MaxPool2d has found them.

    Args:
        kernel_size: An int, or (height, width).
        stride: An int, or (vertical, horizontal); None is the size of a window.
        padding: An int, or (vertical, horizontal).
    """

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The larger images."""
        return ops.max_unpool2d(
            x, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool3d(_MaxUnpool):
    """Zeros with the elements of volumes where a MaxPool3d has found them.

    Args:
        kernel_size: An int, or (depth, height, width).
        stride: An int, or one for each dimension; None is the size of a window.
        padding: An int, or one for each dimension.
    """

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The larger volumes."""
        return ops.max_unpool3d(
            x, indices, self.kernel_size, self.stride, self.padding, output_size
        )


__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]
