"""Methods under jit whose object has no attributes of its own kind: slots alone, or a class."""

from __future__ import annotations

import enum
import gc
import weakref

import pytest

import mindspore as ms
from mindspore import Tensor, grad, jit
from mindspore.compile.versions import homes

X = Tensor([1.0, 2.0])


class Slotted:
    __slots__ = ("by",)

    def __init__(self, by):
        self.by = by

    @jit
    def scale(self, x):
        return x * self.by


class Kind:
    by = 2.0

    @classmethod
    @jit
    def scale(cls, x):
        return x * cls.by

    @staticmethod
    @jit
    def double(x):
        return x * 2


class Derived(Kind):
    by = 3.0


class Factor(enum.Enum):
    TWO = 2.0

    @classmethod
    @jit
    def scale(cls, x):
        return x * cls.TWO.value


def values(x):
    return x.asnumpy().tolist()


def test_slots():
    two, three = Slotted(2.0), Slotted(3.0)
    for _ in range(2):
        assert values(two.scale(X)) == [2.0, 4.0]
        assert values(three.scale(X)) == [3.0, 6.0]
    two.by = 5.0
    assert values(two.scale(X)) == [5.0, 10.0]
    assert two.scale.cache is two.scale.cache


def test_gradients_of_slotted_methods():
    two = Slotted(2.0)
    for by in (2.0, 4.0):
        two.by = by
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            try:
                assert values(grad(two.scale)(X)) == [by, by]
            finally:
                ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("kind, by", [(Kind, 2.0), (Derived, 3.0), (Factor, 2.0)])
def test_methods_of_classes(kind, by):
    for _ in range(2):
        assert values(kind.scale(X)) == [by, 2 * by]
    assert kind.scale.cache.compiled == 1
    assert values(grad(kind.scale)(X)) == [by, by]


def test_a_class_that_changes(monkeypatch):
    assert values(Kind.scale(X)) == [2.0, 4.0]
    monkeypatch.setattr(Kind, "by", 7.0)
    assert values(Kind.scale(X)) == [7.0, 14.0]
    assert values(Kind().scale(X)) == [7.0, 14.0]


def test_static_methods():
    assert values(Kind.double(X)) == values(Kind().double(X)) == [2.0, 4.0]


def test_classes_and_objects_go():
    class Local(Kind):
        pass

    Local.scale(X)
    kind = weakref.ref(Local)
    del Local
    gc.collect()
    assert kind() is None
    for by in range(100):
        Slotted(float(by)).scale(X)
    assert len(homes._beside) <= homes._MAX_BESIDE
