"""Primitive classes for inference, by the path under which networks import them."""

from __future__ import annotations

from mindspore.ops.auto_generate import (
    DynamicQuantExt,
    QuantBatchMatmul,
    QuantV2,
    WeightQuantBatchMatmul,
)

__all__ = ["DynamicQuantExt", "QuantBatchMatmul", "QuantV2", "WeightQuantBatchMatmul"]
