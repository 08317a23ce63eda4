"""What the processes of a training do together beside their collectives: as many steps in each, whoever has batches left, and one
decision for all. Of a process alone everything is as it is."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindspore import _core, nn
from mindspore.common import _groups, _planning
from mindspore.common.tensor import Tensor
from mindspore.nn._uneven import Uneven
from mindspore.ops import _exchange
from mindspore.train.callback._values import first_value


def gather_numbers(values: Sequence[float]) -> np.ndarray:
    """The numbers of all processes, a row for each."""
    at = _groups.member(None, "Model")
    return _exchange.all_gather(Tensor(np.array([values], np.float64)), at).asnumpy()


def gather_objects(value: Any) -> list[Any]:
    """The objects of all processes, in the order of their ranks."""
    at = _groups.member(None, "Model")
    text = np.frombuffer(pickle.dumps(value), np.uint8)
    sizes = [int(size) for size in gather_numbers([text.size])[:, 0]]
    row = _exchange.all_gather(Tensor(text.copy()), at, sizes).asnumpy()
    ends = np.cumsum(sizes)
    return [pickle.loads(row[end - n : end].tobytes()) for end, n in zip(ends, sizes, strict=True)]


def rows_of(batch: Any) -> int:
    """How many samples a batch has, by its first column."""
    first = batch[0] if isinstance(batch, (list, tuple)) and batch else batch
    shape: Any = getattr(first, "shape", ())
    return int(shape[0]) if len(shape) else 1


class Together:
    """The steps of a training or an evaluation, in this process and the others.

    Args:
        network: the network of a step.
        joint: whether there are others with which the steps are made.
    """

    def __init__(self, network: Any, joint: bool) -> None:
        self.joint = joint
        # Whether the outputs of a step are of this process's samples alone; a divided network gives those of all.
        self.apart = joint and not _planning.on()
        self.counts = np.ones(1)  # samples of the step, by rank
        self.rank = _groups.world_rank() if joint else 0
        self._cells: list[nn.Cell] = []
        if joint and isinstance(network, nn.Cell):
            self._cells = [cell for _, cell in network.cells_and_names()]
        self._uneven = [cell for cell in self._cells if isinstance(cell, Uneven)]

    def require_sums(self, op: str) -> None:
        """An error where a step was made before the mode was set: it would train each process for itself."""
        steps = [cell for cell in self._cells if isinstance(cell, nn.TrainOneStepCell)]
        sums = any(isinstance(cell, nn.DistributedGradReducer) for cell in self._cells)
        if self.apart and steps and not sums:
            raise RuntimeError(
                f"For '{op}', the step must be made in the parallel mode that it runs in, but the mode was set after the Model or its "
                f"{type(steps[0]).__name__}, so gradients would not be added up: call set_auto_parallel_context before."
            )

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes."""
        return gather_objects(value) if self.joint else [value]

    @property
    def has_rows(self) -> bool:
        """Whether the batch of the step is one of this process's own."""
        return bool(self.counts[self.rank])

    def rows(self, rows: Any, stand_in: Callable[[], Any]) -> Iterator[Any]:
        """The batches, as many in each process: one that has none left gets one that counts nothing, so that it takes its part in
        what the others do.
        """
        if not self.joint:
            for batch in rows:
                self.counts = np.array([rows_of(batch)])
                yield batch
            return
        own = itertools.chain(
            rows, itertools.repeat(None)
        )  # an iterator may not be asked behind its end
        last = None
        while True:
            batch = next(own)
            counts = gather_numbers([0 if batch is None else rows_of(batch)])[:, 0]
            if not counts.any():
                _core.set_sample_part(self.rank, 1)  # as before
                return
            self.counts = counts
            if not self.apart and len(set(counts)) > 1:
                raise ValueError(
                    "For 'Model', all processes must have as many samples in each step of a network that is divided, but got "
                    f"{[int(n) for n in counts]}: batch(..., drop_remainder=True), a number of batches that the processes divide, or "
                    "full_batch=True."
                )
            if batch is None:
                batch = stand_in() if last is None else last
            for cell in self._uneven:
                cell._weigh(self.counts)
            self._take_part()
            last = batch
            yield batch

    def _take_part(self) -> None:
        """Lets dropout choose for the samples of this process what it would choose for them among those of all."""
        mine = int(self.counts[self.rank])
        _core.set_sample_part(int(self.counts[: self.rank].sum()) if mine else 0, max(mine, 1))

    def joint_outputs(self, outputs: Any) -> Any:
        """What a step returned, with the mean of the loss over all samples in the place of this process's."""
        first = outputs
        while isinstance(first, (tuple, list)) and first:
            first = first[0]
        if not self.apart or not isinstance(first, Tensor) or first.size != 1:
            return outputs
        losses = gather_numbers([float(first_value(first))])[:, 0]
        counted = self.counts > 0
        mean = np.average(losses[counted], weights=self.counts[counted])
        loss = Tensor(np.full(first.shape, mean), first.dtype)
        return _with_first(outputs, loss)

    def agree(self, context: Any) -> None:
        """After callbacks: who asked for the end has asked for it in all processes."""
        if not self.joint:
            return
        stops, leaves = gather_numbers([context._stop_requested, context._leaving]).T
        context._stop_requested = bool(stops.any())
        if leaves.any() and not context._leaving:
            context._leaving = True
            context._told_by_others = True

    def all_or_none(self, value: Any, what: str) -> Any:
        """A value that must be there in all processes, or in none."""
        if self.joint:
            there = gather_numbers([value is not None])[:, 0]
            if there.any() and not there.all():
                raise RuntimeError(
                    f"For 'Model.train', all processes must find {what}, but it is missing in rank "
                    f"{', '.join(str(rank) for rank in np.flatnonzero(there == 0))}."
                )
        return value


def _with_first(outputs: Any, loss: Tensor) -> Any:
    if not isinstance(outputs, (tuple, list)):
        return loss
    return type(outputs)([_with_first(outputs[0], loss), *outputs[1:]])


__all__ = ["Together", "gather_numbers", "gather_objects", "rows_of"]
