"""TimeMonitor: prints how long epochs take."""

from __future__ import annotations

import time
from typing import Any

from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import check_int


class _Waits:
    """How long the steps of an epoch waited for data."""

    def __init__(self) -> None:
        self._total, self._count = 0.0, 0
        self.begin()

    def begin(self) -> None:
        """From now on."""
        self._since = time.perf_counter()

    def end(self) -> None:
        """Until now."""
        self._total, self._count = self._total + time.perf_counter() - self._since, self._count + 1

    def mean(self) -> float:
        """Seconds of each."""
        return self._total / max(self._count, 1)


class TimeMonitor(Callback):
    """Prints the time of each epoch and its mean step.

    `data_size` is the number of steps where the run does not tell it. With `data_time`, also how long a step waited for its data, on
    average: from the end of one step to the beginning of the next, in which callbacks behind this one may work, too.
    """

    _needs_size = False

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        super().__init__()
        if data_size is not None:
            check_int("TimeMonitor", "data_size", data_size, 1)
        if not isinstance(data_time, bool):
            raise TypeError(
                f"For 'TimeMonitor', 'data_time' must be a bool, but got {data_time!r}."
            )
        self.data_size = data_size
        self.data_time = data_time
        self._starts: list[float] = []
        self._waits: list[_Waits] = []
        if data_time:
            self._look_at_steps()

    def _look_at_steps(self) -> None:
        """Hooks of this one alone: steps that no callback looks at are made without a stop."""
        for kind in ("train", "eval"):
            setattr(self, f"on_{kind}_step_begin", self._data_came)
            setattr(self, f"on_{kind}_step_end", self._step_ended)

    def _data_came(self, _: RunContext) -> None:
        for waits in self._waits[-1:]:
            waits.end()

    def _step_ended(self, _: RunContext) -> None:
        for waits in self._waits[-1:]:
            waits.begin()

    def epoch_begin(self, run_context: RunContext) -> None:
        """Start the clock."""
        self._starts.append(time.perf_counter())
        self._waits.append(_Waits())

    def epoch_end(self, run_context: RunContext) -> None:
        """Stop the clock and print. An evaluation inside an epoch of training has its own."""
        params: Any = run_context.original_args()
        if not self._starts:
            return
        milliseconds = (time.perf_counter() - self._starts.pop()) * 1000
        waits = self._waits.pop()
        data = f" (data time: {waits.mean() * 1000:5.3f} ms)" if self.data_time else ""
        steps = params.get("batch_num") or self.data_size or 1
        mode = "Eval" if params.get("mode") == "eval" else "Train"
        self._say(
            f"{mode} epoch time: {milliseconds:5.3f} ms, per step time: "
            f"{milliseconds / steps:5.3f} ms{data}"
        )
