"""Evaluates a Transformer: `python -m mindspore.model_zoo.transformer.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.transformer.config import CONFIG
from mindspore.model_zoo.transformer.data import LEARNING, datasets, network


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(network(chosen), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
