"""Datasets over what the user has: Python objects and functions, arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.config import get_seed
from mindspore.dataset.core.random import make_rng
from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine.calls import LoadCall
from mindspore.dataset.engine.datasets import Dataset, MappableDataset
from mindspore.dataset.engine.mapping import process_count, python_call
from mindspore.dataset.engine.samplers import choose_sampler
from mindspore.dataset.engine.schema import Schema, schema_of
from mindspore.dataset.engine.sources import CollatedRows, StreamRows
from mindspore.dataset.engine.values import Row, to_array


class GeneratorDataset(MappableDataset):
    """Rows of a Python source.

    `source` is an object with __getitem__ and __len__ (shuffled unless told otherwise), an
    iterable, or a function that returns an iterator. A row is a tuple with one value for each
    column.
    """

    _alone = True

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
        if num_parallel_workers is not None:
            check_int(op, "num_parallel_workers", num_parallel_workers, 1)
        if hasattr(source, "__getitem__") and hasattr(source, "__len__"):
            load = LoadCall(source, names, convert)
            if batch_sampler is not None:
                _check_batch_sampler(op, batch_sampler, num_samples, shuffle, sampler, num_shards)
                rows = CollatedRows(load, batch_sampler, collate_fn, names)
                self._init_stream(rows, names, num_parallel_workers)
                return
            chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
            processes = process_count(num_parallel_workers, python_multiprocessing)
            call, pools = python_call(load, processes)
            super().__init__(
                names,
                len(source),
                chosen,
                lambda order: _core.dataset.loaded(order, call, len(names)),
                num_parallel_workers,
                pools,
            )
        elif callable(source) or isinstance(source, Iterable):
            _only_for_sequences(op, shuffle=shuffle, sampler=sampler, num_shards=num_shards,
                                batch_sampler=batch_sampler)  # fmt: skip
            stream = StreamRows(source, names, num_samples or None, convert)
            self._init_stream(stream, names, num_parallel_workers)
        else:
            raise TypeError(
                f"For '{op}', source must have __getitem__ and __len__, be iterable, or be a "
                f"function that returns an iterator, but got {type(source).__name__}."
            )

    def _init_stream(self, rows: StreamRows | CollatedRows, names: list[str], workers: Any) -> None:
        """Rows that only come one after the other."""
        Dataset.__init__(self, _core.dataset.stream(rows.open, rows.size), names, (), workers)


def _only_for_sequences(op: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise ValueError(
                f"For '{op}', {name} needs a source with __getitem__ and __len__. Use shuffle() of "
                f"the dataset, or give such a source."
            )


def _check_batch_sampler(
    op: str, batch_sampler: Any, num_samples: Any, shuffle: Any, sampler: Any, num_shards: Any
) -> None:
    for name, value in (("num_samples", num_samples), ("shuffle", shuffle), ("sampler", sampler),
                        ("num_shards", num_shards)):  # fmt: skip
        if value is not None:
            raise ValueError(f"For '{op}', batch_sampler excludes {name}.")
    if not isinstance(batch_sampler, Iterable):
        raise TypeError(
            f"For '{op}', batch_sampler must be iterable, but got {type(batch_sampler).__name__}."
        )


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
        super().__init__(
            names,
            len(arrays[0]),
            chosen,
            lambda order: _core.dataset.columns(
                order, [_core.dataset.array_column(array) for array in arrays], False
            ),
            num_parallel_workers,
        )


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
        arrays.append(np.asarray(array, order="C"))
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


class _RandomCall:
    """Rows that are drawn, each by its number and the seed alone."""

    def __init__(self, op: str, draw: Callable[[np.random.Generator], Row], seed: int) -> None:
        self.op, self.draw, self.seed = op, draw, seed

    def __call__(self, rows: list[Row], keys: list[int], numbers: list[int]) -> list[Row]:
        """The row at each number."""
        return [self.draw(make_rng(self.seed, number)) for number in numbers]


def random_rows(op: str, draw: Callable[[np.random.Generator], Row], seed: int) -> Any:
    """The call of the engine for rows that a function draws."""
    return _RandomCall(op, draw, seed)


class RandomDataset(MappableDataset):
    """Random values in the types and shapes of a schema; without one, of one or more columns of its own choice."""

    def __init__(
        self,
        total_rows: int | None = None,
        schema: str | Schema | None = None,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
        shuffle: bool | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        op = "RandomDataset"
        described = schema_of(op, schema)
        if total_rows is not None:
            check_int(op, "total_rows", total_rows, 0)
        self.num_shards = num_shards
        if described is None:
            described = Schema()
            described.add_column("c0", "float32", [2])
        columns = described.columns
        if columns_list is not None:
            names = check_names(op, "columns_list", columns_list)
            known = {column["name"]: column for column in columns}
            for name in names:
                if name not in known:
                    raise ValueError(
                        f"For '{op}', columns_list must be among {list(known)}, but got '{name}'."
                    )
            columns = [known[name] for name in names] or columns
        rows = total_rows or described.num_rows or 100

        def draw(rng: np.random.Generator) -> Row:
            return tuple(_random_value(rng, column) for column in columns)

        chosen = choose_sampler(op, None, num_samples, shuffle, num_shards, shard_id)
        call, pools = python_call(random_rows(op, draw, get_seed()), 0)
        super().__init__(
            [column["name"] for column in columns],
            rows,
            chosen,
            lambda order: _core.dataset.loaded(order, call, len(columns)),
            num_parallel_workers,
            pools,
        )


def _random_value(rng: np.random.Generator, column: dict[str, Any]) -> np.ndarray:
    shape = [max(extent, 1) for extent in column.get("shape", [1])]
    if column["type"] == "string":
        letters = rng.integers(97, 123, (*shape, 8), np.uint32)
        return np.ascontiguousarray(letters).view("<U8").reshape(shape)
    dtype = np.dtype(column["type"])
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
