"""Evaluates SSD: `python -m mindspore.model_zoo.ssd.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.ssd import SSDTiny
from mindspore.model_zoo.ssd.config import CONFIG
from mindspore.model_zoo.ssd.data import CLASSES, LEARNING, datasets


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(SSDTiny(CLASSES, width=chosen.width), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
