"""Averaging of gradients over devices in data parallel training."""

from __future__ import annotations

from typing import Any

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
        degree: int | None = None,
        fusion_type: int = 1,
        group: str | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        del parameters
        if degree is not None and (isinstance(degree, bool) or degree < 1):
            raise ValueError(
                f"For '{self.cls_name}', 'degree' must be a positive int, but got {degree}."
            )
        self.mean = bool(mean)
        self.degree = degree or 1
        self.fusion_type = fusion_type
        self.group = group

    def construct(self, grads: Any) -> Any:
        """The gradients of all devices together."""
        if self.degree > 1 and self.mean:
            return tuple([grad / self.degree for grad in grads])
        return grads


__all__ = ["DistributedGradReducer"]
