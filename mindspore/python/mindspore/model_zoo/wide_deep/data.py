"""Made clicks, and how they are learnt."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import nn
from mindspore.model_zoo import _programs


def _right(logits: Any, clicked: np.ndarray) -> np.ndarray:
    return (logits > 0) == (clicked > 0.5)


LEARNING = _programs.Learning(loss=nn.BCEWithLogitsLoss, right=_right, adam=True)
