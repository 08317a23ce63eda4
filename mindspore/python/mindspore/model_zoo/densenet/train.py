"""Trains a DenseNet: `python -m mindspore.model_zoo.densenet.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.densenet import densenet
from mindspore.model_zoo.densenet.config import CONFIG


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(densenet(chosen.net), _data.images, chosen)


if __name__ == "__main__":
    main()
