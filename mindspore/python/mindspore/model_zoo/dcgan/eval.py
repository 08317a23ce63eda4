"""Evaluates DCGAN: `python -m mindspore.model_zoo.dcgan.eval --checkpoint FILE`."""

from __future__ import annotations

import mindspore as ms
from mindspore.model_zoo import _programs
from mindspore.model_zoo.dcgan import Generator
from mindspore.model_zoo.dcgan.config import CONFIG
from mindspore.model_zoo.dcgan.data import accuracy


def main() -> None:
    """Print the part of the made images that could be real."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    generator = Generator(chosen.size, chosen.width)
    ms.load_checkpoint(chosen.checkpoint, generator, strict_load=True)
    _programs.tell(accuracy(generator, chosen))


if __name__ == "__main__":
    main()
