"""EarlyStopping: ends a training that no longer gets better."""

from __future__ import annotations

from typing import Any

from mindspore import log
from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import better_of, check_int, check_number, monitored


class EarlyStopping(Callback):
    """Ends the training when `monitor` has not got better by `min_delta` for `patience` epochs.

    With `restore_best_weights` the network ends with the parameters of its best epoch. A first
    value worse than `baseline` does not count as better.
    """

    _needs_size = False

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        op = "EarlyStopping"
        super().__init__()
        if not isinstance(monitor, str):
            raise TypeError(f"For '{op}', 'monitor' must be a str, but got {monitor!r}.")
        for name, flag in (("verbose", verbose), ("restore_best_weights", restore_best_weights)):
            if not isinstance(flag, bool):
                raise TypeError(f"For '{op}', '{name}' must be a bool, but got {flag!r}.")
        self.monitor = monitor
        self.min_delta = abs(check_number(op, "min_delta", min_delta))
        self.patience = check_int(op, "patience", patience, 0)
        self.verbose = verbose
        self.mode = mode
        self.baseline = None if baseline is None else check_number(op, "baseline", baseline)
        self.restore_best_weights = restore_best_weights
        self._larger_is_better = better_of(op, mode, monitor)
        self._reset()

    def _reset(self) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.best: float | None = self.baseline
        self.best_epoch = 0
        self.best_weights: dict[str, Any] | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begin anew."""
        self._reset()

    def _training_state(self) -> Any:
        return [self.wait, self.best, self.best_epoch]

    def _set_training_state(self, state: Any, run_context: RunContext) -> None:
        self.wait, self.best, self.best_epoch = state
        if self.restore_best_weights and self.best_epoch:
            log.warning(
                "EarlyStopping: the parameters of the best epoch so far are not part of a checkpoint; the best of those that "
                "follow is restored at the end."
            )

    def _better(self, value: float) -> bool:
        if self.best is None:
            return True
        gain = value - self.best if self._larger_is_better else self.best - value
        return gain > self.min_delta

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Compare the value of this epoch."""
        params: Any = run_context.original_args()
        value = monitored(params, "EarlyStopping", self.monitor)
        if value is None:
            return
        epoch = params.get("cur_epoch_num", 1)
        network = params.get("train_network")
        if self._better(value) or (self.restore_best_weights and self.best_weights is None):
            if self._better(value):
                self.wait, self.best = 0, value
            self.best_epoch = epoch
            if self.restore_best_weights:
                self.best_weights = {p.name: p.clone() for _, p in network.parameters_and_names()}
            if self.wait == 0:
                return
        self.wait += 1
        if self.wait < self.patience:
            return
        self.stopped_epoch = epoch
        run_context.request_stop()
        if self.best_weights is not None:
            for _, parameter in network.parameters_and_names():
                parameter.set_data(self.best_weights[parameter.name])
            if self.verbose:
                self._say(f"Restored the parameters of epoch {self.best_epoch}, the best one.")

    def on_train_end(self, run_context: RunContext) -> None:
        """Say that the training ended early."""
        if self.stopped_epoch and self.verbose:
            self._say(f"Epoch {self.stopped_epoch:05d}: early stopping")
