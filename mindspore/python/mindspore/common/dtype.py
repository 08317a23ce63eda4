"""Types under the names of the public API - of elements, and of other values - and conversions between ours, NumPy's and Python's."""

from __future__ import annotations

import enum
import types
from typing import Any, ClassVar

import numpy as np

from mindspore import _core
from mindspore._core import (
    DType,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mindspore._core import bool as bool_

byte, short, half, single, double, long = int8, int16, float16, float32, float64, int64
intc, intp, ubyte, ushort, uintc, uintp = int32, int64, uint8, uint16, uint32, uint64
cfloat, cdouble = complex64, complex128

int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16)
complex_type = (complex64, complex128)
number_type = int_type + uint_type + float_type + complex_type
signed_type = int_type + float_type + complex_type
all_types = (bool_, *number_type)


class _TypeClass(type):
    """Classes of types. The element types, which the core makes, are instances of those that name them."""

    _elements: tuple

    def __instancecheck__(cls, value: object) -> bool:
        return value in cls._elements if type(value) is DType else super().__instancecheck__(value)


class Type(metaclass=_TypeClass):
    """A type. Those that are no element types - `number`, `int_`, `string` - only tell kinds of values apart."""

    _elements: ClassVar[tuple] = all_types
    _name = _text = ""
    _dtype: Any = None  # the element type that an op takes it for

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"mindspore.{self._name}"

    def __str__(self) -> str:
        return self._text


class Number(Type):
    """Any number, truth values included."""

    _name, _text = "number", "Number"


class _SizedNumber(Number):
    """Numbers of one kind: `Int(32)` is the element type of that many bits, `Int()` any."""

    _elements: ClassVar[tuple] = ()

    def __new__(cls, bits: int | None = None) -> Any:
        if bits is None:
            return super().__new__(cls)
        found = [t for t in cls._elements if 8 * t.itemsize == bits]
        if not found:
            sizes = [8 * t.itemsize for t in cls._elements]
            raise ValueError(
                f"For '{cls.__name__}', the bits must be one of {sizes}, but got {bits}."
            )
        return found[0]


class Int(_SizedNumber):
    """Signed integers."""

    _elements, _name, _text, _dtype = int_type, "int", "Int", int32


class UInt(_SizedNumber):
    """Unsigned integers."""

    _elements, _name, _text = uint_type, "uint", "UInt"


class Float(_SizedNumber):
    """Floating-point numbers."""

    _elements, _name, _text, _dtype = (float16, float32, float64), "float", "Float", float32


class Bool(Number):
    """Truth values."""

    _elements = (bool_,)

    def __new__(cls) -> Any:
        return bool_


class TensorType(Type):
    """The type of a tensor of the given element type, or of any."""

    _elements = ()

    def __init__(self, element: Any = None):
        self._element = element

    def __call__(self, element: Any) -> TensorType:
        """The first releases wrote `tensor_type(float32)`."""
        return TensorType(element)

    def element_type(self) -> Any:
        """The type of the elements; None for any."""
        return self._element

    def __hash__(self) -> int:
        return hash((TensorType, self._element))

    def __repr__(self) -> str:
        inside = "" if self._element is None else f"[{repr(self._element).partition('.')[2]}]"
        return f"mindspore.tensor{inside}"

    def __str__(self) -> str:
        return "Tensor" if self._element is None else f"Tensor[{self._element}]"


def _kind(class_name: str, name: str, text: str) -> Any:
    """A class of values that are no numbers, of which there is one type."""
    members = {"_elements": (), "_name": name, "_text": text, "__doc__": f"The type {text}."}
    return _TypeClass(class_name, (Type,), {**members, "__module__": __name__})


String = _kind("String", "string_", "String")
List = _kind("List", "list_", "List")
Tuple = _kind("Tuple", "tuple_", "Tuple")
Dict = _kind("Dict", "dict", "Dictionary")
NoneType = _kind("NoneType", "type_none", "None")
TypeType = _kind("TypeType", "type_type", "TypeType")
FunctionType = _kind("FunctionType", "function", "Func")

TypeNull = _kind("TypeNull", "Null", "Null")
_null = TypeNull()
# Numbers that other devices keep in a byte or less: their types can be named, and tensors of them cannot be made.
_SMALL_FLOATS = (
    ("float8_e4m3fn", "Float8E4M3FN"),
    ("float8_e5m2", "Float8E5M2"),
    ("hifloat8", "HiFloat8"),
)
float8_e4m3fn, float8_e5m2, hifloat8 = (_kind("Float8", *names)() for names in _SMALL_FLOATS)
qint4x2 = _kind("QuantInt4", "int4", "Int4")()

number, int_, uint, float_ = Number(), Int(), UInt(), Float()
string, list_, tuple_, dict_ = String(), List(), Tuple(), Dict()
type_none, type_type, function = NoneType(), TypeType(), FunctionType()
tensor = tensor_type = TensorType()


class QuantDtype(enum.Enum):
    """How many bits a quantised number has, signed or not: for tools that quantise networks."""

    INT1, INT2, INT3, INT4, INT5, INT6, INT7, INT8 = range(8)
    INT9, INT10, INT11, INT12, INT13, INT14, INT15, INT16 = range(8, 16)
    UINT1, UINT2, UINT3, UINT4, UINT5, UINT6, UINT7, UINT8 = range(100, 108)
    UINT9, UINT10, UINT11, UINT12, UINT13, UINT14, UINT15, UINT16 = range(108, 116)

    def __str__(self) -> str:
        return self.name

    def value(self) -> int:  # type: ignore[override]
        """The number that stands for it in files."""
        return self._value_


_simple_types: dict[type, Any] = {
    list: list_,
    tuple: tuple_,
    type(None): type_none,
    bool: bool_,
    int: int64,
    float: float64,
    complex: complex128,
    str: string,
    np.str_: string,
    np.bool_: bool_,
}
_simple_types |= {_core.numpy_dtype(t).type: t for t in number_type if t is not bfloat16}
_PYTHON_TYPES: dict[Any, type] = {
    string: str,
    list_: list,
    tuple_: tuple,
    type_none: type(None),
    int_: int,
}
_PYTHON_TYPES |= {float_: float, bool_: bool, **dict.fromkeys(int_type + uint_type, int)}
_PYTHON_TYPES |= {**dict.fromkeys(float_type, float), **dict.fromkeys(complex_type, complex)}


def dtype_to_nptype(type_: Any) -> type:
    """The NumPy scalar type for an element type."""
    if not isinstance(type_, DType):
        raise KeyError(f"For 'dtype_to_nptype', the type must be of elements, but got {type_!r}.")
    return _core.numpy_dtype(type_).type


def dtype_to_pytype(type_: Any) -> type:
    """The Python type that holds a value, or an element, of the given type."""
    if type_ not in _PYTHON_TYPES:
        raise KeyError(
            f"For 'dtype_to_pytype', the type must have one in Python, but got {type_!r}."
        )
    return _PYTHON_TYPES[type_]


def pytype_to_dtype(obj: Any) -> Any:
    """Our type for a Python or NumPy type: Python's int is Int64, its float Float64."""
    if isinstance(obj, Type):
        return obj
    kind = obj.type if isinstance(obj, np.dtype) else obj
    if isinstance(kind, type) and kind in _simple_types:
        return _simple_types[kind]
    kind_of_error = NotImplementedError if isinstance(kind, type) else TypeError
    raise kind_of_error(
        f"For 'pytype_to_dtype', 'obj' must be a type of numbers, strings, lists or tuples, but got {obj!r}."
    )


def get_py_obj_dtype(obj: Any) -> Any:
    """Our type of an object of Python; a type is taken for its objects."""
    if isinstance(obj, _core.Tensor):
        return TensorType(obj.dtype)
    if isinstance(obj, Type):
        return type_type
    if isinstance(obj, (types.FunctionType, types.MethodType)):
        return function
    return pytype_to_dtype(obj if isinstance(obj, type) else type(obj))


def _issubclass_(type_: Any, category: Any) -> bool:
    """Whether a type belongs to a category such as `number`, or is the given type."""
    return type_ is category if type(category) is DType else isinstance(type_, type(category))


issubclass_ = _issubclass_


def type_size_in_bytes(type_: Any) -> int:
    """Bytes per element; 1 for numbers of any size, and 0 for what is no number."""
    return type_.itemsize if type(type_) is DType else int(isinstance(type_, Number))


__all__ = [
    "Int",
    "QuantDtype",
    "TensorType",
    "Type",
    "bfloat16",
    "bool_",
    "byte",
    "cdouble",
    "cfloat",
    "complex64",
    "complex128",
    "double",
    "dtype_to_nptype",
    "dtype_to_pytype",
    "float16",
    "float32",
    "float64",
    "float_",
    "get_py_obj_dtype",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "intc",
    "intp",
    "list_",
    "long",
    "number",
    "pytype_to_dtype",
    "short",
    "single",
    "string",
    "tensor_type",
    "tuple_",
    "type_none",
    "ubyte",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintc",
    "uintp",
    "ushort",
]
