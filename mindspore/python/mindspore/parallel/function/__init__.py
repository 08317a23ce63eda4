"""Functions of parallel training."""

from __future__ import annotations

from typing import Any

from mindspore._core import Tensor
from mindspore.common._layouts import Layout
from mindspore.ops import _pinned


def reshard(tensor: Tensor, layout: Layout) -> Any:
    """The tensor, lying among processes as a layout says: in the modes "semi_auto_parallel" and "auto_parallel", where it is
    compiled; elsewhere the tensor as it is.

    Args:
        tensor: The tensor.
        layout: The layout, called with the names of the dimensions.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"For 'reshard', 'tensor' must be a Tensor, but got {type(tensor).__name__}."
        )
    if not isinstance(layout, Layout):
        raise TypeError(
            f"For 'reshard', 'layout' must be a Layout, but got {type(layout).__name__}."
        )
    _pinned.check_pin("reshard", "layout", layout)
    return _pinned.pinned("reshard", tensor, layout)


__all__ = ["reshard"]
