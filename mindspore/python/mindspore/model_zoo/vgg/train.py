"""Trains VGG16: `python -m mindspore.model_zoo.vgg.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.vgg import vgg16
from mindspore.model_zoo.vgg.config import CONFIG


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(vgg16(10, chosen.width, chosen.hidden, side=32), _data.images, chosen)


if __name__ == "__main__":
    main()
