"""Callbacks of map(): called before and after rows, and epochs, of the pipeline.

dataset.map(operation, "image", callbacks=[MyCallback(step_size=10)])
"""

from __future__ import annotations

from mindspore.dataset.core.validator_helpers import check_int


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


__all__ = ["DSCallback"]
