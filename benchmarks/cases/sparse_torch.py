"""Networks that look rows up: Wide & Deep and a graph convolutional network, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from cases.steps_torch import timed, train_step


class WideDeep(nn.Module):
    """A linear model of the fields beside a deep one of their embeddings; gives its loss."""

    def __init__(self, rows: int, fields: int, width: int, layers: tuple[int, ...]):
        super().__init__()
        self.wide, self.deep = nn.Embedding(rows, 1), nn.Embedding(rows, width)
        sizes = (fields * width, *layers)
        cells = []
        for i, o in zip(sizes, layers, strict=False):
            cells += [nn.Linear(i, o), nn.ReLU()]
        self.layers = nn.Sequential(*cells, nn.Linear(layers[-1], 1))

    def forward(self, ids, values, labels):
        """The loss; every field weighs its row by its value."""
        values = values.unsqueeze(-1)
        wide = (self.wide(ids) * values).sum(1)
        deep = self.layers((self.deep(ids) * values).flatten(1))
        return functional.binary_cross_entropy_with_logits(wide + deep, labels)


class GCN(nn.Module):
    """A graph convolutional network of two layers; gives its loss on all nodes."""

    def __init__(self, inputs: int, width: int, classes: int, sources, targets, norms):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, width), nn.Linear(width, classes)
        self.sources, self.targets, self.norms = sources, targets, norms

    def spread(self, x):
        """The sum over the edges into every node."""
        along = x.index_select(0, self.sources) * self.norms
        return torch.zeros_like(x).index_add(0, self.targets, along)

    def forward(self, x, labels):
        """The loss."""
        hidden = torch.relu(self.spread(self.first(x)))
        return functional.cross_entropy(self.spread(self.second(hidden)), labels)


def wide_deep() -> Callable[[], float]:
    """A training step with Adam."""
    net = WideDeep(200_000, 39, 80, (1024, 512, 256, 128))
    optimizer = torch.optim.Adam(net.parameters(), 3.5e-4, fused=True)
    ids, labels = torch.randint(200_000, (1024, 39)), (torch.arange(1024) % 2.0)[:, None]
    return timed(train_step(net, optimizer, ids, torch.randn(1024, 39), labels), 3)


def gcn() -> Callable[[], float]:
    """A training step with Adam on a graph of Cora's size."""
    nodes, edges = 2708, 10556
    sources, targets = torch.randint(nodes, (2, edges))
    net = GCN(1433, 64, 7, sources, targets, torch.rand(edges, 1))
    optimizer = torch.optim.Adam(net.parameters(), 0.01, fused=True)
    return timed(
        train_step(net, optimizer, torch.randn(nodes, 1433), torch.randint(7, (nodes,))), 10
    )
