"""Argument checks that several image operations share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.vision.utils import Inter

Number = (int, float)
WARPS = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)
LARGE = 16777216.0


def number(
    op: str, name: str, value: Any, low: float = -LARGE, high: float = LARGE, above: bool = False
) -> float:
    """A number in [low, high], or with `above` in (low, high]."""
    check_type(op, name, value, Number)
    if not low <= value <= high or (above and value == low):
        bracket = "(" if above else "["
        raise ValueError(f"For '{op}', {name} must be in {bracket}{low}, {high}], but got {value}.")
    return float(value)


def numbers(
    op: str, name: str, value: Any, counts: Sequence[int], low: float = -LARGE, high: float = LARGE
) -> list[float]:
    """A list or tuple of so many numbers."""
    check_type(op, name, value, (list, tuple))
    if len(value) not in counts:
        wanted = " or ".join(str(count) for count in counts)
        raise TypeError(f"For '{op}', {name} must hold {wanted} numbers, but got {value!r}.")
    return [number(op, name, item, low, high) for item in value]


def span(
    op: str, name: str, value: Any, low: float = -LARGE, high: float = LARGE
) -> tuple[float, float]:
    """(least, most) of what is drawn."""
    pair = numbers(op, name, value, (2,), low, high)
    if pair[0] > pair[1]:
        raise ValueError(f"For '{op}', {name} must be (least, most), but got {value!r}.")
    return pair[0], pair[1]


def around_zero(op: str, name: str, value: Any) -> tuple[float, float]:
    """(least, most) from a pair, or from the distance to 0."""
    check_type(op, name, value, (*Number, list, tuple))
    if isinstance(value, (list, tuple)):
        return span(op, name, value)
    distance = number(op, name, value, 0)
    return -distance, distance


def fill(op: str, value: Any, name: str = "fill_value") -> list[float]:
    """A color: one int for all channels, or three."""
    check_type(op, name, value, (int, tuple))
    values = value if isinstance(value, tuple) else (value,)
    if len(values) not in (1, 3):
        raise TypeError(f"For '{op}', {name} must be an int or three of them, but got {value!r}.")
    for item in values:
        check_type(op, name, item, int)
        number(op, name, item, 0, 255)
    return [float(item) for item in values]


def interpolation(
    op: str, value: Any, allowed: Sequence[Inter] = WARPS, name: str = "resample"
) -> float:
    """One of the ways that the operation has, as a number."""
    check_type(op, name, value, Inter)
    if value not in allowed:
        names = ", ".join(inter.name for inter in allowed)
        raise ValueError(f"For '{op}', {name} must be one of {names}, but got {value.name}.")
    return float(value)


def odd(op: str, name: str, value: Any) -> int:
    """An odd size."""
    check_type(op, name, value, int)
    if not 1 <= value < 1 << 16 or value % 2 == 0:
        raise ValueError(f"For '{op}', {name} must be odd and in [1, 65535], but got {value}.")
    return int(value)


def draw(place: int, low: float, high: float, whole: bool = False) -> list[Any]:
    """The draw of one number, for the engine; none where there is no choice."""
    if not math.isfinite(low) or low == high:
        return []
    return [(place, float(low), float(high), whole)]
