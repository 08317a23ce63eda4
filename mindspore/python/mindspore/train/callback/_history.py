"""History: keeps losses and metrics of all epochs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.train.callback._callback import Callback, RunContext


class History(Callback):
    """After a run, `epoch` holds the epoch numbers and `history` the values for each name."""

    _needs_size = False

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] = {"epoch": []}

    def begin(self, run_context: RunContext) -> None:
        """An evaluation alone keeps the old records."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begin anew."""
        self.history = {}
        self.epoch = {"epoch": []}

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Add the last output and the metrics of the epoch."""
        params: Any = run_context.original_args()
        self.epoch["epoch"].append(params.get("cur_epoch_num", 1))
        outputs = params.get("last_train_outputs", params.get("net_outputs"))
        first = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
        value = np.mean(first.asnumpy()) if isinstance(first, Tensor) else first
        self.history.setdefault("net_output", []).append(value)
        for name, metric in (params.get("metrics") or {}).items():
            self.history.setdefault(name, []).append(metric)

    def _training_state(self) -> Any:
        numbers = {
            name: [float(value) for value in values if np.ndim(value) == 0]
            for name, values in self.history.items()
        }
        whole = all(len(numbers[name]) == len(values) for name, values in self.history.items())
        return [self.epoch, numbers] if whole else None

    def _set_training_state(self, state: Any, run_context: RunContext) -> None:
        self.epoch, self.history = state
