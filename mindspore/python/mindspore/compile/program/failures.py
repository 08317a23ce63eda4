"""Whose an exception is that comes up while a branch is traced. The program's own is raised when the graph runs and takes that
branch. A failure of the compiler must not become one that eager code would never raise: the call runs eagerly instead."""

from __future__ import annotations

import types
from opcode import opmap
from pathlib import Path

from mindspore import _core
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.places import is_ours

_COMPILER = Path(__file__).parent.parent


class Again(Exception):
    """Of no program: who asked for the compilation has learnt something, and asks again."""


class NumberDecides(Exception):
    """A number that was tried as an input is needed while compiling."""


# What the compiler says of programs.
_SAID = (Unsupported, NumberDecides, _core.SymbolicSizeError)
# Set in modules where operations of the program are applied to its values: what these raise comes out of no other Python frame.
_APPLIES = "APPLIES_OPERATIONS"


def is_of_compiler(error: BaseException) -> bool:
    """Whether the compiler asks by this error for another way to compile: no handler of the program takes it."""
    return isinstance(getattr(error, "_ms_original", error), (*_SAID, Again))


def is_of_program(error: BaseException) -> bool:
    """Whether eager code, too, would raise this error here."""
    error = getattr(error, "_ms_original", error)
    if hasattr(error, "_ms_raised") or isinstance(error, _SAID):
        return True
    if isinstance(error, (Again, AssertionError, SystemError)) or "internal error" in str(error):
        return False
    last = _innermost(error.__traceback__)
    if last is None:
        return True
    code = last.tb_frame.f_code
    if not code.co_filename.startswith(str(_COMPILER)):
        return True
    if code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]:
        return True  # as Python says it
    own = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    ours = type(own).__module__.startswith("mindspore.compile") or isinstance(error, NameError)
    return last.tb_frame.f_globals.get(_APPLIES, False) and not ours


def is_failure(error: BaseException) -> bool:
    """Whether this package has failed: neither the program raised the error, nor did the package by intention."""
    original = getattr(error, "_ms_original", error)
    last = _innermost(original.__traceback__)
    if last is None or hasattr(original, "_ms_raised"):
        return "internal error" in str(error)
    code = last.tb_frame.f_code
    if code.co_filename.startswith(str(_COMPILER)):
        return not is_of_program(error)
    if not is_ours(code.co_filename) or isinstance(error, _SAID):
        return False
    if isinstance(error, (AssertionError, SystemError)):
        return True
    raised = code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]
    return not raised and not str(error).startswith("For '")


def _innermost(trace: types.TracebackType | None) -> types.TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace
