"""A made graph: nodes of a class are neighbours more often than others, and their features tell little. A few classes are known."""

from __future__ import annotations

import argparse

import numpy as np

from mindspore.dataset import Dataset, NumpySlicesDataset
from mindspore.model_zoo import _programs
from mindspore.model_zoo.transformer.data import EachPlace

CLASSES, FEATURES = 4, 16
LEARNING = _programs.Learning(inputs=2, loss=EachPlace, adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """The graph, with the classes of a tenth of the nodes to train with, and of the others to evaluate with."""
    random, nodes = np.random.RandomState(0), chosen.rows
    classes = random.randint(0, CLASSES, nodes)
    same = classes[:, None] == classes
    edges = np.triu(random.rand(nodes, nodes) < np.where(same, 12, 2) / nodes, 1)
    adjacency = (edges | edges.T | np.eye(nodes, dtype=bool)).astype(np.float32)
    centres = random.randn(CLASSES, FEATURES)
    features = (random.randn(nodes, FEATURES) + 0.5 * centres[classes]).astype(np.float32)
    known = np.arange(nodes) < nodes // 10

    def graph(of: np.ndarray) -> Dataset:
        labels = np.where(of, classes, -1).astype(np.int32)
        columns = (features[None], adjacency[None], labels[None])
        return NumpySlicesDataset(columns, ["features", "adjacency", "label"], shuffle=False)

    return graph(known), graph(~known)
