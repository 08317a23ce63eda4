"""Objects of a user's classes that compiled code makes: what `__new__`, `__init__` and `__post_init__` read, draw, change and say is
what eager code reads, draws, changes and says, on every call."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest

from mindspore import Tensor, grad, jit

SCALE = 2.0
LOG: list[Any] = []


class Text:
    def __init__(self, v):
        self.text = f"<{v}> {v!r} {v.sum():.1f}"


class TextOfNew:
    def __new__(cls, v):
        made = object.__new__(cls)
        made.text = str(v)
        return made


class Reads:
    def __init__(self, v):
        self.v = v * SCALE


class Draws:
    def __init__(self, v):
        self.v = v * np.random.rand()


class Counts:
    made = 0

    def __init__(self, v):
        Counts.made += 1
        self.v = v * Counts.made


class Logs:
    def __init__(self, v):
        LOG.append(v)
        self.v = v


class Counted(type):
    def __call__(cls, *args):
        LOG.append(cls.__name__)
        return super().__call__(*args)


class MadeByMeta(metaclass=Counted):
    def __init__(self, v):
        self.v = v


@dataclasses.dataclass
class After:
    v: Any
    scale: float = dataclasses.field(default_factory=lambda: SCALE)
    twice: dataclasses.InitVar[bool] = False

    def __post_init__(self, twice):
        self.v = self.v * (2 * SCALE if twice else SCALE)
        LOG.append(twice)


@dataclasses.dataclass(frozen=True)
class Frozen:
    v: Any
    text: str = ""

    def __post_init__(self):
        object.__setattr__(self, "text", f"{self.v}")


class Base:
    def __init__(self, v, *more, factor=1.0):
        self.v = v * factor
        self.more = more


class Derived(Base):
    def __init__(self, v):
        super().__init__(v, 1, 2, factor=3.0)
        if self.v.sum() > 0:
            self.v = self.v + 100


class Items(list):
    def __init__(self, v):
        super().__init__([v, v * 2])


class Bad:
    def __init__(self, v):
        self.v = v
        return v


PROGRAMS: dict[str, Any] = {
    "text": lambda x: Text(x).text,
    "text of new": lambda x: TextOfNew(x).text,
    "reads": lambda x: Reads(x).v,
    "draws": lambda x: Draws(x).v,
    "counts": lambda x: Counts(x).v,
    "logs": lambda x: Logs(x * 2).v,
    "metaclass": lambda x: MadeByMeta(x).v,
    "after": lambda x: After(x).v,
    "after twice": lambda x: After(x, twice=True).v,
    "frozen": lambda x: Frozen(x).text,
    "derived": lambda x: (Derived(x).v, Derived(-x).v, Derived(x).more),
    "items": lambda x: Items(x)[1] + len(Items(x)),
    "bad": lambda x: Bad(x).v,
}


def outcomes(program: Any) -> list:
    """Three calls, between which what constructors read changes, and what was left behind."""
    global SCALE
    SCALE, Counts.made = 2.0, 0
    LOG.clear()
    np.random.seed(5)
    seen = []
    for step in range(3):
        try:
            seen.append(repr(program(Tensor([1.0 + step, -0.5]))))
        except TypeError as error:
            seen.append(str(error).partition("\n")[0])
        SCALE += 1
    return [*seen, repr(LOG), Counts.made]


@pytest.mark.parametrize("name", PROGRAMS)
def test_making_an_object_is_part_of_the_program(name):
    program = PROGRAMS[name]
    eager = outcomes(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some run eagerly
        assert outcomes(jit(program)) == eager


@pytest.mark.parametrize("name", ["reads", "derived", "items"])
def test_constructors_are_compiled(name):
    program = PROGRAMS[name]
    assert outcomes(jit(program, fullgraph=True)) == outcomes(program)


def test_gradients_go_through_constructors():
    def f(x):
        return (Derived(x).v * Reads(x).v).sum()

    x = Tensor([1.0, 2.0])
    want = grad(f)(x).asnumpy()
    np.testing.assert_allclose(jit(grad(f), fullgraph=True)(x).asnumpy(), want, rtol=1e-6)


def test_another_constructor_is_another_version(monkeypatch):
    @jit(fullgraph=True)
    def f(x):
        return Reads(x).v

    x = Tensor([1.0])
    before = f(x).asnumpy().tolist()
    monkeypatch.setattr(Reads, "__init__", lambda self, v: setattr(self, "v", v - 7))
    assert before == [SCALE]
    assert f(x).asnumpy().tolist() == [-6]


def test_join_takes_what_is_iterable(capsys):
    def f(x):
        print(",".join(f"{i}:{v}" for i, v in enumerate(x)), " ".join(map(str, [x, 1])))
        print("-".join({"a": x, "b": x}), "/".join({"k": str(x.sum())}.values()))

    x = Tensor([1.0, -3.0])
    f(x)
    eager = capsys.readouterr().out
    jit(f, fullgraph=True)(x)
    assert capsys.readouterr().out == eager
