"""What turned a network into one that rounds: refused, since networks are written with such layers."""

from __future__ import annotations

import enum
from typing import Any


class OptimizeOption(enum.Enum):
    """How a quantiser trains bounds."""

    QAT = "QAT"
    LEARNED_SCALE = "LEARNED_SCALE"

    def __str__(self) -> str:
        return self.name


class QuantizationAwareTraining:
    """Refused: layers of `mindspore.nn.layer.quant` are to be written in place of the plain ones."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "For 'QuantizationAwareTraining', a network must be written with the layers of 'mindspore.nn.layer.quant', "
            "but got one to convert."
        )


__all__ = ["OptimizeOption", "QuantizationAwareTraining"]
