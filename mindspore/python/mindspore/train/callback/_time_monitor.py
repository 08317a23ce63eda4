"""TimeMonitor: prints how long epochs take."""

from __future__ import annotations

import time
from typing import Any

from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import check_int


class TimeMonitor(Callback):
    """Prints the time of each epoch and its mean step.

    `data_size` is the number of steps where the run does not tell it.
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

    def epoch_begin(self, run_context: RunContext) -> None:
        """Start the clock."""
        self._starts.append(time.perf_counter())

    def epoch_end(self, run_context: RunContext) -> None:
        """Stop the clock and print. An evaluation inside an epoch of training has its own."""
        params: Any = run_context.original_args()
        if not self._starts:
            return
        milliseconds = (time.perf_counter() - self._starts.pop()) * 1000
        steps = params.get("batch_num") or self.data_size or 1
        mode = "Eval" if params.get("mode") == "eval" else "Train"
        self._say(
            f"{mode} epoch time: {milliseconds:5.3f} ms, per step time: "
            f"{milliseconds / steps:5.3f} ms"
        )
