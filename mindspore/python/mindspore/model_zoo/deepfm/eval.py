"""Evaluates DeepFM: `python -m mindspore.model_zoo.deepfm.eval --checkpoint FILE`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.deepfm import DeepFM
from mindspore.model_zoo.deepfm.config import CONFIG
from mindspore.model_zoo.wide_deep.data import LEARNING


def main() -> None:
    """Print the accuracy of a checkpoint."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    _programs.evaluate(
        DeepFM(chosen.fields, chosen.fields * chosen.values, chosen.width, chosen.hidden),
        _data.clicks,
        chosen,
        LEARNING,
    )


if __name__ == "__main__":
    main()
