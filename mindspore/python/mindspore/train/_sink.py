"""Training with dataset_sink_mode: the runtime takes batches out of the data pipeline and makes steps of them by itself, as long as each
is like the one before and nobody has to look at what it returned."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from mindspore import _core, nn
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.compile import graph_of
from mindspore.dataset import WaitedDSCallback
from mindspore.dataset.engine.iterators import TupleIterator
from mindspore.train.callback._callback import _CallbackManager

_MOMENT = 0.1  # seconds after which the interpreter sees how far the runtime is

# Told of steps that are done: how many, and of the last one the batch and what it returned. (Of a step on a device that turned out
# to be wrong when others had followed, the batch is the latest one's.)
Told = Callable[[int, Any, Any], None]


def steps_of_a_sink(
    sink: tuple[bool, int], manager: _CallbackManager, joint: bool, dataset: Any
) -> int:
    """How many steps callbacks see as one."""
    there_is, size = sink
    conditions = getattr(dataset, "_conditions", None)
    waits = manager.any_of(WaitedDSCallback) or (conditions is not None and conditions())
    if not there_is or waits:  # data that waits for the end of a step must be told of each
        return 1
    if size > 0:
        return min(size, sys.maxsize)
    # Processes decide together after each step, since some may have callbacks that others lack.
    return 1 if joint or manager.watches_steps() else sys.maxsize


class Sink:
    """The batches of an epoch, one by one, except for those that the runtime makes steps of.

    Args:
        network: the training step.
        rows: the batches.
        manager: of the loss scale. One of the user's may do anything after a step.
        joint: whether other processes make the same steps, between which all tell each other of theirs.
    """

    def __init__(self, network: Any, rows: Any, manager: Any, joint: bool) -> None:
        self._network, self._rows = network, rows
        self._unused: list[Any] = []
        self._ended = False
        plain = type(network).__call__ is nn.Cell.__call__ and isinstance(rows, TupleIterator)
        ours = manager is None or type(manager).__module__.startswith("mindspore.")
        self._can_run = plain and ours and not joint

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._unused:
            return self._unused.pop()
        if self._ended:  # whoever asks the iterator again begins the next epoch
            raise StopIteration
        return next(self._rows)

    def run(self, batch: Any, outputs: Any, most: int, told: Told) -> bool:
        """Makes up to `most` steps like the one that made `outputs` of `batch`, for a moment. False: the next one is for others to
        make. Where it ends with an exception, `told` knows of the steps before.
        """
        if not self._can_run or self._unused or self._ended or not _speaks_for_itself(outputs):
            return False
        version = graph_of(self._network, tuple(batch))
        if version is None:
            return False
        sink = _core.Sink(version.graph, version.guards)
        try:
            self._rows.lend(sink, most, _MOMENT)
        except BaseException:
            with suppress(RuntimeError):  # what a step returned may be missing
                self._take(sink, version, told)
            raise
        self._take(sink, version, told)
        return sink.done > 0 and not self._ended and not self._unused

    def _take(self, sink: Any, version: Any, told: Told) -> None:
        """What the runtime has done, and what it has left."""
        self._ended = sink.ended
        if sink.unused is not None:
            self._unused.append(sink.unused)
        rest = sink.done
        if sink.alarming is not None:
            told(sink.sound + 1, sink.row, version.place(sink.alarming))
            rest -= sink.sound + 1
        if rest:
            told(rest, sink.row, version.place(sink.outputs))


def _speaks_for_itself(outputs: Any) -> bool:
    """Whether the runtime sees what is wrong with a step: by its loss, and by the truth value of an overflow."""
    first = outputs
    while isinstance(first, (tuple, list)) and first:
        first = first[0]
    if not isinstance(first, Tensor) or first.size != 1:
        return False
    flagged = isinstance(outputs, (tuple, list)) and len(outputs) == 3
    return not flagged or (isinstance(outputs[1], Tensor) and outputs[1].dtype == mstype.bool_)


__all__ = ["Sink", "steps_of_a_sink"]
