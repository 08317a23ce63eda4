"""map() where `config.set_error_samples_mode` lets rows fail: those that cannot be made are left out, or others take
their places.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core
from mindspore.dataset import config
from mindspore.dataset.config import ErrorSamplesMode
from mindspore.dataset.engine.values import Row

_log = logging.getLogger("mindspore.dataset")
_KEPT = 32  # rows that may take the places of others


class GoodRows:
    """The rows of a node that can be made; the first of them come once more at the end where others take their places."""

    def __init__(self, node: Any, workers: Callable[[], int]) -> None:
        self.node, self.workers = node, workers
        self.replace = config.get_error_samples_mode() == ErrorSamplesMode.REPLACE
        self.most = config._most_error_samples()

    def size(self) -> int | None:
        """How many there are, if that is known before they are made."""
        size = self.node.size()
        return None if size is None or not self.replace else int(size)

    def open(self, key: int, epoch: int) -> Iterator[Row]:
        """The rows of an epoch."""
        seed, ahead = key & ((1 << 63) - 1), config.get_prefetch_size()
        most = _core.dataset.queue_bytes() // 4  # another queue comes behind
        pipeline = _core.dataset.Pipeline(self.node, seed, True, self.workers(), ahead, most)
        first: list[Row] = []
        step = failed = 0
        try:
            pipeline.begin(epoch, 0)
            while True:
                try:
                    row = pipeline.next(True)
                except MemoryError:
                    raise
                except Exception as error:
                    step, failed = step + 1, failed + 1
                    self._note(error, failed)
                    if pipeline.begin(epoch, step) < step:
                        break  # it was the last one
                    continue
                if row is None:
                    break
                step += 1
                if self.replace and len(first) < _KEPT:
                    first.append(tuple(row))
                yield tuple(row)
        finally:
            pipeline.close()
        if self.replace and failed:
            if not first:
                raise RuntimeError(
                    "For 'map', a row must be made that takes the places of others "
                    f"(ErrorSamplesMode.REPLACE), but all {failed} failed."
                )
            yield from itertools.islice(itertools.cycle(first), failed)

    def _note(self, error: Exception, failed: int) -> None:
        """Says what was left out; raises where that is too much."""
        if self.most is not None and failed > self.most:
            raise RuntimeError(
                f"For 'map', at most {self.most} rows of an epoch may fail "
                f"(config.set_error_samples_mode), but number {failed} did: {error}"
            ) from error
        what = "another one comes at the end" if self.replace else "it is left out"
        _log.warning("A row of the dataset cannot be made, %s: %s", what, error)
