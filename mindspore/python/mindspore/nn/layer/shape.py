"""Layers that move elements: along axes, into more axes, and steps of time through another layer."""

from __future__ import annotations

import math
from typing import Any

from mindspore import ops
from mindspore.common._kinds import Ints
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops.primitive import Primitive


class Roll(Cell):
    """Elements moved along axes, those that fall off one end coming in at the other.

    Args:
        shift: By how many places, for each axis.
        axis: The axes.
    """

    def __init__(self, shift: Ints, axis: Ints) -> None:
        super().__init__()
        shifts = (shift,) if isinstance(shift, int) else tuple(shift)
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        if len(shifts) != len(axes):
            raise ValueError(
                f"For '{self.cls_name}', there must be a 'shift' for each 'axis', but got {shift} and {axis}."
            )
        self.shift = shifts
        self.axis = axes

    def construct(self, input_x: Tensor) -> Tensor:
        """The moved elements."""
        return ops.roll(input_x, self.shift, self.axis)


class Unflatten(Cell):
    """One axis as several.

    Args:
        axis: The axis.
        unflattened_size: The sizes in its place; one may be -1 and follows from the others.
    """

    def __init__(self, axis: int, unflattened_size: tuple[int, ...] | list[int]) -> None:
        super().__init__()
        if not unflattened_size:
            raise ValueError(f"For '{self.cls_name}', 'unflattened_size' must not be empty.")
        self.axis = axis
        self.unflattened_size = tuple(unflattened_size)

    def construct(self, input: Tensor) -> Tensor:
        """The same elements."""
        shape, axis, sizes = input.shape, self.axis, self.unflattened_size
        if not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"For '{self.cls_name}', 'axis' must be in [{-len(shape)}, {len(shape)}), but got {axis}."
            )
        axis = axis % len(shape)
        known = math.prod([size for size in sizes if size != -1])
        if -1 not in sizes and isinstance(shape[axis], int) and known != shape[axis]:
            raise ValueError(
                f"For '{self.cls_name}', the product of 'unflattened_size' must be {shape[axis]}, but got {sizes}."
            )
        return input.reshape((*shape[:axis], *sizes, *shape[axis + 1 :]))


class TimeDistributed(Cell):
    """A layer that is applied to each step of time.

    Args:
        layer: A Cell or Primitive.
        time_axis: The axis of the steps.
        reshape_with_axis: An axis that the steps may be joined with, so that the layer is called once. The steps then stay next
            to it.
    """

    def __init__(
        self, layer: Cell | Primitive, time_axis: int, reshape_with_axis: int | None = None
    ) -> None:
        super().__init__()
        self.layer: Any = layer
        self.time_axis = time_axis
        self.reshape_with_axis = reshape_with_axis

    def construct(self, inputs: Tensor) -> Tensor:
        """The outputs of all steps."""
        rank = inputs.ndim
        if rank < 3:
            raise ValueError(
                f"For '{self.cls_name}', the input must have at least 3 dimensions, but got {rank}."
            )
        axes = [self.time_axis] + (
            [] if self.reshape_with_axis is None else [self.reshape_with_axis]
        )
        if not all(-rank <= axis < rank for axis in axes) or len({a % rank for a in axes}) < len(
            axes
        ):
            raise ValueError(
                f"For '{self.cls_name}', 'time_axis' and 'reshape_with_axis' must be different axes of {rank}, but got {axes}."
            )
        time = self.time_axis % rank
        if self.reshape_with_axis is None:
            steps = [self.layer(step) for step in ops.unbind(inputs, time)]
            return ops.stack(steps, time)
        return self._at_once(inputs, time, self.reshape_with_axis % rank)

    def _at_once(self, inputs: Tensor, time: int, other: int) -> Tensor:
        """The steps as more of another axis."""
        order = [axis for axis in range(inputs.ndim) if axis != time]
        place = order.index(other) + (1 if time > other else 0)
        order.insert(place, time)
        moved = ops.transpose(inputs, tuple(order))
        first = order.index(other) if time > other else place
        shape = moved.shape
        outputs = self.layer(moved.reshape((*shape[:first], -1, *shape[first + 2 :])))
        kept = shape[first : first + 2]
        return outputs.reshape((*outputs.shape[:first], *kept, *outputs.shape[first + 1 :]))


__all__ = ["Roll", "TimeDistributed", "Unflatten"]
