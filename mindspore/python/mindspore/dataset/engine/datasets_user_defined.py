"""Datasets over what the user has: Python objects and functions, arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_names, check_type
from mindspore.dataset.engine.datasets import MappableDataset
from mindspore.dataset.engine.node import Node, Row, to_array
from mindspore.dataset.engine.samplers import BatchIndexSampler, Sampler, choose_sampler
from mindspore.dataset.engine.sources import ArrayNode, CallableSequenceNode, StreamNode


class GeneratorDataset(MappableDataset):
    """Rows of a Python source.

    `source` is an object with __getitem__ and __len__ (shuffled unless told otherwise), an
    iterable, or a function that returns an iterator. A row is a tuple with one value for each
    column.
    """

    def __init__(
        self,
        source: Any,
        column_names: Any = None,
        column_types: Any = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: Any = None,
        batch_sampler: Any = None,
        collate_fn: Any = None,
    ) -> None:
        op = "GeneratorDataset"
        check_type(op, "python_multiprocessing", python_multiprocessing, bool)
        if schema is not None:
            raise NotImplementedError(
                f"For '{op}', schema is not supported. Use column_names and column_types."
            )
        if column_names is None:
            raise ValueError(f"For '{op}', column_names must be given.")
        names = check_names(op, "column_names", column_names)
        convert = _converter(column_types, names)
        self.source = source
        self.column_names = names
        self.num_shards = num_shards
        node: Node
        if hasattr(source, "__getitem__") and hasattr(source, "__len__"):
            if batch_sampler is not None:
                chosen: Sampler = _batch_sampler(
                    op, batch_sampler, num_samples, shuffle, sampler, num_shards
                )
            else:
                chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
            node = CallableSequenceNode(names, source, chosen, convert, collate_fn)
        elif callable(source) or isinstance(source, Iterable):
            _only_for_sequences(op, shuffle=shuffle, sampler=sampler, num_shards=num_shards,
                                batch_sampler=batch_sampler)  # fmt: skip
            node = StreamNode(names, source, num_samples or None, convert)
        else:
            raise TypeError(
                f"For '{op}', source must have __getitem__ and __len__, be iterable, or be a "
                f"function that returns an iterator, but got {type(source).__name__}."
            )
        super().__init__(node, (), num_parallel_workers)


def _only_for_sequences(op: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise ValueError(
                f"For '{op}', {name} needs a source with __getitem__ and __len__. Use shuffle() of "
                f"the dataset, or give such a source."
            )


def _batch_sampler(
    op: str, batch_sampler: Any, num_samples: Any, shuffle: Any, sampler: Any, num_shards: Any
) -> BatchIndexSampler:
    for name, value in (("num_samples", num_samples), ("shuffle", shuffle), ("sampler", sampler),
                        ("num_shards", num_shards)):  # fmt: skip
        if value is not None:
            raise ValueError(f"For '{op}', batch_sampler excludes {name}.")
    if not isinstance(batch_sampler, Iterable):
        raise TypeError(
            f"For '{op}', batch_sampler must be iterable, but got {type(batch_sampler).__name__}."
        )
    return BatchIndexSampler(batch_sampler)


def _converter(column_types: Any, names: Sequence[str]) -> Any:
    """A function that casts a row to the given types; None when there are none."""
    if column_types is None:
        return None
    types = list(column_types) if isinstance(column_types, (list, tuple)) else [column_types]
    if len(types) != len(names):
        raise ValueError(
            f"For 'GeneratorDataset', column_types must have {len(names)} entries, one for each "
            f"column, but got {len(types)}."
        )
    from mindspore.dataset.transforms.transforms import numpy_type

    numpy_types = [numpy_type(t) for t in types]

    def convert(row: Row) -> Row:
        return tuple(
            value if value.dtype == dtype else value.astype(dtype)
            for value, dtype in zip(row, numpy_types, strict=True)
        )

    return convert


class NumpySlicesDataset(MappableDataset):
    """Slices of arrays along the first axis: of a list or array (one column), of a tuple of them,
    of a dict.
    """

    def __init__(
        self,
        data: Any,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        op = "NumpySlicesDataset"
        names, arrays = _columns(data)
        if column_names is not None:
            names = check_names(op, "column_names", column_names)
            if len(names) != len(arrays):
                raise ValueError(
                    f"For '{op}', column_names must have {len(arrays)} entries, one for each "
                    f"column of data, but got {len(names)}."
                )
        self.column_names = names
        self.num_shards = num_shards
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        super().__init__(ArrayNode(names, arrays, chosen), (), num_parallel_workers)


def _columns(data: Any) -> tuple[list[str], list[np.ndarray]]:
    op = "NumpySlicesDataset"
    if isinstance(data, dict):
        names, values = [str(k) for k in data], list(data.values())
    elif isinstance(data, tuple):
        names, values = [f"column_{i}" for i in range(len(data))], list(data)
    else:
        names, values = ["column_0"], [data]
    if not values:
        raise ValueError(f"For '{op}', data must not be empty.")
    arrays = []
    for name, value in zip(names, values, strict=True):
        try:
            array = to_array(value)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"For '{op}', {name} must be an array or a list of equal rows: {error}."
            ) from None
        if array.ndim == 0:
            raise TypeError(f"For '{op}', {name} must have rows, but got {type(value).__name__}.")
        arrays.append(array)
    lengths = [len(a) for a in arrays]
    if len(set(lengths)) != 1:
        raise ValueError(f"For '{op}', all columns must have the same length, but got {lengths}.")
    if lengths[0] == 0:
        raise ValueError(f"For '{op}', data must not be empty.")
    return names, arrays


class PaddedDataset(GeneratorDataset):
    """Made-up rows (a list of dicts) to fill a dataset up to a multiple of the shards."""

    def __init__(self, padded_samples: Sequence[dict[str, Any]]) -> None:
        check_type("PaddedDataset", "padded_samples", padded_samples, (list, tuple))
        if not padded_samples or not all(isinstance(s, dict) for s in padded_samples):
            raise ValueError(
                "For 'PaddedDataset', padded_samples must be a list of dicts, not empty."
            )
        names = list(padded_samples[0])
        rows = [tuple(np.asarray(sample[name]) for name in names) for sample in padded_samples]
        super().__init__(rows, names, shuffle=False)
        self.padded_samples = list(padded_samples)
