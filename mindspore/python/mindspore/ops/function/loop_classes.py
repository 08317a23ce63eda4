"""Loops over functions as primitives, a function with its derivative along tangents, and a choice between values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.ops._custom import invoke
from mindspore.ops.primitive import PythonPrimitive


def _count(lower: Any, upper: Any, step: Callable, value: Any) -> Any:
    i = lower
    while i < upper:
        value = step(i, value)
        i = i + 1
    return value


def _repeat(condition: Callable, step: Callable, value: Any) -> Any:
    while condition(value):
        value = step(value)
    return value


def _walk(step: Callable, carry: Any, items: Any, length: int) -> tuple[Any, list]:
    made = []
    for i in range(length):
        carry, item = step(carry, None if items is None else items[i])
        made.append(item)
    return carry, made


def _choose(condition: Any, chosen: Any, other: Any) -> Any:
    return chosen if condition else other


for _function in (_count, _repeat, _walk, _choose):  # they call functions of the user
    _function._ms_parsed = True  # type: ignore[union-attr]


class ForiLoop(PythonPrimitive):
    """`value = loop_func(i, value)` for each i from a first number to before a last one."""

    def __call__(
        self,
        lower: int | Tensor,
        upper: int | Tensor,
        loop_func: Callable,
        init_val: Any,
        unroll: bool = True,
    ) -> Any:
        del unroll
        return invoke(_count, lower, upper, loop_func, init_val)


class WhileLoop(PythonPrimitive):
    """`value = loop_func(value)` as long as `cond_func(value)` holds."""

    def __call__(self, cond_func: Callable, loop_func: Callable, init_val: Any) -> Any:
        return invoke(_repeat, cond_func, loop_func, init_val)


class Scan(PythonPrimitive):
    """`carry, y = loop_func(carry, x)` for each x: the last carry, and all y."""

    def __call__(
        self,
        loop_func: Callable,
        init: Any,
        xs: Sequence[Any] | Tensor | None,
        length: int | None = None,
        unroll: bool = True,
    ) -> tuple[Any, list]:
        del unroll
        if xs is None and length is None:
            raise ValueError("For 'Scan', 'length' must be given where 'xs' is None, but got None.")
        count = len(xs) if length is None else length  # type: ignore[arg-type]
        if xs is not None and count > len(xs):
            raise ValueError(
                f"For 'Scan', 'length' must be at most the {len(xs)} items of 'xs', but got {count}."
            )
        return invoke(_walk, loop_func, init, xs, count)


def switch(condition: bool | Tensor, chosen: Any, other: Any) -> Any:
    """The first of two values where a condition holds, and the second where it does not."""
    return invoke(_choose, condition, chosen, other)


CLASSES = {c.__name__: c for c in (ForiLoop, WhileLoop, Scan)}
__all__ = ["switch"]
