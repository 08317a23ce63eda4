"""DeepFM: as Wide & Deep, with the products of all pairs of values in the wide part."""

from __future__ import annotations

from typing import Any

from mindspore import nn
from mindspore.model_zoo.wide_deep import WideDeep


class DeepFM(nn.Cell):
    """The logit that a row is clicked at.

    Args:
        fields: how many values a row has.
        values: how many different values all fields have.
        width: of the vectors of values, which both parts share.
        hidden: of the network.
        layers: of the network.
    """

    def __init__(
        self, fields: int, values: int, width: int = 16, hidden: int = 256, layers: int = 3
    ) -> None:
        super().__init__()
        self.parts = WideDeep(fields, values, width, hidden, layers)

    def construct(self, ids: Any) -> Any:
        """Logits [N, 1] of rows [N, fields]."""
        vectors = self.parts.embedding(ids)
        whole = vectors.sum(1)
        # The sum of the products of all pairs, from the square of the sum.
        pairs = (whole * whole - (vectors * vectors).sum(1)).sum(-1, keepdims=True) / 2
        return self.parts(ids) + pairs


__all__ = ["DeepFM"]
