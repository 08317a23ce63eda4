"""Tensors under Python's own operators, builtins and copies, and NumPy's functions, in both modes."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit

R = Tensor(np.array([1.25, -1.25, 2.5, 3.5, -0.5, 1234.5], np.float32))
M = Tensor(np.array([[1, 5, 3], [4, 2, 6]], np.float32))
I = Tensor(np.array([[1, -5, 3], [4, 2, -6]], np.int32))  # noqa: E741  a matrix of ints
H = Tensor(np.array([1, 2, 3], np.float16))
B = Tensor(np.array([True, False]))
S = Tensor(2.5)


def plain(value: Any) -> Any:
    """dtype, values of tensors; the items of sequences; other values with their types."""
    if isinstance(value, Tensor):
        return str(value.dtype), value.asnumpy().tolist()
    if isinstance(value, (list, tuple)):
        return type(value)(plain(v) for v in value)
    return type(value), value


F, N, L = "Float32", "Int32", "Int64"
CASES: dict[str, tuple[Callable, Tensor, Any]] = {
    "round": (round, R, (F, [1, -1, 2, 4, -0.0, 1234])),
    "round ints": (round, I, (N, [[1, -5, 3], [4, 2, -6]])),
    "round scalar": (round, S, (F, 2)),
    "round decimals": (lambda x: round(x, -1), R, (F, [0, -0.0, 0, 0, -0.0, 1230])),
    "method round": (lambda x: x.round(1), S, (F, 2.5)),
    "abs": (abs, I, (N, [[1, 5, 3], [4, 2, 6]])),
    "invert ints": (lambda x: ~x, I, ("Bool", [[False] * 3, [False] * 3])),
    "invert floats": (lambda x: ~(x - 1), M, ("Bool", [[True, False, False], [False] * 3])),
    "invert bools": (lambda x: ~x, B, ("Bool", [False, True])),
    "contains": (lambda x: (5 in x, 7 in x, 7 not in x), M, ((bool, True), (bool, False), (bool, True))),
    "contains tensors": (lambda x: (x[0] in x, x[0, 0] in x[0]), M, ((bool, True), (bool, True))),
    "contains others": (lambda x: ("a" in x, None in x), M, ((bool, False), (bool, False))),
    "scalar contains": (lambda x: 2.5 in x, S, (bool, True)),
    "reversed": (lambda x: list(reversed(x)), M, [(F, [4, 2, 6]), (F, [1, 5, 3])]),
    "list right": (lambda x: x + [1, 2, 3], M, (F, [[2, 7, 6], [5, 4, 9]])),
    "list left": (lambda x: [1, 2, 3] + x, M, (F, [[2, 7, 6], [5, 4, 9]])),
    "tuple": (lambda x: x - (1, 2, 3), M, (F, [[0, 3, 0], [3, 0, 3]])),
    "tuple left": (lambda x: (7, 7, 7) // x, I, (N, [[7, -2, 2], [1, 3, -2]])),
    "nested": (lambda x: x + [[1, 2, 3], [4, 5, 6]], I, (N, [[2, -3, 6], [8, 7, 0]])),
    "floats beside ints": (lambda x: x + [0.5, 1, 2], I, (F, [[1.5, -4, 5], [4.5, 3, -4]])),
    "half beside floats": (lambda x: x + [0.5, 1, 2], H, ("Float16", [1.5, 3, 5])),
    "times": (lambda x: x * [1, 2, 3], M, (F, [[1, 10, 9], [4, 4, 18]])),
    "over": (lambda x: x / (1, 2, 3), M, (F, [[1, 2.5, 1], [4, 1, 2]])),
    "remainder": (lambda x: x % [2, 2, 2], M, (F, [[1, 1, 1], [0, 0, 0]])),
    "numpy scalar": (lambda x: np.float64(2) * x, M, (F, [[2, 10, 6], [8, 4, 12]])),
    "numpy compares": (lambda x: np.float32(3) > x, M, ("Bool", [[True, False, False], [False, True, False]])),
    "array": (lambda x: np.ones(3, np.float32) - x, M, (F, [[0, -4, -2], [-3, -1, -5]])),
    "len": (len, M, (int, 2)),
    "pow": (lambda x: pow(2, x), M, (F, [[2, 32, 8], [16, 4, 64]])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_modes(name: str) -> None:
    function, x, expected = CASES[name]
    compiled = (lambda x: function(x)) if function in (round, abs, len) else function
    assert plain(function(x)) == expected
    assert plain(jit(compiled, fullgraph=True)(x)) == expected


def test_adding_to_a_list_in_place_is_the_sum() -> None:
    def add(x: Tensor) -> Any:
        numbers = [1, 2, 3]
        numbers += x
        return numbers

    for f in (add, jit(add, fullgraph=True)):
        assert plain(f(M[0])) == (F, [2, 7, 6])


def test_a_list_times_a_tensor_of_an_integer_is_repeated() -> None:
    assert [0] * Tensor(3) == [0, 0, 0] and "ab" * Tensor(2) == "abab"


def test_what_stands_for_an_int_keeps_its_bits() -> None:
    def bits(x: Tensor) -> Any:
        n = 5 if x.sum() > 0 else 3
        return ~n, x * ~n

    for f in (bits, jit(bits, fullgraph=True)):
        assert plain(f(S)) == ((int, -6), (F, -15))


def test_powers_have_no_modulus() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        pow(M, 2, 3)

    def modular(x: Tensor) -> int:
        return pow(3 if x.sum() > 0 else 2, 2, 5)  # of ints they do

    assert modular(S) == 4
    with pytest.warns(UserWarning, match="pow"):
        assert jit(modular)(S) == 4


CONVERSIONS: dict[str, tuple[Callable, Any]] = {
    "int": (lambda: int(S), 2),
    "int of one": (lambda: int(Tensor([[7]])), 7),
    "float": (lambda: float(Tensor(3)), 3.0),
    "complex": (lambda: complex(Tensor(np.array(1 + 2j, np.complex64))), 1 + 2j),
    "bool": (lambda: (bool(S), bool(Tensor(0.0)), bool(Tensor([True]))), (True, False, True)),
    "index": (lambda: ["a", "b", "c"][Tensor(1)], "b"),
    "operator.index": (lambda: operator.index(Tensor([[7]])), 7),
    "floor": (lambda: math.floor(S), 2),
    "ceil": (lambda: math.ceil(Tensor([3.5])), 4),
    "sqrt": (lambda: math.sqrt(Tensor(4.0)), 2.0),
    "format": (lambda: (f"{S}", f"{S:.2f}", format(Tensor([3]), "03d")), ("2.5", "2.50", "003")),
    "percent": (lambda: operator.mod("%.1f", S), "2.5"),
    "hash": (lambda: (hash(M) == hash(M), {M: 1}[M], hash(S) == hash(Tensor(2.5))), (True, 1, False)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions(name: str) -> None:
    function, expected = CONVERSIONS[name]
    assert function() == expected


@pytest.mark.parametrize("convert", [int, float, bool, math.floor, operator.index])
def test_many_elements_are_no_number(convert: Callable) -> None:
    with pytest.raises(ValueError, match="one element"):
        convert(I)


def test_no_trunc_and_no_divmod() -> None:
    for function in (math.trunc, lambda x: divmod(x, 2), reversed):
        with pytest.raises(TypeError):
            function(S)


# ---- copies -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_of_tensors_and_parameters(copied: Callable) -> None:
    x = Tensor(np.array([1.0, 2.0], np.float32))
    y = copied(x)
    y[0] = 9
    assert x.asnumpy().tolist() == [1, 2] and y.asnumpy().tolist() == [9, 2]

    p = Parameter(x, name="p", requires_grad=False, layerwise_parallel=True)
    q = copied(p)
    assert type(q) is Parameter and (q.name, q.requires_grad, q.layerwise_parallel) == (
        "p",
        False,
        True,
    )
    q.set_data(Tensor([5.0, 6.0]))
    q.name = "q"
    assert p.asnumpy().tolist() == [1, 2] and p.name == "p"


# ---- NumPy ------------------------------------------------------------------------------------------
UFUNCS: dict[str, Callable] = {
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "isnan": np.isnan,
    "maximum": lambda x: np.maximum(x, 2),
    "add": lambda x: np.add(x, x),
    "matmul": lambda x: np.matmul(x, x.T),
    "reduce": np.add.reduce,
    "out": lambda x: np.exp(x, out=np.empty((2, 3), np.float32)),
}


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_give_arrays(name: str) -> None:
    function = UFUNCS[name]
    got = function(M)
    assert type(got) is np.ndarray
    wanted = function(M.asnumpy())
    assert got.dtype == wanted.dtype and np.array_equal(got, wanted)


def test_adding_to_an_array_in_place_keeps_the_array() -> None:
    array = np.ones(3, np.float32)
    same = array
    array += M[0]
    assert array is same and array.tolist() == [2, 6, 4]


def test_ufuncs_in_compiled_functions() -> None:
    with pytest.warns(UserWarning, match="eagerly"):
        got = jit(lambda x: ms.Tensor(np.exp(x)) + 1)(S)
    assert got.asnumpy() == np.exp(np.float32(2.5)) + 1
