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
