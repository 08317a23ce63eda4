"""Several callbacks as one."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from mindspore.common._callback import Callback, RunContext, _InternalCallbackParam

_CALLBACK_STATE: dict[str, Any] = {"network": None}


class _CallbackManager(Callback):
    """Several callbacks as one; entered before the run and left after it."""

    def __init__(self, callbacks: Any) -> None:
        self._callbacks: list[Callback] = []
        self._entered: list[Callback] = []
        if isinstance(callbacks, (list, tuple)):
            given = list(callbacks)
        else:
            given = [] if callbacks is None else [callbacks]
        for callback in given:
            if not isinstance(callback, Callback):
                raise TypeError(
                    f"For 'Model', 'callbacks' must be Callback or a list of them, but got "
                    f"{type(callback).__name__}."
                )
            self._callbacks.append(callback)

    def __enter__(self) -> _CallbackManager:
        for callback in self._callbacks:
            callback.__enter__()
            self._entered.append(callback)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        first: BaseException | None = None
        for callback in reversed(self._entered):
            try:
                callback.__exit__(kind, error, trace)
            except BaseException as failed:  # the others are left all the same
                first = first or failed
        self._entered.clear()
        if first is not None and error is None:
            raise first

    def any_of(self, kind: type) -> bool:
        """Whether a callback of this class is there."""
        return any(isinstance(callback, kind) for callback in self._callbacks)

    def need_sizes(self) -> bool:
        """Whether a callback may ask how many batches there are, as those of users may."""
        return any(vars(type(callback)).get("_needs_size", True) for callback in self._callbacks)

    def watches_steps(self) -> bool:
        """Whether a callback does something at the begin or the end of a step."""
        names = ("step_begin", "step_end", "on_train_step_begin", "on_train_step_end")
        return any(
            name in vars(callback) or getattr(type(callback), name) is not getattr(Callback, name)
            for callback in self._callbacks
            for name in names
        )

    def wait_for_step_end(self) -> bool:
        """Whether a callback cannot wait for the end of a long sink."""
        return any(callback._waits_for_step_end() for callback in self._callbacks)

    def share_work(self, params: Any, together: Any) -> None:
        """Decides who writes, where several processes have callbacks that write to one place."""
        if not together.joint:
            return
        mine = [callback._writes_to(params) for callback in self._callbacks]
        places = together.gather(mine)
        for callback, place in zip(self._callbacks, mine, strict=True):
            first = next(rank for rank, theirs in enumerate(places) if place in theirs)
            callback._is_first = first == together.rank
            callback._with_all = all(place in theirs for theirs in places)

    def take_up(self, run_context: RunContext) -> dict[str, Any] | None:
        """The state of the run to go on from, of the first callback that has one."""
        states = (callback._take_up_training(run_context) for callback in self._callbacks)
        return next((state for state in states if state is not None), None)

    def epoch_done(self, run_context: RunContext) -> None:
        """After on_train_epoch_end of all."""
        self._each("_training_epoch_done", run_context)

    def leave(self, run_context: RunContext) -> None:
        """After the last step of a process that was told to end, or whose fellow was."""
        for callback in self._callbacks:
            if run_context._told_by_others:
                callback._hear_of_leaving()
        self._each("_leave_training", run_context)

    def _each(self, event: str, run_context: RunContext) -> None:
        for callback in self._callbacks:
            getattr(callback, event)(run_context)

    def on_train_begin(self, run_context: RunContext) -> None:
        self._each("on_train_begin", run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        self._each("on_train_epoch_begin", run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        self._each("on_train_epoch_end", run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self._each("on_train_step_begin", run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._each("on_train_step_end", run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        self._each("on_train_end", run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        self._each("on_eval_begin", run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        self._each("on_eval_epoch_begin", run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        self._each("on_eval_epoch_end", run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        self._each("on_eval_step_begin", run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        self._each("on_eval_step_end", run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        self._each("on_eval_end", run_context)


def set_cur_net(net: Any) -> None:
    """Say which network callbacks save where none else is named."""
    _CALLBACK_STATE["network"] = net


_set_cur_net = set_cur_net


__all__ = [
    "_CALLBACK_STATE",
    "Callback",
    "RunContext",
    "_CallbackManager",
    "_InternalCallbackParam",
]
