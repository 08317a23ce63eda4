"""Cells with parameters that are numbers, arrays, Tensors or Parameters: what distributions and bijectors have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell

Given: TypeAlias = Any  # int | float | list | np.ndarray | Tensor | Parameter | None
Rule: TypeAlias = tuple[Callable[[np.ndarray], Any], str]  # a test of values, and what must hold

POSITIVE: Rule = (lambda x: x > 0, "be greater than 0")
NOT_NEGATIVE: Rule = (lambda x: x >= 0, "not be negative")
PROBABILITY: Rule = (lambda x: (x > 0) & (x < 1), "be in (0, 1)")
FLOATS = (_core.float16, _core.bfloat16, _core.float32, _core.float64)


def cast(x: Tensor, dtype: DType) -> Tensor:
    """The tensor in a dtype."""
    return x if x.dtype is dtype else ops.cast(x, dtype)


def tensor_of(owner: str, name: str, value: Any) -> Tensor:
    """The value, which must be a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"For '{owner}', '{name}' must be a Tensor, but got {type(value).__name__}."
        )
    return value


def _from_python(owner: str, name: str, value: Any, dtype: DType) -> Tensor:
    """Numbers, lists of them and arrays as a Tensor; a Tensor or a Parameter as it is."""
    if isinstance(value, Tensor):
        return value
    array = None if isinstance(value, str) else np.asarray(value)
    if array is None or array.dtype.kind not in "iuf":
        raise TypeError(
            f"For '{owner}', '{name}' must be a number, a list of numbers, an array or a Tensor, but got {value!r}."
        )
    return Tensor(array.astype(np.float64), dtype)


class Parametric(Cell):
    """A Cell with named parameters, each given when it is made or left out.

    Args:
        name: How messages call it.
        parameter_type: The dtype of the parameters.
    """

    def __init__(self, name: str, parameter_type: DType):
        super().__init__()
        self._name, self.parameter_type = name, parameter_type
        self.parameter_names: list[str] = []
        self.default_parameters: list[Any] = []  # Tensors, and None for what is not given

    def _add_parameter(self, value: Given, name: str, rule: Rule | None = None) -> Tensor | None:
        """Takes a parameter: what was given for it, as a Tensor, which is returned too. Its values keep a rule."""
        taken = None
        if value is not None:
            taken = _from_python(self._name, name, value, self.parameter_type)
            if not isinstance(taken, Parameter):
                taken = cast(taken, self.parameter_type)
            self._keep(name, taken, rule)
        self.parameter_names.append(name)
        self.default_parameters.append(taken)
        setattr(self, f"{name}_value", taken)
        return taken

    def _keep(self, name: str, value: Tensor, rule: Rule | None) -> None:
        if rule is None or value.is_symbolic:
            return
        test, must = rule
        if not np.all(test(value.asnumpy())):
            raise ValueError(f"For '{self._name}', '{name}' must {must}, but got {value}.")

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape that the parameters have together; None while one of them is not given."""
        return self._shape_of_parameters()

    def _shape_of_parameters(self) -> tuple[int, ...] | None:
        shapes = []
        for value in self.default_parameters:
            if value is None:
                return None
            shapes.append(value.shape)
        return _together(self._name, shapes)

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all parameters that were given are scalars."""
        return not self.batch_shape

    def extend_repr(self) -> str:
        """The parameters, or their shape where they are more than scalars."""
        if self.batch_shape:
            return f"batch_shape = {self.batch_shape}"
        shown = []
        for name, value in zip(self.parameter_names, self.default_parameters):
            shown.append(f"{name} = {value}")
        return ", ".join(shown)


def _together(owner: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that others broadcast to."""
    result: list[int] = []
    for shape in shapes:
        result = [1] * (len(shape) - len(result)) + result
        for i in range(1, len(shape) + 1):
            if result[-i] == 1:
                result[-i] = shape[-i]
            elif shape[-i] not in (1, result[-i]):
                raise ValueError(
                    f"For '{owner}', the parameters must have shapes that broadcast, but got {shapes}."
                )
    return tuple(result)


def spread(owner: str, values: list[Tensor]) -> list[Tensor]:
    """Tensors in the shape that they broadcast to."""
    shape = _together(owner, [x.shape for x in values])
    return [x if x.shape == shape else ops.broadcast_to(x, shape) for x in values]
