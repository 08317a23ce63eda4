"""Wide & Deep: a weight of each value, and a network over their vectors, added up."""

from __future__ import annotations

from typing import Any

from mindspore import nn
from mindspore.common.initializer import Normal


class WideDeep(nn.Cell):
    """The logit that a row is clicked at.

    Args:
        fields: how many values a row has.
        values: how many different values all fields have.
        width: of the vectors of values.
        hidden: of the network.
        layers: of the network.
    """

    def __init__(
        self, fields: int, values: int, width: int = 16, hidden: int = 256, layers: int = 3
    ) -> None:
        super().__init__()
        self.wide = nn.Embedding(values, 1, embedding_table="zeros")
        self.embedding = nn.Embedding(values, width, embedding_table=Normal(0.1))
        deep: list[nn.Cell] = [nn.Flatten()]
        inside = fields * width
        for _ in range(layers):
            deep += [nn.Dense(inside, hidden), nn.ReLU()]
            inside = hidden
        self.deep = nn.SequentialCell([*deep, nn.Dense(inside, 1)])

    def construct(self, ids: Any) -> Any:
        """Logits [N, 1] of rows [N, fields]."""
        return self.wide(ids).sum(1) + self.deep(self.embedding(ids))


__all__ = ["WideDeep"]
