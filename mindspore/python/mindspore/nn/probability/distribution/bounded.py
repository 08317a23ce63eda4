"""Distributions of the real numbers of a ray or an interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.nn.probability._parametric import POSITIVE, Given
from mindspore.nn.probability.distribution._family import Family
from mindspore.nn.probability.distribution._maths import lbeta, nan_unless, times_log
from mindspore.ops.function.random_func import Seed


class Uniform(Family):
    """Uniform distributions over [low, high].

    Args:
        low: Their least values.
        high: Their largest values, greater than `low`.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"low": None, "high": None}

    def __init__(
        self,
        low: Given = None,
        high: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "Uniform",
    ):
        super().__init__({"low": low, "high": high}, seed, dtype, name)

    def _refuse(self) -> None:
        low, high = self.default_parameters
        if low is None or high is None or low.is_symbolic or high.is_symbolic:
            return
        if not np.all(low.asnumpy() < high.asnumpy()):
            raise ValueError(
                f"For '{self._name}', 'low' must be less than 'high', but got {low} and {high}."
            )

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return parameters

    def _log_prob(self, value: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return -ops.log(high - low)

    def _prob(self, value: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return 1.0 / (high - low)

    def _cdf(self, value: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return (value - low) / (high - low)

    def _survival_function(self, value: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return (high - value) / (high - low)

    def _mean(self, low: Tensor, high: Tensor) -> Tensor:
        return (low + high) / 2

    def _var(self, low: Tensor, high: Tensor) -> Tensor:
        return ops.square(high - low) / 12

    def _entropy(self, low: Tensor, high: Tensor) -> Tensor:
        return ops.log(high - low)

    def _kl_loss(self, low_b: Tensor, high_b: Tensor, low: Tensor, high: Tensor) -> Tensor:
        within = ops.logical_and(low_b <= low, high <= high_b)
        return ops.where(within, ops.log(high_b - low_b) - ops.log(high - low), math.inf)

    def _sample(self, shape: tuple[int, ...], low: Tensor, high: Tensor) -> Tensor:
        return low + (high - low) * self._uniform(shape)


class Exponential(Family):
    """Exponential distributions.

    Args:
        rate: Their rates, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"rate": POSITIVE}

    def __init__(
        self,
        rate: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "Exponential",
    ):
        super().__init__({"rate": rate}, seed, dtype, name)

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _log_prob(self, value: Tensor, rate: Tensor) -> Tensor:
        return ops.log(rate) - rate * value

    def _log_survival(self, value: Tensor, rate: Tensor) -> Tensor:
        return -rate * value

    def _mean(self, rate: Tensor) -> Tensor:
        return 1.0 / rate

    def _mode(self, rate: Tensor) -> Tensor:
        return ops.zeros_like(rate)

    def _sd(self, rate: Tensor) -> Tensor:
        return 1.0 / rate

    def _entropy(self, rate: Tensor) -> Tensor:
        return 1.0 - ops.log(rate)

    def _kl_loss(self, rate_b: Tensor, rate: Tensor) -> Tensor:
        return ops.log(rate) - ops.log(rate_b) + rate_b / rate - 1.0

    def _sample(self, shape: tuple[int, ...], rate: Tensor) -> Tensor:
        return -ops.log(self._uniform(shape)) / rate


class Gamma(Family):
    """Gamma distributions.

    Args:
        concentration: Their shapes, greater than 0.
        rate: Their rates, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"concentration": POSITIVE, "rate": POSITIVE}

    def __init__(
        self,
        concentration: Given = None,
        rate: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "Gamma",
    ):
        super().__init__({"concentration": concentration, "rate": rate}, seed, dtype, name)

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _log_prob(self, value: Tensor, concentration: Tensor, rate: Tensor) -> Tensor:
        powers = concentration * ops.log(rate) + times_log(concentration - 1.0, value)
        return powers - rate * value - ops.lgamma(concentration)

    def _cdf(self, value: Tensor, concentration: Tensor, rate: Tensor) -> Tensor:
        return ops.igamma(*_alike(concentration, rate * value))

    def _survival_function(self, value: Tensor, concentration: Tensor, rate: Tensor) -> Tensor:
        return ops.igammac(*_alike(concentration, rate * value))

    def _mean(self, concentration: Tensor, rate: Tensor) -> Tensor:
        return concentration / rate

    def _mode(self, concentration: Tensor, rate: Tensor) -> Tensor:
        return nan_unless(concentration > 1, (concentration - 1.0) / rate)

    def _sd(self, concentration: Tensor, rate: Tensor) -> Tensor:
        return ops.sqrt(concentration) / rate

    def _entropy(self, concentration: Tensor, rate: Tensor) -> Tensor:
        more = (1.0 - concentration) * ops.digamma(concentration)
        return concentration - ops.log(rate) + ops.lgamma(concentration) + more

    def _kl_loss(
        self, concentration_b: Tensor, rate_b: Tensor, concentration: Tensor, rate: Tensor
    ) -> Tensor:
        shapes = (concentration - concentration_b) * ops.digamma(concentration)
        shapes = shapes + ops.lgamma(concentration_b) - ops.lgamma(concentration)
        rates = concentration_b * (ops.log(rate) - ops.log(rate_b))
        return shapes + rates + concentration * (rate_b / rate - 1.0)

    def _sample(self, shape: tuple[int, ...], concentration: Tensor, rate: Tensor) -> Tensor:
        return self._standard_gamma(shape, concentration) / rate


def _alike(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the shape of the second, which is that of both."""
    return ops.broadcast_to(a, x.shape), x


class Beta(Family):
    """Beta distributions.

    Args:
        concentration1: Their exponents of x plus 1, greater than 0.
        concentration0: Their exponents of 1 - x plus 1, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"concentration1": POSITIVE, "concentration0": POSITIVE}

    def __init__(
        self,
        concentration1: Given = None,
        concentration0: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "Beta",
    ):
        given = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(given, seed, dtype, name)

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _log_prob(self, value: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return times_log(a - 1.0, value) + times_log(b - 1.0, 1.0 - value) - lbeta(a, b)

    def _mean(self, a: Tensor, b: Tensor) -> Tensor:
        return a / (a + b)

    def _mode(self, a: Tensor, b: Tensor) -> Tensor:
        return nan_unless(ops.logical_and(a > 1, b > 1), (a - 1.0) / (a + b - 2.0))

    def _var(self, a: Tensor, b: Tensor) -> Tensor:
        return a * b / (ops.square(a + b) * (a + b + 1.0))

    def _entropy(self, a: Tensor, b: Tensor) -> Tensor:
        each = (a - 1.0) * ops.digamma(a) + (b - 1.0) * ops.digamma(b)
        return lbeta(a, b) - each + (a + b - 2.0) * ops.digamma(a + b)

    def _kl_loss(self, other_a: Tensor, other_b: Tensor, a: Tensor, b: Tensor) -> Tensor:
        each = (a - other_a) * ops.digamma(a) + (b - other_b) * ops.digamma(b)
        both = (other_a - a + other_b - b) * ops.digamma(a + b)
        return lbeta(other_a, other_b) - lbeta(a, b) + each + both

    def _sample(self, shape: tuple[int, ...], a: Tensor, b: Tensor) -> Tensor:
        first, second = self._standard_gamma(shape, a), self._standard_gamma(shape, b)
        return first / (first + second)


class HalfNormal(Family):
    """The upper halves of normal distributions.

    Args:
        mean: Their least values, the means of the whole distributions.
        sd: The standard deviations of the whole distributions, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"mean": None, "sd": POSITIVE}

    def __init__(
        self,
        mean: Given = None,
        sd: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "HalfNormal",
    ):
        super().__init__({"mean": mean, "sd": sd}, seed, dtype, name)

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return parameters[0], math.inf

    def _log_prob(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return -0.5 * ops.square((value - mean) / sd) - ops.log(sd) + 0.5 * math.log(2 / math.pi)

    def _cdf(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.erf((value - mean) / (sd * math.sqrt(2)))

    def _survival_function(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.erfc((value - mean) / (sd * math.sqrt(2)))

    def _mean(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean + sd * math.sqrt(2 / math.pi)

    def _mode(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    def _sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        return sd * math.sqrt(1 - 2 / math.pi)

    def _entropy(self, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.log(sd) + 0.5 * math.log(math.pi * math.e / 2)

    def _sample(self, shape: tuple[int, ...], mean: Tensor, sd: Tensor) -> Tensor:
        return mean + sd * ops.abs(self._standard_normal(shape))
