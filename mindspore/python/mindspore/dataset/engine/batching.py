"""Joining rows to batches: batch(), padded_batch() and bucket_batch_by_length() of a dataset, and pad_info as the engine takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.recorded import recorded
from mindspore.dataset.core.validator_helpers import (
    check_int,
    check_names,
    check_type,
    check_workers,
    known_options,
)
from mindspore.dataset.engine.calls import BatchCall, NumberCall, SizeCall
from mindspore.dataset.engine.mapping import known, renamed

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import BatchDataset

engine = _core.dataset


class Batching:
    """The operations of Dataset that join rows."""

    _node: Any
    _columns: list[str]

    def _batches(self, node: Any, columns: Sequence[str]) -> BatchDataset:
        """The dataset of a node that joins the rows of this one."""
        raise NotImplementedError

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
        options = known_options("batch", kwargs, [*names, "python_multiprocessing"])
        function = options.get("per_batch_map")
        columns, call = self._columns, None
        if function is not None:
            call = self._batch_call(function, options)
            columns = call.result
        result = self._batched(batch_size, drop_remainder, columns, options.get("pad_info"), call)
        result.num_parallel_workers = check_workers("batch", num_parallel_workers)
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
        result = self._batches(node, columns)
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
        result.num_parallel_workers = check_workers("padded_batch", num_parallel_workers)
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
        return self._batches(node, self._columns)


def checked_padding(op: str, pad_info: Any) -> dict[str, Any] | None:
    """{column: (extents with -1 for the largest, value)}; empty: all columns, with zeros."""
    if pad_info is None:
        return None
    check_type(op, "pad_info", pad_info, dict)
    padding = {}
    for name, pair in pad_info.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"For '{op}', pad_info must hold (shape, value), but got {pair!r}.")
        shape, value = pair
        extents = None
        if shape is not None:
            check_type(op, "pad_info", shape, (list, tuple))
            extents = [-1 if d is None else check_int(op, "pad_info", d, 0) for d in shape]
        # The engine casts a number to the type of the column.
        padding[name] = (extents or None, None if value is None else np.asarray(value))
    return padding
