"""The user's functions as the engine calls them: many rows at once, each with its own draws.

What a function gives is checked here, and a failure inside it becomes an error that shows its line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from mindspore.dataset import config
from mindspore.dataset.core.draws import asks_row, drawing, may_draw, seeded
from mindspore.dataset.core.random import rows_of_pipeline, set_row
from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.debug import hooked
from mindspore.dataset.engine.values import Row, as_row, to_array

Rows = list[Row]
Convert = Callable[[Row], Row]
_TRUTHS = ((np.asarray(False),), (np.asarray(True),))


class MapCall:
    """A chain of operations on the input columns."""

    op = "map"

    def __init__(self, operations: Sequence[Callable[..., Any]], outputs: Sequence[str]) -> None:
        self.operations = list(operations)
        self.outputs = list(outputs)
        self._draws = drawing(self.operations)

    def __call__(self, rows: Rows, keys: list[int], numbers: list[int]) -> Rows:
        """The output columns of each row."""
        done = []
        with rows_of_pipeline():
            for i, row in enumerate(rows):
                rows[i] = ()
                set_row(keys[i], numbers[i])
                with self._draws(keys[i], numbers[i]):
                    done.append(self._apply(row, numbers[i]))
        return done

    def _apply(self, values: Row, number: int) -> Row:
        hooks = config._debug_hooks()
        for operation in self.operations:
            try:
                result = operation(*values) if not hooks else hooked(hooks, operation, values)
            except Exception as error:
                raise failure(self.op, f"{describe(operation)} (row {number})", error) from error
            values = result if isinstance(result, tuple) else (result,)
        last = f"{describe(self.operations[-1])} (row {number})"
        if len(values) != len(self.outputs):
            raise ValueError(
                f"For 'map', {last} must return {len(self.outputs)} "
                f"columns ({', '.join(self.outputs)}), but got {len(values)}."
            )
        try:
            return tuple([to_array(v) for v in values])
        except TypeError as error:
            raise TypeError(f"For 'map', {last}: {error}.") from None


class NumberCall:
    """A function whose result is a number: a predicate, or a length."""

    def __init__(self, op: str, function: Callable[..., Any], what: str, kind: type) -> None:
        self.op, self.function, self.what, self.kind = op, function, what, kind
        self._loud, self._asks = may_draw(function), asks_row(function)

    def __call__(self, rows: Rows, keys: list[int], numbers: list[int]) -> Rows:
        """The number of each row."""
        function, kind = self.function, self.kind
        done: Rows = []
        with rows_of_pipeline():
            try:
                for row, key, number in zip(rows, keys, numbers, strict=True):
                    if self._asks:
                        set_row(key, number)
                    if self._loud:
                        with seeded(key, number):
                            value = kind(function(*row))
                    else:
                        value = kind(function(*row))
                    done.append(_TRUTHS[value] if kind is bool else (np.asarray(value),))
            except Exception as error:
                what = f"{describe(function)} ({self.what.format(numbers[len(done)])})"
                raise failure(self.op, what, error) from error
        return done


class LoadCall:
    """source[index] of a user's source."""

    op = "GeneratorDataset"

    def __init__(self, source: Any, columns: Sequence[str], convert: Convert | None) -> None:
        self.source, self.columns, self.convert = source, list(columns), convert
        self._count = len(self.columns)
        get = getattr(source, "__getitem__", source)
        self._loud = may_draw(get)
        # The engine may ask the source by itself.
        self.plain = convert is None and not self._loud and not asks_row(get)

    def __call__(self, rows: Rows, keys: list[int], numbers: list[int]) -> Rows:
        """The row at each index."""
        with rows_of_pipeline():
            return [self.row(key, index) for key, index in zip(keys, numbers, strict=True)]

    def row(self, key: int, index: int) -> Row:
        """The row at an index."""
        set_row(key, index)
        try:
            if self._loud:
                with seeded(key, index):
                    value = self.source[index]
            else:
                value = self.source[index]
        except Exception as error:
            self.failed(error, index)
        if type(value) is tuple and len(value) == self._count and self.convert is None:
            # The usual case, without making the texts of errors.
            try:
                return tuple([v if type(v) is np.ndarray else to_array(v) for v in value])
            except (TypeError, ValueError):
                pass
        return self.checked(value, index)

    def failed(self, error: Exception, index: int) -> NoReturn:
        """Raises what the source raised for an index, with its line."""
        what = f"{type(self.source).__name__}.__getitem__({index})"
        raise failure(self.op, what, error) from error

    def checked(self, value: Any, index: int) -> Row:
        """What the source gave for an index, as a row."""
        what = f"{type(self.source).__name__}[{index}]"
        return checked_row(value, self.columns, what, self.convert)


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


class SizeCall:
    """A function that tells the size of each batch."""

    def __init__(self, function: Callable[[BatchInfo], int]) -> None:
        self.function = function

    def __call__(self, epoch: int, number: int) -> int:
        """Rows of a batch."""
        try:
            size = self.function(BatchInfo(epoch, number))
        except Exception as error:
            raise failure("batch", f"{describe(self.function)} (batch_size)", error) from error
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(
                f"For 'batch', the batch_size function must return a positive int, but got {size!r}."
            )
        return int(size)


class BatchCall:
    """per_batch_map: a function of the lists of the values of some columns."""

    op = "batch"

    def __init__(
        self,
        function: Callable[..., Any],
        columns: Sequence[str],
        inputs: Sequence[str],
        outputs: Sequence[str],
        result: Sequence[str],
    ) -> None:
        self.function = function
        self.columns, self.inputs = list(columns), list(inputs)
        self.outputs, self.result = list(outputs), list(result)
        self._draws = drawing(function)

    def __call__(self, given: list[list[Any]], key: int, epoch: int, number: int) -> list[Any]:
        """The columns of the batch: lists of values, or whole batches as arrays."""
        columns: dict[str, Any] = dict(zip(self.columns, given, strict=True))
        info = BatchInfo(epoch, number)
        try:
            with rows_of_pipeline(), self._draws(key, number):
                set_row(key, number)
                result = self.function(*(columns.pop(name) for name in self.inputs), info)
        except Exception as error:
            what = f"{describe(self.function)} (per_batch_map, batch {number})"
            raise failure("batch", what, error) from error
        values = result if isinstance(result, tuple) else (result,)
        if len(values) != len(self.outputs):
            raise ValueError(
                f"For 'batch', {describe(self.function)} (per_batch_map) must return "
                f"{len(self.outputs)} columns, but got {len(values)}."
            )
        columns.update(zip(self.outputs, values, strict=True))
        return [self._column(columns[name]) for name in self.result]

    def _column(self, values: Any) -> Any:
        if isinstance(values, np.ndarray):
            return values
        try:
            return [to_array(v) for v in values]
        except TypeError as error:
            raise TypeError(f"For 'batch', {describe(self.function)}: {error}.") from None


def checked_row(value: Any, columns: Sequence[str], what: str, convert: Convert | None) -> Row:
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
