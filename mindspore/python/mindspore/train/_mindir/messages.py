"""Values of Python as the messages of a file, and back: types of elements, attributes, tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor

# What TensorProto calls the types of elements.
_ELEMENTS = {
    "Float32": 1, "UInt8": 2, "Int8": 3, "UInt16": 4, "Int16": 5, "Int32": 6, "Int64": 7, "Bool": 9, "Float16": 10,
    "Float64": 11, "UInt32": 12, "UInt64": 13, "Complex64": 14, "Complex128": 15, "BFloat16": 16,
}  # fmt: skip
_DTYPES = {
    number: getattr(mstype, name.lower() if name != "Bool" else "bool_")
    for name, number in _ELEMENTS.items()
}
_DTYPES[17] = mstype.float64
# What primitives call them, as arguments.
_TYPE_IDS = {
    mstype.bool_: 30, mstype.int8: 32, mstype.int16: 33, mstype.int32: 34, mstype.int64: 35, mstype.uint8: 37,
    mstype.uint16: 38, mstype.uint32: 39, mstype.uint64: 40, mstype.float16: 42, mstype.float32: 43,
    mstype.float64: 44, mstype.bfloat16: 45,
}  # fmt: skip
_OF_TYPE_IDS = {number: dtype for dtype, number in _TYPE_IDS.items()}

# What AttributeProto calls kinds of values.
FLOAT, INT32, INT64, STRING, BOOL, DOUBLE, TENSORS, TUPLE, LIST, NONE = (
    1,
    6,
    7,
    8,
    9,
    11,
    19,
    20,
    21,
    25,
)
GRAPH, CHOICE = 27, 29  # functions: a graph by its name, one of several
_INTEGERS = {2, 3, 4, 5, INT32, INT64, 12, 13}
# What is there to keep effects in order, and computes nothing.
MONADS = {23, 24}


class Monad:
    """A value that only keeps effects in order."""


def type_id(dtype: Any) -> int:
    """The number of a type as an argument of a primitive."""
    return _TYPE_IDS[dtype]


def dtype_of_id(number: Any) -> Any:
    """The type whose number this is."""
    if number not in _OF_TYPE_IDS:
        raise ValueError(f"there is no type of elements with the number {number!r}")
    return _OF_TYPE_IDS[number]


# ---- writing -------------------------------------------------------------------------------------------------------------
def type_message(dtype: Any, shape: Any, name: str = "") -> dict:
    """A tensor without elements."""
    message: dict[str, Any] = {"dims": list(shape), "data_type": _ELEMENTS[str(dtype)]}
    if name:
        message["name"] = name
    return message


def tensor_message(tensor: Tensor, name: str) -> dict:
    """A tensor with its elements."""
    return {**type_message(tensor.dtype, tensor.shape, name), "raw_data": tensor}


def attribute(name: str, value: Any) -> dict:
    """A value under a name."""
    return {"name": name, **_value(value, False)}


def _value(value: Any, inside: bool) -> dict:
    """`inside` of a sequence numbers stand in lists of one."""
    if value is None:
        return {"type": NONE}
    if isinstance(value, bool):
        return {"ints" if inside else "i": [value] if inside else value, "type": BOOL}
    if isinstance(value, int):
        return {"ints" if inside else "i": [value] if inside else value, "type": INT64}
    if isinstance(value, float):
        message = {"floats" if inside else "f": [value] if inside else value, "type": FLOAT}
        if not _is_float32(value):
            # MindSpore's primitives take no Float64; it leaves out a field that is not of the type.
            message["doubles" if inside else "d"] = [value] if inside else value
        return message
    if isinstance(value, str):
        text = value.encode()
        return {"strings" if inside else "s": [text] if inside else text, "type": STRING}
    if isinstance(value, Tensor):
        return {"tensors": [tensor_message(value, "value0")], "type": TENSORS}
    kind = TUPLE if isinstance(value, tuple) else LIST
    return {"values": [_value(v, True) for v in value], "type": kind}


# ---- reading -------------------------------------------------------------------------------------------------------------
def dtype_of(message: dict) -> Any:
    """The type of elements of a TensorProto."""
    number = message.get("data_type", 0)
    if number not in _DTYPES:
        raise ValueError(f"the tensor {message.get('name', '')!r} has the unknown type {number}")
    return _DTYPES[number]


def tensor_of(message: dict) -> Tensor:
    """A tensor with its elements."""
    name = message.get("name", "")
    for field in ("external_data", "quant_params", "string_data"):
        if message.get(field):
            raise ValueError(f"the tensor {name!r} has '{field}', which this version does not read")
    if message.get("compression_type", 0):
        raise ValueError(f"the tensor {name!r} is compressed, which this version does not read")
    if "raw_data" in message:
        return message["raw_data"]
    dtype, shape = dtype_of(message), message.get("dims", [])
    if 0 not in shape or any(not 0 <= size < 2**31 for size in shape) or len(shape) > 8:
        raise ValueError(f"the tensor {name!r} has no elements in 'raw_data'")
    return _core.op("Fill")(dtype=dtype, shape=tuple(shape), value=0.0)


def _shortest(value: float) -> float:
    """The number that was written as a Float32: 1e-05, not 9.999999747378752e-06."""
    return float(str(np.float32(value)))


def _is_float32(value: float) -> bool:
    """Whether a Float32 comes back as this number; what is not finite does."""
    with np.errstate(over="ignore"):
        return not np.isfinite(value) or _shortest(value) == value


def _exact(message: dict) -> float:
    """The number beside its Float32."""
    rounded = message.get("floats") or [message.get("f", 0)]
    numbers = message.get("doubles") or [message.get("d", 0)]
    with np.errstate(over="ignore"):
        if np.float32(numbers[0]) != np.float32(rounded[0]):
            raise ValueError(f"a value is {rounded[0]} and, as a Float64, {numbers[0]}")
    return float(numbers[0])


_SCALARS: dict[int, tuple[str, str, Callable[[Any], Any] | None]] = {
    FLOAT: ("f", "floats", _shortest),
    DOUBLE: ("d", "doubles", float),
    STRING: ("s", "strings", None),
    BOOL: ("i", "ints", bool),
}


def value_of(message: dict) -> Any:
    """The value of an attribute."""
    kind = message.get("type", 0)
    if kind in MONADS:
        return Monad()
    if kind == NONE:
        return None
    if kind in (TUPLE, LIST):
        return tuple(value_of(v) for v in message.get("values", []))
    if kind in (17, TENSORS):
        tensors = [message["t"]] if "t" in message else message.get("tensors", [])
        if len(tensors) != 1:
            raise ValueError(f"a value holds {len(tensors)} tensors, where one is meant")
        return tensor_of(tensors[0])
    single, many, convert = _SCALARS.get(kind, ("i", "ints", int))
    if kind not in _SCALARS and kind not in _INTEGERS:
        raise ValueError(f"a value is of the unknown kind {kind}")
    if kind == FLOAT and ("d" in message or "doubles" in message):
        return _exact(message)
    values = message.get(many) or [message.get(single, b"" if kind == STRING else 0)]
    return values[0].decode("utf-8", "replace") if convert is None else convert(values[0])
