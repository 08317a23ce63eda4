"""Parameters that were cut into pieces, one for each process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor


def merge_sliced_parameter(
    sliced_parameters: Sequence[Parameter], strategy: Any = None
) -> Parameter:
    """One Parameter of pieces along the first axis.

    Args:
        sliced_parameters: the pieces, in order.
        strategy: must be None: layouts of other cuts are not read by this build.
    """
    op = "merge_sliced_parameter"
    if not isinstance(sliced_parameters, (list, tuple)):
        raise TypeError(
            f"For '{op}', 'sliced_parameters' must be a list, but got {type(sliced_parameters).__name__}."
        )
    if not sliced_parameters:
        raise ValueError(f"For '{op}', 'sliced_parameters' must not be empty, but got [].")
    for piece in sliced_parameters:
        if not isinstance(piece, Parameter):
            raise TypeError(
                f"For '{op}', 'sliced_parameters' must hold Parameters, but got {type(piece).__name__}."
            )
    if strategy is not None:
        raise NotImplementedError(
            f"For '{op}', 'strategy' must be None: the pieces follow each other along the first axis."
        )
    first = sliced_parameters[0]
    for piece in sliced_parameters[1:]:
        same = piece.name == first.name and piece.shape[1:] == first.shape[1:]
        if not same or piece.ndim != first.ndim or piece.ndim == 0:
            raise ValueError(
                f"For '{op}', all pieces must have the name {first.name!r} and the shape {tuple(first.shape)} but for "
                f"the first axis, but got {piece.name!r} and {tuple(piece.shape)}."
            )
    whole = np.concatenate([piece.asnumpy() for piece in sliced_parameters])
    return Parameter(Tensor(whole, first.dtype), name=first.name, requires_grad=first.requires_grad)
