"""Trains LeNet: `python -m mindspore.model_zoo.lenet.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.lenet import LeNet5
from mindspore.model_zoo.lenet.config import CONFIG
from mindspore.model_zoo.lenet.data import datasets


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(LeNet5(), datasets, chosen)


if __name__ == "__main__":
    main()
