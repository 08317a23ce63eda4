"""What users see of a traceback: their own lines. Where an exception leaves this package, the frames of the package are taken out of
its traceback, unless the package itself has failed, or MS_FULL_TRACEBACK=1 asks for all."""

from __future__ import annotations

import os
import types

from mindspore import _core
from mindspore.compile.failures import is_failure
from mindspore.compile.places import is_ours


def hide(error: BaseException) -> None:
    """Called by what users call, about an exception on its way to them; it must then be raised by a bare `raise`."""
    if _core.is_tracing() or os.environ.get("MS_FULL_TRACEBACK", "0") not in ("", "0"):
        return
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while pending:
        e = pending.pop()
        if e is None or id(e) in seen:
            continue
        seen.add(id(e))
        if not is_failure(e):
            e.__traceback__ = _without_ours(e.__traceback__)
            _forget_compilation(e)
        pending += [e.__cause__, e.__context__]


def _without_ours(trace: types.TracebackType | None) -> types.TracebackType | None:
    """The part of a traceback that is not of this package."""
    first, kept = trace, []
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    following = [*kept[1:], None]
    if first is not None and first not in kept[:1]:
        # Python 3.10 keeps the entry of the frame that raises again.
        following.insert(0, kept[0] if kept else None)
        kept.insert(0, first)
    else:
        first = None
    for entry, after in zip(kept, following):
        if entry.tb_next is not after:
            entry.tb_next = after
    return next((entry for entry in kept if entry is not first), None)


def _forget_compilation(error: BaseException) -> None:
    """An exception may live long, and would keep what its compilation held."""
    original = getattr(error, "_ms_original", None)
    for e in (error, original):
        state = getattr(e, "__dict__", None)
        if state is not None:
            state.pop("_ms_expression", None)
    if original is not None and original is not error:
        original.__traceback__ = None
