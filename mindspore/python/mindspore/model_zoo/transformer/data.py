"""Rows of digits, to be told in order."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.dataset import Dataset
from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.transformer import Seq2Seq

START, WORDS = 10, 11  # the digits are words; another one starts the answer


class EachPlace(nn.Cell):
    """Cross entropy over all places; those whose word is -1 do not count."""

    def construct(self, logits: Any, words: Any) -> Any:
        """The mean."""
        flat = logits.reshape(-1, logits.shape[-1])
        return ops.cross_entropy(flat, words.reshape(-1), ignore_index=-1)


LEARNING = _programs.Learning(inputs=2, loss=EachPlace, adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """Digits, the answer behind a start, and the answer."""
    random = np.random.RandomState(0)
    digits = random.randint(0, 10, (chosen.rows, chosen.length)).astype(np.int32)
    answers = np.sort(digits, 1)
    given = np.concatenate([np.full((chosen.rows, 1), START, np.int32), answers[:, :-1]], 1)
    return _data.halves((digits, given, answers), chosen.batch)


def network(chosen: argparse.Namespace) -> Seq2Seq:
    """The network for these rows."""
    return Seq2Seq(WORDS, chosen.length, chosen.width, chosen.heads, chosen.layers, dropout=0.0)
