"""What users see of a traceback: their own lines. Where an exception leaves this package, the frames of the package are taken out of
its traceback, unless the package itself has failed, or MS_FULL_TRACEBACK=1 asks for all."""

from __future__ import annotations

import os
import types
from opcode import opmap
from typing import Any

from mindspore import _core
from mindspore.compile.program.borders import marked
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.marks import is_raised, mark, original_of
from mindspore.compile.program.places import is_ours


def hide(error: BaseException) -> None:
    """Called by what users call, about an exception on its way to them; it must then be raised by a bare `raise`."""
    if _core.is_tracing() or os.environ.get("MS_FULL_TRACEBACK", "0") not in ("", "0"):
        return
    pending: list[BaseException | None] = [error]
    while pending:
        e = pending.pop()
        if e is not None and (e is error or not hasattr(e, "_ms_hidden")):
            if isinstance(e, MemoryError):
                _let_go(e)
            _take_out(e)
            pending += [c for c in (e.__cause__, e.__context__) if c is not error]


def _let_go(error: BaseException) -> None:
    """Empties the frames that an error of memory has left: notebooks keep the last traceback, and it would keep their tensors."""
    trace = error.__traceback__
    while trace is not None:
        frame: types.FrameType | None = trace.tb_frame
        while frame is not None:
            try:
                frame.clear()
                frame.f_locals  # noqa: B018  # a copy, if somebody has looked: it is made anew
            except RuntimeError:  # it runs, and so do those that called it
                break
            frame = frame.f_back
        trace = trace.tb_next


def _take_out(error: BaseException) -> None:
    # Calls inside calls meet an exception on every level: what was seen to stays as it is.
    seen = getattr(error, "_ms_hidden", None)
    if seen is None and _is_failure(error):
        return
    left = _without_ours(error.__traceback__, seen.left if isinstance(seen, _Seen) else None)
    mark(error, "__traceback__", left)
    mark(error, "_ms_hidden", _Seen(left))
    if seen is None:
        _forget_compilation(error)


def _is_failure(error: BaseException) -> bool:
    """Whether this package has failed: neither the program raised the error, nor did the package by intention."""
    original = original_of(error)
    if isinstance(original, Unsupported) or is_raised(original):
        return False
    known, last = marked(error), original.__traceback__
    if known is not None or last is None:
        return known is False
    # Eager code of the package, which has no borders.
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    if not is_ours(code.co_filename):
        return False
    if isinstance(error, (AssertionError, SystemError)):
        return True
    raised = code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]
    return not raised and not str(error).startswith("For '")


class _Seen:
    """The part of a traceback that has been seen to. Exceptions are pickled without it."""

    def __init__(self, left: types.TracebackType | None):
        self.left = left

    def __reduce__(self) -> tuple:
        return bool, ()


def _without_ours(
    trace: types.TracebackType | None, done: types.TracebackType | None
) -> types.TracebackType | None:
    """The part of a traceback that is not of this package. From `done` on it has none."""
    first, kept = trace, list[Any]()
    while trace is not None and trace is not done:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    following = [*kept[1:], trace]
    if first is not trace and first not in kept[:1]:
        # Python 3.10 keeps the entry of the frame that raises again.
        following.insert(0, kept[0] if kept else trace)
        kept.insert(0, first)
    else:
        first = None
    for entry, after in zip(kept, following):
        if entry.tb_next is not after:
            entry.tb_next = after
    return next((entry for entry in kept if entry is not first), trace)


def _forget_compilation(error: BaseException) -> None:
    """An exception may live long, and would keep what its compilation held."""
    original = getattr(error, "_ms_original", None)
    for e in (error, original):
        state = getattr(e, "__dict__", None)
        if state is not None:
            state.pop("_ms_expression", None)
    if original is not None and original is not error:
        original.__traceback__ = None
