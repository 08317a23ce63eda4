"""What compiled code rests on of objects and classes: when it changes between two calls, the second call sees it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit

X = Tensor([1.0, 2.0, 3.0])


def scale(x, by=2):
    return x * by


class Plain:
    """An object without methods."""


def class_attributes():
    class Kind:
        factor = 1.0

        def scaled(self, x):
            return x * self.factor

    kind = Kind()
    return lambda x: kind.scaled(x), [
        lambda: setattr(Kind, "factor", 3.0),
        lambda: setattr(kind, "factor", 4.0),
        lambda: setattr(Kind, "scaled", lambda self, x: x + 100),
        lambda: setattr(kind, "scaled", lambda x: x - 1),
    ]


def properties():
    class Kind:
        held = 1.0

        @property
        def twice(self):
            return self.held * 2

    kind = Kind()
    return lambda x: x * kind.twice, [
        lambda: setattr(kind, "held", 4.0),
        lambda: setattr(Kind, "twice", property(lambda self: 11.0)),
    ]


def objects_that_are_made():
    class Made:
        factor = 1.0

        def __init__(self, value):
            self.value = value

        @property
        def signed(self):
            return self.value * 2 if self.value.sum() > 0 else self.value * 3

        def get(self):
            return self.value

    def program(x):
        a, b = Made(x), Made(-x)
        return a.signed + a.factor, b.signed, a.get()

    return program, [
        lambda: setattr(Made, "factor", 5.0),
        lambda: setattr(Made, "signed", property(lambda self: self.value + 100)),
        lambda: setattr(Made, "get", lambda self: self.value - 7),
    ]


def attributes_found_by_a_method():
    values = {"a": 1.0}

    class Finder:
        def __getattr__(self, name):
            if name in values:
                return values[name]
            raise AttributeError(name)

    finder = Finder()
    return lambda x: x * finder.a, [lambda: values.update(a=6.0)]


def attributes_that_come_and_go():
    thing = Plain()
    return lambda x: x * getattr(thing, "k", 1) + hasattr(thing, "z"), [
        lambda: setattr(thing, "k", 3),
        lambda: setattr(thing, "z", 0),
        lambda: delattr(thing, "k"),
    ]


def default_values():
    def program(x, by=2):
        return scale(x) * by

    return program, [lambda: setattr(scale, "__defaults__", (5,))]


def partial_functions():
    held = [functools.partial(scale, by=3)]
    return lambda x: held[0](x), [
        lambda: held.__setitem__(0, functools.partial(scale, by=4)),
        lambda: held[0].keywords.update(by=9),
    ]


def parameters():
    p = Parameter(Tensor([1.0, 2.0, 3.0]), name="before")
    return lambda x: (x * p, p.requires_grad, p.name), [
        lambda: p.set_data(Tensor([4.0, 4.0, 4.0])),
        lambda: setattr(p, "requires_grad", False),
        lambda: setattr(p, "name", "after"),
    ]


def environment():
    os.environ["MS_TEST_FACTS"] = "1"

    def program(x):
        first = int(os.environ.get("MS_TEST_FACTS", "0"))
        return x * first * int(os.getenv("MS_TEST_FACTS")) * int(os.environ["MS_TEST_FACTS"])

    return program, [lambda: os.environ.update(MS_TEST_FACTS="3")]


CASES = [class_attributes, properties, objects_that_are_made, attributes_found_by_a_method]
CASES += [attributes_that_come_and_go, default_values, partial_functions, parameters, environment]


def results(make: Callable, compiled: bool) -> list:
    """What a program gives before and after each change."""
    program, changes = make()
    function = jit(program) if compiled else program
    found = [function(X)]
    for change in changes:
        change()
        found.append(function(X))
    return found


def plain(value: object) -> object:
    """Lists for tensors."""
    if isinstance(value, ms.Tensor):
        return value.asnumpy().tolist()
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
@pytest.mark.filterwarnings("ignore:.*runs eagerly")
def test_a_change_is_seen(make, monkeypatch):
    monkeypatch.setattr(scale, "__defaults__", (2,))
    monkeypatch.setenv("MS_TEST_FACTS", "1")
    eager = list(map(plain, results(make, False)))
    scale.__defaults__ = (2,)
    assert list(map(plain, results(make, True))) == eager
