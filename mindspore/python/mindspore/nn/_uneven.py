"""Steps in which the processes that train together have different numbers of samples."""

from __future__ import annotations

from typing import Any

from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


class Uneven(Cell):
    """What takes means over processes. Model tells it before a step how many samples each of them has; nobody else does."""

    at: _groups.Member

    def _begin_even(self, group: str | None) -> None:
        self._among = _groups.ranks_of(group, self.cls_name)
        self.uneven = False
        self.samples = 0  # of all processes, where they have different numbers
        self.register_buffer("weight", Tensor(1.0, mstype.float32), persistent=False)

    def _weight_of(self, mine: int, total: int) -> float:
        """What this process's part of a mean over processes is multiplied by."""
        return mine / total * self.at.size if total else 0.0

    def _weigh(self, samples: Any) -> None:
        """How many samples each process of the world has in the next step."""
        own = [int(samples[rank]) for rank in self._among]
        uneven = len(set(own)) > 1
        if uneven:
            self.samples = sum(own)
            share = self._weight_of(own[self.at.rank], self.samples)
            self.weight = Tensor(share, mstype.float32)
        if uneven != self.uneven:
            self.uneven = uneven


__all__ = ["Uneven"]
