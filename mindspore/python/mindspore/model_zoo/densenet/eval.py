"""Evaluates a DenseNet: `python -m mindspore.model_zoo.densenet.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.densenet import densenet
from mindspore.model_zoo.densenet.config import CONFIG


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(densenet(chosen.net), _data.images, chosen)


if __name__ == "__main__":
    main()
