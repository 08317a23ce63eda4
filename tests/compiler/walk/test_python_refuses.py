"""What Python itself refuses, compiled code refuses too, with Python's words: keywords of calls, and division by zero."""

from __future__ import annotations

import collections

import pytest

from mindspore import Tensor, grad, jit


def scaled(x, k=1):
    return x * k


class Scales:
    def by(self, x, k=1):
        return x * k


TWO, FIVE, PAIRS, NUMBERED = {"k": 2}, {"k": 5}, [("k", 2)], {1: 2}
KEY = {"key": abs}
KEYWORDS = {
    "twice": lambda x: scaled(x, k=5, **TWO),
    "twice, the other way": lambda x: scaled(x, **TWO, k=5),
    "in two dicts": lambda x: scaled(x, **FIVE, **TWO),
    "of a method": lambda x: Scales().by(x, k=5, **TWO),
    "of a builtin": lambda x: x * max([1, 2], key=abs, **KEY),
    "pairs": lambda x: scaled(x, **PAIRS),
    "a number": lambda x: scaled(x, **3),
    "no string": lambda x: scaled(x, **NUMBERED),
    "pairs in a dict": lambda x: x * {**PAIRS}["k"],
    "a number in a dict": lambda x: x * {**3}["k"],
}
TAKEN = {
    "dict": lambda x: scaled(x, **TWO),
    "ordered": lambda x: scaled(x, **collections.OrderedDict(k=2)),
    "chain": lambda x: scaled(x, **collections.ChainMap({"k": 2})),
    "in a dict": lambda x: x * {"k": 1, **TWO}["k"],
}


def said(function, *args):
    with pytest.raises((TypeError, ZeroDivisionError)) as raised:
        function(*args)
    return raised.type, str(raised.value).splitlines()[0]


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords(name):
    function, x = KEYWORDS[name], Tensor([1.0, 2.0])
    assert said(jit(function), x) == said(function, x)


@pytest.mark.parametrize("name", TAKEN)
def test_keywords_that_are_taken(name):
    assert jit(TAKEN[name], fullgraph=True)(Tensor([1.0, 2.0])).asnumpy().tolist() == [2.0, 4.0]


OPERATORS = {
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


@pytest.mark.parametrize("kinds", [(int, int), (float, float), (int, float), (float, int)])
@pytest.mark.parametrize("operation", OPERATORS)
def test_division_by_a_number_of_a_tensor(operation, kinds):
    divided = OPERATORS[operation]

    def function(x):
        return x * divided(kinds[0](7), kinds[1](x.sum()))

    compiled = jit(function, fullgraph=True)
    zero, two = Tensor([1.0, -1.0]), Tensor([1.0, 1.0])
    assert said(compiled, zero) == said(function, zero)
    assert compiled(two).asnumpy().tolist() == function(two).asnumpy().tolist()
    slopes = jit(lambda x: grad(function)(x), fullgraph=True)
    assert slopes(two).asnumpy().tolist() == grad(function)(two).asnumpy().tolist()


@pytest.mark.parametrize("operation", OPERATORS)
def test_division_by_zero_itself(operation):
    divided = OPERATORS[operation]

    def function(x):
        return x * divided(int(x.sum()), 0)

    x = Tensor([1.0, 1.0])
    assert said(jit(function), x) == said(function, x)


def test_division_in_a_loop_and_a_branch():
    def function(x, n):
        total = 0.0
        for i in range(n):
            if x[0] > 0:
                total = total + 6 / (int(x[0]) - i)
        return x * total

    compiled = jit(function, fullgraph=True)
    x = Tensor([3.0, 1.0])
    assert compiled(x, Tensor(3)).asnumpy().tolist() == function(x, Tensor(3)).asnumpy().tolist()
    assert said(compiled, x, Tensor(4)) == said(function, x, Tensor(4))
    assert compiled(-x, Tensor(9)).asnumpy().tolist() == [0.0, 0.0]


def test_tensors_are_divided_by_zero_as_ever():
    x = Tensor([1.0, -1.0])
    assert jit(lambda x: 1 / x.sum(), fullgraph=True)(x).asnumpy() == float("inf")
