"""Functions that several distributions need."""

from __future__ import annotations

import math

from mindspore import ops
from mindspore._core import Tensor


def lbeta(a: Tensor, b: Tensor) -> Tensor:
    """The logarithm of the beta function."""
    return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)


def nan_unless(defined: Tensor, x: Tensor) -> Tensor:
    """x where it is defined; NaN elsewhere."""
    return ops.where(defined, x, math.nan)


def times_log(x: Tensor, y: Tensor) -> Tensor:
    """x * log(y), and 0 where both are 0: with the gradient of the product at an x of 0, which that of xlogy is not."""
    none = ops.logical_and(x == 0, y == 0)
    return ops.where(none, 0.0, x * ops.log(ops.where(none, 1.0, y)))
