"""Callback, and what Model hands to callbacks; callbacks of data that wait for a training are such, too."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from mindspore.common import _groups


class _InternalCallbackParam(dict):
    """What a callback may read and write: items that are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class RunContext:
    """Given to every callback: the parameters of the run, and a way to end it."""

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise TypeError(
                "For 'RunContext', 'original_args' must be a dict, but got "
                f"{type(original_args).__name__}."
            )
        self._original_args = original_args
        self._stop_requested = False
        self._leaving = False  # the process was told to end: what can wait is left out
        self._told_by_others = False  # another process was told so
        self._run: Any = None  # the TrainingRun, in a training

    def original_args(self) -> Any:
        """The parameters of the run, e.g. cur_epoch_num, cur_step_num, net_outputs."""
        return self._original_args

    def request_stop(self) -> None:
        """End the training after this step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether a callback asked for the end."""
        return self._stop_requested


class Callback:
    """Base of callbacks: override what should happen at a point of training or evaluation.

    The names begin, epoch_begin, ... of 1.x serve both training and evaluation.
    """

    # Whether it writes what several processes have alike; of those whose callback writes to one place, the first does.
    _is_first: bool | None = None
    _with_all = False  # whether all processes have such a callback
    # Whether one of this very class asks for `batch_num` before an epoch has been given.
    _needs_size = True

    def _acts(self) -> bool:
        """Whether it writes what it has to write."""
        return _groups.writes_for_all() if self._is_first is None else self._is_first

    def _say(self, text: str) -> None:
        """Prints a line, once for all processes."""
        if self._acts():
            print(text, flush=True)

    def _writes_to(self, params: Any) -> str:
        """The place that it writes to, by a name that is the same for all who share it."""
        return "the output"

    def __enter__(self) -> Callback:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Called when the run ends, in whatever way."""

    def begin(self, run_context: RunContext) -> None:
        """Before the first epoch."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After an epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before a step."""

    def step_end(self, run_context: RunContext) -> None:
        """After a step."""

    def end(self, run_context: RunContext) -> None:
        """After the last epoch."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Before the training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """After an epoch of training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Before a step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """After a step of training."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """After the training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Before an evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Before the pass over the evaluation data."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """After the pass over the evaluation data."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Before a step of evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """After a step of evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """After an evaluation."""
        self.end(run_context)

    # What a training can go on from, for the callbacks of this package

    def _training_state(self) -> Any:
        """What it goes on from, in values that JSON can hold; None where there is nothing."""

    def _set_training_state(self, state: Any, run_context: RunContext) -> None:
        """Go on from what `_training_state` gave in an earlier run. It has been told of the beginning."""

    def _take_up_training(self, run_context: RunContext) -> dict[str, Any] | None:
        """Before the beginning: the state of the run to go on from, if there is one."""

    def _training_epoch_done(self, run_context: RunContext) -> None:
        """After on_train_epoch_end of all callbacks."""

    def _waits_for_step_end(self) -> bool:
        """Whether it must soon be told of the end of a step, even where that ends a sink early."""
        return False

    def _hear_of_leaving(self) -> None:
        """Another process was told to end, and so this one ends too."""

    def _leave_training(self, run_context: RunContext) -> None:
        """After the step that is the last, as the process was told to end."""
