"""Loss scalers for training loops written as functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor


def _each(function: Any, inputs: Any) -> Any:
    """`function` of a tensor, or of each tensor in a tuple or list, which may be nested."""
    if isinstance(inputs, (tuple, list)):
        return tuple([_each(function, item) for item in inputs])
    return function(inputs)


def all_finite(inputs: Any) -> Tensor:
    """Whether no element of the tensors is infinite or NaN, as a bool Tensor."""
    result = None
    for item in inputs if isinstance(inputs, (tuple, list)) else (inputs,):
        nested = isinstance(item, (tuple, list))
        finite = all_finite(item) if nested else ops.isfinite(item).all()
        result = finite if result is None else ops.logical_and(result, finite)
    return Tensor(True) if result is None else result


def init_status() -> Tensor:
    """The state that overflow checks of 2.0 begin with; nothing needs one here."""
    return Tensor([0] * 8, mstype.float32)


class LossScaler(ABC):
    """Base: scale the loss before the gradient, unscale gradients after it, adjust the factor."""

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """The inputs times the factor."""

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """The inputs divided by the factor."""

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Follow the outcome of a step."""


class StaticLossScaler(LossScaler):
    """A fixed factor."""

    def __init__(self, scale_value: float) -> None:
        if isinstance(scale_value, bool) or not isinstance(scale_value, (int, float)):
            raise TypeError(
                f"For 'StaticLossScaler', 'scale_value' must be a number, but got {scale_value!r}."
            )
        if scale_value < 1.0:
            raise ValueError(
                f"For 'StaticLossScaler', 'scale_value' must be at least 1, but got {scale_value}."
            )
        self.scale_value = Parameter(Tensor(scale_value, mstype.float32), name="scale_value")

    def scale(self, inputs: Any) -> Any:
        """The inputs times the factor, in their own types."""
        return _each(lambda x: x * self.scale_value.astype(x.dtype), inputs)

    def unscale(self, inputs: Any) -> Any:
        """The inputs divided by the factor, in their own types."""
        return _each(lambda x: (x / self.scale_value).astype(x.dtype), inputs)

    def adjust(self, grads_finite: Any) -> Any:
        """False: the factor stays."""
        return False


class DynamicLossScaler(StaticLossScaler):
    """A factor that shrinks at overflows and grows after `scale_window` good steps."""

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__(scale_value)
        for name, value in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(
                    f"For 'DynamicLossScaler', '{name}' must be an int, but got {value!r}."
                )
            if value < 1:
                raise ValueError(
                    f"For 'DynamicLossScaler', '{name}' must be positive, but got {value}."
                )
        self.scale_factor = scale_factor
        self.scale_window = scale_window
        self.counter = Parameter(Tensor(0, mstype.int32), name="counter")

    def adjust(self, grads_finite: Any) -> Any:
        """Shrink after an overflow, grow after enough good steps."""
        factor = float(self.scale_factor)
        counter = self.counter + 1
        grow = ops.logical_and(grads_finite, counter >= self.scale_window)
        smaller = ops.maximum(self.scale_value / factor, Tensor(1.0, mstype.float32))
        larger = ops.minimum(self.scale_value * factor, Tensor(2.0**120, mstype.float32))
        kept = ops.select(grow, larger, self.scale_value)
        ops.assign(self.scale_value, ops.select(grads_finite, kept, smaller))
        restart = ops.logical_or(grow, ops.logical_not(grads_finite))
        ops.assign(self.counter, ops.select(restart, ops.zeros_like(counter), counter))
        return True
