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


class Reshard:
    """`reshard` as an object.

    Args:
        in_layout (tuple[Layout]): How the tensor lies, which the compiler knows.
        out_layout (tuple[Layout]): How it is to lie.
        in_strategy (tuple): The same as `in_layout`, as numbers of pieces.
    """

    def __init__(self, in_layout: tuple[Layout], out_layout: tuple[Layout], in_strategy: tuple):
        for what, layouts in (("in_layout", in_layout), ("out_layout", out_layout)):
            if not isinstance(layouts, tuple) or [type(x) for x in layouts] != [Layout]:
                raise TypeError(
                    f"For 'Reshard', '{what}' must be a tuple of one Layout, but got {layouts!r}."
                )
        self.in_layout, self.out_layout, self.in_strategy = in_layout, out_layout, in_strategy

    def __call__(self, tensor: Tensor) -> Any:
        return reshard(tensor, self.out_layout[0])


__all__ = ["Reshard", "reshard"]
