"""Distributions: probabilities, moments, divergences and samples."""

from mindspore.nn.probability.distribution._distribution import Distribution
from mindspore.nn.probability.distribution.bounded import (
    Beta,
    Exponential,
    Gamma,
    HalfNormal,
    Uniform,
)
from mindspore.nn.probability.distribution.discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    Poisson,
)
from mindspore.nn.probability.distribution.real import Cauchy, Laplace, Logistic, Normal, StudentT
from mindspore.nn.probability.distribution.transformed import (
    Gumbel,
    LogNormal,
    TransformedDistribution,
)

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "Distribution",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfNormal",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Normal",
    "Poisson",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
]
