"""Adaptive summation (Maleki et al., 2020) joins the steps of many devices. One process has nobody to join with."""

from __future__ import annotations

from mindspore.nn.cell import Cell


class _AdaSum(Cell):
    """Refused, as wherever one process trains alone.

    Args:
        optimizer: Updates the weights.
    """

    def __init__(self, optimizer: Cell) -> None:
        del optimizer
        raise RuntimeError(
            f"For '{type(self).__name__}', there must be at least 16 devices in a parallel mode, but got one."
        )


class AdaSumByGradWrapCell(_AdaSum):
    """Joins the gradients of devices before the update."""


class AdaSumByDeltaWeightWrapCell(_AdaSum):
    """Joins what the updates of devices change."""


__all__ = ["AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell"]
