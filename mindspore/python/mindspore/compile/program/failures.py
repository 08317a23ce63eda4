"""Whose an exception is that comes up while a program is traced. The program's own is caught by its handlers, or raised when the graph
runs and takes the branch. A failure of the compiler must not become one that eager code would never raise: the call runs eagerly
instead. What the borders say decides (borders.py)."""

from __future__ import annotations

from mindspore import _core
from mindspore.compile.program.borders import marked
from mindspore.compile.program.errors import Inseparable, Unsupported
from mindspore.compile.program.marks import is_raised, original_of


class Again(Exception):
    """Of no program: who asked for the compilation has learnt something, and asks again."""


class NumberDecides(Exception):
    """A number that was tried as an input is needed while compiling."""


# What the compiler says of programs.
_SAID = (Unsupported, NumberDecides, _core.SymbolicSizeError)


def is_of_compiler(error: BaseException) -> bool:
    """Whether the compiler asks by this error for another way to compile: no handler of the program takes it."""
    return isinstance(original_of(error), (*_SAID, Again))


def is_of_program(error: BaseException) -> bool:
    """Whether eager code, too, would raise this error here, or the compiler says it of the program."""
    error = original_of(error)
    return isinstance(error, _SAID) or is_raised(error) or bool(marked(error))


def failed(error: BaseException) -> Inseparable:
    """The refusal to compile what the compiler fails on."""
    return Inseparable(f"the compiler failed: {type(error).__name__}: {error}")
