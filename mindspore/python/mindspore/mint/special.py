"""Special functions, as `mint` itself has them."""

from __future__ import annotations

from mindspore._core import Tensor
from mindspore.mint import erfc, exp2, expm1, log1p, sinc
from mindspore.mint import round as _round
from mindspore.mint.nn.functional import log_softmax


def round(input: Tensor) -> Tensor:
    """The nearest integers; halves go to the even one."""
    return _round(input)


__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]
