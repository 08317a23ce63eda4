"""Iterators over a dataset: each `for` over one is an epoch, until `num_epochs` are done."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator as AbcIterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine.node import Row, Run

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset

_alive: weakref.WeakSet[Iterator] = weakref.WeakSet()


def _cleanup() -> None:
    """Ends all iterators, so that their next step is an error."""
    for iterator in list(_alive):
        iterator.stop()


class Iterator:
    """Base of the two iterators below."""

    def __init__(
        self,
        dataset: Dataset,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ):
        if num_epochs != -1:
            check_int("create_iterator", "num_epochs", num_epochs, 1)
        check_type("create_iterator", "output_numpy", output_numpy, bool)
        check_type("create_iterator", "do_copy", do_copy, bool)
        self.dataset = dataset
        self.ori_dataset = dataset
        self._node = dataset._node
        self._run = Run(self._node)
        self._num_epochs = num_epochs
        self._epoch = -1
        self._rows: AbcIterator[Row] | None = None
        self._convert = _as_array if output_numpy else _as_tensor
        self._pid = os.getpid()
        self._stopped = False
        _alive.add(self)

    def __iter__(self) -> Iterator:
        # An epoch that was left with `break` goes on; only a finished one is followed by the next.
        if self._rows is None:
            self._begin_epoch()
        return self

    def _begin_epoch(self) -> None:
        if self._stopped:
            raise RuntimeError("For 'Iterator', the iterator was stopped and cannot be used again.")
        if self._num_epochs != -1 and self._epoch + 1 >= self._num_epochs:
            raise RuntimeError(
                f"For 'Iterator', the iterator was made for {self._num_epochs} epochs and gave "
                "them all. Create another one, or pass num_epochs=-1."
            )
        self._epoch += 1
        self._rows = self._node.rows(self._run, self._epoch)

    def __next__(self) -> Any:
        if self._stopped:
            raise RuntimeError("For 'Iterator', the iterator was stopped and cannot be used again.")
        if self._rows is None:
            self._begin_epoch()
        assert self._rows is not None
        try:
            row = next(self._rows)
        except BaseException:
            # After the end, or a failure, the next step begins the next epoch, as the next `for`
            # does.
            self._rows = None
            raise
        return self._give(row)

    def _give(self, row: Row) -> Any:
        raise NotImplementedError

    def stop(self) -> None:
        """Ends the iterator for good."""
        self._stopped = True
        self._rows = None

    def release(self) -> None:
        """Ends the iterator for good."""
        self.stop()

    def get_dataset_size(self) -> int:
        """Rows of an epoch."""
        return self.dataset.get_dataset_size()


class DictIterator(Iterator):
    """Rows as dicts from column name to value."""

    def _give(self, row: Row) -> dict[str, Any]:
        convert = self._convert
        return {name: convert(value) for name, value in zip(self._node.columns, row, strict=True)}


class TupleIterator(Iterator):
    """Rows as lists of values, of all columns or of those in `columns`."""

    def __init__(
        self,
        dataset: Dataset,
        columns: Any = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> None:
        if columns is not None:
            dataset = dataset.project(check_names("create_tuple_iterator", "columns", columns))
        super().__init__(dataset, num_epochs, output_numpy, do_copy)

    def _give(self, row: Row) -> list[Any]:
        convert = self._convert
        return [convert(value) for value in row]


def _as_array(value: Any) -> Any:
    return value


def _as_tensor(value: Any) -> Any:
    """A Tensor over the array's memory; text and dicts of columns have no tensor form and stay."""
    if isinstance(value, dict):
        return {key: _as_tensor(item) for key, item in value.items()}
    if not isinstance(value, np.ndarray) or value.dtype.kind in "USO":
        return value
    return _tensor_class().from_numpy(value)


_cached_class: Any = None


def _tensor_class() -> Any:
    # Pipelines that give NumPy arrays must not need the core.
    global _cached_class
    if _cached_class is None:
        from mindspore.common.tensor import Tensor

        _cached_class = Tensor
    return _cached_class
