"""Padding layers: constants, mirrored or repeated elements around the last dimensions.

`padding` is one int for all sides, or (before, after) of the last dimension, then of the one before
it, and so on. Negative numbers cut off.
"""

from __future__ import annotations

from typing import Literal

from mindspore import ops
from mindspore.common._kinds import Finite, Ints
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


class _Padding(Cell):
    """What all paddings share: `_dims` dimensions at the end are padded."""

    _dims = 1
    _mode: Literal["constant", "reflect", "replicate", "circular"] = "constant"

    def __init__(self, padding: Ints, value: Finite | None = None) -> None:
        super().__init__()
        items = (padding,) * (2 * self._dims) if isinstance(padding, int) else padding
        if len(items) % 2 or not 0 < len(items) <= 2 * self._dims:
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must hold pairs for at most {self._dims} "
                f"dimensions, but got {padding}."
            )
        if self._mode != "constant" and any(item < 0 for item in items):
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must not be negative, but got {padding}."
            )
        self.padding = tuple(items)
        self.value = value

    def construct(self, x: Tensor) -> Tensor:
        """The padded input."""
        return ops.pad(x, self.padding, self._mode, self.value)


class _ConstantPad(_Padding):
    """Pads with a number."""

    def __init__(self, padding: Ints, value: Finite) -> None:
        super().__init__(padding, value)


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a constant.

    Args:
        padding: An int, or pairs from the last dimension on.
        value: The constant.
    """

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a constant.

    Args:
        padding: An int, or pairs from the last dimension on.
        value: The constant.
    """

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a constant.

    Args:
        padding: An int, or pairs from the last dimension on.
        value: The constant.
    """

    _dims = 3


class ZeroPad2d(_Padding):
    """Pads the last two dimensions with zeros.

    Args:
        padding: An int, or pairs from the last dimension on.
    """

    _dims = 2

    def __init__(self, padding: Ints) -> None:
        super().__init__(padding, 0.0)


class ReflectionPad1d(_Padding):
    """Pads the last dimension with elements mirrored at the edge.

    Args:
        padding: An int, or pairs from the last dimension on.
    """

    _dims = 1
    _mode = "reflect"


class ReflectionPad2d(_Padding):
    """Pads the last two dimensions with elements mirrored at the edge.

    Args:
        padding: An int, or pairs from the last dimension on.
    """

    _dims = 2
    _mode = "reflect"


class ReflectionPad3d(_Padding):
    """Pads the last three dimensions with elements mirrored at the edge.

    Args:
        padding: An int, or pairs from the last dimension on.
    """

    _dims = 3
    _mode = "reflect"


class ReplicationPad1d(_Padding):
    """Pads the last dimension with elements repeated from the edge.

    Args:
        padding: An int, or pairs from the last dimension on.
    """

    _dims = 1
    _mode = "replicate"


class ReplicationPad2d(_Padding):
    """Pads the last two dimensions with elements repeated from the edge.

    Args:
        padding: An int, or pairs from the last dimension on.
    """

    _dims = 2
    _mode = "replicate"


class ReplicationPad3d(_Padding):
    """Pads the last three dimensions with elements repeated from the edge.

    Args:
        padding: An int, or pairs from the last dimension on.
    """

    _dims = 3
    _mode = "replicate"


__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad2d",
]
