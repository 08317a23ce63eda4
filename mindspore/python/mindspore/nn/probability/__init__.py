"""Probability: distributions, and bijectors that make further distributions of them."""

from mindspore.nn.probability import bijector, distribution

__all__ = ["bijector", "distribution"]
