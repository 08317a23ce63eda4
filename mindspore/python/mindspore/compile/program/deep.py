"""Room for deep programs: the front end recurses with the nesting of expressions, branches and calls, a dozen Python calls for one
of the user. What does not fit the usual stack is traced once more on a thread with a big one; only what is touched of it costs
memory."""

from __future__ import annotations

import contextvars
import ctypes
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

LIMIT = 6000  # calls of Python on the usual stack
_DEEP_LIMIT = 200_000
_DEEP_STACK = 512 << 20
_stack_size = threading.Lock()  # the size is the process's


def call(work: Callable[[], Any], can_repeat: Callable[[], bool]) -> Any:
    """`work()`, which may recurse deeply; then it is done again, if `can_repeat()` after what has been done. The caller puts
    the limit of recursion back."""
    try:
        return work()
    except RecursionError as error:
        if not can_repeat():
            raise
        shallow = error
    results: list = []
    origin = sys._getframe()
    ended = threading.Event()
    here = contextvars.copy_context()
    thread = threading.Thread(
        target=here.run, args=(_enter, work, results, origin, ended), daemon=True
    )
    with _stack_size:
        size = threading.stack_size(_DEEP_STACK)
        try:
            thread.start()
        except RuntimeError:  # there is no room for such a stack
            raise shallow from None
        finally:
            threading.stack_size(size)
    _wait(thread, ended)
    value, failure = results
    if failure is not None:
        raise failure
    return value


def _wait(thread: threading.Thread, ended: threading.Event) -> None:
    """Until the thread ends. An interrupt ends it first: what it needs of the process must stay as it is so long. (A join
    that is interrupted takes the thread for ended.)"""
    interrupt: BaseException | None = None
    while not ended.is_set():
        try:
            ended.wait()
        except BaseException as error:
            interrupt = error
            raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
            raise_in(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
    if interrupt is not None:
        raise interrupt


def caller(frame: types.FrameType) -> types.FrameType | None:
    """The frame that called this one, also across the border between the two stacks."""
    if frame.f_code is _enter.__code__:
        return frame.f_locals["origin"]
    return frame.f_back


def _enter(
    work: Callable[[], Any], results: list, origin: types.FrameType, ended: threading.Event
) -> None:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEP_LIMIT))
    try:
        results[:] = [work(), None]
    except BaseException as error:
        results[:] = [None, error]
    finally:
        ended.set()
