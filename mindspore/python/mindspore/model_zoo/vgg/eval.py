"""Evaluates VGG16: `python -m mindspore.model_zoo.vgg.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.vgg import vgg16
from mindspore.model_zoo.vgg.config import CONFIG


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(vgg16(10, chosen.width, chosen.hidden, side=32), _data.images, chosen)


if __name__ == "__main__":
    main()
