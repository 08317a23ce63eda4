"""Trains AlexNet: `python -m mindspore.model_zoo.alexnet.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.alexnet import AlexNet
from mindspore.model_zoo.alexnet.config import CONFIG


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(AlexNet(small=True), _data.images, chosen)


if __name__ == "__main__":
    main()
