"""`mindspore.parallel._cell_wrapper`: cells that gather the parts of parameters from other processes."""

from __future__ import annotations

from typing import Any

from mindspore import Tensor, nn
from mindspore.ops._collectives import CLASSES


class AllGatherCell(nn.Cell):
    """The parts of a parameter that the processes of a group hold, joined; reshaped before where asked for."""

    def __init__(self, group: str, do_reshape: bool = False, after_reshape_slice_shape: tuple = ()):
        super().__init__(auto_prefix=False)
        self.all_gather = CLASSES["AllGather"](group)
        self.shape = tuple(after_reshape_slice_shape) if do_reshape else None

    def construct(self, x: Tensor) -> Tensor:
        """The joined tensor."""
        return self.all_gather(x if self.shape is None else x.reshape(self.shape))


def get_allgather_cell(
    group: str,
    need_merge_twice: bool = False,
    do_reshape: bool = False,
    after_reshape_slice_shape: tuple = (),
) -> AllGatherCell:
    """Such a cell."""
    del need_merge_twice
    return AllGatherCell(group, do_reshape, after_reshape_slice_shape)


def destroy_allgather_cell() -> None:
    """Forgets kept cells; none are kept."""


__all__: list[Any] = ["AllGatherCell", "destroy_allgather_cell", "get_allgather_cell"]
