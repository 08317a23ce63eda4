"""What initialisers share: the numbers they draw, and how far apart those should lie.

All draws come from one generator that follows `mindspore.set_seed`, so a seeded program starts
from the same weights in both modes.
"""

from __future__ import annotations

import math

import numpy as np

from mindspore.common import seed as _seed
from mindspore.common._checked import check_value


def _rng() -> np.random.Generator:
    return _seed._init_rng()


def _calculate_fan_in_and_fan_out(shape: tuple[int, ...]) -> tuple[int, int]:
    """Inputs and outputs of one unit for a weight of this shape, [out, in, kernel...]."""
    if len(shape) < 2:
        raise ValueError(
            "For 'initializer', fan in and fan out need a shape of at least 2 dimensions, "
            f"but got {tuple(shape)}."
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(shape: tuple[int, ...], mode: str) -> int:
    """Fan in or fan out, as `mode` says."""
    shape = check_value(tuple[int, ...], shape, "shape", "initializer")
    mode = check_value(str, mode, "mode", "initializer").lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(
            f"For 'initializer', 'mode' must be one of 'fan_in', 'fan_out', but got '{mode}'."
        )
    fan_in, fan_out = _calculate_fan_in_and_fan_out(shape)
    return fan_in if mode == "fan_in" else fan_out


def _calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity (He et al., 2015)."""
    linear = (
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "sigmoid",
    )
    if nonlinearity in linear:
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3.0
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(
                f"For 'initializer', 'negative_slope' must be a number, but got {slope!r}."
            )
        return math.sqrt(2.0 / (1.0 + slope**2))
    raise ValueError(
        "For 'initializer', 'nonlinearity' must be one of 'leaky_relu', 'relu', 'tanh', "
        f"'sigmoid', 'linear' or a convolution's name, but got '{nonlinearity}'."
    )


def _draw_normal(mean: float, sigma: float, shape: tuple[int, ...]) -> np.ndarray:
    values = _rng().standard_normal(shape, dtype=np.float32)
    return values * np.float32(sigma) + np.float32(mean)


def _draw_uniform(low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
    values = _rng().random(shape, dtype=np.float32)
    return values * np.float32(high - low) + np.float32(low)


def _draw_truncated(
    mean: float, sigma: float, low: float, high: float, shape: tuple[int, ...]
) -> np.ndarray:
    """Normal numbers within [low, high].

    Numbers outside are drawn again; where few would be inside, the distribution is inverted.
    """
    first, last = (
        0.5 * math.erfc((mean - bound) / (sigma * math.sqrt(2.0))) for bound in (low, high)
    )
    count = math.prod(shape)
    rng = _rng()
    if last - first < 0.05:
        from statistics import NormalDist  # rarely needed, and slow to import

        normal = NormalDist(mean, sigma)
        shares = np.clip(first + (last - first) * rng.random(count), 1e-300, 1 - 1e-16)
        values = np.array([normal.inv_cdf(share) for share in shares], np.float32)
        return np.clip(values, low, high).reshape(shape)
    values = rng.standard_normal(count, dtype=np.float32) * np.float32(sigma) + np.float32(mean)
    outside = np.flatnonzero((values < low) | (values > high))
    while outside.size:
        again = rng.standard_normal(outside.size, dtype=np.float32)
        again = again * np.float32(sigma) + np.float32(mean)
        values[outside] = again
        outside = outside[(again < low) | (again > high)]
    return values.reshape(shape)
