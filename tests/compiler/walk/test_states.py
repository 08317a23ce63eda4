"""Plain Python that reads an object from outside - conversions, copies, comparisons, containers of the standard library - reads what it
holds at each call, as in eager code."""

from __future__ import annotations

import collections
import copy
import dataclasses
import operator
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, nn
from mindspore.compile.walk import states


@dataclasses.dataclass
class Config:
    scale: int = 1
    inner: Any = None


class Number:
    def __init__(self):
        self.value = 1

    def __float__(self):
        return float(self.value)

    def __int__(self):
        return self.value

    def __bool__(self):
        return self.value > 1

    def __str__(self):
        return str(self.value)

    def __abs__(self):
        return self.value


class Rows(list):
    """A list with an attribute."""


CONFIG = Config(inner=Config())
NUMBER = Number()
USER_DICT = collections.UserDict(a=1)
USER_LIST = collections.UserList([1])
CHAIN = collections.ChainMap({"a": 1})
ROWS = Rows()


def change(value: int) -> None:
    CONFIG.scale = NUMBER.value = ROWS.scale = value
    CONFIG.inner.scale = value
    USER_DICT["a"] = USER_LIST[0] = CHAIN["a"] = value


PROGRAMS: dict[str, Any] = {
    "float": lambda x: x * float(NUMBER),
    "int": lambda x: x * int(NUMBER),
    "bool": lambda x: x * 5 if NUMBER else x,
    "abs": lambda x: x * abs(NUMBER),
    "str": lambda x: x * int(str(NUMBER)),
    "f-string": lambda x: x * int(f"{NUMBER}"),
    "copy": lambda x: x * copy.copy(CONFIG).scale,
    "deepcopy": lambda x: x * copy.deepcopy(CONFIG).inner.scale,
    "asdict": lambda x: x * dataclasses.asdict(CONFIG)["inner"]["scale"],
    "replace": lambda x: x * dataclasses.replace(CONFIG, inner=None).scale,
    "repr": lambda x: x * len(repr(CONFIG)),
    "equal": lambda x: x if Config(1, Config(1)) == CONFIG else -x,
    "attrgetter": lambda x: x * operator.attrgetter("inner.scale")(CONFIG),
    "UserDict": lambda x: x * USER_DICT["a"] + USER_DICT.get("a"),
    "UserList": lambda x: x * USER_LIST[0] + sum(USER_LIST),
    "ChainMap": lambda x: x * CHAIN["a"],
    "attribute of a list": lambda x: x * ROWS.scale,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_an_object_holds_is_a_fact(name):
    program = PROGRAMS[name]
    compiled = jit(program, fullgraph=True)
    x = Tensor([1.0, 2.0])
    for value in (1, 2, 30, 1):
        change(value)
        assert compiled(x).asnumpy().tolist() == program(x).asnumpy().tolist()


def test_what_stays_is_not_compiled_again(caplog):
    compiled = jit(PROGRAMS["asdict"], fullgraph=True)
    change(3)
    with caplog.at_level("INFO", "mindspore.compile"):
        for _ in range(3):
            compiled(Tensor([1.0]))
    assert len([r for r in caplog.records if "compil" in r.getMessage()]) <= 1


class Deep(nn.Cell):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def construct(self, x):
        for layer in self.layers:
            x = layer(x) + x
        return x


@pytest.mark.parametrize("make", [nn.CellList, list, tuple])
def test_cells_of_a_container_are_no_states_of_it(make, monkeypatch):
    """However many there are: a network of thousands of layers is compiled whole."""
    monkeypatch.setattr(states, "_MAX_OBJECTS", 10)
    net = Deep(make([nn.Dense(2, 2) for _ in range(20)]))
    x = Tensor(np.ones((1, 2), np.float32))
    run = ms.jit(net.construct, fullgraph=True)
    np.testing.assert_allclose(run(x).asnumpy(), net.construct(x).asnumpy(), rtol=1e-5)
