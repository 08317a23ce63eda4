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
from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine.caching import checked_cache, map_node, source_node
from mindspore.dataset.engine.calls import BatchCall, NumberCall, SizeCall
from mindspore.dataset.engine.examining import Report, examined
from mindspore.dataset.engine.facts import DatasetFacts
from mindspore.dataset.engine.good_rows import GoodRows
from mindspore.dataset.engine.iterators import (
    DictIterator,
    Iterator,
    Position,
    TupleIterator,
    worker_count,
)
from mindspore.dataset.engine.mapping import (
    Mapping,
    checked_callbacks,
    known,
    map_calls,
    process_count,
    renamed,
)
from mindspore.dataset.engine.padding import checked_padding
from mindspore.dataset.engine.places import described, place
from mindspore.dataset.engine.previewing import Preview, previewed
from mindspore.dataset.engine.samplers import Sampler
from mindspore.dataset.engine.saving import save
from mindspore.dataset.engine.splitting import split_counts
from mindspore.dataset.engine.tuning import profile_of
from mindspore.dataset.engine.watched import CallbackRows, SyncRows
from mindspore.dataset.engine.workers import WorkerPool

engine = _core.dataset

# Keyword arguments that tune queues; they change nothing here.
_TUNING = {"max_rowsize", "offload", "max_row_size"}


def _split_tuning(op: str, given: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    for name in given:
        if name not in _TUNING and name not in known:
            raise TypeError(f"For '{op}', '{name}' is not one of its arguments.")
    return {name: value for name, value in given.items() if name in known}


class Dataset(DatasetFacts):
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
        self.num_parallel_workers = _workers(type(self).__name__, num_parallel_workers)
        for child in self.children:
            child.parent.append(self)
        self._init_step = 0
        self._position: Position | None = None
        self._resumes_at: Position | None = None
        self._last: Any = None  # a weak reference to the last iterator
        self._told: Any = None  # by its queue, at the end of an epoch
        # Where each row is made of one of the child's: what makes the node over another one of the child.
        self._over: Callable[[Any], Any] | None = None

    # Operations

    @recorded
    def batch(
        self,
        batch_size: int | Callable[..., int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> BatchDataset:
        """Join `batch_size` rows; per_batch_map(column..., info) may change whole batches."""
        if not callable(batch_size):
            check_int("batch", "batch_size", batch_size, 1)
        check_type("batch", "drop_remainder", drop_remainder, bool)
        names = ["per_batch_map", "input_columns", "output_columns", "column_order", "pad_info"]
        options = _split_tuning("batch", kwargs, [*names, "python_multiprocessing"])
        function = options.get("per_batch_map")
        columns, call = self._columns, None
        if function is not None:
            call = self._batch_call(function, options)
            columns = call.result
        result = self._batched(batch_size, drop_remainder, columns, options.get("pad_info"), call)
        result.num_parallel_workers = _workers("batch", num_parallel_workers)
        return result._ordered(options.get("column_order"))

    def _batch_call(self, function: Any, options: dict[str, Any]) -> BatchCall:
        if not callable(function):
            raise TypeError("For 'batch', per_batch_map must be callable.")
        given = options.get("input_columns") or self._columns
        inputs = check_names("batch", "input_columns", given)
        missing = [c for c in inputs if c not in self._columns]
        if missing:
            raise ValueError(
                f"For 'batch', input_columns must be among {self._columns}, but got {missing}."
            )
        given = options.get("output_columns") or inputs
        outputs = check_names("batch", "output_columns", given)
        result = renamed(self._columns, inputs, outputs)
        return BatchCall(function, self._columns, inputs, outputs, result)

    def _batched(
        self, size: Any, drop_remainder: bool, columns: Sequence[str], padding: Any, call: Any
    ) -> BatchDataset:
        counted = SizeCall(size) if callable(size) else size
        padding = checked_padding("batch", padding)
        node = engine.batch(self._node, counted, drop_remainder, list(columns), padding, call)
        result = BatchDataset(node, columns, [self])
        result.batch_size, result.drop_remainder = size, drop_remainder
        return result

    @recorded
    def padded_batch(
        self,
        batch_size: int | Callable[..., int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, tuple[Any, Any]] | None = None,
    ) -> BatchDataset:
        """Join rows of different shapes; `pad_info` maps a column to (shape, value)."""
        if not callable(batch_size):
            check_int("padded_batch", "batch_size", batch_size, 1)
        check_type("padded_batch", "drop_remainder", drop_remainder, bool)
        pad_info = {} if pad_info is None else pad_info
        check_type("padded_batch", "pad_info", pad_info, dict)
        result = self._batched(batch_size, drop_remainder, self._columns, pad_info, None)
        result.num_parallel_workers = _workers("padded_batch", num_parallel_workers)
        return result

    @recorded
    def bucket_batch_by_length(
        self,
        column_names: Sequence[str],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        element_length_function: Callable[..., int] | None = None,
        pad_info: dict[str, tuple[Any, Any]] | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> BatchDataset:
        """Join rows whose lengths fall between the same two boundaries."""
        op = "bucket_batch_by_length"
        names = check_names(op, "column_names", column_names)
        if element_length_function is None and len(names) != 1:
            raise ValueError(f"For '{op}', several column_names need an element_length_function.")
        if not bucket_boundaries or sorted(set(bucket_boundaries)) != list(bucket_boundaries):
            raise ValueError(
                f"For '{op}', bucket_boundaries must be increasing, but got {bucket_boundaries}."
            )
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(
                f"For '{op}', bucket_batch_sizes must have {len(bucket_boundaries) + 1} entries, "
                f"one more than bucket_boundaries, but got {len(bucket_batch_sizes)}."
            )
        for size in bucket_batch_sizes:
            check_int(op, "bucket_batch_sizes", size, 1)
        length = None
        if element_length_function is not None:
            what = "element_length_function"
            length = engine.Call(NumberCall(op, element_length_function, what, int), False)
        node = engine.bucket_batch(
            self._node, known(op, "column_names", names, self._columns), length,
            list(bucket_boundaries), list(bucket_batch_sizes), checked_padding(op, pad_info),
            pad_to_bucket_boundary, drop_remainder, self._columns,
        )  # fmt: skip
        return BatchDataset(node, self._columns, [self])

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
        options = _split_tuning("map", kwargs, names)
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

    # Iterators

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """Rows as dicts."""
        return DictIterator(self, num_epochs, output_numpy, do_copy)

    def create_tuple_iterator(
        self,
        columns: Any = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> TupleIterator:
        """Rows as lists."""
        return TupleIterator(self, columns, num_epochs, output_numpy, do_copy)

    def __iter__(self) -> Iterator:
        return iter(self.create_tuple_iterator(num_epochs=1))

    # Positions

    def state(self) -> dict[str, Any]:
        """Where the last iterator made of this dataset stands: what restore() takes."""
        if self._position is None:
            raise RuntimeError("For 'state', an iterator must have been made of the dataset.")
        return described(self._position, self)

    def restore(self, state: dict[str, Any]) -> None:
        """Let the next iterator go on where `state` was taken, also where there are more or fewer shards now."""
        position = Position.from_state(state)
        place(position, state, self)
        self._resumes_at = position

    def profile(self) -> dict[str, Any]:
        """Where the time of the pipeline goes, by what all iterators of its parts have done so far.

        Returns a dict: "operators", each with its name, rows and seconds of all its workers together; "slowest", the name of the
        one with most seconds; "queue" of the last epoch: how many rows were ready on average when one was taken
        ("mean_depth", of "prefetch_size" at most), seconds in which the program waited for one, and in which workers worked.
        """
        iterator = None if self._last is None else self._last()
        pipeline = None if iterator is None else iterator._pipeline
        return profile_of(self, self._told if pipeline is None else pipeline.facts())

    def preview(self, n: int = 8, rows: int = 256) -> Preview:
        """The first `n` rows, and how the values of each column are spread over `rows` of them; batches are taken apart.

        print() shows it as text, save("preview.png") writes a picture, a notebook shows that by itself.
        """
        return previewed(self, n, rows)

    def doctor(
        self, test: Dataset | None = None, sample: float | None = None, label: str | None = None
    ) -> Report:
        """Looks for what is wrong with the rows, and says it: `print(dataset.doctor(test=test_data))`.

        Rows that cannot be read, are copies of others, hold nan, look unlike all others of their class; contents with several labels;
        labels that hardly any row has; classes with few rows or none. What is done to rows is left out: those of the source
        are looked at, unless something between chooses among them.

        Args:
            test: Other data, in which no row of this may be.
            sample: So many rows, or this part of them, chosen at random; an epoch of a part costs that part. Default: all.
            label: The column of the labels. Default: one with a usual name, else the last integer.
        """
        return examined(self, test, sample, label, worker_count(self))

    def close_pool(self) -> None:
        """End the processes of this pipeline; the next row starts others."""
        for pool in self._all_pools():
            pool.close()

    def _all_pools(self) -> list[WorkerPool]:
        return [*self._pools, *(pool for child in self.children for pool in child._all_pools())]

    def _most_workers(self) -> int | None:
        """The greatest number of workers that any part of the pipeline asks for."""
        asked = [self.num_parallel_workers, *(child._most_workers() for child in self.children)]
        return max((number for number in asked if number is not None), default=None)


def _workers(op: str, count: Any) -> int | None:
    return None if count is None else check_int(op, "num_parallel_workers", count, 1)


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
