"""Operations that the user's code watches row by row: sync_wait, and callbacks of map.

Both make one row after the other, in order, when it is asked for: what a callback changes is seen by the next row.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mindspore import _core
from mindspore.dataset import config
from mindspore.dataset.callback import DSCallback, RunContext
from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.engine.values import Row

_PATIENCE = 0.05  # seconds between two looks at whether the iterator is gone


def child_rows(node: Any, key: int, epoch: int) -> Iterator[Row]:
    """The rows of an epoch of a node, each made when it is asked for."""
    pipeline = _core.dataset.Pipeline(node, key & ((1 << 63) - 1), True, 0, 1, 0)
    try:
        pipeline.begin(epoch, 0)
        while (row := pipeline.next(True)) is not None:
            yield tuple(row)
    finally:
        pipeline.close()


class SyncRows:
    """Rows that wait: `num_batch` of them come for each call of update()."""

    def __init__(self, node: Any, name: str, num_batch: int, callback: Any) -> None:
        self.node, self.name, self.num_batch, self.callback = node, name, num_batch, callback
        self._changed = threading.Condition()
        self._allowed = self._skipped = 0
        self._ended = False

    def open(self, key: int, epoch: int) -> Iterator[Row]:
        """The rows of an epoch."""
        with self._changed:
            self._allowed = self.num_batch + self._skipped
            self._skipped = 0
            self._ended = False
        rows = child_rows(self.node, key, epoch)
        given, total = 0, self.node.size()
        # Where the number of rows is known, the end needs no update.
        while given != total and self._wait(given):
            row = next(rows, None)
            if row is None:
                return
            given += 1
            yield row

    def _wait(self, given: int) -> bool:
        """Until another row may come; false where nobody wants one any more."""
        end = time.monotonic() + config.get_callback_timeout()
        with self._changed:
            while given >= self._allowed and not self._ended:
                if time.monotonic() > end:
                    raise RuntimeError(
                        f"For 'sync_wait', sync_update('{self.name}') must be called within "
                        f"{config.get_callback_timeout()} s (config.set_callback_timeout), but was not."
                    )
                self._changed.wait(_PATIENCE)
            return not self._ended

    def update(self, num_batch: int | None, data: Any) -> None:
        """Lets more rows come, after the user's function was called."""
        if self.callback is not None:
            try:
                self.callback(data)
            except Exception as error:
                raise failure("sync_update", describe(self.callback), error) from error
        with self._changed:
            self._allowed += self.num_batch if num_batch is None else num_batch
            self._changed.notify_all()

    def resume(self, step: int) -> None:
        """The next epoch begins after so many rows."""
        self._skipped = step

    def end(self) -> None:
        """Nobody wants more rows."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class CallbackRows:
    """Rows of map() with callbacks around them."""

    def __init__(
        self, node: Any, made: Callable[[Row, int, int], Row], callbacks: Sequence[DSCallback]
    ) -> None:
        self.node, self.made, self.callbacks = node, made, list(callbacks)
        self._steps = 0

    def open(self, key: int, epoch: int) -> Iterator[Row]:
        """The rows of an epoch."""
        if epoch == 0:
            self._steps = 0
            self._tell("ds_begin", 0, 0)
        self._tell("ds_epoch_begin", epoch + 1, 0)
        number = 0
        for number, row in enumerate(child_rows(self.node, key, epoch), 1):
            self._steps += 1
            self._tell("ds_step_begin", epoch + 1, number)
            result = self.made(row, key, number - 1)
            self._tell("ds_step_end", epoch + 1, number)
            yield result
        self._tell("ds_epoch_end", epoch + 1, number)

    def _tell(self, event: str, epoch: int, number: int) -> None:
        for callback in self.callbacks:
            if "step" in event and (number - 1) % callback.step_size:
                continue
            try:
                getattr(callback, event)(RunContext(epoch, self._steps, number))
            except Exception as error:
                what = f"{type(callback).__name__}.{event}"
                raise failure("map", what, error) from error
