"""Distributions of what a bijector makes of the samples of others."""

from __future__ import annotations

import math
from typing import Any

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.nn.probability._parametric import POSITIVE, Given
from mindspore.nn.probability.bijector import Bijector, Exp, GumbelCDF, Invert
from mindspore.nn.probability.distribution._distribution import Distribution
from mindspore.nn.probability.distribution._family import Family
from mindspore.nn.probability.distribution.bounded import Uniform
from mindspore.nn.probability.distribution.real import Normal
from mindspore.ops.function.random_func import Seed

_EULER = 0.57721566490153286


class TransformedDistribution(Distribution):
    """The distribution of `bijector.forward(x)`, where x is a sample of another one. Parameters at the call are those of the latter.

    Args:
        bijector: What is done with samples.
        distribution: Where they are from.
        seed: The seed that `seed` shows; samples are drawn with that of `distribution`.
        name: How messages call it.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> import mindspore.nn.probability.distribution as msd
        >>> log_normal = msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0))
        >>> print(log_normal.cdf(Tensor([1.0])))
        [0.5]
    """

    _open = True

    def __init__(
        self,
        bijector: Bijector,
        distribution: Distribution,
        seed: Seed = None,
        name: str = "transformed_distribution",
    ):
        made_with = {"bijector": bijector, "distribution": distribution, "seed": seed, "name": name}
        super().__init__(seed, distribution.dtype, name, made_with)
        self._bijector, self._distribution = bijector, distribution

    @property
    def bijector(self) -> Bijector:
        """What is done with samples."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """Where samples are from."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether means are mapped to means."""
        return self._bijector.is_constant_jacobian

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape that the parameters of the distribution have together."""
        return self._distribution.batch_shape

    def _support(self, *parameters: Any) -> tuple[Any, Any] | None:
        return self._bijector.image()

    def _log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        before = self._distribution.log_prob(self._bijector.inverse(value), *args, **kwargs)
        return self._bijector.inverse_log_jacobian(value) + before

    def _cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self._tail("cdf", "survival_function", value, args, kwargs)

    def _log_cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self._tail("log_cdf", "log_survival", value, args, kwargs)

    def _survival_function(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self._tail("survival_function", "cdf", value, args, kwargs)

    def _log_survival(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self._tail("log_survival", "log_cdf", value, args, kwargs)

    def _tail(self, name: str, other: str, value: Tensor, args: tuple, kwargs: dict) -> Tensor:
        """What lies on one side, or on the other where the bijector turns the order round."""
        x = self._bijector.inverse(value)
        turned = self._bijector.decreases()
        result = getattr(self._distribution, name)(x, *args, **kwargs)
        if turned is None:
            return result
        return ops.where(turned, getattr(self._distribution, other)(x, *args, **kwargs), result)

    def _mean(self, *args: Any, **kwargs: Any) -> Tensor:
        if not self.is_linear_transformation:
            raise ValueError(
                f"For '{self._name}', the bijector must be linear for the mean to follow, but got {self._bijector.name}."
            )
        return self._bijector.forward(self._distribution.mean(*args, **kwargs))

    def _sample(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._bijector.forward(self._distribution.sample(*args, **kwargs))


class LogNormal(Family, TransformedDistribution):
    """Log-normal distributions: of numbers whose logarithms are normal.

    Args:
        loc: The means of the logarithms.
        scale: The standard deviations of the logarithms, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"loc": None, "scale": POSITIVE}

    def __init__(
        self,
        loc: Given = None,
        scale: Given = None,
        seed: Seed = 0,
        dtype: DType = _core.float32,
        name: str = "LogNormal",
    ):
        Family.__init__(self, {"loc": loc, "scale": scale}, seed, dtype, name)
        self._bijector, self._distribution = Exp(), Normal(loc, scale, seed, dtype)

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.exp(loc + 0.5 * ops.square(scale))

    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.exp(loc - ops.square(scale))

    def _var(self, loc: Tensor, scale: Tensor) -> Tensor:
        square = ops.square(scale)
        return ops.expm1(square) * ops.exp(2.0 * loc + square)

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc + self._distribution.entropy(loc, scale)

    def _kl_loss(self, loc_b: Tensor, scale_b: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return self._distribution.kl_loss("Normal", loc_b, scale_b, loc, scale)

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        return ops.exp(loc + scale * self._standard_normal(shape))


class Gumbel(Family, TransformedDistribution):
    """Gumbel distributions, of the largest of many numbers.

    Args:
        loc: Their most likely values.
        scale: Their scales, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples, a float type.
        name: How messages call it.
    """

    PARAMETERS = {"loc": None, "scale": POSITIVE}

    def __init__(
        self,
        loc: Given,
        scale: Given,
        seed: Seed = 0,
        dtype: DType = _core.float32,
        name: str = "Gumbel",
    ):
        Family.__init__(self, {"loc": loc, "scale": scale}, seed, dtype, name)
        self._bijector = Invert(GumbelCDF(loc, scale))
        self._distribution = Uniform(0.0, 1.0, seed, dtype)

    def _log_prob(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        z = (value - loc) / scale
        return -(z + ops.exp(-z)) - ops.log(scale)

    def _log_cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.exp((loc - value) / scale)

    def _cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.exp(self._log_cdf(value, loc, scale))

    def _survival_function(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.expm1(self._log_cdf(value, loc, scale))

    def _log_survival(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(self._survival_function(value, loc, scale))

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc + scale * _EULER

    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc

    def _sd(self, loc: Tensor, scale: Tensor) -> Tensor:
        return scale * (math.pi / math.sqrt(6))

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(scale) + (1 + _EULER)

    def _kl_loss(self, loc_b: Tensor, scale_b: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        ratio, apart = scale / scale_b, (loc_b - loc) / scale_b
        return (
            _EULER * (ratio - 1.0)
            - ops.log(ratio)
            + ops.expm1(apart + ops.lgamma(ratio + 1.0))
            - apart
        )

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        return loc - scale * ops.log(-ops.log(self._uniform(shape)))
