"""ReduceLROnPlateau: a smaller learning rate when training no longer gets better."""

from __future__ import annotations

from typing import Any

from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import (
    better_of,
    check_int,
    check_number,
    monitored,
    set_learning_rate,
)


class ReduceLROnPlateau(Callback):
    """The rate times `factor` when `monitor` has not got better for `patience` epochs.

    After that `cooldown` epochs pass before waiting begins again; the rate stays at least `min_lr`.
    """

    _needs_size = False

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        op = "ReduceLROnPlateau"
        super().__init__()
        if not isinstance(monitor, str):
            raise TypeError(f"For '{op}', 'monitor' must be a str, but got {monitor!r}.")
        self.factor = check_number(op, "factor", factor)
        if not 0.0 < factor < 1.0:
            raise ValueError(f"For '{op}', 'factor' must be in (0, 1), but got {factor}.")
        self.monitor = monitor
        self.patience = check_int(op, "patience", patience, 0)
        self.verbose = verbose
        self.mode = mode
        self.min_delta = abs(check_number(op, "min_delta", min_delta))
        self.cooldown = check_int(op, "cooldown", cooldown, 0)
        self.min_lr = check_number(op, "min_lr", min_lr)
        self._larger_is_better = better_of(op, mode, monitor)
        self._reset()

    def _reset(self) -> None:
        self.best: float | None = None
        self.wait = 0
        self.cooldown_counter = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begin anew."""
        self._reset()

    def _training_state(self) -> Any:
        return [self.best, self.wait, self.cooldown_counter]

    def _set_training_state(self, state: Any, run_context: RunContext) -> None:
        self.best, self.wait, self.cooldown_counter = state

    def _better(self, value: float) -> bool:
        if self.best is None:
            return True
        gain = value - self.best if self._larger_is_better else self.best - value
        return gain > self.min_delta

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Compare the value of this epoch."""
        params: Any = run_context.original_args()
        value = monitored(params, "ReduceLROnPlateau", self.monitor)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value):
            self.best, self.wait = value, 0
            return
        if self.cooldown_counter > 0:
            return
        self.wait += 1
        if self.wait < self.patience:
            return
        optimizer = params.get("optimizer") or params.train_network.optimizer
        old, new = set_learning_rate(
            optimizer, "ReduceLROnPlateau", lambda rate: max(rate * self.factor, self.min_lr)
        )
        self.cooldown_counter, self.wait = self.cooldown, 0
        if self.verbose and new != old:
            self._say(
                f"Epoch {params.get('cur_epoch_num', 1):05d}: the learning rate is now {new}."
            )
