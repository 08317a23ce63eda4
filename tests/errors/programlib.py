"""The form of a wrong program: a function that a user might write, with the exception it must raise and the words that its message
must hold. Words like "x: Float32[2]" name operands. `modes` are those it is run in; `line`: the message shows the user's line;
`marks`: the expression that is marked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mindspore import Tensor, nn


@dataclass
class Program:
    """One wrong program."""

    run: Callable
    error: type | tuple
    says: list[str]
    operands: list[str]
    modes: tuple
    line: bool
    marks: str | None

    @property
    def file(self) -> str:
        """Where it is written."""
        return self.run.__code__.co_filename


PROGRAMS: list[Program] = []


def wrong(error, *says, modes=("eager", "graph"), line=True, marks=None):
    """Registers the decorated function."""

    def add(run):
        operands = [s for s in says if re.match(r"[\w.]+: \w+\[", s)]
        words = [s for s in says if s not in operands]
        PROGRAMS.append(Program(run, error, words, operands, modes, line, marks))
        return run

    return add


def f32(*shape):
    return Tensor(np.ones(shape, np.float32))


def i32(*values):
    return Tensor(np.array(values, np.int32))


class Wrap(nn.Cell):
    """A cell whose construct is the given function, so that the program runs in either mode."""

    def __init__(self, body, **members):
        super().__init__()
        self.body = body
        for name, value in members.items():
            setattr(self, name, value)

    def construct(self, *args):
        return self.body(self, *args)
