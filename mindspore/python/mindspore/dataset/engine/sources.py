"""Nodes that rows come from: sequences with an order of indices, and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.engine.node import Node, Row, Run, as_row
from mindspore.dataset.engine.samplers import Sampler, Shuffle


def _draws(sampler: Sampler) -> bool:
    return getattr(sampler, "shuffle", False) not in (False, None, Shuffle.FALSE)


class SequenceNode(Node):
    """Rows by index, in the order that a sampler gives."""

    def __init__(self, columns: Sequence[str], sampler: Sampler, length: int) -> None:
        super().__init__([], columns)
        self.sampler = sampler
        self.length = length

    def row(self, index: int) -> Row:
        """The row at `index`."""
        raise NotImplementedError

    def labels(self) -> Any:
        """The class of every row, for samplers that choose by class."""
        raise RuntimeError("For 'PKSampler', the dataset must have a class label for each row.")

    def shuffles(self) -> bool:
        chain = [self.sampler]
        while chain[-1].child_sampler is not None:
            chain.append(chain[-1].child_sampler)
        return any(_draws(sampler) for sampler in chain)

    def size(self) -> int | None:
        return self.sampler.size(self.length)

    def order(self, run: Run, epoch: int) -> Iterable[Any]:
        """The indices of one epoch."""
        return self.sampler.order(self.length, run, self, epoch)

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        for index in self.order(run, epoch):
            position = int(index)
            if not 0 <= position < self.length:
                raise IndexError(
                    f"For '{type(self.sampler).__name__}', an index must be in [0, "
                    f"{self.length}), but got {position}."
                )
            yield self.row(position)


class ArrayNode(SequenceNode):
    """Columns that are whole arrays in memory; batches are cut by one indexing per column."""

    def __init__(
        self, columns: Sequence[str], arrays: Sequence[np.ndarray], sampler: Sampler
    ) -> None:
        super().__init__(columns, sampler, len(arrays[0]))
        self.arrays = [np.asarray(a) for a in arrays]

    def row(self, index: int) -> Row:
        # A 0-d array, not a NumPy scalar; a copy, so that no transform can change the data.
        return tuple(np.array(array[index]) for array in self.arrays)

    def labels(self) -> Any:
        return self.arrays[-1]

    def gather(self, run: Run, epoch: int, size: int) -> Iterator[tuple[int, Row]] | None:
        if not self.sampler.valid_by_itself:
            return None
        order = self.order(run, epoch)
        indices = order if isinstance(order, np.ndarray) else np.fromiter(order, np.int64)
        return self._batches(indices, size)

    def _batches(self, indices: np.ndarray, size: int) -> Iterator[tuple[int, Row]]:
        for start in range(0, len(indices), size):
            chosen = indices[start : start + size]
            yield len(chosen), tuple(array[chosen] for array in self.arrays)


class CallableSequenceNode(SequenceNode):
    """A user's object with __getitem__ and __len__."""

    def __init__(
        self,
        columns: Sequence[str],
        source: Any,
        sampler: Sampler,
        convert: Callable[[Row], Row] | None = None,
        collate: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(columns, sampler, len(source))
        self.source = source
        self.convert = convert
        self.collate = collate

    def row(self, index: int) -> Row:
        try:
            value = self.source[index]
        except Exception as error:
            what = f"{type(self.source).__name__}.__getitem__({index})"
            raise failure("GeneratorDataset", what, error) from error
        return checked_row(
            value, self.columns, f"{type(self.source).__name__}[{index}]", self.convert
        )

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        if not self.sampler.gives_batches:
            yield from super().rows(run, epoch)
            return
        for indices in self.order(run, epoch):
            yield self._collated([self.row(int(i)) for i in indices])

    def _collated(self, rows: list[Row]) -> Row:
        columns = [list(values) for values in zip(*rows)]
        if self.collate is None:
            return tuple(np.stack(values) for values in columns)
        try:
            result = self.collate(*columns)
        except Exception as error:
            raise failure(
                "GeneratorDataset", f"{describe(self.collate)} (collate_fn)", error
            ) from error
        return checked_row(result, self.columns, "collate_fn", self.convert)


class StreamNode(Node):
    """A user's function that makes an iterator, or an object that is iterated anew each epoch."""

    def __init__(
        self,
        columns: Sequence[str],
        source: Any,
        limit: int | None,
        convert: Callable[[Row], Row] | None = None,
    ) -> None:
        super().__init__([], columns)
        self.source = source
        self.limit = limit
        self.convert = convert

    def size(self) -> int | None:
        if not hasattr(self.source, "__len__"):
            return None
        length = len(self.source)
        return length if self.limit is None else min(length, self.limit)

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        name = describe(self.source)
        number = 0
        try:
            iterator = iter(self.source() if callable(self.source) else self.source)
        except Exception as error:
            raise failure("GeneratorDataset", name, error) from error
        while self.limit is None or number < self.limit:
            try:
                value = next(iterator)
            except StopIteration:
                return
            except Exception as error:
                raise failure("GeneratorDataset", f"{name} (row {number})", error) from error
            yield checked_row(value, self.columns, f"{name} (row {number})", self.convert)
            number += 1


def checked_row(
    value: Any, columns: Sequence[str], what: str, convert: Callable[[Row], Row] | None
) -> Row:
    """A user's row as arrays, one for each column."""
    if isinstance(value, list) and len(columns) > 1:
        value = tuple(value)
    try:
        row = as_row(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"For 'GeneratorDataset', {what}: {error}.") from None
    if len(row) != len(columns):
        raise RuntimeError(
            f"For 'GeneratorDataset', {what} must give {len(columns)} columns "
            f"({', '.join(columns)}), but got {len(row)}."
        )
    return row if convert is None else convert(row)
