"""Element types and constants under NumPy's names, and how types promote."""

from __future__ import annotations

import functools
import math
import sys
from typing import Annotated, Any, TypeAlias

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Called, Real, Refused, Taken
from mindspore.common.dtype import (
    all_types,
    bool_,
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

inf, nan, pi = math.inf, math.nan, math.pi
PINF, NINF = math.inf, -math.inf
int_, float_, uint = int32, float32, uint32  # of Python's numbers; NumPy has 64 bits there

_OF_PYTHON = {int: int_, float: float_, bool: bool_}
_NAMED = {str(t).lower(): t for t in all_types} | {
    "bool_": bool_,
    "int": int_,
    "int_": int_,
    "uint": uint,
    "float": float_,
    "float_": float_,
    **{np.dtype(code).str[1:]: _core.dtype_of(np.dtype(code)) for code in "?bhiqBHIQefd"},
}
_NO = Refused(TypeError, "be a dtype")


def element_type(given: Any) -> Any:
    """The dtype that a dtype, a type of Python or NumPy, or a name stands for; `int` and `float` are types of 32 bits."""
    if isinstance(given, str):
        return _NAMED.get(given.lower(), _NO)
    if given is None or isinstance(given, DType):
        return given
    try:
        return _OF_PYTHON.get(given) or _core.dtype_of(given)
    except TypeError:
        return _NO


_GIVEN = type | str | DType
_SAID = Called("a dtype", "dtypes")
ElementType: TypeAlias = Annotated[Any, Taken(_GIVEN, element_type, ("DType",)), _SAID]
Dtype: TypeAlias = Annotated[Any, Taken(_GIVEN | None, element_type, ("DType", "None")), _SAID]


def number_type(number: Any) -> Any:
    """The dtype of a tensor made of a Python number: 32 bits where they hold it."""
    if isinstance(number, (bool, np.bool_)):
        return bool_
    if isinstance(number, (float, np.floating)):
        return float32
    return int32 if -(1 << 31) <= number < 1 << 31 else int64


def promoted(*types: Any) -> Any:
    """The dtype that holds elements of all these dtypes."""
    return functools.reduce(lambda a, b: _core.promote(a, False, b, False), types)


def promote_types(type1: ElementType, type2: ElementType) -> Any:
    """The dtype that elements of both dtypes are computed in."""
    return promoted(type1, type2)


def result_type(*arrays_and_dtypes: Tensor | Real | ElementType) -> Any:
    """The dtype that tensors, numbers and elements of dtypes are computed in together."""
    if not arrays_and_dtypes:
        raise ValueError("For 'result_type', there must be an array or a dtype, but got ().")
    return promoted(*map(_type_of, arrays_and_dtypes))


def _type_of(given: Any) -> Any:
    if isinstance(given, Tensor):
        return given.dtype
    return given if isinstance(given, DType) else number_type(given)


__all__ = [
    "NINF",
    "PINF",
    "bool_",
    "float16",
    "float32",
    "float64",
    "float_",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "nan",
    "numeric_types",
    "pi",
    "promote_types",
    "result_type",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
numeric_types = [name for name in __all__ if isinstance(globals().get(name), DType)]
check_functions(sys.modules[__name__], ("promote_types", "result_type"))
