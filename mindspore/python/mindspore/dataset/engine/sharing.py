"""A dataset that all processes of a training go through alike, of which each makes its own rows alone."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.engine.datasets import (
    BatchDataset,
    Dataset,
    MapDataset,
    ProjectDataset,
    RenameDataset,
)
from mindspore.dataset.engine.iterators import Position


def is_divided(dataset: Any) -> bool:
    """Whether a source of a dataset gives only a shard, or is said to be one process's own."""
    sampler = getattr(dataset, "_sampler", None)
    while sampler is not None:
        if hasattr(sampler, "num_shards"):
            return True
        sampler = sampler.child_sampler
    if getattr(dataset, "num_shards", None) is not None:
        return True
    return any(is_divided(child) for child in getattr(dataset, "children", ()))


def is_own(dataset: Any) -> bool:
    """Whether a source has one shard alone: what it gives is the business of this process."""
    if getattr(dataset, "num_shards", None) == 1:
        return True
    return any(is_own(child) for child in getattr(dataset, "children", ()))


def batching(dataset: Any) -> list[int] | None:
    """How many rows all batches of an epoch have but the last, and how many there are in all; None where batches may differ."""
    while isinstance(dataset, (MapDataset, ProjectDataset, RenameDataset)):
        dataset = dataset.children[0]
    size = getattr(dataset, "batch_size", None)
    if not isinstance(dataset, BatchDataset) or not isinstance(size, int):
        return None
    return [size, dataset.children[0].get_dataset_size()]


def every(dataset: Dataset, first: int, step: int) -> Dataset:
    """Every `step`-th row, from row `first` on. The rows and their draws are those of the whole."""
    return Dataset(_core.dataset.stride(dataset._node, first, step), dataset._columns, [dataset])


def first_row(dataset: Dataset, position: dict[str, Any]) -> list[np.ndarray] | None:
    """The first row of the epoch of a position."""
    place = Position.from_state(position)
    pipeline = _core.dataset.Pipeline(dataset._node, place.seed, place.seeded, 0, 1, 0)
    for pool in dataset._all_pools():
        pool.start()
    try:
        pipeline.begin(place.epoch, 0)
        row = pipeline.next(True)
        return None if row is None else list(row)
    finally:
        pipeline.close()


def fingerprint(row: list[np.ndarray] | None) -> str:
    """What two rows have in common only if they are the same."""
    text = ""
    for value in row or ():
        array = np.asarray(value)
        kept = array.tobytes() if array.dtype != object else repr(array.tolist()).encode()
        text += f"{array.dtype.str}{array.shape}{zlib.crc32(kept):08x} "
    return text


__all__ = ["batching", "every", "fingerprint", "first_row", "is_divided", "is_own"]
