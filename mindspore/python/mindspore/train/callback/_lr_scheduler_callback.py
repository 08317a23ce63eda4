"""LearningRateScheduler: a function that sets the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import set_learning_rate


class LearningRateScheduler(Callback):
    """After each step the rate becomes learning_rate_function(rate, step)."""

    _needs_size = False

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        super().__init__()
        if not callable(learning_rate_function):
            raise TypeError(
                "For 'LearningRateScheduler', 'learning_rate_function' must be callable, but got "
                f"{type(learning_rate_function).__name__}."
            )
        self.learning_rate_function = learning_rate_function
        self._last_step = 0

    def step_end(self, run_context: RunContext) -> None:
        """Set the rate of the next step."""
        params: Any = run_context.original_args()
        if params.get("mode") == "eval":
            return
        optimizer = params.get("optimizer") or params.train_network.optimizer
        step = self._last_step = params.cur_step_num
        set_learning_rate(
            optimizer, "LearningRateScheduler", lambda rate: self.learning_rate_function(rate, step)
        )

    def _training_state(self) -> Any:
        return self._last_step

    def _set_training_state(self, state: Any, run_context: RunContext) -> None:
        # A checkpoint may be saved behind a step before this callback has been told of it.
        if state < run_context.original_args().cur_step_num:
            self.step_end(run_context)
