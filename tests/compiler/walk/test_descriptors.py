"""Attributes of objects that compiled code makes, where the class says how they are set and read: that is code of the program, whose
facts and effects are those of eager code."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from mindspore import Tensor, jit

SCALE = 2.0
LOG: list[Any] = []


class Property:
    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        self._v = value * SCALE


class Setting:
    def __setattr__(self, name, value):
        super().__setattr__(name, value * SCALE)


class Writing:
    def __setattr__(self, name, value):
        self.__dict__[name] = f"{name}={value}"


class Finding:
    def __getattr__(self, name):
        return Tensor([1.0]) * SCALE + len(name)


class Logging:
    def __setattr__(self, name, value):
        LOG.append(name)
        object.__setattr__(self, name, value)


class Descriptor:
    def __get__(self, owner, kind=None):
        return owner.__dict__["kept"] * SCALE

    def __set__(self, owner, value):
        owner.__dict__["kept"] = value + SCALE


class Described:
    v = Descriptor()


class Default(dict):
    def __missing__(self, key):
        return key * SCALE


def set_and_get(kind):
    def program(x):
        made = kind()
        made.v = x
        return made.v

    return program


def by_name(x):
    made, name = Property(), "v"
    setattr(made, name, x)
    return getattr(made, name)


PROGRAMS: dict[str, Any] = {
    **{k.__name__: set_and_get(k) for k in (Property, Setting, Writing, Logging, Described)},
    "finding": lambda x: Finding().anything + x,
    "by name": by_name,
    "missing": lambda x: (x * Default(a=1)[3], Default(a=1)["a"], Default().get(3)),
}


def outcomes(program: Any) -> list:
    """Two calls, between which the global changes that the classes read."""
    global SCALE
    LOG.clear()
    seen = []
    for SCALE in (2.0, 5.0):
        seen.append(repr(program(Tensor([1.0, SCALE]))))
    return [*seen, list(LOG)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_setting_and_reading_are_part_of_the_program(name):
    eager = outcomes(PROGRAMS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what returns texts or changes LOG runs eagerly
        assert outcomes(jit(PROGRAMS[name])) == eager


@pytest.mark.parametrize("name", ["Property", "Setting", "Described", "finding", "missing"])
def test_they_are_compiled(name):
    assert outcomes(jit(PROGRAMS[name], fullgraph=True)) == outcomes(PROGRAMS[name])
