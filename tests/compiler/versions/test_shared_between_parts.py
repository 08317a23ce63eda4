"""Lists, dicts and arrays that lines between compiled parts make, share or are given: what one name changes, the others see. And
targets of augmented assignments, whose parts are evaluated once."""

import bisect
import copy
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit

X = np.array([3.0, 1.0, 2.0], np.float32)


def deep_copy(x, n):
    copied = copy.deepcopy({"k": [x]})
    copied["k"][0] += 1
    return copied


def list_inside_a_dict(x, n):
    table = {"k": [x.asnumpy()]}.copy()
    table["k"][0] = x
    table["k"].append(3)
    return table


def views_of_an_array(x, n):
    whole = np.sort(x.asnumpy())
    other = whole
    parts = np.split(whole, 3)
    parts[1] += 5
    other += 1
    return whole, parts, other


def list_of_numbers(x, n):
    numbers = x.asnumpy().tolist()
    table, pairs, other = dict(zip("a", [numbers])), dict(k=numbers), list(numbers)  # noqa: C408
    table["a"][1] = 7
    numbers.append(1)
    other.append(2)
    numbers += [5.0]
    return numbers, table, pairs, other, len(set(numbers))


def list_given_away(x, n):
    sorted_numbers = [0.5, 2.5]
    bisect.insort(sorted_numbers, x.asnumpy().tolist()[2])
    return sorted_numbers


def items_of_a_dict(x, n):
    table = {"a": [1], "b": ([2], 3)}
    table = np.array(table, dtype=object).item() if x.asnumpy()[0] > 0 else table
    for value in table.values():
        if isinstance(value, list):
            value.append(9)
    table["b"][0].append(8)
    return table


def masked_update_after_an_effect(x, n):
    print("begin")
    y = x * 1
    y[x > 1.5] -= 1
    y[n:] = y[n:] * 2
    return y


PARTED = [
    deep_copy,
    list_inside_a_dict,
    views_of_an_array,
    list_of_numbers,
    list_given_away,
    items_of_a_dict,
    masked_update_after_an_effect,
]


def item_of_a_walrus(x, n):
    items, i = [x, x, x], 0
    items[(i := i + 1)] += x
    return items, i


def item_of_calls(x, n):
    def named(name, value):
        print(name)
        return value

    table = {"a": x}
    named("owner", table)[named("key", "a")] += named("value", 1)
    named("owner", table)[named("key", "a")] *= x
    return table


def item_of_an_iterator(x, n):
    places, items = iter(range(3)), [x, x * 2, x * 3]
    items[next(places)] *= 2
    items[next(places)] -= n
    return items


class Holder:
    pass


def attribute_of_a_call(x, n):
    held = Holder()
    held.value, held.items = x, [x]

    def get():
        print("got")
        return held

    get().value += 1
    get().items += [x]
    get().items[0] *= 3
    return held.value, held.items


WHOLE = [item_of_a_walrus, item_of_calls, item_of_an_iterator, attribute_of_a_call]


def plain(value: Any) -> Any:
    """A result as it can be compared."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(plain(v) for v in value)
    if isinstance(value, (Tensor, np.ndarray)):
        array = value.asnumpy() if isinstance(value, Tensor) else value
        return type(value).__name__, str(array.dtype), array.tolist()
    return value


def results(function: Any) -> list:
    """Of calls that come the same way, and another way."""
    return [plain(function(Tensor(X * k), Tensor(1, ms.int32))) for k in (1, 1, 0.5, 2)]


@pytest.mark.parametrize("function", PARTED, ids=lambda f: f.__name__)
def test_changes_are_seen_by_all(function, capsys):
    eager, shown = results(function), capsys.readouterr().out
    with pytest.warns(UserWarning, match="runs eagerly"):
        assert results(jit(function)) == eager
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_targets_are_evaluated_once(function, capsys):
    eager, shown = results(function), capsys.readouterr().out
    assert results(jit(function, fullgraph=True)) == eager
    assert capsys.readouterr().out == shown


def too_late(x, n):
    whole = x.asnumpy()
    print("begun")
    numbers = [whole, 0.5]
    bisect.insort([0.5, 2.5], whole[0])
    return numbers


def test_what_has_had_effects_cannot_begin_again(capsys):
    why = "given to what may change or keep it.*; lines before it have had effects, so that the call cannot"
    with pytest.warns(UserWarning, match="runs eagerly"), pytest.raises(TypeError, match=why):
        jit(too_late)(Tensor(X), Tensor(1, ms.int32))
    assert capsys.readouterr().out == "begun\n"
