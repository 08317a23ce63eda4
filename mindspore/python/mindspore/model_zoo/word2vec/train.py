"""Trains word2vec: `python -m mindspore.model_zoo.word2vec.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.word2vec import SkipGram
from mindspore.model_zoo.word2vec.config import CONFIG
from mindspore.model_zoo.word2vec.data import LEARNING, datasets


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(SkipGram(chosen.words, chosen.width), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
