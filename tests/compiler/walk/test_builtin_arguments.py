"""Builtins that compiled code replaces refuse wrong arguments as Python's own do, with the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor

WRONG: dict[str, Callable[[Tensor], Any]] = {
    "max of nothing": lambda x: max(),
    "max of a keyword": lambda x: max(key=abs),
    "max with a default for several": lambda x: max(x[0], x[1], default=3),
    "max with an unknown keyword": lambda x: max([x[0], x[1]], bad=1),
    "min of nothing": lambda x: min(),
    "next of nothing": lambda x: next(),
    "next of three": lambda x: next(iter([x]), 1, 2),
    "enumerate of nothing": lambda x: enumerate(),
    "map without a sequence": lambda x: list(map(abs)),
    "map of nothing": lambda x: list(map()),
    "filter without a sequence": lambda x: list(filter(None)),
    "any of nothing": lambda x: any(),
    "all of two": lambda x: all([x[0]], [x[1]]),
    "list of two": lambda x: list([x], [x]),
    "tuple with a keyword": lambda x: tuple(x, items=1),
    "range of four": lambda x: range(3, 1, 2, 3),
    "getattr without a name": lambda x: getattr(x),
    "hasattr of three": lambda x: hasattr(x, "shape", 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_in_the_same_words(name: str) -> None:
    function, x = WRONG[name], Tensor(np.array([1.0, 2.0, 3.0], np.float32))
    with pytest.raises(TypeError) as eager:
        function(x)
    with pytest.raises(TypeError) as compiled:
        ms.jit(fullgraph=True)(function)(x)
    assert str(eager.value) in str(compiled.value)


def test_a_range_of_four_where_a_tensor_decides() -> None:
    with pytest.raises(TypeError, match="range expected at most 3 arguments, got 4"):
        ms.jit(lambda n: range(n, 1, 2, 3))(Tensor(3))


def test_an_iterable_by_its_name() -> None:
    @ms.jit(fullgraph=True)
    def function(x: Tensor) -> Tensor:
        total = x * 0
        for i, v in enumerate(iterable=[x, x], start=2):
            total = total + i * v
        return total

    assert function(Tensor(2.0)).item() == 10
