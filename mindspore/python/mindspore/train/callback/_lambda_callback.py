"""LambdaCallback: functions as a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.train.callback._callback import Callback, RunContext

_Function = Callable[[RunContext], Any] | None


class LambdaCallback(Callback):
    """Calls the given functions; each takes the RunContext."""

    def __init__(
        self,
        on_train_epoch_begin: _Function = None,
        on_train_epoch_end: _Function = None,
        on_train_step_begin: _Function = None,
        on_train_step_end: _Function = None,
        on_train_begin: _Function = None,
        on_train_end: _Function = None,
        on_eval_epoch_begin: _Function = None,
        on_eval_epoch_end: _Function = None,
        on_eval_step_begin: _Function = None,
        on_eval_step_end: _Function = None,
        on_eval_begin: _Function = None,
        on_eval_end: _Function = None,
    ) -> None:
        super().__init__()
        given = {name: value for name, value in locals().items() if name.startswith("on_")}
        for name, function in given.items():
            if function is None:
                continue
            if not callable(function):
                raise TypeError(
                    f"For 'LambdaCallback', '{name}' must be callable, but got {function!r}."
                )
            setattr(self, name, function)
