"""Networks that look rows up: Wide & Deep and a graph convolutional network, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cases.steps_ms import integers, random, timed, train_step
from mindspore import Tensor, nn, ops


class WideDeep(nn.Cell):
    """A linear model of the fields beside a deep one of their embeddings; gives its loss."""

    def __init__(self, rows: int, fields: int, width: int, layers: tuple[int, ...]):
        super().__init__()
        self.inputs = fields * width
        self.wide = nn.Embedding(rows, 1, embedding_table="normal")
        self.deep = nn.Embedding(rows, width, embedding_table="normal")
        sizes = (self.inputs, *layers)
        cells = []
        for i, o in zip(sizes, layers):
            cells += [nn.Dense(i, o), nn.ReLU()]
        self.layers = nn.SequentialCell([*cells, nn.Dense(layers[-1], 1)])
        self.loss = nn.BCEWithLogitsLoss()

    def construct(self, ids, values, labels):
        """The loss; every field weighs its row by its value."""
        values = values.expand_dims(-1)
        wide = (self.wide(ids) * values).sum(1)
        deep = self.layers((self.deep(ids) * values).reshape(-1, self.inputs))
        return self.loss(wide + deep, labels)


class GCN(nn.Cell):
    """A graph convolutional network of two layers; gives its loss on all nodes."""

    def __init__(self, inputs: int, width: int, classes: int, sources, targets, norms):
        super().__init__()
        self.first, self.second = nn.Dense(inputs, width), nn.Dense(width, classes)
        self.sources, self.targets, self.norms = sources, targets, norms
        self.loss = nn.CrossEntropyLoss()

    def spread(self, x):
        """The sum over the edges into every node."""
        along = ops.gather(x, self.sources, 0) * self.norms
        return ops.unsorted_segment_sum(along, self.targets, x.shape[0])

    def construct(self, x, labels):
        """The loss."""
        hidden = ops.relu(self.spread(self.first(x)))
        return self.loss(self.spread(self.second(hidden)), labels)


def wide_deep() -> Callable[[], float]:
    """A training step with Adam."""
    net = WideDeep(200_000, 39, 80, (1024, 512, 256, 128))
    optimizer = nn.Adam(net.trainable_params(), 3.5e-4)
    labels = Tensor((np.arange(1024) % 2).astype(np.float32)[:, None])
    return timed(
        train_step(net, optimizer, integers(200_000, 1024, 39), random(1024, 39), labels), 3
    )


def gcn() -> Callable[[], float]:
    """A training step with Adam on a graph of Cora's size."""
    nodes, edges = 2708, 10556
    sources, targets = integers(nodes, edges), integers(nodes, 2, edges)[1]
    net = GCN(1433, 64, 7, sources, targets, ops.abs(random(edges, 1)))
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return timed(train_step(net, optimizer, random(nodes, 1433), integers(7, nodes)), 10)
