"""Evaluates MobileNetV2: `python -m mindspore.model_zoo.mobilenetv2.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.mobilenetv2 import MobileNetV2
from mindspore.model_zoo.mobilenetv2.config import CONFIG


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(MobileNetV2(10, chosen.width, small=True), _data.images, chosen)


if __name__ == "__main__":
    main()
