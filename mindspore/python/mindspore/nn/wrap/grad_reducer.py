"""Gradients of all processes together, in data parallel training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveInt
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import _exchange


class DistributedGradReducer(Cell):
    """Sums or averages gradients over a group of processes. Of one process they stay as they are.

    Args:
        parameters: The parameters that the gradients belong to.
        mean: Whether sums are divided by `degree`.
        degree: What a mean divides by; the number of processes if not given.
        fusion_type: Accepted for scripts that tune how gradients are grouped for communication.
        group: The processes; all of them if not given.
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: PositiveInt | None = None,
        fusion_type: int = 1,
        group: str | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        del parameters
        self.group = group
        self.at = _groups.member(group, self.cls_name)
        self.mean = bool(mean)
        self.degree = degree or self.at.size
        self.fusion_type = fusion_type
        self.uneven = False  # whether the processes have different numbers of samples in this step
        self.register_buffer("weight", Tensor(1.0, mstype.float32), persistent=False)

    def _weigh(self, samples: Any) -> None:
        """How many samples each process of the world has in the next step: a mean is one over all of them, and who has none adds
        nothing.
        """
        own = [int(samples[rank]) for rank in _groups.ranks_of(self.group, self.cls_name)]
        uneven = len(set(own)) > 1
        if uneven:
            mine = own[self.at.rank]
            share = mine / sum(own) * self.at.size if self.mean else float(mine > 0)
            self.weight = Tensor(share, mstype.float32)
        if uneven != self.uneven:
            self.uneven = uneven

    def construct(self, grads: Sequence[Tensor]) -> Any:
        """The gradients of all processes together."""
        if self.at.size > 1:
            if self.uneven:
                grads = tuple([grad * self.weight.astype(grad.dtype) for grad in grads])
            grads = tuple([_exchange.all_reduce(grad, "sum", self.at) for grad in grads])
        if self.degree > 1 and self.mean:
            return tuple([grad / self.degree for grad in grads])
        return grads


__all__ = ["DistributedGradReducer"]
