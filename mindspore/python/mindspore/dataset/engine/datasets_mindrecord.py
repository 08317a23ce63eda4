"""Rows of MindRecord files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core, _paths
from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine.datasets import MappableDataset
from mindspore.dataset.engine.samplers import (
    PKSampler,
    Sampler,
    Shuffle,
    choose_sampler,
)
from mindspore.dataset.engine.source_files import FileOrderSampler
from mindspore.dataset.engine.values import Row

_OP = "MindDataset"


class RecordRows:
    """The files, and which of their columns are wanted."""

    def __init__(self, paths: Sequence[str], whole: bool) -> None:
        self.places: list[int] = []
        self.reader = _core.mindrecord.Reader(list(paths), whole)
        self.fields = {
            field[0]: (place, *field[1:]) for place, field in enumerate(self.reader.fields)
        }

    def column(self, name: str, rows: np.ndarray) -> list[Any]:
        """The values of one field."""
        return [row[0] for row in self.reader.read(rows, [self.fields[name][0]])]


class ChosenRows:
    """Rows of files by number, some of them or all, and behind them copies of one that pads them."""

    def __init__(
        self, rows: RecordRows, chosen: np.ndarray | None, padding: Row, num_padded: int
    ) -> None:
        self.source, self.chosen, self.padding = rows, chosen, padding
        self.real = rows.reader.rows if chosen is None else len(chosen)
        self.length = self.real + num_padded

    def node(self, order: Any) -> Any:
        """What the engine reads in an order."""
        return _core.mindrecord.rows(
            order, self.source.reader, self.source.places, self.chosen, self.padding
        )

    def labels(self, sampler: Sampler | None) -> np.ndarray:
        """The class of every row, for the PKSampler among a sampler and its children."""
        while sampler is not None and not isinstance(sampler, PKSampler):
            sampler = sampler.child_sampler
        name = "label" if sampler is None else sampler.class_column
        if name not in self.source.fields or self.source.fields[name][3]:
            raise ValueError(
                f"For 'PKSampler', class_column must be a field of '{_OP}' that is a number or a string, "
                f"but got '{name}'."
            )
        rows = np.arange(self.real) if self.chosen is None else self.chosen
        return np.asarray(self.source.column(name, rows))


class MindDataset(MappableDataset):
    """The rows of MindRecord files: of one file with all its shards, or of the files of a list.

    Columns come in the order of their names unless `columns_list` says another. `where` is an SQL condition over the
    index fields, such as "label = 3": other rows are never read. `padded_sample`, `num_padded` times, makes the rows of
    all shards equally many. `shuffle` may also be Shuffle.FILES or Shuffle.INFILE.
    """

    def __init__(
        self,
        dataset_files: str | Sequence[str],
        columns_list: Sequence[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Any = None,
        padded_sample: dict[str, Any] | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
        *,
        where: str | None = None,
    ) -> None:
        self.dataset_files = dataset_files
        self.num_shards = num_shards
        rows = RecordRows(_files(dataset_files), not isinstance(dataset_files, (list, tuple)))
        columns = list(rows.fields)
        if columns_list is not None:
            check_type(_OP, "columns_list", columns_list, (list, tuple))
            columns = check_names(_OP, "columns_list", columns_list) or columns
        unknown = [name for name in columns if name not in rows.fields]
        if unknown:
            raise ValueError(
                f"For '{_OP}', columns_list must be among {list(rows.fields)}, but got {unknown[0]!r}."
            )
        rows.places = [rows.fields[name][0] for name in columns]
        chosen = None if where is None else _select(rows, where)
        padding, count = _padding(rows, columns, columns_list, padded_sample, num_padded)
        picked: Sampler
        if (
            sampler is None
            and isinstance(shuffle, Shuffle)
            and shuffle in (Shuffle.FILES, Shuffle.INFILE)
        ):
            choose_sampler(_OP, None, num_samples, True, num_shards, shard_id)  # for its checks
            counts = _counts(rows, chosen)
            picked = FileOrderSampler(
                counts, Shuffle(shuffle), num_shards or 1, shard_id or 0, num_samples
            )
        else:
            picked = choose_sampler(_OP, sampler, num_samples, shuffle, num_shards, shard_id)
        self._rows_of_files = ChosenRows(rows, chosen, padding, count)
        length = self._rows_of_files.length
        if count and num_shards and length % num_shards:
            raise RuntimeError(
                f"For '{_OP}', the {self._rows_of_files.real} rows and num_padded={count} must be a multiple of "
                f"num_shards={num_shards}."
            )
        super().__init__(columns, length, picked, self._rows_of_files.node, num_parallel_workers)

    def _labels(self) -> np.ndarray:
        return self._rows_of_files.labels(self._sampler)


def _files(files: Any) -> list[str]:
    given = list(files) if isinstance(files, (list, tuple)) else [files]
    if not given:
        raise ValueError(f"For '{_OP}', dataset_files must name a file, but got none.")
    paths = [_paths.checked(_OP, "dataset_files", path) for path in given]
    for path in paths:
        if not os.path.isfile(path):
            raise ValueError(
                f"For '{_OP}', dataset_files must be files that exist, but got '{path}'."
            )
    return paths


def _select(rows: RecordRows, where: Any) -> np.ndarray:
    check_type(_OP, "where", where, str)
    chosen, rebuilt = rows.reader.select(where)
    for path in rebuilt:
        warnings.warn(
            f"The index of the MindRecord file '{path}' is missing or belongs to another one; the "
            "rows themselves were searched.",
            stacklevel=3,
        )
    return np.asarray(chosen, np.int64)


def _counts(rows: RecordRows, chosen: np.ndarray | None) -> list[int]:
    """How many of the chosen rows each file has."""
    counts = rows.reader.counts
    if chosen is None:
        return list(counts)
    ends = np.cumsum(counts)
    return [int(n) for n in np.diff(np.searchsorted(chosen, [0, *ends]))]


def _padding(
    rows: RecordRows, columns: Sequence[str], listed: Any, sample: Any, num_padded: Any
) -> tuple[Row, int]:
    """The row that pads, and how often."""
    if sample is None:
        if num_padded is not None:
            raise RuntimeError(f"For '{_OP}', num_padded must come with padded_sample.")
        return (), 0
    check_type(_OP, "padded_sample", sample, dict)
    if num_padded is None:
        raise RuntimeError(f"For '{_OP}', padded_sample must come with num_padded.")
    check_int(_OP, "num_padded", num_padded, 0)
    if listed is None:
        raise RuntimeError(f"For '{_OP}', padded_sample must come with columns_list.")
    missing = [name for name in columns if name not in sample]
    if missing:
        raise ValueError(
            f"For '{_OP}', padded_sample must have each of {list(columns)}, but has no '{missing[0]}'."
        )
    return tuple(_padded_value(rows, name, sample[name]) for name in columns), num_padded


def _padded_value(rows: RecordRows, name: str, value: Any) -> np.ndarray:
    _, kind, shape, _ = rows.fields[name]
    wrong = TypeError(
        f"For '{_OP}', padded_sample must have a {kind} for '{name}', but got {value!r:.80}."
    )
    if kind in ("string", "bytes"):
        if not isinstance(value, str if kind == "string" else bytes):
            raise wrong
        return np.array(value) if kind == "string" else np.array([value])
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or not np.can_cast(array.dtype, kind, "same_kind"):
        raise wrong
    with np.errstate(all="ignore"):
        cast = array.astype(kind)
    changed = array.dtype.kind != "f" and (cast != array).any()
    if changed or (shape is None) != (array.ndim == 0):
        raise wrong
    return cast
