"""What sources of files share: folders and lists of files as users give them, usages, the order of rows in several files."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mindspore import _core, _paths
from mindspore.common._checked import check_value
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.engine.datasets import MappableDataset
from mindspore.dataset.engine.samplers import (
    BuiltinSampler,
    DistributedSampler,
    Draw,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    choose_sampler,
)


def folder(op: str, path: Any, name: str = "dataset_dir") -> str:
    """A folder that exists."""
    found = _paths.checked(op, name, path)
    if not os.path.isdir(found):
        raise ValueError(f"For '{op}', '{name}' must be a folder, but got '{found}'.")
    return found


def file(op: str, path: Any, name: str) -> str:
    """A file that exists."""
    found = _paths.checked(op, name, path)
    if not os.path.isfile(found):
        raise ValueError(f"For '{op}', '{name}' must be a file that exists, but got '{found}'.")
    return found


def choice(op: str, name: str, value: Any, allowed: Sequence[str], default: str) -> str:
    """One of some words; None stands for the default."""
    if value is None:
        return default
    check_type(op, name, value, str)
    if value not in allowed:
        raise ValueError(f"For '{op}', {name} must be one of {list(allowed)}, but got '{value}'.")
    return str(value)


def listed_files(op: str, given: Any) -> list[str]:
    """The files that paths, or patterns such as "data/*.txt", name; in order, each once."""
    check_type(op, "dataset_files", given, (str, list, tuple, os.PathLike))
    patterns = list(given) if isinstance(given, (list, tuple)) else [given]
    found: list[str] = []
    for pattern in patterns:
        path = _paths.checked(op, "dataset_files", pattern)
        matched = [path] if os.path.isfile(path) else sorted(glob.glob(path, recursive=True))
        matched = [name for name in matched if os.path.isfile(name)]
        if not matched:
            raise ValueError(
                f"For '{op}', dataset_files must be files that exist, but got '{path}'."
            )
        found += [name for name in matched if name not in found]
    if not found:
        raise ValueError(f"For '{op}', dataset_files must name a file, but got none.")
    return sorted(found)


def present(op: str, where: str, names: Iterable[str]) -> list[str]:
    """The paths of files of a folder, each of which must be there."""
    paths = [os.path.join(where, name) for name in names]
    for path in paths:
        if not os.path.isfile(path):
            raise ValueError(f"For '{op}', '{where}' must hold {os.path.relpath(path, where)}.")
    return paths


def read_text(path: str) -> str:
    """A whole file of text; ValueError names one that is none."""
    try:
        with open(path, encoding="utf-8-sig") as stream:
            return stream.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"The file '{path}' must be text in UTF-8, but {error.reason}.") from None


def read_lines(path: str) -> list[str]:
    """Its lines that are not empty, without their ends."""
    return [line for line in read_text(path).split("\n") if line.strip()]


def read_json(path: str) -> Any:
    """A file of JSON; ValueError names one that is none."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ValueError(f"The file '{path}' must be JSON, but got {error}.") from None


def small_endings(op: str, extensions: Sequence[str] | None) -> tuple[str, ...]:
    """The endings of files that are asked for, in small letters; none where none are."""
    given = check_value(Sequence[str] | None, extensions, "extensions", op)
    return tuple(ending.lower() for ending in given or ())


def is_picture(name: str, endings: Sequence[str] = (".jpg", ".jpeg", ".png", ".bmp")) -> bool:
    """Whether a file's name ends so ("": has no ending); capital letters count as small ones, hidden files never."""
    base = os.path.basename(name)
    if base.startswith("."):
        return False
    ends = tuple(ending for ending in endings if ending)
    return base.lower().endswith(ends) or ("" in endings and "." not in base)


def files_below(where: str, endings: Sequence[str]) -> list[str]:
    """All files below a folder whose names end so, in order; links to folders are followed."""
    found = []
    for root, folders, names in os.walk(where, followlinks=True):
        folders.sort()
        found += [os.path.join(root, name) for name in sorted(names) if is_picture(name, endings)]
    return found


class FileOrderSampler(BuiltinSampler):
    """Files at random with their rows in order, or files in order with the rows of each at random; a shard takes every
    `num_shards`-th.
    """

    def __init__(
        self, counts: Sequence[int], shuffle: Shuffle, num_shards: int, shard_id: int, limit: Any
    ) -> None:
        super().__init__(limit)
        self.counts = list(counts)
        self.shuffle = shuffle
        self.shards = num_shards
        self.shard_id = shard_id

    def _size(self, length: int) -> int | None:
        return self._limited(-(-length // self.shards))

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        if length == 0:
            return np.arange(0)
        # All shards must draw the same order, also where no seed was set.
        rng = draw.rng() if self.shards == 1 else draw.common_rng()
        ends = np.cumsum(self.counts)
        files = [np.arange(end - count, end) for count, end in zip(self.counts, ends)]
        files.append(np.arange(ends[-1], length))  # what pads the rows stays behind them
        if self.shuffle is Shuffle.FILES:
            files[:-1] = [files[i] for i in rng.permutation(len(self.counts))]
        else:
            files[:-1] = [rng.permutation(rows) for rows in files[:-1]]
        order = np.concatenate(files)
        count = self._size(length) or 0
        return order[(self.shard_id + self.shards * np.arange(count)) % length]


class BlockSampler(BuiltinSampler):
    """A shard of neighbouring rows; all get equally many, the last ones go on with the first rows."""

    def __init__(self, num_shards: int, shard_id: int, limit: int | None) -> None:
        super().__init__(limit)
        self.num_shards, self.shard_id = num_shards, shard_id

    def _size(self, length: int) -> int | None:
        return self._limited(-(-length // self.num_shards))

    def _first(self, length: int) -> int:
        return self.shard_id * -(-length // self.num_shards)

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        count = self._size(length) or 0
        return (self._first(length) + np.arange(count)) % max(length, 1)

    def _regular(self, length: int) -> Any:
        count = self._size(length) or 0
        return _core.dataset.regular_order(length, self._first(length), 1, count, False, False)


def file_sampler(
    op: str,
    counts: Sequence[int],
    num_samples: int | None,
    shuffle: Any,
    num_shards: int | None,
    shard_id: int | None,
) -> Sampler:
    """The order of the rows of files that take no sampler."""
    if shuffle is None:
        shuffle = True
    choose_sampler(op, None, num_samples, shuffle, num_shards, shard_id)  # for its checks
    limit = num_samples or None
    if shuffle in (Shuffle.FILES, Shuffle.INFILE):
        return FileOrderSampler(counts, Shuffle(shuffle), num_shards or 1, shard_id or 0, limit)
    off = shuffle is False or shuffle is Shuffle.FALSE
    if num_shards is None or shard_id is None:
        return SequentialSampler(None, limit) if off else RandomSampler(False, limit)
    if off:
        return BlockSampler(num_shards, shard_id, limit)
    return DistributedSampler(num_shards, shard_id, True, limit)


class PieceDataset(MappableDataset):
    """Base of the sources whose rows are pieces of larger files, by number. They take no sampler."""

    def __init__(
        self,
        columns: Sequence[str],
        pieces: Any,
        make: Callable[[Any], Any],
        options: tuple[Any, Any, Any, Any, Any],
    ) -> None:
        """`options`: num_samples, num_parallel_workers, shuffle, num_shards, shard_id."""
        op = type(self).__name__
        num_samples, workers, shuffle, num_shards, shard_id = options
        if workers is not None:
            check_int(op, "num_parallel_workers", workers, 1)
        self.num_shards = num_shards
        counts = list(pieces.counts)
        sampler = file_sampler(op, counts, num_samples, shuffle, num_shards, shard_id)
        super().__init__(columns, sum(counts), sampler, make, workers)


class ColumnDataset(MappableDataset):
    """Base of the sources whose rows are files, or values in memory, by number."""

    def _fill(
        self,
        columns: Sequence[str],
        length: int,
        parts: Sequence[Any],
        sampler: Sampler,
        workers: Any,
        labels: Any = None,
    ) -> None:
        """`parts` are columns of the engine; `labels` the classes of the rows."""
        op = type(self).__name__
        if workers is not None:
            check_int(op, "num_parallel_workers", workers, 1)
        self._classes = labels
        self._parts = made = list(parts)
        super().__init__(
            columns,
            length,
            sampler,
            lambda order: _core.dataset.columns(order, made, True),
            workers,
        )

    def _labels(self) -> Any:
        return super()._labels() if self._classes is None else np.asarray(self._classes)

    def _file_of(self, number: int) -> str:
        """The file of a row, the first of several; empty where there is none."""
        found = (os.fsdecode(part.file(number)) for part in self._parts)
        return next((path for path in found if path), "")


class LoadedDataset(MappableDataset):
    """Base of the sources whose rows a function of Python reads, by number."""

    def _load(
        self,
        columns: Sequence[str],
        length: int,
        call: Any,
        options: tuple[Any, ...],
        pools: Sequence[Any] = (),
    ) -> None:
        """`call` is one of the engine; `options`: sampler, num_samples, shuffle, num_shards, shard_id, workers."""
        self.num_shards = options[3]
        chosen = choose_sampler(type(self).__name__, *options[:5])
        super().__init__(
            columns,
            length,
            chosen,
            lambda order: _core.dataset.loaded(order, call, len(columns)),
            options[5],
            pools,
        )


def paths_column(paths: Sequence[str], form: str = "bytes", unsigned_rate: bool = False) -> Any:
    """A column of the contents of files: "bytes", "picture", "text" or "sound"."""
    return _core.dataset.file_column(list(paths), form, unsigned_rate)


def pictures_column(op: str, paths: Sequence[str], decode: Any) -> Any:
    """A column of pictures, decoded or as they are in their files."""
    check_type(op, "decode", decode, bool)
    return paths_column(paths, "picture" if decode else "bytes")


def array_column(values: Any, dtype: Any) -> Any:
    """A column of the slices of an array."""
    return _core.dataset.array_column(np.ascontiguousarray(values, dtype))


def list_column(values: Iterable[Any], dtype: Any = None) -> Any:
    """A column of values that differ in shape, or of texts."""
    return _core.dataset.list_column([np.asarray(value, dtype) for value in values])
