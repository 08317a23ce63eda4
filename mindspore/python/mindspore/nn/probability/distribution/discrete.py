"""Discrete distributions. Their parameters are Float32 where the dtype of their samples is that of integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.nn.probability._parametric import POSITIVE, PROBABILITY, Given, cast
from mindspore.nn.probability.distribution._family import Family
from mindspore.nn.probability.distribution._maths import times_log
from mindspore.ops._bind import raw
from mindspore.ops.function.random_func import Seed

_multinomial = raw("Multinomial")


class Bernoulli(Family):
    """Bernoulli distributions: 1 with a probability, else 0. Between 0 and 1, `log_prob` is linear in the value.

    Args:
        probs: The probabilities of 1, in (0, 1).
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples.
        name: How messages call it.
    """

    PARAMETERS = {"probs": PROBABILITY}
    CONTINUOUS = False
    KEYWORDS = {"probs1": "probs"}

    def __init__(
        self,
        probs: Given = None,
        seed: Seed = None,
        dtype: DType = _core.int32,
        name: str = "Bernoulli",
    ):
        super().__init__({"probs": probs}, seed, dtype, name)

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _log_prob(self, value: Tensor, probs: Tensor) -> Tensor:
        return times_log(value, probs) + times_log(1.0 - value, 1.0 - probs)

    def _cdf(self, value: Tensor, probs: Tensor) -> Tensor:
        return ops.where(value < 1, 1.0 - probs, 1.0)

    def _mean(self, probs: Tensor) -> Tensor:
        return probs

    def _mode(self, probs: Tensor) -> Tensor:
        return cast(probs > 0.5, self._dtype)

    def _var(self, probs: Tensor) -> Tensor:
        return probs * (1.0 - probs)

    def _entropy(self, probs: Tensor) -> Tensor:
        return -times_log(probs, probs) - times_log(1.0 - probs, 1.0 - probs)

    def _kl_loss(self, probs_b: Tensor, probs: Tensor) -> Tensor:
        one = times_log(probs, probs) - times_log(probs, probs_b)
        zero = times_log(1.0 - probs, 1.0 - probs) - times_log(1.0 - probs, 1.0 - probs_b)
        return one + zero

    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        return self._uniform(shape) < probs


class Geometric(Family):
    """Geometric distributions: how many trials fail before one succeeds. Values between integers count as the lower one.

    Args:
        probs: The probabilities of success, in (0, 1).
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples.
        name: How messages call it.
    """

    PARAMETERS = {"probs": PROBABILITY}
    CONTINUOUS = False
    KEYWORDS = {"probs1": "probs"}

    def __init__(
        self,
        probs: Given = None,
        seed: Seed = None,
        dtype: DType = _core.int32,
        name: str = "Geometric",
    ):
        super().__init__({"probs": probs}, seed, dtype, name)

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _log_prob(self, value: Tensor, probs: Tensor) -> Tensor:
        return ops.log(probs) + ops.floor(value) * ops.log1p(-probs)

    def _log_survival(self, value: Tensor, probs: Tensor) -> Tensor:
        return (ops.floor(value) + 1.0) * ops.log1p(-probs)

    def _mean(self, probs: Tensor) -> Tensor:
        return 1.0 / probs - 1.0

    def _mode(self, probs: Tensor) -> Tensor:
        return cast(ops.zeros_like(probs), self._dtype)

    def _var(self, probs: Tensor) -> Tensor:
        return (1.0 - probs) / ops.square(probs)

    def _entropy(self, probs: Tensor) -> Tensor:
        return -ops.log(probs) - (1.0 / probs - 1.0) * ops.log1p(-probs)

    def _kl_loss(self, probs_b: Tensor, probs: Tensor) -> Tensor:
        failures = (1.0 / probs - 1.0) * (ops.log1p(-probs) - ops.log1p(-probs_b))
        return ops.log(probs) - ops.log(probs_b) + failures

    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        return ops.floor(ops.log(self._uniform(shape)) / ops.log1p(-probs))


class Poisson(Family):
    """Poisson distributions. Between integers, `prob` and `cdf` are continuous functions.

    Args:
        rate: Their rates, greater than 0.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples.
        name: How messages call it.
    """

    PARAMETERS = {"rate": POSITIVE}
    CONTINUOUS = False

    def __init__(
        self,
        rate: Given = None,
        seed: Seed = None,
        dtype: DType = _core.float32,
        name: str = "Poisson",
    ):
        super().__init__({"rate": rate}, seed, dtype, name)

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _log_prob(self, value: Tensor, rate: Tensor) -> Tensor:
        return times_log(value, rate) - rate - ops.lgamma(value + 1.0)

    def _cdf(self, value: Tensor, rate: Tensor) -> Tensor:
        return ops.igammac(value + 1.0, rate)

    def _survival_function(self, value: Tensor, rate: Tensor) -> Tensor:
        return ops.igamma(value + 1.0, rate)

    def _mean(self, rate: Tensor) -> Tensor:
        return rate

    def _mode(self, rate: Tensor) -> Tensor:
        return ops.floor(rate)

    def _var(self, rate: Tensor) -> Tensor:
        return rate

    def _kl_loss(self, rate_b: Tensor, rate: Tensor) -> Tensor:
        return rate * (ops.log(rate) - ops.log(rate_b)) - rate + rate_b

    def _sample(self, shape: tuple[int, ...], rate: Tensor) -> Tensor:
        return self._poisson_counts(shape, rate)


class Categorical(Family):
    """Categorical distributions: one of k classes, numbered from 0.

    Args:
        probs: The probabilities of the classes along the last axis, in (0, 1), which sum to 1.
        seed: The seed of the samples; None for the global one.
        dtype: The dtype of the samples.
        name: How messages call it.
    """

    PARAMETERS = {"probs": PROBABILITY}
    CONTINUOUS = False

    def __init__(
        self,
        probs: Given = None,
        seed: Seed = None,
        dtype: DType = _core.int32,
        name: str = "Categorical",
    ):
        super().__init__({"probs": probs}, seed, dtype, name)

    def _refuse(self) -> None:
        (probs,) = self.default_parameters
        if probs is None or probs.is_symbolic:
            return
        if probs.ndim == 0 or not np.allclose(probs.asnumpy().sum(-1), 1.0, atol=1e-3):
            raise ValueError(
                f"For '{self._name}', 'probs' must sum to 1 along its last axis, but got {probs}."
            )

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape of one sample of each distribution in the batch."""
        shape = self.batch_shape
        return shape if shape is None else shape[:-1]

    @property
    def is_scalar_batch(self) -> bool:
        """Whether there is one distribution alone."""
        return not self.broadcast_shape

    def _batch(self, *own: Tensor) -> tuple[int, ...]:
        return own[0].shape[:-1]

    def _support(self, *parameters: Any) -> tuple[Any, Any]:
        return 0.0, float(parameters[0].shape[-1] - 1)

    def _prob(self, value: Tensor, probs: Tensor) -> Tensor:
        chosen = self._classes(probs) == ops.expand_dims(ops.floor(value), -1)
        return ops.where(chosen, probs, 0.0).sum(-1)

    def _cdf(self, value: Tensor, probs: Tensor) -> Tensor:
        upto = self._classes(probs) <= ops.expand_dims(value, -1)
        return ops.where(upto, probs, 0.0).sum(-1)

    def _classes(self, probs: Tensor) -> Tensor:
        return Tensor(np.arange(probs.shape[-1]), self.parameter_type)

    def _mean(self, probs: Tensor) -> Tensor:
        return (self._classes(probs) * probs).sum(-1, keepdims=True)

    def _mode(self, probs: Tensor) -> Tensor:
        return cast(ops.argmax(probs, -1), self._dtype)

    def _var(self, probs: Tensor) -> Tensor:
        apart = ops.square(self._classes(probs) - self._mean(probs))
        return (apart * probs).sum(-1, keepdims=True)

    def _entropy(self, probs: Tensor) -> Tensor:
        return -times_log(probs, probs).sum(-1)

    def _kl_loss(self, probs_b: Tensor, probs: Tensor) -> Tensor:
        return (times_log(probs, probs) - times_log(probs, probs_b)).sum(-1)

    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        batch = probs.shape[:-1]
        rows = ops.reshape(cast(probs, _core.float32), (-1, probs.shape[-1]))
        count = math.prod(shape) // max(1, math.prod(batch))
        drawn = _multinomial(
            rows, num_samples=count, replacement=True, seed=self._stream, dtype=_core.int32
        )
        return ops.reshape(ops.swapaxes(drawn, 0, 1), shape)
