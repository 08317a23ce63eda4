"""What Python does with objects of users, functions and containers in compiled code: special methods, changes in place, decorators,
defaults, variables of comprehensions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from mindspore import Tensor, grad, jit

X = Tensor([1.5, -2.0, 3.0])


def plain(value: Any) -> Any:
    """Lists for tensors."""
    if isinstance(value, Tensor):
        return (str(value.dtype), value.asnumpy().tolist())
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


class Vec:
    """Has most special methods; some decide by a tensor."""

    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        yield from self.items

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, value):
        self.items[i] = value

    def __delitem__(self, i):
        del self.items[i]

    def __contains__(self, value):
        return any(value is item for item in self.items)

    def __call__(self, x):
        if x.sum() > 0:
            return [item * 2 for item in self.items]
        return [item * 3 for item in self.items]

    def __eq__(self, other):
        return len(self) == len(other)

    def __lt__(self, other):
        return self.items[0].sum() < other.items[0].sum()

    def __hash__(self):
        return 1

    def __neg__(self):
        return Vec(*(-item for item in self.items))

    def __add__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return Vec(*(a + b for a, b in zip(self, other)))

    def __radd__(self, other):
        return other + self.items[0]

    def __mul__(self, other):
        if other.sum() > 0:
            return Vec(*(item * other for item in self.items))
        return self

    def __iadd__(self, other):
        self.items.append(other)
        return self

    @classmethod
    def twice(cls, x):
        return cls(x, x)


class Other(Vec):
    """Its own reflected operator goes first."""

    def __radd__(self, other):
        return "other"


def items(x):
    v = Vec(x, x * 2)
    v[0] = x * 5
    w = Vec.twice(x)
    del w[0]
    return len(v), list(v), v[1], x in v, v == Vec(1, 2), v != Vec(1), w.items, [*v]


def operators(x):
    v, w = Vec(x, x * 2), Vec(x * 3, x * 4)
    return (v + w).items, 1 + v, (-v).items, (v * x).items, v < w, v + Other(x), v > w


def calls(x):
    return Vec(x, 1)(x), Vec(x)(-x)


def changes_in_place(x):
    v = Vec(x)
    same = v
    v += x * 7
    pair, table, numbers = {1, 2}, {"a": x}, [x]
    other_pair, other_table, other_numbers = pair, table, numbers
    pair |= {3}
    table |= {"b": 2}
    numbers *= 2
    numbers += (v,)
    other_pair -= {1}
    return same.items, sorted(pair), other_table, len(other_numbers), same is v, pair is other_pair


def scaled(by):
    def decorate(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs) * by

        return inner

    return decorate


def decorated(x):
    @scaled(3)
    def plus(v, more=1):
        return v + more

    plus.note = 5
    return plus(x), plus(x, more=2), plus.__name__, plus.note, plus.__wrapped__(x)


def comprehension_variables(x):
    found = [(last := i) * x for i in range(3)]
    return found[-1], last, [i for i in range(6) if (half := i // 2)], half


PROGRAMS = [items, operators, calls, changes_in_place, decorated, comprehension_variables]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python_does(function):
    compiled = jit(function, fullgraph=True)
    for x in (X, -X):
        assert plain(compiled(x)) == plain(function(x))


def test_gradients_pass_through_methods():
    def loss(x):
        return (Vec(x, x * 2) * x)[1].sum() + Vec(x)(x)[0].sum()

    for x in (X, -X):
        expected = grad(loss)(x).asnumpy()
        got = jit(lambda v: grad(loss)(v), fullgraph=True)(x).asnumpy()
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_default_value_that_changes_runs_eagerly():
    def collect(x, seen=[]):  # noqa: B006
        seen.append(1)
        return x * len(seen)

    with pytest.warns(UserWarning, match="made outside of it"):
        function = jit(collect)
        got = [function(X).asnumpy()[0] for _ in range(3)]
    assert got == [1.5, 3.0, 4.5]


def test_an_object_from_outside_does_not_change_while_compiling():
    kept = Vec(X)

    def change(x):
        kept[0] = x * 2
        return x

    with pytest.warns(UserWarning):
        jit(change)(X)
    assert plain(kept.items) == [plain(X * 2)]
    with pytest.raises(TypeError, match="made outside of it"):
        jit(change, fullgraph=True)(X)


def test_what_looks_at_its_frame_runs_eagerly():
    def by_locals(x):
        return locals()["x"] * 2

    def by_eval(x):
        k = 3.0
        return eval("x * k") + k

    def by_exec(x):
        exec("y = 5")
        return x, sorted(dir())

    def by_vars(x):
        return vars(Vec(x))["items"][0]

    for function in (by_locals, by_eval, by_exec, by_vars):
        with pytest.warns(UserWarning, match="looks at the frame"):
            assert plain(jit(function)(X)) == plain(function(X))


def test_attributes_are_deleted():
    def delete(x):
        v = Vec(x)
        v.extra = x * 2
        del v.items
        return hasattr(v, "items"), v.extra

    assert plain(jit(delete, fullgraph=True)(X)) == plain(delete(X))
    kept = Vec(X)

    def delete_outside(x):
        del kept.items
        return x

    with pytest.raises(TypeError, match="objects that it did not make"):
        jit(delete_outside, fullgraph=True)(X)
    with pytest.warns(UserWarning):
        jit(delete_outside)(X)
    assert not hasattr(kept, "items")


class Left:
    """Says which of its methods was called."""

    def __add__(self, other):
        return 1

    def __radd__(self, other):
        return 2

    def __lt__(self, other):
        return 3

    def __gt__(self, other):
        return 4


class Heir(Left):
    """Takes all methods over."""


class Stubborn(Left):
    """Has its own for the right operand, and none for the left one."""

    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return 5


def test_whose_method_is_asked_first() -> None:
    def function(x):
        return x * (Left() + Heir()), x * (Left() + Stubborn()), x * (Left() < Heir())

    assert plain(jit(function, fullgraph=True)(X)) == plain(function(X))


def test_the_right_operand_is_not_asked_where_the_left_one_is_of_its_type() -> None:
    def function(x):
        return x * (Stubborn() + Stubborn())

    for run in (function, jit(function)):
        with pytest.raises(TypeError, match="unsupported operand"):
            run(X)
