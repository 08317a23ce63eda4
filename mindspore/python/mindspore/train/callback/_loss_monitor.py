"""LossMonitor: prints the loss."""

from __future__ import annotations

from typing import Any

from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import check_int, first_value, is_broken, step_in_epoch


class LossMonitor(Callback):
    """Prints the loss every `per_print_times` steps (0: never), and ends a training whose loss is
    broken.
    """

    _needs_size = False

    def __init__(self, per_print_times: int = 1) -> None:
        super().__init__()
        self._per_print_times = check_int("LossMonitor", "per_print_times", per_print_times, 0)
        self._last_print_time = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        """Counts from the first step of this run."""
        params: Any = run_context.original_args()
        self._last_print_time = params.get("cur_step_num") or 0

    def step_end(self, run_context: RunContext) -> None:
        """Print the loss of this step."""
        params: Any = run_context.original_args()
        if params.get("mode") == "eval":
            return
        loss = first_value(params.get("net_outputs"))
        step = step_in_epoch(run_context)
        if is_broken(loss):
            raise ValueError(
                f"epoch: {params.cur_epoch_num} step: {step}, the loss is {loss}; the training "
                "ends. Lower the learning rate, or check the data."
            )
        if (
            self._per_print_times
            and params.cur_step_num - self._last_print_time >= self._per_print_times
        ):
            self._last_print_time = params.cur_step_num
            self._say(f"epoch: {params.cur_epoch_num} step: {step}, loss is {loss}")

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print the metrics of an evaluation that ended this epoch."""
        params: Any = run_context.original_args()
        metrics = params.get("metrics")
        if metrics:
            self._say(f"Eval result: epoch {params.cur_epoch_num}, metrics: {metrics}")
            params["metrics"] = None
