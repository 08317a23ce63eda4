"""Dataset: the public face of a pipeline. Every method returns a new dataset over a new node."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine import operations as ops
from mindspore.dataset.engine.batching import BatchNode, BucketNode
from mindspore.dataset.engine.iterators import DictIterator, Iterator, TupleIterator
from mindspore.dataset.engine.node import Node, Run
from mindspore.dataset.engine.sources import SequenceNode
from mindspore.dataset.engine.splitting import SplitNode, split_counts

# Keyword arguments that tune workers and caches; they are accepted and change nothing here.
_TUNING = {"python_multiprocessing", "max_rowsize", "cache", "callbacks", "offload", "max_row_size"}


def _split_tuning(op: str, given: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    for name in given:
        if name not in _TUNING and name not in known:
            raise TypeError(f"For '{op}', '{name}' is not one of its arguments.")
    return {name: value for name, value in given.items() if name in known}


class Dataset:
    """Base of all datasets: operations on the pipeline, iterators over it, facts about it."""

    def __init__(
        self, node: Node, children: Sequence[Dataset] = (), num_parallel_workers: int | None = None
    ) -> None:
        if num_parallel_workers is not None:
            check_int(type(self).__name__, "num_parallel_workers", num_parallel_workers, 1)
        self._node = node
        self.children = list(children)
        self.parent: list[Dataset] = []
        self.num_parallel_workers = num_parallel_workers
        for child in self.children:
            child.parent.append(self)
        self._init_step = 0

    # Operations

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
        known = ["per_batch_map", "input_columns", "output_columns", "column_order", "pad_info"]
        options = _split_tuning("batch", kwargs, known)
        function = options.get("per_batch_map")
        inputs: list[str] = []
        outputs: list[str] = []
        if function is not None:
            if not callable(function):
                raise TypeError("For 'batch', per_batch_map must be callable.")
            inputs = check_names(
                "batch", "input_columns", options.get("input_columns") or self._node.columns
            )
            missing = [c for c in inputs if c not in self._node.columns]
            if missing:
                raise ValueError(
                    f"For 'batch', input_columns must be among {self._node.columns}, but got "
                    f"{missing}."
                )
            outputs = check_names(
                "batch", "output_columns", options.get("output_columns") or inputs
            )
        node = BatchNode(
            self._node,
            batch_size,
            drop_remainder,
            options.get("pad_info"),
            function,
            inputs,
            outputs,
        )
        result = BatchDataset(node, [self], num_parallel_workers)
        result.batch_size = batch_size
        return result._ordered(options.get("column_order"))

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
        node = BatchNode(self._node, batch_size, drop_remainder, pad_info)
        result = BatchDataset(node, [self], num_parallel_workers)
        result.batch_size = batch_size
        return result

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
        node = BucketNode(
            self._node, names, bucket_boundaries, bucket_batch_sizes, element_length_function,
            pad_info, pad_to_bucket_boundary, drop_remainder,
        )  # fmt: skip
        return BatchDataset(node, [self])

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
        options = _split_tuning("map", kwargs, ["column_order"])
        chain = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        if not chain:
            raise ValueError("For 'map', operations must not be empty.")
        for operation in chain:
            if not callable(operation):
                raise TypeError(
                    f"For 'map', operations must be callable, but got {type(operation).__name__}."
                )
        columns = input_columns if input_columns is not None else self._node.columns[:1]
        inputs = check_names("map", "input_columns", columns)
        outputs = (
            inputs
            if output_columns is None
            else check_names("map", "output_columns", output_columns)
        )
        result = MapDataset(
            ops.MapNode(self._node, chain, inputs, outputs), [self], num_parallel_workers
        )
        return result._ordered(options.get("column_order"))

    def _ordered(self, columns: Any) -> Any:
        if columns is None:
            return self
        names = check_names("map", "column_order", columns)
        return type(self)(ops.project(self._node, names), [self])

    def filter(
        self,
        predicate: Callable[..., Any],
        input_columns: Any = None,
        num_parallel_workers: int | None = None,
    ) -> FilterDataset:
        """Keep the rows for which predicate(column...) is true (default: of all columns)."""
        if not callable(predicate):
            raise TypeError("For 'filter', predicate must be callable.")
        columns = input_columns if input_columns is not None else self._node.columns
        inputs = check_names("filter", "input_columns", columns)
        return FilterDataset(
            ops.FilterNode(self._node, predicate, inputs), [self], num_parallel_workers
        )

    def flat_map(self, func: Callable[..., Dataset]) -> Dataset:
        """Replace every row by the rows of the dataset that func(column...) returns."""
        if not callable(func):
            raise TypeError("For 'flat_map', func must be callable.")

        def inner(row: Any) -> Node:
            made = func(*row)
            if not isinstance(made, Dataset):
                raise TypeError(
                    f"For 'flat_map', func must return a Dataset, but got {type(made).__name__}."
                )
            return made._node

        first = next(iter(self._node.rows(Run(self._node), 0)), None)
        if first is None:
            raise ValueError("For 'flat_map', the dataset must not be empty.")
        return Dataset(ops.FlatMapNode(self._node, inner, inner(first).columns), [self])

    def shuffle(self, buffer_size: int) -> ShuffleDataset:
        """Give rows at random out of the next `buffer_size`."""
        check_int("shuffle", "buffer_size", buffer_size, 2)
        return ShuffleDataset(ops.ShuffleNode(self._node, buffer_size), [self])

    def repeat(self, count: int | None = None) -> RepeatDataset:
        """Count epochs as one; None or -1: without end."""
        if count is None or count == -1:
            repeats = None
        else:
            repeats = check_int("repeat", "count", count, 1)
        return RepeatDataset(ops.RepeatNode(self._node, repeats), [self])

    def skip(self, count: int) -> SkipDataset:
        """Leave out the first `count` rows."""
        check_int("skip", "count", count, 0)
        return SkipDataset(ops.WindowNode(self._node, count, None), [self])

    def take(self, count: int = -1) -> TakeDataset:
        """Only the first `count` rows; -1: all."""
        if count != -1:
            check_int("take", "count", count, 1)
        return TakeDataset(ops.WindowNode(self._node, 0, None if count == -1 else count), [self])

    def zip(self, datasets: Dataset | tuple[Dataset, ...]) -> ZipDataset:
        """Rows of this and other datasets side by side."""
        others = (datasets,) if isinstance(datasets, Dataset) else datasets
        return zip_datasets((self, *_datasets("zip", others)))

    def concat(self, datasets: Dataset | Sequence[Dataset]) -> ConcatDataset:
        """The rows of other datasets after those of this one."""
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        parts = [self, *_datasets("concat", others)]
        return ConcatDataset(ops.ConcatNode([d._node for d in parts]), parts)

    def __add__(self, other: Dataset) -> ConcatDataset:
        return self.concat(other)

    def rename(self, input_columns: Any, output_columns: Any) -> RenameDataset:
        """Give columns other names."""
        old = check_names("rename", "input_columns", input_columns)
        new = check_names("rename", "output_columns", output_columns)
        if len(old) != len(new):
            raise ValueError(
                "For 'rename', there must be as many output_columns as input_columns, "
                f"{len(old)}, but got {len(new)}."
            )
        return RenameDataset(ops.rename(self._node, old, new), [self])

    def project(self, columns: Any) -> ProjectDataset:
        """Keep some columns, in the given order."""
        return ProjectDataset(
            ops.project(self._node, check_names("project", "columns", columns)), [self]
        )

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
        whole = ops.ShuffleNode(self._node, max(total, 1)) if randomize else self._node
        bounds = np.cumsum([0, *counts])
        return tuple(
            TakeDataset(SplitNode(whole, int(start), int(stop)), [self])
            for start, stop in itertools.pairwise(bounds)
        )

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

    # Facts

    def get_dataset_size(self) -> int:
        """Rows (after batch: batches) of an epoch."""
        return self._node.count()

    def __len__(self) -> int:
        return self.get_dataset_size()

    def get_col_names(self) -> list[str]:
        """Names of the columns."""
        return list(self._node.columns)

    def _first_row(self) -> tuple[Any, ...]:
        row = next(iter(self._node.rows(Run(self._node), 0)), None)
        if row is None:
            raise RuntimeError(f"For '{type(self).__name__}', the dataset must not be empty.")
        return row

    def output_shapes(self, estimate: bool = False) -> list[list[int | None]]:
        """Shape of each column in the first row; estimate: None where rows differ."""
        check_type("output_shapes", "estimate", estimate, bool)
        shapes: list[list[int | None]] = [list(np.shape(value)) for value in self._first_row()]
        if estimate:
            for row in self._node.rows(Run(self._node), 0):
                for shape, value in zip(shapes, row, strict=True):
                    for axis, extent in enumerate(np.shape(value)):
                        if shape[axis] != extent:
                            shape[axis] = None
        return shapes

    def output_types(self) -> list[np.dtype]:
        """NumPy type of each column in the first row."""
        return [np.asarray(value).dtype for value in self._first_row()]

    def get_batch_size(self) -> int:
        """Rows that the nearest batch() joins; 1 without one."""
        for dataset in self._ancestry():
            size = getattr(dataset, "batch_size", None)
            if isinstance(size, int):
                return size
        return 1

    def get_repeat_count(self) -> int:
        """Product of the repeat() counts."""
        count = 1
        node: Node | None = self._node
        while node is not None:
            if isinstance(node, ops.RepeatNode):
                count *= node.repeats or -1
            node = node.children[0] if node.children else None
        return count

    def _ancestry(self) -> list[Dataset]:
        found: list[Dataset] = []
        current: Dataset | None = self
        while current is not None:
            found.append(current)
            current = current.children[0] if current.children else None
        return found

    def num_classes(self) -> int | None:
        """Number of classes, where the source knows it."""
        source = self._ancestry()[-1]
        return source.num_classes() if source is not self else None

    def get_class_indexing(self) -> dict[str, Any]:
        """Class names and their numbers, where the source knows them."""
        source = self._ancestry()[-1]
        return source.get_class_indexing() if source is not self else {}

    def is_shuffled(self) -> bool:
        """Whether any part of the pipeline shuffles."""
        return self._node.shuffles()

    def is_sharded(self) -> bool:
        """Whether the source gives only a shard."""
        return any(getattr(d, "num_shards", None) is not None for d in self._ancestry())

    def set_init_step(self, init_step: int) -> None:
        """Where a resumed training begins."""
        self._init_step = check_int("set_init_step", "init_step", init_step, 0, 2**63 - 1)

    def get_init_step(self) -> int:
        """Where a resumed training begins."""
        return self._init_step

    def set_dynamic_columns(self, columns: Any = None) -> None:
        """Kept for programs of 1.x: shapes may always differ from row to row here."""

    def reset(self) -> None:
        """Kept for programs of 1.x: every iterator begins anew by itself."""

    def close_pool(self) -> None:
        """Release what the sources hold open."""
        self._node.close()


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


class MapDataset(Dataset):
    """What map() returns."""


class FilterDataset(Dataset):
    """What filter() returns."""


class ShuffleDataset(Dataset):
    """What shuffle() returns."""


class RepeatDataset(Dataset):
    """What repeat() returns."""


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


class SourceDataset(Dataset):
    """Base of the datasets that rows come from."""


class MappableDataset(SourceDataset):
    """A source whose rows have indices."""

    def add_sampler(self, new_sampler: Any) -> None:
        """Let `new_sampler` choose first, before the sampler the dataset has."""
        assert isinstance(self._node, SequenceNode)
        innermost = self._node.sampler
        while innermost.child_sampler is not None:
            innermost = innermost.child_sampler
        innermost.add_child(new_sampler)

    def use_sampler(self, new_sampler: Any) -> None:
        """Replace the sampler."""
        assert isinstance(self._node, SequenceNode)
        self._node.sampler = new_sampler


def zip_datasets(datasets: Sequence[Dataset]) -> ZipDataset:
    """Rows of several datasets side by side."""
    parts = _datasets("zip", datasets)
    if not parts:
        raise ValueError("For 'zip', there must be at least one dataset.")
    return ZipDataset(ops.ZipNode([d._node for d in parts]), parts)
