"""Text that compiled code makes of objects, and of what changes in place afterwards, says what it says in eager code."""

from __future__ import annotations

import dataclasses
import logging
import warnings
from typing import Any

import pytest

from mindspore import Tensor, jit

BRACES, PERCENT = "{} {}", "%s %r"


class Shown:
    def __init__(self, x):
        self.x = x

    def __str__(self):
        return f"shown {self.x}"

    def __repr__(self):
        return f"Shown({self.x})"


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any = None


@dataclasses.dataclass(slots=True)
class Slots:
    a: Any


class Named(list):
    def __init__(self, x):
        super().__init__([1])
        self.x = x

    def __repr__(self):
        return f"Named({self.x})"


def objects(x):
    print(Shown(x), [Pair(x, [x, Pair(x * 2)])], {"slots": Slots(x)}, Pair(1))
    print(f"{Pair(x)!r:>5}|{Shown(x)}", BRACES.format(Shown(x), 1), PERCENT % (Shown(x), Slots(x)))


def text_of_an_object_that_changes(x):
    shown = Shown(x)
    text = str(shown)
    shown.x = x * 9
    print(text, shown)


def text_of_a_tensor_that_changes(x):
    y = x * 1
    text = f"{y} {[y]}"
    y[0] = 9
    print(text, y)


def text_of_a_list_that_changes(x):
    items = [x]
    text = str(items)
    items.append(x)
    print(text, items)


def in_a_loop(x):
    shown, i = Shown(x), x.sum() * 0
    while i < 2:
        shown.x = shown.x + 1
        print(shown, i)
        i = i + 1


def chosen(x):
    pair = Pair(x)
    if x.sum() > 0:
        pair.b = x * 2
    else:
        pair.a = 1
    print(pair)


def list_with_attributes(x):
    print(Named(x))


def of_itself(x):
    pair = Pair(x)
    pair.b = pair
    print(pair)


COMPILED = [
    objects,
    text_of_an_object_that_changes,
    text_of_a_tensor_that_changes,
    text_of_a_list_that_changes,
    in_a_loop,
]


def said(program: Any, capsys: Any) -> str:
    for value in (1.0, -2.0):
        program(Tensor([value]))
    return capsys.readouterr().out


@pytest.mark.parametrize("program", COMPILED, ids=lambda p: p.__name__)
def test_text_is_that_of_eager_code(program, capsys):
    eager = said(program, capsys)
    assert said(jit(program, fullgraph=True), capsys) == eager


@pytest.mark.parametrize(
    "program", [chosen, list_with_attributes, of_itself], ids=lambda p: p.__name__
)
def test_so_it_is_where_lines_run_eagerly(program, capsys):
    eager = said(program, capsys)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert said(jit(program), capsys) == eager


def test_loggers_are_found_and_asked(caplog):
    def f(x):
        logger = logging.getLogger("mindspore.tests.texts")
        logger.warning("x is %s", Shown(x))
        return x if logger.isEnabledFor(logging.DEBUG) else -x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is enabled is asked between two graphs
        compiled = jit(f)
        results = []
        for level in (logging.DEBUG, logging.WARNING):
            with caplog.at_level(level, "mindspore.tests.texts"):
                results.append(compiled(Tensor([2.0])).asnumpy().tolist())
    assert results == [[2], [-2]]
    assert [r.getMessage() for r in caplog.records] == ["x is shown [2.]"] * 2
