"""Tensor(...): the dtype that data without one has, digits, empty data, and the spellings with shape and initializer."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops
from mindspore.common.initializer import One

HALF, BYTE = Tensor(1.5, ms.float16), Tensor(1, ms.int8)
NAMES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool".split()

# Data, its dtype, its shape.
DATA: list[tuple[Any, Any, tuple]] = [
    # Nothing, in lists, is Float32.
    ([], ms.float32, (0,)),
    ((), ms.float32, (0,)),
    ([[]], ms.float32, (1, 0)),
    ([[], []], ms.float32, (2, 0)),
    (np.array([]), ms.float64, (0,)),
    # Python's numbers.
    (3, ms.int64, ()),
    (2**40, ms.int64, ()),
    (3.0, ms.float32, ()),
    (True, ms.bool_, ()),
    (1j, ms.complex128, ()),
    ([1, 2], ms.int64, (2,)),
    ([1.0, 2.0], ms.float32, (2,)),
    ([1, 2.5], ms.float32, (2,)),
    ([True, False], ms.bool_, (2,)),
    ([1, True], ms.int64, (2,)),
    ([True, 2.5], ms.float32, (2,)),
    ([1j, 2], ms.complex128, (2,)),
    ([[1, 2], [3, 4.5]], ms.float32, (2, 2)),
    ([(1, 2), [3, 4]], ms.int64, (2, 2)),
    # Lists of NumPy's: its default integers and floats are ours, the others stay.
    ([np.float64(1.5), np.float64(2)], ms.float32, (2,)),
    ([np.float64(1.5), 2], ms.float32, (2,)),
    ([np.float32(1.5), 2], ms.float32, (2,)),
    ([np.float16(1.5), np.int32(2)], ms.float32, (2,)),
    ([np.int32(1), np.int32(2)], ms.int64, (2,)),
    ([np.int8(1), 2], ms.int64, (2,)),
    ([np.uint64(1), 1], ms.float32, (2,)),
    ([np.array([1.0, 2.0]), [3, 4]], ms.float32, (2, 2)),
    ([np.array([1, 2], np.int32)], ms.int64, (1, 2)),
    # Lists of tensors, likewise.
    ([Tensor(1.0), Tensor(2.0)], ms.float32, (2,)),
    ([Tensor(1.0), 1], ms.float32, (2,)),
    ([Tensor([1, 2], ms.int32)] * 2, ms.int64, (2, 2)),
    ([[BYTE, BYTE], [BYTE, BYTE]], ms.int8, (2, 2)),
    ([HALF, HALF], ms.float16, (2,)),
    ([Parameter(Tensor([1.0, 2.0]))] * 2, ms.float32, (2, 2)),
]


@pytest.mark.parametrize(("data", "dtype", "shape"), DATA)
def test_dtypes_of_data(data: Any, dtype: Any, shape: tuple) -> None:
    x = Tensor(data)
    assert (x.dtype, tuple(x.shape)) == (dtype, shape)
    assert ms.tensor(data).dtype == dtype


@pytest.mark.parametrize("name", NAMES)
def test_numpy_numbers_and_arrays_keep_their_dtype(name: str) -> None:
    for data in (np.dtype(name).type(1), np.ones(2, name)):
        assert str(Tensor(data).asnumpy().dtype) == name
    kept = {"float64": "float32", "int32": "int64"}.get(name, name)
    assert str(Tensor([np.dtype(name).type(1)]).asnumpy().dtype) == kept


@pytest.mark.parametrize("data", [0.1, 1 / 3, 1e300, 2**53 - 1])
def test_float64_has_all_digits(data: float) -> None:
    assert Tensor(data, ms.float64).item() == data
    assert Tensor([data], ms.float64).asnumpy()[0] == data
    assert Tensor([[data, 1]], ms.float64).asnumpy()[0, 0] == data
    assert Parameter(Tensor(data, ms.float64)).asnumpy() == data


def test_parameters_of_empty_lists() -> None:
    assert Parameter([]).dtype == ms.float32


def test_shape_and_initializer() -> None:
    x = Tensor(shape=(2, 2), dtype=ms.float32, init=One())
    assert x.init_data().asnumpy().tolist() == [[1, 1], [1, 1]]
    assert Tensor(shape=2, dtype=ms.float32, init=One()).shape == (2,)


BAD: list[tuple[dict, type]] = [
    ({"input_data": [1, 2], "shape": (3,)}, ValueError),
    ({"input_data": [1, 2], "shape": (2,), "dtype": ms.float32}, ValueError),
    ({"input_data": [1, 2], "init": One()}, ValueError),
    ({"init": One(), "dtype": ms.float32}, ValueError),
    ({"init": One(), "shape": (2,)}, ValueError),
    ({"shape": (2,)}, TypeError),
    ({}, TypeError),
    ({"input_data": "a"}, TypeError),
    ({"input_data": None}, TypeError),
    ({"input_data": {1: 2}}, TypeError),
    ({"input_data": [None]}, TypeError),
    ({"input_data": 1, "dtype": "float32"}, TypeError),
    ({"input_data": 1, "dtype": 3}, TypeError),
    ({"input_data": 1, "dtype": ms.number}, TypeError),
]


@pytest.mark.parametrize(("arguments", "kind"), BAD)
def test_refusals(arguments: dict, kind: type) -> None:
    with pytest.raises(kind, match="'Tensor'"):
        Tensor(**arguments)


@pytest.mark.parametrize("function", [ops.relu, ops.tanh, ops.matmul])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))]
)
def test_copies_of_functions_are_themselves(function: Callable, copied: Callable) -> None:
    assert copied(function) is function
