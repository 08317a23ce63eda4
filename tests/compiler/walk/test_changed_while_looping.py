"""Loops that change the container they run over do in compiled code what they do in Python."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_modes import POINTS, check

from mindspore import Tensor, jit


def grows(x: Tensor) -> Any:
    items, total = [x, x * 2], 0
    for v in items:
        total = total + v
        if len(items) < 4:
            items.append(v * 3)
    return total


def shrinks(x: Tensor) -> Any:
    items = [1, 2, 3, 4]
    for v in items:
        items.remove(v)
    return x * len(items)


def is_replaced_ahead(x: Tensor) -> Any:
    items = [x, x, x]
    for i, v in enumerate(items):
        if i < 2:
            items[i + 1] = v * 2
    return items[2]


def grows_in_zip(x: Tensor) -> Any:
    items, rounds = [x, x * 2], 0
    for _, v in zip(range(5), items):
        rounds += 1
        if len(items) < 4:
            items.append(v)
    return x * rounds


@pytest.mark.parametrize("function", [grows, shrinks, is_replaced_ahead, grows_in_zip])
def test_lists(function: Callable[[Tensor], Any]) -> None:
    x = Tensor(np.array([1.0, 2.0], np.float32))
    with pytest.warns(UserWarning, match="a loop changes what it runs over"):
        found = jit(function)(x)
    np.testing.assert_array_equal(found.asnumpy(), function(x).asnumpy())


def adds_to_a_dict(x: Tensor) -> Any:
    items = {"a": x, "b": x}
    for _ in items.items():
        items["c"] = x
    return items


def deletes_of_a_dict(x: Tensor) -> Any:
    items = {"a": x, "b": x}
    for key in items:
        del items[key]
    return items


def adds_to_a_set(x: Tensor) -> Any:
    items = {1, 2}
    for item in items:
        items.add(item + 7)
    return x


def adds_to_a_deque(x: Tensor) -> Any:
    items = deque([x])
    for v in items:
        items.append(v)
    return x


CHANGING = [adds_to_a_dict, deletes_of_a_dict, adds_to_a_set, adds_to_a_deque]


@pytest.mark.parametrize("function", CHANGING)
@pytest.mark.filterwarnings("ignore:.*a loop changes what it runs over:UserWarning")
def test_containers_that_python_refuses_to_run_over(function: Callable[[Tensor], Any]) -> None:
    for run in (function, jit(function)):
        with pytest.raises(RuntimeError, match=r"(?i)(changed size|mutated) during iteration"):
            run(Tensor(1.0))


def test_what_has_been_passed_may_change() -> None:
    def function(x: Tensor) -> Any:
        items, seen = [x, x * 2], {"a": 1.0, "b": 2.0}
        for i, v in enumerate(items):
            items[i] = v * 2
        for key in seen:
            seen[key] = seen[key] * 2
        for _ in range(len(items)):
            items.append(x)
        for key in seen:
            del seen[key]
            break
        return sum(items) * len(items) * seen["b"]

    x = Tensor(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jit(function, fullgraph=True)(x).item() == function(x).item()


def rows_that_change(x):
    x = x * 1
    for i, e in enumerate(x):
        x[2] = e * 2 + i
    return x


def rows_beside_others(x):
    x = x * 1
    y = x + 1
    for a, (i, b), n in zip(x, enumerate(y, start=1), (1, 2, 3)):
        x[2] = a + b * i
        y[1:] = n
    return x + y


def rows_until_a_tensor_ends_it(x):
    x = x * 1
    total = x.sum() * 0
    for i, e in enumerate(x):
        x[2] = e + i
        if total > 3:
            break
        total = total + e
    return x + total


def rows_taken_one_by_one(x):
    x = x * 1
    pairs = enumerate(x)
    first = next(pairs)
    x[1] = first[1] * 3
    for _, e in pairs:
        x[2] = e
    return x


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    "function",
    [rows_that_change, rows_beside_others, rows_until_a_tensor_ends_it, rows_taken_one_by_one],
)
def test_rows_of_tensors_that_change(function, point):
    check(function, point)
