"""A function to minimise as the algorithms see it: arrays of Float64 in, numbers and arrays out, evaluations counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common._kinds import described

_FLOATS = (_core.float32, _core.float64)


class Function:
    """The function and its gradient at points of the dtype of x0."""

    def __init__(
        self, name: str, function: Callable, gradient: Callable | None, x0: Tensor, args: tuple
    ):
        if x0.dtype not in _FLOATS or x0.ndim != 1:
            raise ValueError(
                f"For '{name}', the first point must be a vector of Float32 or Float64, but got {x0.dtype} of shape {x0.shape}."
            )
        self.name, self.dtype, self.calls = name, x0.dtype, 0
        self._args = args
        self._function, self._gradient = function, gradient
        self._both = None if gradient else ops.value_and_grad(function)

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the gradient at a point."""
        self.calls += 1
        point = self.tensor(x)
        if self._both is not None:
            value, gradient = self._both(point, *self._args)
        else:
            value = self._function(point, *self._args)
            gradient = self._gradient(point, *self._args)  # type: ignore[misc]
        if not isinstance(value, Tensor) or value.size != 1:
            raise ValueError(
                f"For '{self.name}', the function must give one number, but got {value}."
            )
        if not isinstance(gradient, Tensor) or gradient.shape != point.shape:
            raise ValueError(
                f"For '{self.name}', the gradient must be a Tensor of shape {point.shape}, but got {described(gradient)}."
            )
        return float(value.asnumpy().reshape(())), array_of(gradient)

    def tensor(self, x: np.ndarray) -> Tensor:
        """A point as users see it."""
        return Tensor(x, self.dtype)

    @property
    def noise(self) -> float:
        """How far from the truth values may be, relative to them."""
        return 4 * (2.0**-52 if self.dtype is _core.float64 else 2.0**-23)


def array_of(x: Any) -> np.ndarray:
    """A Tensor as an array of Float64."""
    return x.asnumpy().astype(np.float64)
