"""Functions of the user applied to parts of arrays, and choices between arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.numpy.dtypes import promoted
from mindspore.numpy.utils import (
    Array,
    Arrays,
    Operand,
    array_of,
    as_tensor,
    axes_of,
    axis_of,
    cast,
    of_one_type,
    operands,
    require_integers,
)
from mindspore.ops.function.index_func import _concrete

_ALONG = "apply_along_axis"
_MOST_CHOICES = 1 << 14


def apply_along_axis(func1d: Callable, axis: int, arr: Array, *args: Any, **kwargs: Any) -> Tensor:
    """A function of vectors applied to those along an axis; the axes of what it gives take the place of that one."""
    place = axis_of("apply_along_axis", axis, arr.ndim)
    moved = ops.moveaxis(arr, place, -1)
    lead = tuple(moved.shape[:-1])
    rows = ops.reshape(moved, (math.prod(lead), moved.shape[-1]))
    if rows.shape[0] == 0:
        raise ValueError(
            f"For 'apply_along_axis', there must be a vector along the axis, but got shape {arr.shape}."
        )
    results = [
        array_of(_ALONG, "func1d", func1d(row, *args, **kwargs)) for row in ops.unbind(rows, 0)
    ]
    made = ops.stack(results, axis=0)
    inner = tuple(made.shape[1:])
    made = ops.reshape(made, (*lead, *inner))
    # The axes that the function gave stand last.
    own = list(range(len(lead), made.ndim))
    return ops.moveaxis(made, own, [place + i for i in range(len(own))]) if own else made


def apply_over_axes(func: Callable, a: Array, axes: int | Sequence[int]) -> Tensor:
    """`func(array, axis)` applied for one axis after the other; an axis that it takes away is put back with one element."""
    for axis in axes_of("apply_over_axes", axes, a.ndim):
        result = array_of("apply_over_axes", "func", func(a, axis))
        if result.ndim == a.ndim - 1:
            result = ops.expand_dims(result, axis)
        if result.ndim != a.ndim:
            raise ValueError(
                "For 'apply_over_axes', 'func' must give as many axes as it gets, or one less, "
                f"but got {result.ndim} of {a.ndim}."
            )
        a = result
    return a


def piecewise(x: Array, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Tensor:
    """For each condition a value or function of `x` that holds where it does, the last that holds; one value more than
    conditions holds where none of them does."""
    single = not isinstance(condlist, (tuple, list)) or (
        len(condlist) > 0 and not isinstance(condlist[0], (tuple, list, Tensor)) and x.ndim > 0
    )
    conditions = [
        array_of("piecewise", "condlist", c) for c in ([condlist] if single else condlist)
    ]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"For 'piecewise', 'funclist' must have {len(conditions)} or {len(conditions) + 1} items, "
            f"but got {len(funclist)}."
        )
    values = [
        array_of("piecewise", "funclist", f(x, *args, **kw) if callable(f) else f) for f in funclist
    ]
    default = values.pop() if len(values) > len(conditions) else as_tensor(0)
    result = cast(default, promoted(default.dtype, *(v.dtype for v in values)))
    result = ops.broadcast_to(result, x.shape) if result.ndim < x.ndim else result
    for condition, value in zip(conditions, values):
        result = where(condition, value, result)
    return result


def select(condlist: Sequence[Array], choicelist: Sequence[Array], default: Operand = 0) -> Tensor:
    """For each element the choice of the first condition that holds; `default` where none does."""
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            "For 'select', there must be as many choices as conditions, and one at least, "
            f"but got {len(choicelist)} and {len(condlist)}."
        )
    if len(condlist) > _MOST_CHOICES:
        raise ValueError(
            f"For 'select', there must be at most {_MOST_CHOICES} conditions, but got {len(condlist)}."
        )
    result: Any = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        result = where(condition, choice, result)
    return result


def where(condition: Array, x: Operand | None = None, y: Operand | None = None) -> Any:
    """`x` where the condition holds, elsewhere `y`; the coordinates of where it holds, if neither is given."""
    if x is None and y is None:
        return ops.nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ValueError("For 'where', both 'x' and 'y' must be given or none, but got one.")
    return ops.where(condition, *operands(x, y))


def choose(a: Array, choices: Arrays, mode: Literal["clip", "wrap", "raise"] = "clip") -> Tensor:
    """The element of the array among `choices` that each number names; all of them broadcast."""
    if not choices:
        raise ValueError("For 'choose', there must be a choice, but got none.")
    require_integers("choose", "a", a)
    if mode == "raise":
        check_places("choose", a, len(choices), 0)
    return a.choose(of_one_type(choices), "wrap" if mode == "wrap" else "clip")


def check_places(name: str, places: Tensor, count: int, least: int) -> None:
    """Refuses positions out of [least, count); they must be known."""
    found = _concrete(name, places)
    if found.size and not (found.min() >= least and found.max() < count):
        raise IndexError(
            f"For '{name}', the positions must be in [{least}, {count}), but got {found.min()} to {found.max()}."
        )


for _function in (apply_along_axis, apply_over_axes, piecewise):
    _function._ms_parsed = True  # type: ignore[union-attr]  # they call functions of the user

__all__ = ["apply_along_axis", "apply_over_axes", "choose", "piecewise", "select", "where"]
check_functions(sys.modules[__name__], __all__)
