"""Trains Wide & Deep: `python -m mindspore.model_zoo.wide_deep.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.wide_deep import WideDeep
from mindspore.model_zoo.wide_deep.config import CONFIG
from mindspore.model_zoo.wide_deep.data import LEARNING


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(
        WideDeep(chosen.fields, chosen.fields * chosen.values, chosen.width, chosen.hidden),
        _data.clicks,
        chosen,
        LEARNING,
    )


if __name__ == "__main__":
    main()
