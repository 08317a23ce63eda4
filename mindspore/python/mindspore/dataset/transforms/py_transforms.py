"""Path of 1.x for the operations that compose others."""

from __future__ import annotations

from typing import Any

from mindspore.dataset.transforms.transforms import (
    Compose,
    PyTensorOperation,
    RandomApply,
    RandomChoice,
    RandomOrder,
)
from mindspore.dataset.transforms.transforms import OneHot as _OneHot


class OneHotOp(_OneHot):
    """OneHot under its first name; the result is float64."""

    def _apply(self, value: Any) -> Any:
        return super()._apply(value).astype("float64")


__all__ = ["Compose", "OneHotOp", "PyTensorOperation", "RandomApply", "RandomChoice", "RandomOrder"]
