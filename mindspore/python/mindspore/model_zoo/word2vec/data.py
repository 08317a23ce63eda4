"""A made text in which words of one topic stand together; pairs of neighbours from it, with words drawn at random."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from mindspore import nn
from mindspore.dataset import Dataset
from mindspore.model_zoo import _data, _programs


def _right(logits: Any, labels: np.ndarray) -> np.ndarray:
    """Whether the neighbour, which is the first, has the highest logit."""
    return logits.argmax(-1) == labels.argmax(-1)


LEARNING = _programs.Learning(inputs=2, loss=nn.BCEWithLogitsLoss, right=_right, adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """A word, a neighbour with words of other topics, and which of them is the neighbour."""
    random, rows = np.random.RandomState(0), chosen.rows
    topic = random.randint(0, chosen.topics, chosen.words)
    _programs.require(
        len(np.unique(topic)) > 1,
        f"--topics {chosen.topics} of --words {chosen.words} must make two topics that have words",
    )
    words = random.randint(0, chosen.words, rows)
    others = random.randint(0, chosen.words, (rows, 1 + chosen.negatives))
    for row, word in zip(others, words):
        row[0] = random.choice(np.flatnonzero(topic == topic[word]))
        row[1:] = random.choice(np.flatnonzero(topic != topic[word]), chosen.negatives)
    labels = np.zeros(others.shape, np.float32)
    labels[:, 0] = 1
    return _data.halves((words.astype(np.int32), others.astype(np.int32), labels), chosen.batch)
