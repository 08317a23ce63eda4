"""Trains BERT: `python -m mindspore.model_zoo.bert.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.bert.config import CONFIG
from mindspore.model_zoo.bert.data import LEARNING, datasets, network


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(network(chosen), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
