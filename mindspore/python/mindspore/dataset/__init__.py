"""Data: sources, operations on them, and iterators that feed a network.

dataset = NumpySlicesDataset({"x": x, "y": y}).map(normalize, "x").batch(32)
for x, y in dataset.create_tuple_iterator():
    ...
"""

from collections.abc import Sequence

from mindspore.dataset.engine import *
from mindspore.dataset.engine import Dataset, ZipDataset
from mindspore.dataset.engine import __all__ as _engine_names
from mindspore.dataset.engine.datasets import zip_datasets
from mindspore.dataset import audio, text, transforms, vision  # isort: skip
from mindspore import context  # scripts take it from here, too


def zip(datasets: Sequence[Dataset]) -> ZipDataset:
    """Rows of several datasets side by side."""
    return zip_datasets(datasets)


__all__ = [*_engine_names, "audio", "text", "transforms", "vision", "zip"]
