"""Functions of Python values that scripts of the first releases call where others write operators: on numbers, tuples, lists, dicts,
strings and truth values. Where an operator does it, the entry is a table's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._checked import check_value
from mindspore.common._kinds import Ints, Real, described
from mindspore.common._size import require_memory
from mindspore.common.dtype import dtype_to_nptype, tensor_type
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _axis, _ints, _number

# ---- operators --------------------------------------------------------------------------------------
_Operand: TypeAlias = Tensor | Real
_MOST_BITS = 1 << 16  # of a power: beyond, Python would compute for long


def _divided(name: str, function: Callable, x: Any, y: Any) -> Any:
    if not isinstance(y, Tensor) and y == 0:
        raise ValueError(f"For '{name}', the divisor must not be 0, but got {y}.")
    return function(x, y)


def scalar_div(x: _Operand, y: _Operand) -> Any:
    """`x / y`."""
    return _divided("scalar_div", operator.truediv, x, y)


def scalar_floordiv(x: _Operand, y: _Operand) -> Any:
    """`x // y`."""
    return _divided("scalar_floordiv", operator.floordiv, x, y)


def scalar_mod(x: _Operand, y: _Operand) -> Any:
    """`x % y`."""
    return _divided("scalar_mod", operator.mod, x, y)


def augassign_div(x: _Operand, y: _Operand) -> Any:
    """`x / y`."""
    return _divided("augassign_div", operator.truediv, x, y)


def augassign_floordiv(x: _Operand, y: _Operand) -> Any:
    """`x // y`."""
    return _divided("augassign_floordiv", operator.floordiv, x, y)


def augassign_mod(x: _Operand, y: _Operand) -> Any:
    """`x % y`."""
    return _divided("augassign_mod", operator.mod, x, y)


def scalar_pow(x: _Operand, y: _Operand) -> Any:
    """`x ** y`."""
    if isinstance(x, int) and isinstance(y, int) and x.bit_length() * y > _MOST_BITS:
        raise ValueError(
            f"For 'scalar_pow', the result must fit into {_MOST_BITS} bits, but got {x} and {y}."
        )
    try:
        return x**y
    except ArithmeticError as error:
        raise ValueError(
            f"For 'scalar_pow', the result must be a finite number, but got {x} and {y}."
        ) from error


def scalar_uadd(x: _Operand) -> Any:
    """`x`."""
    return x


def dict_getitem(items: dict, key: Hashable) -> Any:
    """The value of a key."""
    if key not in items:
        raise ValueError(
            f"For 'dict_getitem', the key must be one of {list(items)}, but got {key!r}."
        )
    return items[key]


def scalar_log(x: _Operand) -> Any:
    """The natural logarithm of a number."""
    if isinstance(x, Tensor):
        return bound.log(x)
    if x <= 0:
        raise ValueError(f"For 'scalar_log', 'x' must be greater than 0, but got {x}.")
    return math.log(x)


def scalar_max(x: _Operand, y: _Operand) -> Any:
    """The larger of two numbers."""
    return max(x, y)


def scalar_min(x: _Operand, y: _Operand) -> Any:
    """The smaller of two numbers."""
    return min(x, y)


# Operators of two values of a kind, of which those of a name are.
_OF_TWO: dict[Any, dict[str, Callable]] = {
    _Operand: {
        "scalar_add": operator.add,
        "scalar_sub": operator.sub,
        "scalar_mul": operator.mul,
        "scalar_eq": operator.eq,
        "scalar_ne": operator.ne,
        "scalar_lt": operator.lt,
        "scalar_le": operator.le,
        "scalar_gt": operator.gt,
        "scalar_ge": operator.ge,
        "augassign_add": operator.add,
        "augassign_sub": operator.sub,
        "augassign_mul": operator.mul,
        "bool_eq": operator.eq,
    },
    Sequence[Any]: {"tuple_equal": operator.eq, "list_equal": operator.eq},
    str: {"string_eq": operator.eq, "string_concat": operator.add},
    Any: {"is_": operator.is_, "is_not": operator.is_not},
}


def scalar_usub(x: _Operand) -> Any:
    """`-x`."""
    return -x


def bool_not(x: _Operand) -> bool:
    """`not x`."""
    return not x


def bool_and(x: _Operand, y: _Operand) -> Any:
    """`x and y`."""
    return x and y


def bool_or(x: _Operand, y: _Operand) -> Any:
    """`x or y`."""
    return x or y


def list_len(x: Sequence[Any]) -> int:
    """How many items there are."""
    return len(x)


def in_dict(key: Hashable, items: dict) -> bool:
    """Whether a dict has a key."""
    return key in items


def not_in_dict(key: Hashable, items: dict) -> bool:
    """Whether a dict lacks a key."""
    return key not in items


# ---- structures -----------------------------------------------------------------------------------
def _index(name: str, items: Sequence[Any], index: int) -> int:
    if not -len(items) <= index < len(items):
        raise IndexError(
            f"For '{name}', the index must be in [{-len(items)}, {len(items)}), but got {index}."
        )
    return index % len(items)


def tuple_getitem(items: Sequence[Any], index: int) -> Any:
    """The item at an index."""
    return items[_index("tuple_getitem", items, index)]


def list_getitem(items: Sequence[Any], index: int) -> Any:
    """The item at an index."""
    return items[_index("list_getitem", items, index)]


def tuple_setitem(items: tuple, index: int, value: Any) -> tuple:
    """The tuple with one item replaced."""
    at = _index("tuple_setitem", items, index)
    return items[:at] + (value,) + items[at + 1 :]


def list_setitem(items: list, index: int, value: Any) -> list:
    """The list with one item replaced."""
    at = _index("list_setitem", items, index)
    return items[:at] + [value] + items[at + 1 :]


def dict_setitem(items: dict, key: Hashable, value: Any) -> dict:
    """The dict with one value replaced or added."""
    return {**items, key: value}


def tuple_div(x: Sequence[Any], y: Sequence[Any]) -> tuple:
    """The quotients of the items of two tuples, of ints as ints."""
    if len(x) != len(y):
        raise ValueError(
            f"For 'tuple_div', the tuples must have the same length, but got {len(x)} and {len(y)}."
        )
    pairs = [
        (check_value(_Operand, a, "x", "tuple_div"), check_value(_Operand, b, "y", "tuple_div"))
        for a, b in zip(x, y)
    ]
    if any(not isinstance(b, Tensor) and b == 0 for _, b in pairs):
        raise ValueError(
            f"For 'tuple_div', no divisor may be 0, but got {described(y, whole=True)}."
        )
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


def make_dict(keys: Sequence[Hashable], values: Sequence[Any]) -> dict:
    """Keys and values as a dict."""
    return dict(zip(keys, values))


def make_slice(start: Any, stop: Any, step: Any) -> slice:
    """A slice."""
    return slice(start, stop, step)


def hyper_add(x: Any, y: Any) -> Any:
    """Sums of what stands in the same places of two structures."""
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)) and len(x) == len(y):
        made = [hyper_add(a, b) for a, b in zip(x, y)]
        return made if isinstance(x, list) else tuple(made)
    return check_value(_Operand, x, "x", "hyper_add") + check_value(_Operand, y, "y", "hyper_add")


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
    if not isinstance(kind, (DType, type)):
        raise TypeError(f"For 'hastype', 'kind' must be a dtype or a type, but got {kind!r}.")
    if isinstance(x, Tensor):
        return x.dtype == kind
    if isinstance(kind, type):
        return isinstance(x, kind)
    return type(x) in (bool, int, float, complex) and _core.dtype_of(type(x)) == kind


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
    if kind in "iu" and isinstance(input_x, float) and not math.isfinite(input_x):
        raise ValueError(f"For 'scalar_cast', 'input_x' must be finite, but got {input_x}.")
    try:
        return bool(input_x) if kind == "b" else int(input_x) if kind in "iu" else float(input_x)
    except OverflowError:
        raise ValueError(
            f"For 'scalar_cast', 'input_x' must fit {input_y}, but got an integer of {int(input_x).bit_length()} bits."
        ) from None


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
    numbers = [_number("tensor_range", v) for v in (start, end, step)]
    if not all(map(math.isfinite, numbers)) or not numbers[2]:
        raise ValueError(
            f"For 'tensor_range', the numbers must be finite and 'step' not 0, but got {numbers}."
        )
    require_memory("tensor_range", (numbers[1] - numbers[0]) / numbers[2], 8)
    dtype = None if any(isinstance(n, float) for n in numbers) else _core.int64
    return Tensor(np.arange(*numbers), dtype)


def deepcopy(input_x: Any) -> Any:
    """A tensor of its own with the same elements; other values as they are."""
    return raw("Identity")(input_x) if isinstance(input_x, Tensor) else input_x


def _operator(name: str, function: Callable, kind: Any) -> Callable:
    def apply(x: Any, y: Any) -> Any:
        return function(x, y)

    apply.__annotations__.update(x=kind, y=kind)
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"`operator.{function.__name__}` of its arguments."
    return apply


_OPERATORS = {n: _operator(n, f, kind) for kind, of in _OF_TWO.items() for n, f in of.items()}
globals().update(_OPERATORS)

FACES = {"ScalarCast()(input_scalar@input_x, dtype@input_y)": "scalar_cast"}
__all__ = [
    *_OPERATORS,
    "array_to_scalar",
    "augassign_div",
    "augassign_floordiv",
    "augassign_mod",
    "bool_not",
    "list_getitem",
    "list_len",
    "scalar_pow",
    "scalar_usub",
    "tuple_getitem",
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
