"""The form of a case: a function or a Cell in Python that the page docs/language.md shows and the tests run, in both modes and with
its gradient. `lines`: what of it is not compiled but runs eagerly in between, in words; None when it compiles whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore import Tensor


@dataclass
class Case:
    """One construct of the language."""

    section: str
    title: str
    program: Any  # a function, or a Cell class
    inputs: Callable[[], tuple]
    gradient: bool
    lines: str | None

    @property
    def name(self) -> str:
        """For test ids."""
        return self.program.__name__


CASES: list[Case] = []


def vector() -> tuple:
    """The usual input: three floats."""
    return (Tensor(np.array([1.5, -2.0, 3.0], np.float32)),)


def matrix() -> tuple:
    """A 3 x 4 matrix."""
    return (Tensor(np.arange(12, dtype=np.float32).reshape(3, 4) - 5),)


def scalar() -> tuple:
    """One float."""
    return (Tensor(np.float32(2.5)),)


def two() -> tuple:
    """Two vectors."""
    return (*vector(), Tensor(np.array([0.5, 4.0, -1.0], np.float32)))


def indexed() -> tuple:
    """A vector and a position in it."""
    return (*vector(), Tensor(np.int32(2)))


def section(name: str) -> Callable:
    """A decorator maker for the cases of a section: `@case("title", inputs=..., gradient=..., lines=...)`."""

    def case(
        title: str,
        inputs: Callable[[], tuple] = vector,
        gradient: bool = True,
        lines: str | None = None,
    ) -> Callable:
        def add(program: Any) -> Any:
            CASES.append(Case(name, title, program, inputs, gradient, lines))
            return program

        return add

    return case
