"""Networks of graphs: GCN averages over neighbours, GAT weighs them by attention."""

from __future__ import annotations

from typing import Any

from mindspore import Parameter, nn, ops
from mindspore.common.initializer import XavierUniform, initializer


class GCN(nn.Cell):
    """Two layers of averages over neighbours.

    Args:
        features: of a node.
        num_classes: how many classes.
        hidden: the width between the layers.
        dropout: the part that is left out in training.
    """

    def __init__(
        self, features: int, num_classes: int, hidden: int = 16, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.first = nn.Dense(features, hidden, weight_init=XavierUniform())
        self.second = nn.Dense(hidden, num_classes, weight_init=XavierUniform())
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, features: Any, adjacency: Any) -> Any:
        """Logits of all nodes; adjacency [nodes, nodes] is 1 from each node to its neighbours and itself, else 0."""
        scale = ops.rsqrt(adjacency.sum(1))
        weights = adjacency * scale.expand_dims(1) * scale
        x = ops.relu(ops.matmul(weights, self.first(self.dropout(features))))
        return ops.matmul(weights, self.second(self.dropout(x)))


class Attention(nn.Cell):
    """Sums over neighbours, with weights from both ends.

    Args:
        inside: features that come in.
        outside: features of each head that come out.
        heads: how many.
    """

    def __init__(self, inside: int, outside: int, heads: int) -> None:
        super().__init__()
        self.heads, self.outside = heads, outside
        self.dense = nn.Dense(inside, heads * outside, weight_init=XavierUniform(), has_bias=False)
        shape = (heads, outside, 1)
        self.here = Parameter(initializer(XavierUniform(), shape), name="here")
        self.there = Parameter(initializer(XavierUniform(), shape), name="there")

    def construct(self, x: Any, adjacency: Any) -> Any:
        """Features [heads, nodes, outside]."""
        x = self.dense(x).reshape(-1, self.heads, self.outside).transpose(1, 0, 2)
        scores = ops.matmul(x, self.here) + ops.matmul(x, self.there).transpose(0, 2, 1)
        scores = ops.leaky_relu(scores, 0.2)
        scores = ops.masked_fill(scores, adjacency == 0, -1e9)
        return ops.matmul(ops.softmax(scores, -1), x)


class GAT(nn.Cell):
    """Two layers of attention to neighbours.

    Args:
        features: of a node.
        num_classes: how many classes.
        hidden: features of each head between the layers.
        heads: of the first layer.
        dropout: the part that is left out in training.
    """

    def __init__(
        self,
        features: int,
        num_classes: int,
        hidden: int = 8,
        heads: int = 8,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.first = Attention(features, hidden, heads)
        self.second = Attention(hidden * heads, num_classes, 1)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, features: Any, adjacency: Any) -> Any:
        """Logits of all nodes; adjacency as for GCN."""
        x = self.first(self.dropout(features), adjacency)
        x = ops.elu(x.transpose(1, 0, 2).reshape(x.shape[1], -1))
        return self.second(self.dropout(x), adjacency)[0]


def graph_network(name: str, features: int, num_classes: int) -> nn.Cell:
    """The network of a name: "gcn" or "gat"."""
    known: dict[str, Any] = {"gcn": GCN, "gat": GAT}
    if name not in known:
        raise ValueError(
            f"For 'graph_network', 'name' must be one of {list(known)}, but got {name!r}."
        )
    return known[name](features, num_classes)


__all__ = ["GAT", "GCN", "Attention", "graph_network"]
