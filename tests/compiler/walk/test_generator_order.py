"""Loops over generators that share something with them: what each sees of the other is what it sees in Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from both_modes import plain

import mindspore as ms
from mindspore import Tensor, jit, ops

POINTS = ([1.0, 2.0], [-1.0, 4.0])


class Box:
    """An object with one attribute, which `grow` changes."""

    def __init__(self, value):
        self.value = value

    def grow(self):
        self.value = self.value + 1
        return self.value


def longer(items):
    items.append(1)
    return len(items)


def popping(items):
    while items:
        yield items.pop()


def growing(items):
    for _ in range(3):
        yield longer(items)


def of_attribute(box):
    for i in range(3):
        yield box.value * i


def of_items(items):
    for i in range(3):
        yield items[i]


def twice(items):
    for v in items:
        yield v * 2


def scaled(x, n):
    for i in range(n):
        yield x * i


def drawing():
    for _ in range(3):
        yield ops.standard_normal((2,))


def loop_sees_what_is_popped(x):
    items = [1, 2, 3, 4]
    seen = [(v, len(items)) for v in popping([1, 2])]
    for v in popping(items):
        if len(items) == 2:
            break
        seen.append((v, len(items)))
    return x, seen, items


def loop_sees_what_a_helper_appends(x):
    items: list = []
    seen = []
    for v in growing(items):
        seen.append((v, len(items)))
    for _ in growing(items):
        break
    return x, seen, items


def generator_sees_attributes(x):
    box, total = Box(x), x * 0
    for v in of_attribute(box):
        box.value = box.value + 1
        total = total + v
    for v in of_attribute(box):
        total = total + v + box.grow()
    return total


def generator_sees_items(x):
    items, total = [x, x * 2, x * 3], x * 0
    for v in of_items(items):
        items[2] = items[2] + 1
        total = total + v
    more = items
    for v in twice(items):
        more += [x] if len(more) < 5 else []
        total = total + v
    return total, len(items)


def iterator_is_not_used_up(x):
    items, total = iter([x, x * 2, x * 3, x * 4]), x * 0
    for i, v in enumerate(twice(items)):
        total = total + v
        if i == 1:
            break
    for v in twice(items):
        total = total + v
        if total.sum() > 8:
            break
    return total, len(list(items))


def later_items_fail(x):
    total = x * 0
    for i, v in enumerate(of_items([x, x * 2])):
        total = total + v
        if i == 1:
            break
    return total


def random_numbers_are_drawn_in_turn(x):
    total = x
    for v in drawing():
        total = total * 10 + v + ops.standard_normal((2,))
    for v in drawing():
        total = total + v
        break
    return total + ops.standard_normal((2,))


def rounds_call_what_is_not_known(x):
    box, total = Box(x), x * 0
    for v in scaled(x, 4):
        if v.sum() > 5:
            continue
        total = total + v + box.grow()
    for _ in scaled(x, 4):
        total = total + box.grow()
        if total.sum() > 5:
            break
    return total


FUNCTIONS = [
    loop_sees_what_is_popped,
    loop_sees_what_a_helper_appends,
    generator_sees_attributes,
    generator_sees_items,
    iterator_is_not_used_up,
    later_items_fail,
    random_numbers_are_drawn_in_turn,
    rounds_call_what_is_not_known,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_order(function: Callable) -> None:
    compiled = jit(function)
    for point in POINTS:
        x = Tensor(np.array(point, np.float32))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled(x)  # the first run may trace while it executes
        results = []
        for run in (function, compiled):
            ms.set_seed(7)
            results.append(plain(run(x)))
        assert results[0] == results[1]


def test_a_tensor_may_leave_a_loop_that_only_computes() -> None:
    def function(x: Tensor) -> Tensor:
        total = x * 0
        for i, v in enumerate(scaled(x, 5)):
            total = total + ops.exp(v).mean() * max(i, 1)
            if total.sum() > 9:
                break
        return total

    for point in POINTS:
        x = Tensor(np.array(point, np.float32))
        expected, got = function(x), jit(function, fullgraph=True)(x)
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), rtol=1e-6)
