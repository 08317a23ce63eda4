"""`mindspore.dtype`: how types print, compare, are copied, and convert to and from NumPy's and Python's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import mindspore as ms
import mindspore.common.dtype as mstype
from mindspore import Parameter, Tensor, jit, ops

# Name, str, the type in Python, bytes, and whether it is a float, complex, signed.
ELEMENTS: list[tuple[str, str, type, int, tuple[bool, bool, bool]]] = [
    ("bool", "Bool", bool, 1, (False, False, False)),
    ("int8", "Int8", int, 1, (False, False, True)),
    ("int16", "Int16", int, 2, (False, False, True)),
    ("int32", "Int32", int, 4, (False, False, True)),
    ("int64", "Int64", int, 8, (False, False, True)),
    ("uint8", "UInt8", int, 1, (False, False, False)),
    ("uint16", "UInt16", int, 2, (False, False, False)),
    ("uint32", "UInt32", int, 4, (False, False, False)),
    ("uint64", "UInt64", int, 8, (False, False, False)),
    ("float16", "Float16", float, 2, (True, False, True)),
    ("bfloat16", "BFloat16", float, 2, (True, False, True)),
    ("float32", "Float32", float, 4, (True, False, True)),
    ("float64", "Float64", float, 8, (True, False, True)),
    ("complex64", "Complex64", complex, 8, (False, True, True)),
    ("complex128", "Complex128", complex, 16, (False, True, True)),
]


def element(name: str) -> Any:
    return ms.bool_ if name == "bool" else getattr(ms, name)


@pytest.mark.parametrize(("name", "text", "python", "size", "facts"), ELEMENTS)
def test_element_types(name: str, text: str, python: type, size: int, facts: tuple) -> None:
    dtype = element(name)
    assert repr(dtype) == f"mindspore.{name}"
    assert str(dtype) == f"{dtype}" == text
    assert str([dtype]) == f"[mindspore.{name}]"
    assert mstype.dtype_to_pytype(dtype) is python
    assert mstype.type_size_in_bytes(dtype) == dtype.itemsize == size
    assert (dtype.is_floating_point, dtype.is_complex, dtype.is_signed) == facts
    assert isinstance(dtype, ms.Type) and isinstance(dtype, type(ms.number))
    assert mstype.pytype_to_dtype(dtype) is dtype
    assert mstype.get_py_obj_dtype(dtype) == mstype.type_type
    for other in (copy.copy(dtype), copy.deepcopy(dtype), pickle.loads(pickle.dumps(dtype))):
        assert other is dtype and hash(other) == hash(dtype)
    for stranger in (name, text, python, np.dtype(mstype.dtype_to_nptype(dtype)), None):
        assert dtype != stranger and not dtype == stranger
    if name != "bfloat16":
        assert mstype.dtype_to_nptype(dtype) is np.dtype(name).type
        for form in (np.dtype(name), np.dtype(name).type):
            assert mstype.pytype_to_dtype(form) is dtype


def test_no_dtype_of_numpy() -> None:
    with pytest.raises(TypeError):
        np.dtype(ms.float32)


ALIASES = {
    "byte": "int8", "short": "int16", "intc": "int32", "intp": "int64", "long": "int64",
    "ubyte": "uint8", "ushort": "uint16", "uintc": "uint32", "uintp": "uint64",
    "half": "float16", "single": "float32", "double": "float64",
    "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip


@pytest.mark.parametrize("name", ALIASES)
def test_aliases(name: str) -> None:
    assert getattr(ms, name) is getattr(mstype, name) is element(ALIASES[name])


# Types of any size, and of what is no number: their repr and str.
OTHERS: dict[str, tuple[str, str]] = {
    "number": ("number", "Number"),
    "int_": ("int", "Int"),
    "uint": ("uint", "UInt"),
    "float_": ("float", "Float"),
    "string": ("string_", "String"),
    "list_": ("list_", "List"),
    "tuple_": ("tuple_", "Tuple"),
    "type_none": ("type_none", "None"),
    "tensor_type": ("tensor", "Tensor"),
    "type_type": ("type_type", "TypeType"),
    "function": ("function", "Func"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_types(name: str) -> None:
    kind, (shown, text) = getattr(mstype, name), OTHERS[name]
    assert repr(kind) == f"mindspore.{shown}" and str(kind) == text
    assert isinstance(kind, ms.Type)
    assert all(kind != element(n) for n, *_ in ELEMENTS)
    for other in (copy.deepcopy(kind), pickle.loads(pickle.dumps(kind))):
        assert other == kind and hash(other) == hash(kind)
    with pytest.raises(KeyError, match="dtype_to_nptype"):
        mstype.dtype_to_nptype(kind)


def test_types_of_any_size_are_no_element_types() -> None:
    assert ms.int_ != ms.int64 and ms.float_ != ms.float32 and ms.uint != ms.uint64
    assert {ms.int_: 1}.get(ms.int64) is None
    with pytest.raises(TypeError, match="'dtype'"):
        Tensor([1], ms.int_)
    # Ops take them for these.
    assert ops.cast(Tensor([1.5]), ms.int_).dtype == ops.zeros((2,), ms.int_).dtype == ms.int32
    assert ops.cast(Tensor([1]), ms.float_).dtype == ms.float32
    with pytest.raises(TypeError, match="'dtype' must be a dtype"):
        ops.cast(Tensor([1]), ms.uint)


IN_PYTHON = {"string": str, "list_": list, "tuple_": tuple, "type_none": type(None), "int_": int, "float_": float}  # fmt: skip


@pytest.mark.parametrize("name", IN_PYTHON)
def test_dtype_to_pytype(name: str) -> None:
    assert mstype.dtype_to_pytype(getattr(mstype, name)) is IN_PYTHON[name]


@pytest.mark.parametrize("name", ["number", "uint", "tensor_type"])
def test_no_pytype(name: str) -> None:
    with pytest.raises(KeyError, match="dtype_to_pytype"):
        mstype.dtype_to_pytype(getattr(mstype, name))


OBJECTS: list[tuple[Any, Any]] = [
    (1, ms.int64),
    (1.5, ms.float64),
    (True, ms.bool_),
    (1j, ms.complex128),
    ("a", ms.string),
    ([1], ms.list_),
    ((1,), ms.tuple_),
    (None, ms.type_none),
    (np.int8(1), ms.int8),
    (np.float32(1), ms.float32),
    (np.str_("a"), ms.string),
]


@pytest.mark.parametrize(("value", "kind"), OBJECTS)
def test_types_of_objects(value: Any, kind: Any) -> None:
    assert ms.get_py_obj_dtype(value) == ms.pytype_to_dtype(type(value)) == kind
    assert ms.get_py_obj_dtype(type(value)) == kind


def test_types_of_tensors_and_functions() -> None:
    of_floats = mstype.TensorType(ms.float32)
    assert ms.get_py_obj_dtype(Tensor([1.0])) == of_floats
    assert ms.get_py_obj_dtype(Parameter(Tensor([1.0]))) == ops.typeof(Tensor([1.0])) == of_floats
    assert (repr(of_floats), str(of_floats)) == ("mindspore.tensor[float32]", "Tensor[Float32]")
    assert of_floats.element_type() is ms.float32 and ms.tensor_type.element_type() is None
    assert of_floats not in (ms.float32, ms.tensor_type, mstype.TensorType(ms.float16))
    assert ms.tensor_type(ms.float32) == of_floats  # as the first releases wrote it
    assert ms.get_py_obj_dtype(test_aliases) == mstype.function


@pytest.mark.parametrize("kind", [dict, set, range, slice, Tensor, Exception])
def test_types_without_one_of_ours(kind: type) -> None:
    with pytest.raises(NotImplementedError, match="pytype_to_dtype"):
        ms.pytype_to_dtype(kind)


@pytest.mark.parametrize("value", [1, "float32", None, [1], len])
def test_what_is_no_type(value: Any) -> None:
    with pytest.raises(TypeError, match="pytype_to_dtype"):
        ms.pytype_to_dtype(value)


SUBCLASSES = [
    (ms.int32, ms.int_, True),
    (ms.uint8, ms.int_, False),
    (ms.uint8, ms.uint, True),
    (ms.float64, ms.float_, True),
    (ms.bfloat16, ms.float_, False),
    (ms.bfloat16, ms.number, True),
    (ms.bool_, ms.number, True),
    (ms.complex64, ms.number, True),
    (ms.float_, ms.number, True),
    (ms.number, ms.number, True),
    (ms.string, ms.number, False),
    (ms.float32, ms.float32, True),
    (ms.float32, ms.float16, False),
    (mstype.TensorType(ms.float32), ms.tensor_type, True),
]


@pytest.mark.parametrize(("kind", "category", "expected"), SUBCLASSES)
def test_categories(kind: Any, category: Any, expected: bool) -> None:
    assert mstype._issubclass_(kind, category) is expected


def test_classes_of_types() -> None:
    assert mstype.Int(32) is ms.int32 and mstype.Float(16) is ms.float16
    assert mstype.Int() == ms.int_ and mstype.Bool() is ms.bool_
    assert isinstance(ms.int8, mstype.Int) and not isinstance(ms.uint8, mstype.Int)
    assert isinstance(ms.int_, mstype.Int) and isinstance(ms.bool_, mstype.Bool)
    with pytest.raises(ValueError, match="the bits must be one of"):
        mstype.Int(7)


def test_parts_of_complex_types() -> None:
    assert ms.float32.to_complex() is ms.bfloat16.to_complex() is ms.complex64
    assert ms.float64.to_complex() is ms.complex128 and ms.complex64.to_complex() is ms.complex64
    assert ms.complex64.to_real() is ms.float32 and ms.complex128.to_real() is ms.float64
    assert ms.int32.to_real() is ms.int32
    for dtype in (ms.int32, ms.float16, ms.bool_):
        with pytest.raises(TypeError, match="to_complex"):
            dtype.to_complex()


def test_families() -> None:
    assert mstype.int_type == (ms.int8, ms.int16, ms.int32, ms.int64)
    assert mstype.float_type == (ms.float16, ms.float32, ms.float64, ms.bfloat16)
    assert mstype.all_types == (ms.bool_, *mstype.number_type)
    assert len(mstype.all_types) == len(ELEMENTS)
    assert set(mstype.signed_type) == set(mstype.number_type) - set(mstype.uint_type)
    assert mstype._simple_types[float] is ms.float64


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (float, ms.float64),
        (int, ms.int64),
        (bool, ms.bool_),
        ("float", ms.float64),
        ("half", ms.float16),
    ],
)
def test_pythons_types_as_dtypes(kind: Any, dtype: Any) -> None:
    x = Tensor([1.5, 0.0])
    assert x.astype(kind).dtype == jit(lambda v: v.astype(kind), fullgraph=True)(x).dtype == dtype


def test_types_decide_in_compiled_code() -> None:
    def function(x: Tensor) -> Tensor:
        if isinstance(x.dtype, mstype.Float) and x.dtype in (ms.float16, ms.float32):
            return x * 2 if ops.typeof(x) == mstype.TensorType(ms.float32) else x
        return x - 1

    for x in (Tensor([1.0]), Tensor([1.0], ms.float16), Tensor([1])):
        assert jit(function, fullgraph=True)(x).asnumpy() == function(x).asnumpy()


def test_a_python_float_computes_in_32_bits() -> None:
    assert ops.typeof(1.5) == ms.float32
    assert [ops.typeof(x) for x in (1, True)] == [ms.int64, ms.bool_]
