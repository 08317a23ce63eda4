"""Element types under the names of the public API, and conversions between ours, NumPy's and Python's."""

from __future__ import annotations

import enum

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

Type = DType
byte, short, half, single, double, long = int8, int16, float16, float32, float64, int64
intc, intp, ubyte, ushort, uintc, uintp = int32, int64, uint8, uint16, uint32, uint64

int_types = (int8, int16, int32, int64)
uint_types = (uint8, uint16, uint32, uint64)
float_types = (float16, bfloat16, float32, float64)
complex_types = (complex64, complex128)
number_type = int_types + uint_types + float_types + complex_types
all_types = (bool_,) + number_type


class _Category:
    """A family of types, usable with `_issubclass_`-like tests in user code."""

    def __init__(self, name: str, members: tuple):
        self.name, self.members = name, members

    def __contains__(self, item: object) -> bool:
        return item in self.members

    def __repr__(self) -> str:
        return self.name


number = _Category("Number", number_type)
int_ = int64
uint = uint64
float_ = float32
complex_ = complex64


class _Marker:
    """Kinds of values that are not element types; only their identity matters."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *_: object) -> _Marker:
        return self


class TensorType:
    """The type of a tensor of the given element type; it equals that type."""

    def __init__(self, element: Type):
        self._element = element

    def element_type(self) -> Type:
        """The type of the elements."""
        return self._element

    def __eq__(self, other: object) -> bool:
        return self._element == (other._element if isinstance(other, TensorType) else other)

    def __hash__(self) -> int:
        return hash(self._element)

    def __repr__(self) -> str:
        return f"Tensor[{self._element}]"


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


tensor_type = TensorType
tensor = _Marker("Tensor")
string = _Marker("String")
type_none = _Marker("None")
list_ = _Marker("List")
tuple_ = _Marker("Tuple")
dict_ = _Marker("Dictionary")
function = _Marker("Function")


def dtype_to_nptype(type_):
    """The NumPy scalar type for one of our types."""
    return _core.numpy_dtype(type_).type


def pytype_to_dtype(obj):
    """Our type for a Python or NumPy type."""
    return _core.dtype_of(obj)


def dtype_to_pytype(type_):
    """The Python type that holds one element of the given type."""
    if type_ is bool_:
        return bool
    if type_ in int_types + uint_types:
        return int
    return complex if type_ in complex_types else float


def get_py_obj_dtype(obj):
    """The type of a Python object: of its elements for a tensor, of the value for a number."""
    if hasattr(obj, "dtype"):
        return obj.dtype
    if isinstance(obj, type):
        return pytype_to_dtype(obj)
    return pytype_to_dtype(type(obj))


def _issubclass_(type_, category):
    """Whether a type belongs to a category such as `number`, or is the given type."""
    return type_ in category if isinstance(category, _Category) else type_ is category


issubclass_ = _issubclass_

__all__ = [
    name for name in dir() if not name.startswith("_") and name not in ("annotations", "DType")
]
