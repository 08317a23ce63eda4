"""Random arrays, drawn as those of `ops` are: they follow `mindspore.set_seed`."""

from __future__ import annotations

import sys

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Sizes
from mindspore.numpy.dtypes import Dtype, float32, int32


def rand(*shape: Sizes, dtype: Dtype = float32) -> Tensor:
    """Numbers spread evenly over [0, 1)."""
    return ops.rand(*(shape or (1,)), dtype=dtype)


def randn(*shape: Sizes, dtype: Dtype = float32) -> Tensor:
    """Numbers from the normal distribution of mean 0 and deviation 1."""
    return ops.randn(*(shape or (1,)), dtype=dtype)


def randint(
    minval: int, maxval: int | None = None, shape: Sizes | None = None, dtype: Dtype = int32
) -> Tensor:
    """Integers spread evenly over [minval, maxval); over [0, minval) where that is all that is given."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    if low >= high:
        raise ValueError(
            f"For 'randint', 'minval' must be less than 'maxval', but got {low} and {high}."
        )
    if str(dtype or int32)[:3] not in ("Int", "UIn"):
        raise ValueError(f"For 'randint', 'dtype' must be one of integers, but got {dtype}.")
    return ops.randint(low, high, (1,) if shape is None else shape, dtype=dtype or int32)


__all__ = ["rand", "randint", "randn"]
check_functions(sys.modules[__name__], __all__)
