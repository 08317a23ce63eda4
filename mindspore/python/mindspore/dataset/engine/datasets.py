"""Dataset: the public face of a pipeline. Every method returns a new dataset over a new node."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset import config
from mindspore.dataset.core.recorded import Recorded, recorded
from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.core.validator_helpers import (
    check_int,
    check_names,
    check_type,
    check_workers,
    known_options,
)
from mindspore.dataset.engine.batching import Batching
from mindspore.dataset.engine.caching import checked_cache, map_node, source_node
from mindspore.dataset.engine.calls import NumberCall
from mindspore.dataset.engine.facts import DatasetFacts
from mindspore.dataset.engine.good_rows import GoodRows
from mindspore.dataset.engine.iterators import worker_count
from mindspore.dataset.engine.mapping import (
    Mapping,
    checked_callbacks,
    known,
    map_calls,
    process_count,
    renamed,
)
from mindspore.dataset.engine.running import DatasetRuns
from mindspore.dataset.engine.samplers import Sampler
from mindspore.dataset.engine.saving import save
from mindspore.dataset.engine.splitting import split_counts
from mindspore.dataset.engine.watched import CallbackRows, SyncRows
from mindspore.dataset.engine.workers import WorkerPool

engine = _core.dataset


class Dataset(Batching, DatasetRuns, DatasetFacts):
    """Base of all datasets: operations on the pipeline, iterators over it, facts about it."""

    _arguments: tuple[str, dict[str, Any]] | None = None
    _alone = False  # whether functions of the user's make its rows, in this process

    def __init__(
        self,
        node: Any,
        columns: Sequence[str],
        children: Sequence[Dataset] = (),
        num_parallel_workers: int | None = None,
        pools: Sequence[WorkerPool] = (),
    ) -> None:
        self._node = node
        self._columns = list(columns)
        self._pools = list(pools)
        self.children = list(children)
        self.parent: list[Dataset] = []
        self.num_parallel_workers = check_workers(type(self).__name__, num_parallel_workers)
        for child in self.children:
            child.parent.append(self)
        self._init_step = 0
        # Where each row is made of one of the child's: what makes the node over another one of the child.
        self._over: Callable[[Any], Any] | None = None

    def _batches(self, node: Any, columns: Sequence[str]) -> BatchDataset:
        return BatchDataset(node, columns, [self])

    @recorded
    def map(
        self,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> MapDataset:
        """Apply one callable or a list of them to the input columns (default: the first one)."""
        if callable(input_columns) or isinstance(operations, (str,)):
            # The first releases took map(input_columns, operations).
            operations, input_columns = input_columns, operations
        names = ["column_order", "python_multiprocessing", "callbacks", "cache"]
        options = known_options("map", kwargs, names)
        chain = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        if not chain:
            raise ValueError("For 'map', operations must not be empty.")
        for operation in chain:
            if not callable(operation):
                raise TypeError(
                    f"For 'map', operations must be callable, but got {type(operation).__name__}."
                )
        columns = input_columns if input_columns is not None else self._columns[:1]
        inputs = check_names("map", "input_columns", columns)
        outputs = (
            inputs
            if output_columns is None
            else check_names("map", "output_columns", output_columns)
        )
        mapping = Mapping(self._columns, inputs, outputs)
        callbacks = checked_callbacks(options.get("callbacks"))
        cache = checked_cache("map", options.get("cache"))
        if callbacks and cache is not None:
            raise ValueError("For 'map', cache excludes callbacks, which see every row.")
        if callbacks:
            watched = CallbackRows(self._node, mapping.call(chain, outputs), callbacks)
            node = engine.stream(watched.open, self._node.size)
            result = MapDataset(node, mapping.columns, [self], num_parallel_workers)
            return result._ordered(options.get("column_order"))
        processes = process_count(num_parallel_workers, options.get("python_multiprocessing"))
        calls, pools = map_calls(chain, len(inputs), outputs, processes)
        node = engine.map(self._node, calls, mapping.take, mapping.place)
        result = MapDataset(node, mapping.columns, [self], num_parallel_workers, pools)
        result._over = lambda below: engine.map(below, calls, mapping.take, mapping.place)
        result._alone = not pools and any(isinstance(call, engine.Call) for call in calls)
        if cache is not None:
            result._node = map_node(result, cache, (chain, inputs, outputs))
        if config.get_error_samples_mode() != config.ErrorSamplesMode.RETURN:
            rows = GoodRows(result._node, functools.partial(worker_count, result))
            result._node, result._over = engine.stream(rows.open, rows.size), None
        return result._ordered(options.get("column_order"))

    def _ordered(self, columns: Any) -> Any:
        if columns is None:
            return self
        names = check_names("map", "column_order", columns)
        result = self._project_to(type(self), names)
        for name in ("batch_size",):
            if hasattr(self, name):
                setattr(result, name, getattr(self, name))
        return result

    def _project_to(self, kind: type[Any], names: Sequence[str]) -> Any:
        places = known("project", "columns", names, self._columns)
        result = kind(engine.project(self._node, places), list(names), [self])
        result._over = lambda below: engine.project(below, places)
        return result

    @recorded
    def filter(
        self,
        predicate: Callable[..., Any],
        input_columns: Any = None,
        num_parallel_workers: int | None = None,
    ) -> FilterDataset:
        """Keep the rows for which predicate(column...) is true (default: of all columns)."""
        if not callable(predicate):
            raise TypeError("For 'filter', predicate must be callable.")
        columns = input_columns if input_columns is not None else self._columns
        inputs = check_names("filter", "input_columns", columns)
        take = known("filter", "input_columns", inputs, self._columns)
        call = engine.Call(NumberCall("filter", predicate, "row {}", bool), False)
        node = engine.filter(self._node, call, take)
        return FilterDataset(node, self._columns, [self], num_parallel_workers)

    def flat_map(self, func: Callable[..., Dataset]) -> Dataset:
        """Replace every row by the rows of the dataset that func(column...) returns."""
        if not callable(func):
            raise TypeError("For 'flat_map', func must be callable.")

        def inner(row: Any) -> Dataset:
            try:
                made = func(*row)
            except Exception as error:
                raise failure("flat_map", describe(func), error) from error
            if not isinstance(made, Dataset):
                raise TypeError(
                    f"For 'flat_map', func must return a Dataset, but got {type(made).__name__}."
                )
            return made

        first = next(self._rows(), None)
        if first is None:
            raise ValueError("For 'flat_map', the dataset must not be empty.")
        node = engine.flat_map(self._node, lambda row: inner(row)._node)
        return Dataset(node, inner(first)._columns, [self])

    @recorded
    def shuffle(self, buffer_size: int) -> ShuffleDataset:
        """Give rows at random out of the next `buffer_size`; all of a source that has no more."""
        check_int("shuffle", "buffer_size", buffer_size, 2)
        return ShuffleDataset(engine.shuffle(self._node, buffer_size), self._columns, [self])

    @recorded
    def repeat(self, count: int | None = None) -> RepeatDataset:
        """Count epochs as one; None or -1: without end."""
        if count is None or count == -1:
            repeats = None
        else:
            repeats = check_int("repeat", "count", count, 1)
        result = RepeatDataset(engine.repeat(self._node, repeats), self._columns, [self])
        result.repeat_count = repeats or -1
        return result

    @recorded
    def skip(self, count: int) -> SkipDataset:
        """Leave out the first `count` rows."""
        check_int("skip", "count", count, 0)
        return SkipDataset(engine.window(self._node, count, None, False), self._columns, [self])

    @recorded
    def take(self, count: int = -1) -> TakeDataset:
        """Only the first `count` rows; -1: all."""
        if count != -1:
            check_int("take", "count", count, 1)
        stop = None if count == -1 else count
        return TakeDataset(engine.window(self._node, 0, stop, False), self._columns, [self])

    @recorded
    def zip(self, datasets: Dataset | tuple[Dataset, ...]) -> ZipDataset:
        """Rows of this and other datasets side by side."""
        others = (datasets,) if isinstance(datasets, Dataset) else datasets
        return zip_datasets((self, *_datasets("zip", others)))

    @recorded
    def concat(self, datasets: Dataset | Sequence[Dataset]) -> ConcatDataset:
        """The rows of other datasets after those of this one."""
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        parts = [self, *_datasets("concat", others)]
        for part in parts[1:]:
            if part._columns != self._columns:
                raise ValueError(
                    "For 'concat', the datasets must have the same columns, but got "
                    f"{self._columns} and {part._columns}."
                )
        return ConcatDataset(engine.concat([d._node for d in parts]), self._columns, parts)

    def __add__(self, other: Dataset) -> ConcatDataset:
        return self.concat(other)

    @recorded
    def rename(self, input_columns: Any, output_columns: Any) -> RenameDataset:
        """Give columns other names."""
        old = check_names("rename", "input_columns", input_columns)
        new = check_names("rename", "output_columns", output_columns)
        if len(old) != len(new):
            raise ValueError(
                "For 'rename', there must be as many output_columns as input_columns, "
                f"{len(old)}, but got {len(new)}."
            )
        known("rename", "input_columns", old, self._columns)
        columns = renamed(self._columns, old, new)
        if len(set(columns)) != len(columns):
            raise ValueError(
                f"For 'rename', the new names must not occur already, but got {columns}."
            )
        result = RenameDataset(self._node, columns, [self])
        result._over = lambda below: below
        return result

    @recorded
    def project(self, columns: Any) -> ProjectDataset:
        """Keep some columns, in the given order."""
        names = check_names("project", "columns", columns)
        made: ProjectDataset = self._project_to(ProjectDataset, names)
        return made

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """apply_func(self), for chains that are written as functions."""
        if not callable(apply_func):
            raise TypeError("For 'apply', apply_func must be callable.")
        result = apply_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(
                f"For 'apply', apply_func must return a Dataset, but got {type(result).__name__}."
            )
        return result

    def split(self, sizes: Sequence[Any], randomize: bool = True) -> tuple[Dataset, ...]:
        """Parts of the dataset that do not overlap: sizes are row counts or fractions."""
        check_type("split", "sizes", sizes, (list, tuple))
        check_type("split", "randomize", randomize, bool)
        total = self.get_dataset_size()
        counts = split_counts(list(sizes), total)
        whole = engine.shuffle(self._node, max(total, 1)) if randomize else self._node
        bounds = np.cumsum([0, *counts])
        return tuple(
            TakeDataset(engine.window(whole, int(start), int(stop), True), self._columns, [self])
            for start, stop in itertools.pairwise(bounds)
        )

    def sync_wait(
        self, condition_name: str, num_batch: int = 1, callback: Callable[..., Any] | None = None
    ) -> SyncWaitDataset:
        """Give `num_batch` rows, then wait until sync_update() of the condition is called.

        What comes before is made when it is asked for, so that it sees what `callback` has changed.
        """
        check_type("sync_wait", "condition_name", condition_name, str)
        check_int("sync_wait", "num_batch", num_batch, 1)
        if callback is not None and not callable(callback):
            raise TypeError(
                f"For 'sync_wait', callback must be callable, but got {type(callback).__name__}."
            )
        if condition_name in self._conditions():
            raise RuntimeError(
                f"For 'sync_wait', condition_name must be new, but '{condition_name}' is there already."
            )
        return SyncWaitDataset(self, SyncRows(self._node, condition_name, num_batch, callback))

    def sync_update(
        self, condition_name: str, num_batch: int | None = None, data: Any = None
    ) -> None:
        """Call the callback of a condition with `data`, and let its next rows come."""
        known = self._conditions()
        if condition_name not in known:
            raise RuntimeError(
                f"For 'sync_update', condition_name must be among {sorted(known)}, but got {condition_name!r}."
            )
        if num_batch is not None:
            check_int("sync_update", "num_batch", num_batch, 1)
        known[condition_name].update(num_batch, data)

    def _conditions(self) -> dict[str, SyncRows]:
        """What waits in this pipeline, by the names of the conditions."""
        found: dict[str, SyncRows] = {}
        for child in self.children:
            found.update(child._conditions())
        return found

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Write the rows of an epoch into files, which MindDataset or TFRecordDataset reads."""
        save(self, file_name, num_files, file_type)


def _datasets(op: str, values: Any) -> list[Dataset]:
    check_type(op, "datasets", values, (list, tuple))
    for value in values:
        if not isinstance(value, Dataset):
            raise TypeError(
                f"For '{op}', datasets must be Dataset, but got {type(value).__name__}."
            )
    return list(values)


class BatchDataset(Dataset):
    """What batch() returns."""

    batch_size: int | Callable[..., int] = 1
    drop_remainder = False


class MapDataset(Dataset):
    """What map() returns."""


class FilterDataset(Dataset):
    """What filter() returns."""


class ShuffleDataset(Dataset):
    """What shuffle() returns."""


class RepeatDataset(Dataset):
    """What repeat() returns."""

    repeat_count = -1


class SkipDataset(Dataset):
    """What skip() returns."""


class TakeDataset(Dataset):
    """What take() returns."""


class ZipDataset(Dataset):
    """What zip() returns."""


class ConcatDataset(Dataset):
    """What concat() returns."""


class RenameDataset(Dataset):
    """What rename() returns."""


class ProjectDataset(Dataset):
    """What project() returns."""


class SyncWaitDataset(Dataset):
    """What sync_wait() returns."""

    def __init__(self, child: Dataset, rows: SyncRows) -> None:
        self._sync = rows
        super().__init__(engine.stream(rows.open, child._node.size), child._columns, [child])

    def _conditions(self) -> dict[str, SyncRows]:
        return {**super()._conditions(), self._sync.name: self._sync}


class SourceDataset(Dataset, Recorded):
    """Base of the datasets that rows come from."""


class MappableDataset(SourceDataset):
    """A source whose rows have indices."""

    def __init__(
        self,
        columns: Sequence[str],
        length: int,
        sampler: Sampler,
        make: Callable[[Any], Any],
        num_parallel_workers: int | None = None,
        pools: Sequence[WorkerPool] = (),
    ) -> None:
        """`make` gives the node for an order of the engine."""
        self._length, self._sampler, self._columns = length, sampler, list(columns)
        name, given = self._arguments or (type(self).__name__, {})
        cache = checked_cache(name, given.get("cache"))
        self._make = make if cache is None else source_node(self, cache, make)
        super().__init__(self._made(), columns, (), num_parallel_workers, pools)

    def _made(self) -> Any:
        return self._make(self._sampler.engine_order(self._length, self._labels))

    def _labels(self) -> Any:
        """The class of every row, for samplers that choose by class."""
        raise RuntimeError("For 'PKSampler', the dataset must have a class label for each row.")

    def _check_unused(self, op: str) -> None:
        """Datasets on top of this one have the order that it had when they were made."""
        if self.parent:
            raise RuntimeError(
                f"For '{op}', it must be called before operations on the dataset, but there is "
                f"{type(self.parent[0]).__name__} on top of it."
            )

    def add_sampler(self, new_sampler: Any) -> None:
        """Let `new_sampler` choose first, before the sampler the dataset has."""
        self._check_unused("add_sampler")
        innermost = self._sampler
        while innermost.child_sampler is not None:
            innermost = innermost.child_sampler
        innermost.add_child(new_sampler)
        self._node = self._made()

    def use_sampler(self, new_sampler: Any) -> None:
        """Replace the sampler."""
        self._check_unused("use_sampler")
        self._sampler = new_sampler
        self._node = self._made()


def zip_datasets(datasets: Sequence[Dataset]) -> ZipDataset:
    """Rows of several datasets side by side."""
    parts = _datasets("zip", datasets)
    if not parts:
        raise ValueError("For 'zip', there must be at least one dataset.")
    columns = [c for part in parts for c in part._columns]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise ValueError(
            f"For 'zip', the datasets must have different column names, but got {twice} twice. "
            "Use rename() on one of them."
        )
    return ZipDataset(engine.zip([d._node for d in parts]), columns, parts)
