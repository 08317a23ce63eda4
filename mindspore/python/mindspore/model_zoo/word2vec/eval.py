"""Evaluates word2vec: `python -m mindspore.model_zoo.word2vec.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.word2vec import SkipGram
from mindspore.model_zoo.word2vec.config import CONFIG
from mindspore.model_zoo.word2vec.data import LEARNING, datasets


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(SkipGram(chosen.words, chosen.width), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
