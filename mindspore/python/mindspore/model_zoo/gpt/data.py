"""Rows that repeat a few random words again and again: once they have been read, the next word is known."""

from __future__ import annotations

import argparse

import numpy as np

from mindspore.dataset import Dataset
from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.gpt import GPT
from mindspore.model_zoo.transformer.data import EachPlace

LEARNING = _programs.Learning(loss=EachPlace, adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """Words, and after each the next one, -1 where nobody can know it."""
    random = np.random.RandomState(0)
    rows, length, most = chosen.rows, chosen.length, chosen.period
    base = random.randint(0, chosen.words, (rows, most))
    period = random.randint(2, most + 1, (rows, 1))
    places = np.arange(length + 1)[None]
    text = np.take_along_axis(base, places % period, 1)
    after = np.where(places[:, 1:] >= period, text[:, 1:], -1)
    return _data.halves((text[:, :-1].astype(np.int32), after.astype(np.int32)), chosen.batch)


def network(chosen: argparse.Namespace) -> GPT:
    """The network for these rows."""
    sizes = chosen.words, chosen.length, chosen.width, chosen.heads, chosen.layers
    return GPT(*sizes, dropout=0.0)
