"""What the operations on sound have in common: checks of their arguments, and of what they take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import INT32_MAX, check_int, check_type
from mindspore.dataset.transforms import native
from mindspore.dataset.transforms.transforms import TensorOperation

_LARGEST = float(np.finfo(np.float32).max)


def check_real(
    op: str,
    name: str,
    value: Any,
    low: float = -_LARGEST,
    high: float = _LARGEST,
    above: bool = False,
) -> float:
    """Raise unless the value is a number in [low, high]; `above`: in (low, high]."""
    check_type(op, name, value, (float, int))
    if not low <= value <= high or (above and value == low):
        left = "(" if above else "["
        wanted = f"in {left}{low:g}, {high:g}]"
        if high == _LARGEST:
            wanted = "a finite number"
            if low == 0:
                wanted = "a positive number" if above else "a number that is not negative"
        raise ValueError(f"For '{op}', {name} must be {wanted}, but got {value}.")
    return float(value)


def check_rate(op: str, name: str, value: Any) -> int:
    """Raise unless the value can be how many samples make a second."""
    return check_int(op, name, value, 1)


def check_optional(op: str, name: str, value: Any, otherwise: int, low: int = 1) -> int:
    """An int from `low` on; None stands for `otherwise`."""
    return otherwise if value is None else check_int(op, name, value, low, INT32_MAX)


def as_sound(op: str, value: Any, layout: str) -> np.ndarray:
    """Floats of an array laid out as <..., these axes>: float64 stays, the rest becomes float32."""
    array = np.asarray(value)
    if array.dtype.kind not in "buif":
        raise TypeError(f"For '{op}', the input must hold numbers, but got {array.dtype}.")
    axes = layout.split(", ")
    if array.ndim < len(axes) or (axes[-1] == "complex=2" and array.shape[-1] != 2):
        raise ValueError(
            f"For '{op}', the input must be <..., {layout}>, but got shape {array.shape}."
        )
    return array if array.dtype == np.float64 else array.astype(np.float32)


class AudioTensorOperation(TensorOperation):
    """Base of the operations on sound; `_layout` names the last axes of what they take."""

    _layout = "time"

    def _apply(self, value: Any) -> Any:
        sound = as_sound(type(self).__name__, value, self._layout)
        result = self._sound(sound)
        if isinstance(result, tuple):
            return tuple([np.asarray(part, sound.dtype, order="C") for part in result])
        return np.asarray(result, sound.dtype, order="C")

    def _sound(self, sound: np.ndarray) -> Any:
        raise NotImplementedError


class EngineOperation(AudioTensorOperation):
    """Base of those that run in the engine, since each sample needs the ones before."""

    def _apply(self, value: Any) -> Any:
        return native.run(self, value)

    def spec(self) -> native.Spec:
        """See native.spec_of."""
        return type(self).__name__, self._numbers()

    def _numbers(self) -> list[float]:
        raise NotImplementedError


def decibels(gain: float) -> float:
    """A factor from decibels."""
    return math.pow(10, gain / 20)
