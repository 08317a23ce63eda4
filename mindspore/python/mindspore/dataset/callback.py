"""Callbacks of map(): called before and after rows, and epochs, of the pipeline.

dataset.map(operation, "image", callbacks=[MyCallback(step_size=10)])
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from mindspore.common._callback import Callback
from mindspore.dataset import config
from mindspore.dataset.core.validator_helpers import check_int

_PATIENCE = 0.05  # seconds between two looks at whether the pipeline is gone


class RunContext:
    """Where the pipeline stands: epochs and steps count from 1."""

    def __init__(self, cur_epoch_num: int, cur_step_num: int, cur_step_num_in_epoch: int) -> None:
        self.cur_epoch_num = cur_epoch_num
        self.cur_step_num = cur_step_num
        self.cur_step_num_in_epoch = cur_step_num_in_epoch


class DSCallback:
    """Base of callbacks; a method that is not overridden does nothing. Of steps each `step_size`-th is told."""

    def __init__(self, step_size: int = 1) -> None:
        self.step_size = check_int("DSCallback", "step_size", step_size, 1)

    def ds_begin(self, ds_run_context: RunContext) -> None:
        """Before the first row."""

    def ds_epoch_begin(self, ds_run_context: RunContext) -> None:
        """Before an epoch."""

    def ds_epoch_end(self, ds_run_context: RunContext) -> None:
        """After an epoch."""

    def ds_step_begin(self, ds_run_context: RunContext) -> None:
        """Before a row goes through the operations."""

    def ds_step_end(self, ds_run_context: RunContext) -> None:
        """After a row went through them."""


class WaitedDSCallback(Callback, DSCallback):
    """Base of callbacks of map() that wait for the training: give one to map() and to Model.train().

    `step_size` is the number of rows of a step, which is the batch size. The methods below are called from the second
    step, and epoch, on: when the training has done what came before, and before the next row is made.
    """

    def __init__(self, step_size: int = 1) -> None:
        super().__init__(step_size)
        self._changed = threading.Condition()
        self._train_context: Any = None
        self._epochs = self._steps = 0  # what the training has done: epochs, and steps of this one
        self._told = 0  # steps of data in this epoch
        self._over = False

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: RunContext) -> None:
        """Before an epoch of data, after that of the training before it."""

    def sync_step_begin(self, train_run_context: Any, ds_run_context: RunContext) -> None:
        """Before the rows of a step, after the step of the training before it."""

    def ds_begin(self, ds_run_context: RunContext) -> None:
        """Before the first row."""
        with self._changed:
            self._epochs = self._steps = self._told = 0
            self._over = False

    def ds_epoch_begin(self, ds_run_context: RunContext) -> None:
        """Waits for the epoch of the training before."""
        self._told = 0
        done = ds_run_context.cur_epoch_num - 1
        if done:
            self._wait(lambda: self._epochs >= done, "epoch", done)
            self.sync_epoch_begin(self._train_context, ds_run_context)

    def ds_step_begin(self, ds_run_context: RunContext) -> None:
        """Waits for the step of the training before."""
        before = self._told
        self._told += 1
        epoch = ds_run_context.cur_epoch_num
        if before:
            self._wait(lambda: self._epochs >= epoch or self._steps >= before, "step", before)
        if before or epoch > 1:
            self.sync_step_begin(self._train_context, ds_run_context)

    def _wait(self, done: Callable[[], bool], what: str, number: int) -> None:
        limit = config.get_callback_timeout()
        end = time.monotonic() + limit
        with self._changed:
            while not done() and not self._over:
                if time.monotonic() > end:
                    raise RuntimeError(
                        f"For '{type(self).__name__}', the training must end {what} {number} within {limit} s "
                        "(config.set_callback_timeout), but did not. Give the callback to Model.train() as well, with a step_size that is "
                        "the batch size, and dataset_sink_mode=False."
                    )
                self._changed.wait(_PATIENCE)

    def step_end(self, run_context: Any) -> None:
        """The training has done a step."""
        with self._changed:
            self._train_context = run_context
            self._steps += 1
            self._changed.notify_all()

    def epoch_end(self, run_context: Any) -> None:
        """The training has done an epoch."""
        with self._changed:
            self._train_context = run_context
            self._epochs += 1
            self._steps = 0
            self._changed.notify_all()

    def end(self, run_context: Any) -> None:
        """The training is over: nobody waits any more."""
        with self._changed:
            self._over = True
            self._changed.notify_all()


__all__ = ["DSCallback", "WaitedDSCallback"]
