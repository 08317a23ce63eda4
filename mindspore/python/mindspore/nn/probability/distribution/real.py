"""Distributions of all real numbers."""

from __future__ import annotations

import math

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.nn.probability._parametric import POSITIVE, Given
from mindspore.nn.probability.distribution._family import Family
from mindspore.nn.probability.distribution._maths import lbeta, nan_unless
from mindspore.ops.function.random_func import Seed


class Normal(Family):
    """Normal distributions.

    Args:
        mean: Their means.
        sd: Their standard deviations, greater than 0.
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
        name: str = "Normal",
    ):
        super().__init__({"mean": mean, "sd": sd}, seed, dtype, name)

    def _log_prob(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return -0.5 * ops.square((value - mean) / sd) - ops.log(sd) - 0.5 * math.log(2 * math.pi)

    def _cdf(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return 0.5 * ops.erfc((mean - value) / (sd * math.sqrt(2)))

    def _survival_function(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return 0.5 * ops.erfc((value - mean) / (sd * math.sqrt(2)))

    def _mean(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    def _mode(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    def _sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        return sd

    def _entropy(self, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.log(sd) + 0.5 * math.log(2 * math.pi * math.e)

    def _kl_loss(self, mean_b: Tensor, sd_b: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        difference = ops.log(sd) - ops.log(sd_b)
        apart = 0.5 * ops.square((mean - mean_b) / sd_b)
        return apart + 0.5 * ops.expm1(2.0 * difference) - difference

    def _sample(self, shape: tuple[int, ...], mean: Tensor, sd: Tensor) -> Tensor:
        return mean + sd * self._standard_normal(shape)


class Cauchy(Family):
    """Cauchy distributions, which have neither a mean nor a variance.

    Args:
        loc: Their medians.
        scale: Half the widths between their quartiles, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"loc": None, "scale": POSITIVE}

    def __init__(
        self,
        loc: Given = None,
        scale: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "Cauchy",
    ):
        super().__init__({"loc": loc, "scale": scale}, seed, dtype, name)

    def _log_prob(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.log1p(ops.square((value - loc) / scale)) - ops.log(scale) - math.log(math.pi)

    def _cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return _angle((loc - value) / scale)

    def _survival_function(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return _angle((value - loc) / scale)

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        raise ValueError(f"For '{self._name}', a mean must exist, but got a Cauchy distribution.")

    def _var(self, loc: Tensor, scale: Tensor) -> Tensor:
        raise ValueError(
            f"For '{self._name}', a variance must exist, but got a Cauchy distribution."
        )

    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(scale) + math.log(4 * math.pi)

    def _kl_loss(self, loc_b: Tensor, scale_b: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        apart = ops.square(scale + scale_b) + ops.square(loc - loc_b)
        return ops.log(apart) - ops.log(4.0 * scale * scale_b)

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        return loc + scale * ops.tan(math.pi * (self._uniform(shape) - 0.5))


def _angle(z: Tensor) -> Tensor:
    """The probability of more than z in the standard Cauchy distribution, exact where it is small."""
    return ops.atan2(ops.ones_like(z), z) / math.pi


class Laplace(Family):
    """Laplace distributions.

    Args:
        mean: Their means.
        sd: Their scales, greater than 0; the standard deviations are `sqrt(2)` times as large.
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
        name: str = "Laplace",
    ):
        super().__init__({"mean": mean, "sd": sd}, seed, dtype, name)

    def _log_prob(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return -ops.abs(value - mean) / sd - ops.log(2.0 * sd)

    def _cdf(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return _laplace_tail((mean - value) / sd)

    def _survival_function(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return _laplace_tail((value - mean) / sd)

    def _mean(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    def _mode(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    def _sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        return sd * math.sqrt(2)

    def _entropy(self, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.log(sd) + (1 + math.log(2))

    def _kl_loss(self, mean_b: Tensor, sd_b: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        apart, ratio = ops.abs(mean - mean_b), sd / sd_b
        return apart / sd_b + ratio * ops.exp(-apart / sd) - ops.log(ratio) - 1.0

    def _sample(self, shape: tuple[int, ...], mean: Tensor, sd: Tensor) -> Tensor:
        u = self._uniform(shape) - 0.5
        return mean - sd * ops.sign(u) * ops.log1p(-2.0 * ops.abs(u))


def _laplace_tail(z: Tensor) -> Tensor:
    """The probability of more than z in the standard Laplace distribution."""
    tail = 0.5 * ops.exp(-ops.abs(z))
    return ops.where(z > 0, tail, 1.0 - tail)


class Logistic(Family):
    """Logistic distributions.

    Args:
        loc: Their means.
        scale: Their scales, greater than 0; the standard deviations are `pi / sqrt(3)` times as large.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"loc": None, "scale": POSITIVE}

    def __init__(
        self,
        loc: Given = None,
        scale: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "Logistic",
    ):
        super().__init__({"loc": loc, "scale": scale}, seed, dtype, name)

    def _log_prob(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        z = ops.abs((value - loc) / scale)
        return -z - 2.0 * ops.softplus(-z) - ops.log(scale)

    def _log_cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.softplus((loc - value) / scale)

    def _log_survival(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.softplus((value - loc) / scale)

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc

    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc

    def _sd(self, loc: Tensor, scale: Tensor) -> Tensor:
        return scale * (math.pi / math.sqrt(3))

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(scale) + 2.0

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        u = self._uniform(shape)
        return loc + scale * (ops.log(u) - ops.log1p(-u))


class StudentT(Family):
    """Student's t distributions.

    Args:
        df: Their degrees of freedom, greater than 0.
        mean: Their centres.
        sd: Their scales, greater than 0; the standard deviations are larger.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"df": POSITIVE, "mean": None, "sd": POSITIVE}

    def __init__(
        self,
        df: Given = None,
        mean: Given = None,
        sd: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "StudentT",
    ):
        super().__init__({"df": df, "mean": mean, "sd": sd}, seed, dtype, name)

    def _log_prob(self, value: Tensor, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        z = (value - mean) / sd
        whole = lbeta(0.5 * df, ops.full_like(df, 0.5)) + 0.5 * ops.log(df) + ops.log(sd)
        return -0.5 * (df + 1.0) * ops.log1p(ops.square(z) / df) - whole

    def _mean(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return nan_unless(df > 1, mean)

    def _mode(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    def _var(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        finite = df > 2
        larger = ops.where(finite, df, 3.0)
        var = ops.where(finite, ops.square(sd) * larger / (larger - 2.0), math.inf)
        return nan_unless(df > 1, var)

    def _entropy(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        half, more = 0.5 * df, 0.5 * (df + 1.0)
        whole = lbeta(half, ops.full_like(df, 0.5)) + 0.5 * ops.log(df) + ops.log(sd)
        return more * (ops.digamma(more) - ops.digamma(half)) + whole

    def _sample(self, shape: tuple[int, ...], df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        spread = ops.sqrt(0.5 * df / self._standard_gamma(shape, 0.5 * df))
        return mean + sd * spread * self._standard_normal(shape)
