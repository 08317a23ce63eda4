"""The user's own sources that are gone through in order: generators, iterables, batch samplers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.draws import drawing
from mindspore.dataset.core.random import rows_of_pipeline
from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.engine.calls import Convert, LoadCall, checked_row
from mindspore.dataset.engine.replay import Renewed, again
from mindspore.dataset.engine.values import Row


class StreamRows:
    """A user's function that makes an iterator, or an object that is iterated anew each epoch."""

    def __init__(
        self, source: Any, columns: Sequence[str], limit: int | None, convert: Convert | None
    ) -> None:
        self.source = source if callable(source) else again(source)
        self.columns, self.limit = list(columns), limit
        self._renewed = Renewed(f"For 'GeneratorDataset', {describe(source)}")
        self.convert = convert
        self._draws = drawing(source if callable(source) else getattr(source, "__iter__", source))

    def size(self) -> int | None:
        """Rows of an epoch, where the source tells."""
        if not hasattr(self.source, "__len__"):
            return None
        length = len(self.source)
        return length if self.limit is None else min(length, self.limit)

    def open(self, key: int, epoch: int) -> Iterator[Row]:
        """The rows of an epoch."""
        name = describe(self.source)
        try:
            iterator = iter(self.source() if callable(self.source) else self.source)
        except Exception as error:
            raise failure("GeneratorDataset", name, error) from error
        return self._rows(iterator, name, key)

    def _rows(self, iterator: Iterator[Any], name: str, key: int) -> Iterator[Row]:
        number = 0
        while self.limit is None or number < self.limit:
            try:
                with self._draws(key, number):
                    value = next(iterator)
            except StopIteration:
                self._renewed.check(self.source, iterator, number)
                return
            except Exception as error:
                raise failure("GeneratorDataset", f"{name} (row {number})", error) from error
            yield checked_row(value, self.columns, f"{name} (row {number})", self.convert)
            number += 1


class CollatedRows:
    """Batches that a user's batch sampler chooses, joined by the user's function or stacked."""

    def __init__(
        self,
        load: LoadCall,
        batches: Any,
        collate: Callable[..., Any] | None,
        columns: Sequence[str],
    ) -> None:
        self.load, self.batches, self.collate = load, again(batches), collate
        self.columns = list(columns)

    def size(self) -> int | None:
        """Batches of an epoch, where the sampler tells."""
        return len(self.batches) if hasattr(self.batches, "__len__") else None

    def open(self, key: int, epoch: int) -> Iterator[Row]:
        """The batches of an epoch."""
        length = len(self.load.source)
        for indices in self.batches:
            rows = []
            with rows_of_pipeline():  # collate_fn draws as the last of them does
                for index in indices:
                    if not 0 <= int(index) < length:
                        raise IndexError(
                            f"For 'batch_sampler', an index must be in [0, {length}), but got {index}."
                        )
                    rows.append(self.load.row(key, int(index)))
                batch = self._collated(rows)
            yield batch

    def _collated(self, rows: list[Row]) -> Row:
        columns = [list(values) for values in zip(*rows)]
        if self.collate is None:
            return tuple(np.stack(values) for values in columns)
        try:
            result = self.collate(*columns)
        except Exception as error:
            what = f"{describe(self.collate)} (collate_fn)"
            raise failure("GeneratorDataset", what, error) from error
        return checked_row(result, self.columns, "collate_fn", self.load.convert)
