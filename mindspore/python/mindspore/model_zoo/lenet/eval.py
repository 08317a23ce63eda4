"""Evaluates LeNet: `python -m mindspore.model_zoo.lenet.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.lenet import LeNet5
from mindspore.model_zoo.lenet.config import CONFIG
from mindspore.model_zoo.lenet.data import datasets


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(LeNet5(), datasets, chosen)


if __name__ == "__main__":
    main()
