"""Made sentences: each word tells the next one, most of the time; a row has two, and the second goes on where the first ended, or
anywhere."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.dataset import Dataset
from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.bert import Bert, BertPreTraining

CLASS, SEPARATOR, MASK, FIRST = 0, 1, 2, 3  # the first word that is no mark


class PreTrainingLoss(nn.Cell):
    """Cross entropy of masked words, and of whether sentences follow."""

    def construct(self, outputs: Any, words: Any, follows: Any) -> Any:
        """The sum of both means."""
        logits, pairs = outputs
        flat = logits.reshape(-1, logits.shape[-1])
        masked = ops.cross_entropy(flat, words.reshape(-1), ignore_index=-1)
        return masked + ops.cross_entropy(pairs, follows)


def _right(outputs: Any, words: np.ndarray) -> np.ndarray:
    return _programs.right_classes(outputs[0], words)


LEARNING = _programs.Learning(inputs=2, loss=PreTrainingLoss, right=_right, adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """Words with masks, segments; what is under the masks, else -1; whether the second sentence follows the first."""
    random = np.random.RandomState(0)
    rows, half, words = chosen.rows, chosen.length // 2 - 1, chosen.words - FIRST
    _programs.require(words > 0, f"--words must be more than {FIRST} marks, but is {chosen.words}")
    _programs.require(half > 0, f"--length must be at least 4, but is {chosen.length}")
    after = random.permutation(words)
    text = np.zeros((rows, 2 * half), np.int64)
    follows = random.randint(0, 2, rows)
    for place in range(2 * half):
        fresh = random.randint(0, words, rows)
        if place:
            anywhere = random.rand(rows) < 0.05
            anywhere |= (place == half) & (follows == 0)
            fresh = np.where(anywhere, fresh, after[text[:, place - 1]])
        text[:, place] = fresh
    text += FIRST
    mark = np.ones((rows, 1), np.int64)
    parts = [CLASS * mark, text[:, :half], SEPARATOR * mark, text[:, half:]]
    whole = np.concatenate(parts, 1)
    segments = np.repeat([[0] * (half + 2) + [1] * half], rows, 0)
    hidden = (random.rand(*whole.shape) < 0.15) & (whole >= FIRST)
    columns = np.where(hidden, MASK, whole), segments, np.where(hidden, whole, -1), follows
    return _data.halves([column.astype(np.int32) for column in columns], chosen.batch)


def network(chosen: argparse.Namespace) -> BertPreTraining:
    """The network for these rows."""
    sizes = chosen.words, chosen.length, chosen.width, chosen.heads, chosen.layers
    return BertPreTraining(Bert(*sizes, dropout=0.0))
