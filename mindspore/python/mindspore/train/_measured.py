"""The metrics of an evaluation: of a process alone, or of several, each of which has seen its part of the samples."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore import nn
from mindspore.common.tensor import Tensor
from mindspore.train._together import Together


class Measured:
    """Metrics that are told of each step, and their results over all samples.

    Args:
        metrics: the metrics by name.
        indexes: where loss, output and label are among the results of a step.
        together: the steps.
    """

    def __init__(
        self, metrics: dict[str, Any], indexes: Sequence[int] | None, together: Together
    ) -> None:
        self._metrics, self._indexes, self._together = metrics, indexes, together
        # What does not add up is told of the outputs of all processes.
        self._whole = [m for m in metrics.values() if together.apart and not _adds_up(m)]
        for metric in metrics.values():
            metric.clear()

    def update(self, outputs: Any) -> None:
        """After a step."""
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        own = self._together.has_rows or not self._together.apart
        if self._whole:
            everything = self._together.gather(_arrays(results) if own else None)
        for metric in self._metrics.values():
            if not any(metric is other for other in self._whole):
                if own:
                    self._tell(metric, results)
                continue
            for theirs in everything:
                if theirs is not None:
                    self._tell(metric, _tensors(theirs))

    def _tell(self, metric: Any, results: Sequence[Any]) -> None:
        indexes = getattr(metric, "indexes", None)
        if indexes is not None:
            metric.update(*[results[i] for i in indexes])
        elif self._indexes is None:
            metric.update(*results)
        elif isinstance(metric, nn.Loss):
            metric.update(results[self._indexes[0]])
        else:
            metric.update(results[self._indexes[1]], results[self._indexes[2]])

    def results(self) -> dict[str, Any]:
        """The results by name."""
        if self._together.apart:
            adding = [m for m in self._metrics.values() if not any(m is w for w in self._whole)]
            states = [{name: getattr(m, name) for name in m._sums} for m in adding]
            everywhere = self._together.gather(states)
            for number, metric in enumerate(adding):
                for name in metric._sums:
                    parts = [theirs[number][name] for theirs in everywhere]
                    setattr(metric, name, _sum(parts))
        return {name: metric.eval() for name, metric in self._metrics.items()}


def _adds_up(metric: Any) -> bool:
    """Whether what a metric keeps adds up: not where a class of the user's changes how it is kept."""
    if not getattr(metric, "_sums", ()):
        return False
    kind = type(metric)
    owner = next(c for c in kind.__mro__ if "_sums" in vars(c))
    return all(getattr(kind, name) is getattr(owner, name) for name in ("clear", "update"))


def _sum(parts: list[Any]) -> Any:
    if isinstance(parts[0], list):  # batch by batch, in the order in which one process has them
        turns = itertools.zip_longest(*parts)
        return [value for turn in turns for value in turn if value is not None]
    return functools.reduce(operator.add, parts)


class _Sent(NamedTuple):
    """A tensor on its way."""

    array: np.ndarray


def _arrays(value: Any) -> Any:
    """What other processes can be sent."""
    if isinstance(value, Tensor):
        return _Sent(value.asnumpy())
    if isinstance(value, (tuple, list)):
        return type(value)([_arrays(item) for item in value])
    return value


def _tensors(value: Any) -> Any:
    if isinstance(value, _Sent):
        return Tensor(value.array)
    if isinstance(value, (tuple, list)):
        return type(value)([_tensors(item) for item in value])
    return value


__all__ = ["Measured"]
