"""Nodes that join rows into batches: equal shapes, padded, or by length."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.random import set_row
from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.engine.node import Node, Row, Run, to_array

PadInfo = Mapping[str, tuple[Any, Any]]


class BatchInfo:
    """Tells a batch function where the pipeline stands."""

    def __init__(self, epoch: int, batch: int) -> None:
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self) -> int:
        """Number of the epoch, from 0."""
        return self._epoch

    def get_batch_num(self) -> int:
        """Number of the batch in its epoch, from 0."""
        return self._batch


class BatchNode(Node):
    """Stacks rows. `map_columns` and its two lists belong together.

    A function over whole batches.
    """

    def __init__(
        self,
        child: Node,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool,
        pad: PadInfo | None = None,
        map_columns: Callable[..., Any] | None = None,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
    ) -> None:
        kept = [c for c in child.columns if c not in inputs]
        if map_columns is None or len(inputs) == len(outputs):
            renamed = dict(zip(inputs, outputs, strict=True)) if map_columns else {}
            columns = [renamed.get(c, c) for c in child.columns]
        else:
            columns = [*outputs, *kept]
        super().__init__([child], columns)
        self.batch_size = batch_size
        self.drop_remainder = drop_remainder
        self.pad = pad
        self.map_columns = map_columns
        self.inputs, self.outputs = list(inputs), list(outputs)

    def size(self) -> int | None:
        size = self.children[0].size()
        return None if size is None or callable(self.batch_size) else self._batches(size)

    def count(self) -> int:
        if callable(self.batch_size):
            return super().count()
        return self._batches(self.children[0].count())

    def _batches(self, rows: int) -> int:
        assert isinstance(self.batch_size, int)
        return rows // self.batch_size if self.drop_remainder else -(-rows // self.batch_size)

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        if self.pad is None and self.map_columns is None and isinstance(self.batch_size, int):
            whole = self.children[0].gather(run, epoch, self.batch_size)
            if whole is not None:
                return (row for n, row in whole if n == self.batch_size or not self.drop_remainder)
        return self._row_by_row(run, epoch)

    def _row_by_row(self, run: Run, epoch: int) -> Iterator[Row]:
        rows = self.children[0].rows(run, epoch)
        for number in itertools.count():
            info = BatchInfo(epoch, number)
            size = self._size_of(info)
            group = list(itertools.islice(rows, size))
            if not group or (self.drop_remainder and len(group) < size):
                return
            set_row(*run.key(self, epoch), number)
            yield self._join(group, info)

    def _size_of(self, info: BatchInfo) -> int:
        if isinstance(self.batch_size, int):
            return self.batch_size
        try:
            size = self.batch_size(info)
        except Exception as error:
            raise failure("batch", f"{describe(self.batch_size)} (batch_size)", error) from error
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(
                "For 'batch', the batch_size function must return a positive int, but got "
                f"{size!r}."
            )
        return int(size)

    def _join(self, group: list[Row], info: BatchInfo) -> Row:
        columns: dict[str, Any] = dict(
            zip(self.children[0].columns, map(list, zip(*group)), strict=True)
        )
        if self.map_columns is not None:
            self._map(columns, info)
        if self.pad is not None:
            columns = {name: pad_column(name, values, self.pad) for name, values in columns.items()}
        return tuple(stack("batch", name, columns[name]) for name in self.columns)

    def _map(self, columns: dict[str, Any], info: BatchInfo) -> None:
        function = self.map_columns
        assert function is not None
        try:
            result = function(*(columns.pop(name) for name in self.inputs), info)
        except Exception as error:
            what = f"{describe(function)} (per_batch_map, batch {info.get_batch_num()})"
            raise failure("batch", what, error) from error
        values = result if isinstance(result, tuple) else (result,)
        if len(values) != len(self.outputs):
            raise ValueError(
                f"For 'batch', {describe(function)} (per_batch_map) must return "
                f"{len(self.outputs)} columns, but got {len(values)}."
            )
        columns.update(zip(self.outputs, values, strict=True))


class BucketNode(Node):
    """Batches of rows of similar length: one open batch for each bucket."""

    def __init__(
        self,
        child: Node,
        inputs: Sequence[str],
        boundaries: Sequence[int],
        sizes: Sequence[int],
        length: Callable[..., int] | None,
        pad: PadInfo | None,
        pad_to_boundary: bool,
        drop_remainder: bool,
    ) -> None:
        super().__init__([child], child.columns)
        self.boundaries, self.sizes = list(boundaries), list(sizes)
        self.length = length
        self.pad = pad
        self.pad_to_boundary = pad_to_boundary
        self.drop_remainder = drop_remainder
        self._take = [child.columns.index(c) for c in inputs]

    def size(self) -> int | None:
        return None

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        buckets: list[list[Row]] = [[] for _ in self.sizes]
        for row in self.children[0].rows(run, epoch):
            index = int(np.searchsorted(self.boundaries, self._length_of(row), side="right"))
            bucket = buckets[index]
            bucket.append(row)
            if len(bucket) == self.sizes[index]:
                yield self._join(bucket, index)
                bucket.clear()
        for index, bucket in enumerate(buckets):
            if bucket and not self.drop_remainder:
                yield self._join(bucket, index)

    def _length_of(self, row: Row) -> int:
        values = [row[i] for i in self._take]
        if self.length is None:
            return int(values[0].shape[0])
        try:
            return int(self.length(*values))
        except Exception as error:
            what = f"{describe(self.length)} (element_length_function)"
            raise failure("bucket_batch_by_length", what, error) from error

    def _join(self, group: list[Row], index: int) -> Row:
        names = self.columns
        columns = dict(zip(names, map(list, zip(*group)), strict=True))
        if self.pad is not None:
            pad = self.pad
            if self.pad_to_boundary:
                bound = self.boundaries[min(index, len(self.boundaries) - 1)] - 1
                pad = {
                    c: ([bound if d is None else d for d in shape or [None]], v)
                    for c, (shape, v) in pad.items()
                }
            columns = {name: pad_column(name, values, pad) for name, values in columns.items()}
        return tuple(stack("bucket_batch_by_length", name, columns[name]) for name in names)


def stack(op: str, name: str, values: Any) -> Any:
    """One array of the values of a column."""
    if isinstance(values, np.ndarray):
        return values
    arrays = [to_array(v) for v in values]
    if arrays and isinstance(arrays[0], dict):
        return {key: stack(op, name, [a[key] for a in arrays]) for key in arrays[0]}
    shape = arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != shape:
            raise RuntimeError(
                f"For '{op}', the rows of column '{name}' must have the same shape, but got "
                f"{list(shape)} in row 0 and {list(array.shape)} in row {number} of the batch. "
                "Use padded_batch(), or a map that makes them equal."
            )
        if array.dtype != arrays[0].dtype and array.dtype.kind not in "US":
            raise RuntimeError(
                f"For '{op}', the rows of column '{name}' must have the same type, but got "
                f"{arrays[0].dtype} in row 0 and {array.dtype} in row {number} of the batch."
            )
    return np.stack(arrays)


def pad_column(name: str, values: list[Any], pad: PadInfo) -> list[Any]:
    """The values of a column, padded to one shape; columns that `pad` does not name stay as they
    are.

    An empty `pad` pads every column to its largest extents with zeros.
    """
    if pad and name not in pad:
        return values
    shape, fill = pad.get(name, (None, None))
    arrays = [to_array(v) for v in values]
    largest = [max(extents) for extents in zip(*(a.shape for a in arrays))]
    target = [
        m if d is None else d for d, m in zip(shape or [None] * len(largest), largest, strict=True)
    ]
    return [_padded(a, target, fill, name) for a in arrays]


def _padded(array: np.ndarray, target: Sequence[int], fill: Any, name: str) -> np.ndarray:
    if array.ndim != len(target):
        raise RuntimeError(
            f"For 'padded_batch', column '{name}' must have rank {len(target)}, but got "
            f"{array.ndim}."
        )
    if array.dtype.kind in "US":
        result = np.full(target, "" if fill is None else fill, dtype=object)
    else:
        result = np.full(target, 0 if fill is None else fill, dtype=array.dtype)
    window = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, target, strict=True))
    result[window] = array[window]
    return result.astype(str) if result.dtype == object else result
