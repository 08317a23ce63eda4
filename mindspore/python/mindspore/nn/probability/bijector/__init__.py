"""Bijectors: invertible functions of numbers, with the logarithms of their derivatives."""

from mindspore.nn.probability.bijector._bijector import Bijector
from mindspore.nn.probability.bijector.elementwise import (
    Exp,
    GumbelCDF,
    Invert,
    PowerTransform,
    ScalarAffine,
    Softplus,
)

__all__ = [
    "Bijector",
    "Exp",
    "GumbelCDF",
    "Invert",
    "PowerTransform",
    "ScalarAffine",
    "Softplus",
]
