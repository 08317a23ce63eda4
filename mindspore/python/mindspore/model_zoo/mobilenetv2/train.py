"""Trains MobileNetV2: `python -m mindspore.model_zoo.mobilenetv2.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.mobilenetv2 import MobileNetV2
from mindspore.model_zoo.mobilenetv2.config import CONFIG


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(MobileNetV2(10, chosen.width, small=True), _data.images, chosen)


if __name__ == "__main__":
    main()
