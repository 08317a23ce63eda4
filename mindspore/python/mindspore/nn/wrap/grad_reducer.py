"""Averaging of gradients over devices in data parallel training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.common._kinds import PositiveInt
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


class DistributedGradReducer(Cell):
    """Sums or averages gradients over a group of devices. On one device they stay as they are.

    Args:
        parameters: The parameters that the gradients belong to.
        mean: Whether sums are divided by `degree`.
        degree: The number of devices.
        fusion_type: How gradients are grouped for communication.
        group: The devices.
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
        self.mean = bool(mean)
        self.degree = degree or 1
        self.fusion_type = fusion_type
        self.group = group

    def construct(self, grads: Sequence[Tensor]) -> Any:
        """The gradients of all devices together."""
        if self.degree > 1 and self.mean:
            return tuple([grad / self.degree for grad in grads])
        return grads


__all__ = ["DistributedGradReducer"]
