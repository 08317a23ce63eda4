"""Failures of the user's own functions: the message shows the user's line, not the pipeline's."""

from __future__ import annotations

import linecache
import os
from types import TracebackType
from typing import Any

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def describe(function: Any) -> str:
    """A short name of a callable."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    code = getattr(function, "__code__", None)
    if name == "<lambda>" or "<lambda>" in name:
        return f"lambda at {code.co_filename}:{code.co_firstlineno}" if code else "a lambda"
    return str(name)


def user_line(trace: TracebackType | None) -> str:
    """ "file:line in function: source" of the innermost frame that is the user's.

    "" when there is none.
    """
    found = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        inside = os.path.abspath(code.co_filename).startswith(_HERE + os.sep)
        if not inside and (not found or not is_library(code.co_filename)):
            source = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            found = f"{code.co_filename}:{trace.tb_lineno} in {code.co_name}:   {source}"
        trace = trace.tb_next
    return found


def is_library(filename: str) -> bool:
    """Whether a file of code is of an installed package, or of none."""
    return (
        "site-packages" in filename
        or filename.startswith("<")
        or f"{os.sep}lib{os.sep}python" in filename
    )


def failure(op: str, what: str, error: BaseException) -> RuntimeError:
    """The error to raise instead of `error`, which user code raised."""
    line = user_line(error.__traceback__)
    text = f"For '{op}', {what} raised {type(error).__name__}: {error}"
    return RuntimeError(f"{text}\n  {line}" if line else text)
