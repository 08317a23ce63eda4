"""Evaluates an LSTM for sentiments: `python -m mindspore.model_zoo.lstm.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.lstm import SentimentNet
from mindspore.model_zoo.lstm.config import CONFIG
from mindspore.model_zoo.lstm.data import LEARNING, datasets


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(
        SentimentNet(chosen.words, chosen.width, chosen.hidden), datasets, chosen, LEARNING
    )


if __name__ == "__main__":
    main()
