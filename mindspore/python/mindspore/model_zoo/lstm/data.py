"""Made texts: words are good, bad or neither; word 1 turns the next one around; the sum is the sentiment."""

from __future__ import annotations

import argparse

import numpy as np

from mindspore.dataset import Dataset
from mindspore.model_zoo import _data, _programs

LEARNING = _programs.Learning(adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """Texts [length] of words, of different lengths, and their classes."""
    random = np.random.RandomState(0)
    texts = random.randint(1, chosen.words, (chosen.rows, chosen.length))
    texts[random.rand(*texts.shape) < 0.15] = 1
    lengths = random.randint(chosen.length // 2, chosen.length + 1, (chosen.rows, 1))
    texts[np.arange(chosen.length) >= lengths] = 0
    worth = random.choice([-1.0, 0.0, 1.0], chosen.words)
    worth[:2] = 0
    turned = np.ones(texts.shape)
    turned[:, 1:][texts[:, :-1] == 1] = -1
    sums = (worth[texts] * turned).sum(1)
    decided = sums != 0
    columns = texts[decided].astype(np.int32), (sums[decided] > 0).astype(np.int32)
    return _data.halves(columns, chosen.batch)
