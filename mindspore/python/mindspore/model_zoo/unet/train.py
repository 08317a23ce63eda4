"""Trains U-Net: `python -m mindspore.model_zoo.unet.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.unet import UNet
from mindspore.model_zoo.unet.config import CONFIG
from mindspore.model_zoo.unet.data import LEARNING, datasets


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(UNet(width=chosen.width, depth=chosen.depth), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
