"""Path of 1.x for the operations that compose others."""

from __future__ import annotations

from typing import Any

from mindspore.dataset.transforms.transforms import (
    Compose,
    OneHot,
    PyTensorOperation,
    RandomApply,
    RandomChoice,
    RandomOrder,
)


class OneHotOp(OneHot):
    """OneHot under its first name; the result is float64."""

    def spec(self) -> None:
        """Only in Python."""

    def _apply(self, value: Any) -> Any:
        return OneHot(self.num_classes, self.smoothing_rate)(value).astype("float64")


__all__ = ["Compose", "OneHotOp", "PyTensorOperation", "RandomApply", "RandomChoice", "RandomOrder"]
