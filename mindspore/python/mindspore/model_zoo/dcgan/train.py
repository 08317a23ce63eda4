"""Trains DCGAN: `python -m mindspore.model_zoo.dcgan.train --output FOLDER`."""

from __future__ import annotations

import os

import mindspore as ms
from mindspore import nn
from mindspore.model_zoo import _programs
from mindspore.model_zoo.dcgan import (
    Discriminator,
    DiscriminatorLoss,
    Generator,
    GeneratorLoss,
)
from mindspore.model_zoo.dcgan.config import CONFIG
from mindspore.model_zoo.dcgan.data import accuracy, images


def main() -> None:
    """Train both, judge what is made, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    generator, discriminator = Generator(chosen.size, chosen.width), Discriminator(chosen.width)

    def step(loss: nn.Cell, of: nn.Cell) -> nn.Cell:
        optimizer = nn.Adam(of.trainable_params(), chosen.rate, beta1=0.5)
        return nn.TrainOneStepCell(loss, optimizer).set_train()

    judge = step(DiscriminatorLoss(generator, discriminator), discriminator)
    make = step(GeneratorLoss(generator, discriminator), generator)
    for epoch in range(chosen.epochs):
        for image, noise in images(chosen).create_tuple_iterator(num_epochs=1):
            judged, made = judge(image, noise), make(noise)
        print(f"epoch: {epoch + 1}, loss is {float(judged):.4f} and {float(made):.4f}")
    os.makedirs(chosen.output, exist_ok=True)
    ms.save_checkpoint(generator, os.path.join(chosen.output, "final.ckpt"))
    _programs.tell(accuracy(generator, chosen))


if __name__ == "__main__":
    main()
