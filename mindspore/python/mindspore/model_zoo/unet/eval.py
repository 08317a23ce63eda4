"""Evaluates U-Net: `python -m mindspore.model_zoo.unet.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.unet import UNet
from mindspore.model_zoo.unet.config import CONFIG
from mindspore.model_zoo.unet.data import LEARNING, datasets


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(UNet(width=chosen.width, depth=chosen.depth), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
