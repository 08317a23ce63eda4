"""Functions of Python values that scripts of the first releases call where others write operators: on numbers, tuples, lists, dicts,
strings and truth values. Where an operator does it, the entry is a table's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Ints, Real
from mindspore.common.dtype import dtype_to_nptype, tensor_type
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _axis, _ints


# ---- operators --------------------------------------------------------------------------------------
def _divided(name: str, function: Callable, x: Any, y: Any) -> Any:
    if not isinstance(y, Tensor) and y == 0:
        raise ValueError(f"For '{name}', the divisor must not be 0, but got {y}.")
    return function(x, y)


def scalar_div(x: Any, y: Any) -> Any:
    """`x / y`."""
    return _divided("scalar_div", operator.truediv, x, y)


def scalar_floordiv(x: Any, y: Any) -> Any:
    """`x // y`."""
    return _divided("scalar_floordiv", operator.floordiv, x, y)


def scalar_mod(x: Any, y: Any) -> Any:
    """`x % y`."""
    return _divided("scalar_mod", operator.mod, x, y)


def scalar_uadd(x: Any) -> Any:
    """`x`."""
    return x


def dict_getitem(items: dict, key: Any) -> Any:
    """The value of a key."""
    if key not in items:
        raise ValueError(
            f"For 'dict_getitem', the key must be one of {list(items)}, but got {key!r}."
        )
    return items[key]


def scalar_log(x: Any) -> Any:
    """The natural logarithm of a number."""
    return bound.log(x) if isinstance(x, Tensor) else math.log(x)


def scalar_max(x: Any, y: Any) -> Any:
    """The larger of two numbers."""
    return max(x, y)


def scalar_min(x: Any, y: Any) -> Any:
    """The smaller of two numbers."""
    return min(x, y)


_OPERATORS: dict[str, Callable] = {
    "scalar_add": operator.add,
    "scalar_sub": operator.sub,
    "scalar_mul": operator.mul,
    "scalar_pow": operator.pow,
    "scalar_eq": operator.eq,
    "scalar_ne": operator.ne,
    "scalar_lt": operator.lt,
    "scalar_le": operator.le,
    "scalar_gt": operator.gt,
    "scalar_ge": operator.ge,
    "scalar_usub": operator.neg,
    "tuple_getitem": operator.getitem,
    "list_getitem": operator.getitem,
    "tuple_equal": operator.eq,
    "list_equal": operator.eq,
    "bool_eq": operator.eq,
    "string_eq": operator.eq,
    "string_concat": operator.add,
    "bool_not": operator.not_,
    "is_": operator.is_,
    "is_not": operator.is_not,
    "augassign_add": operator.add,
    "augassign_sub": operator.sub,
    "augassign_mul": operator.mul,
    "augassign_div": operator.truediv,
    "augassign_floordiv": operator.floordiv,
    "augassign_mod": operator.mod,
    "list_len": len,
}


def bool_and(x: Any, y: Any) -> Any:
    """`x and y`."""
    return x and y


def bool_or(x: Any, y: Any) -> Any:
    """`x or y`."""
    return x or y


def in_dict(key: Any, items: dict) -> bool:
    """Whether a dict has a key."""
    return key in items


def not_in_dict(key: Any, items: dict) -> bool:
    """Whether a dict lacks a key."""
    return key not in items


# ---- structures -----------------------------------------------------------------------------------
def _index(name: str, items: Sequence[Any], index: int) -> int:
    if not -len(items) <= index < len(items):
        raise IndexError(
            f"For '{name}', the index must be in [{-len(items)}, {len(items)}), but got {index}."
        )
    return index % len(items)


def tuple_setitem(items: tuple, index: int, value: Any) -> tuple:
    """The tuple with one item replaced."""
    at = _index("tuple_setitem", items, index)
    return items[:at] + (value,) + items[at + 1 :]


def list_setitem(items: list, index: int, value: Any) -> list:
    """The list with one item replaced."""
    at = _index("list_setitem", items, index)
    return items[:at] + [value] + items[at + 1 :]


def dict_setitem(items: dict, key: Any, value: Any) -> dict:
    """The dict with one value replaced or added."""
    return {**items, key: value}


def tuple_div(x: Sequence[Any], y: Sequence[Any]) -> tuple:
    """The quotients of the items of two tuples, of ints as ints."""
    if len(x) != len(y):
        raise ValueError(
            f"For 'tuple_div', the tuples must have the same length, but got {len(x)} and {len(y)}."
        )
    pairs = list(zip(x, y))
    if any(isinstance(a, int) and isinstance(b, int) and a % b for a, b in pairs):
        raise ValueError(f"For 'tuple_div', ints must divide without rest, but got {x} and {y}.")
    return tuple(a // b if isinstance(a, int) else a / b for a, b in pairs)


def tuple_reversed(items: tuple) -> tuple:
    """The items in reverse order."""
    return items[::-1]


def make_tuple(*items: Any) -> tuple:
    """Its arguments as a tuple."""
    return items


def make_list(*items: Any) -> list:
    """Its arguments as a list."""
    return list(items)


def make_dict(keys: Sequence[Any], values: Sequence[Any]) -> dict:
    """Keys and values as a dict."""
    return dict(zip(keys, values))


def make_slice(start: Any, stop: Any, step: Any) -> slice:
    """A slice."""
    return slice(start, stop, step)


def hyper_add(x: Any, y: Any) -> Any:
    """Sums of what stands in the same places of two structures."""
    if isinstance(x, (tuple, list)):
        made = [hyper_add(a, b) for a, b in zip(x, y)]
        return made if isinstance(x, list) else tuple(made)
    return x + y


# ---- shapes and types -----------------------------------------------------------------------------
def shape_mul(input_data: Sequence[int]) -> int:
    """The product of the sizes of a shape."""
    return math.prod(input_data)


def reduced_shape(shape: Sequence[int], axes: Ints) -> tuple:
    """A shape in which some axes are reduced to 1; none means all."""
    rank = len(shape)
    chosen = {_axis("reduced_shape", a, rank) for a in _ints("reduced_shape", axes)} or range(rank)
    return tuple(1 if i in chosen else n for i, n in enumerate(shape))


def broadcast_gradient_args(x_shape: Sequence[int], y_shape: Sequence[int]) -> tuple[tuple, tuple]:
    """The axes over which the gradients of two operands are summed that broadcast to one shape."""
    rank = max(len(x_shape), len(y_shape))
    x, y = ([1] * (rank - len(s)) + list(s) for s in (x_shape, y_shape))
    if any(a != b and 1 not in (a, b) for a, b in zip(x, y)):
        raise ValueError(
            f"For 'broadcast_gradient_args', the shapes must broadcast, but got {tuple(x_shape)} and {tuple(y_shape)}."
        )

    return tuple(tuple(i for i, n in enumerate(sizes) if n == 1) for sizes in (x, y))  # type: ignore[return-value]


def shape_(x: Tensor) -> tuple:
    """The shape of a tensor."""
    return tuple(x.shape)


def dyn_shape(input_x: Tensor) -> Tensor:
    """The shape of a tensor as an Int64 tensor."""
    return Tensor(np.array(input_x.shape, np.int64))


def hastype(x: Any, kind: Any) -> bool:
    """Whether a value is of a dtype, of a Python type, or a tensor where that is the type."""
    if kind is tensor_type:
        return isinstance(x, Tensor)
    if isinstance(x, Tensor):
        return x.dtype == kind
    return isinstance(x, kind) if isinstance(kind, type) else _core.dtype_of(type(x)) == kind


def isconstant(x: Any) -> bool:
    """Whether a value is known when a graph is compiled."""
    return not (isinstance(x, Tensor) and x.is_symbolic)


def is_tensor_bool_cond(x: Any) -> bool:
    """Whether a value can decide a branch while a graph runs: a tensor of one element."""
    return isinstance(x, Tensor) and x.size == 1


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element of a tensor is not zero."""
    if input.size != 1:
        raise ValueError(
            f"For 'is_nonzero', 'input' must have one element, but got shape {tuple(input.shape)}."
        )
    return bool(_reshape(input, shape=()))


_reshape, _cast = raw("Reshape"), raw("Cast")


def scalar_cast(input_x: Any, input_y: DType) -> Any:
    """A Python number of the kind of a dtype; of a tensor of one element, such a tensor."""
    if isinstance(input_x, Tensor):
        return _cast(input_x, dtype=input_y)
    if not isinstance(input_x, (bool, int, float)):
        raise TypeError(
            f"For 'scalar_cast', 'input_x' must be a number, but got {type(input_x).__name__}."
        )
    kind = np.dtype(dtype_to_nptype(input_y)).kind
    return bool(input_x) if kind == "b" else int(input_x) if kind in "iu" else float(input_x)


def array_to_scalar(x: Tensor) -> Any:
    """The number that a tensor of one element holds."""
    return x.item()


def mixed_precision_cast(dst_dtype: DType, x: Any) -> Any:
    """Float tensors, also those within tuples, lists and dicts, as another dtype."""
    if isinstance(x, Tensor):
        floats = (_core.float16, _core.bfloat16, _core.float32, _core.float64)
        return _cast(x, dtype=dst_dtype) if x.dtype in floats else x
    if isinstance(x, dict):
        return {k: mixed_precision_cast(dst_dtype, v) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        made = [mixed_precision_cast(dst_dtype, v) for v in x]
        return made if isinstance(x, list) else tuple(made)
    return x


def tensor_range(start: Tensor | Real, end: Tensor | Real, step: Tensor | Real) -> Tensor:
    """Numbers from `start` to below `end` at distances of `step`; ints as Int64."""
    numbers = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
    return Tensor(
        np.arange(*numbers), None if any(isinstance(n, float) for n in numbers) else _core.int64
    )


def deepcopy(input_x: Any) -> Any:
    """A tensor of its own with the same elements; other values as they are."""
    return raw("Identity")(input_x) if isinstance(input_x, Tensor) else input_x


def _operator(name: str, function: Callable) -> Callable:
    def apply(*values: Any) -> Any:
        return function(*values)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"`operator.{function.__name__}` of its arguments."
    return apply


globals().update({name: _operator(name, function) for name, function in _OPERATORS.items()})

FACES = {"ScalarCast()(input_scalar@input_x, dtype@input_y)": "scalar_cast"}
__all__ = [
    *_OPERATORS,
    "array_to_scalar",
    "scalar_uadd",
    "scalar_mod",
    "scalar_floordiv",
    "dict_getitem",
    "bool_and",
    "bool_or",
    "broadcast_gradient_args",
    "deepcopy",
    "dict_setitem",
    "dyn_shape",
    "hastype",
    "hyper_add",
    "in_dict",
    "is_nonzero",
    "is_tensor_bool_cond",
    "isconstant",
    "list_setitem",
    "make_dict",
    "make_list",
    "make_slice",
    "make_tuple",
    "mixed_precision_cast",
    "not_in_dict",
    "reduced_shape",
    "scalar_cast",
    "scalar_div",
    "scalar_log",
    "scalar_max",
    "scalar_min",
    "shape_",
    "shape_mul",
    "tensor_range",
    "tuple_div",
    "tuple_reversed",
    "tuple_setitem",
]
