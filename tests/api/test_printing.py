"""What tensors and Parameters say of themselves: str, repr and formatted text, for all ranks and dtypes, large and empty ones."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor


def ints(*shape: int, dtype: type = np.int32) -> np.ndarray:
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)


INF, NAN = np.inf, np.nan
HIDDEN = ints(2000) % 7
HIDDEN[1000] = 123456  # what is not shown makes no column wider

# The elements as they stand in repr, between "value=" and ")".
ELEMENTS: dict[str, tuple[np.ndarray, str]] = {
    "scalar": (np.float32(1.5), " 1.5"),
    "scalar digits": (np.float32(123456.789), " 123457"),
    "scalar exponent": (np.float32(1e10), " 1e+10"),
    "double": (np.float64(0.123456789), " 0.123457"),
    "half": (np.float16(0.1), " 0.0999756"),
    "nan": (np.float32(NAN), " nan"),
    "minus zero": (np.float32(-0.0), " -0"),
    "int": (np.int64(2**63 - 1), " 9223372036854775807"),
    "truth": (np.bool_(False), " False"),
    "complex": (np.complex64(1e-3 + 1e7j), " 0.001+1e+07j"),
    "floats": (
        np.float32([1, -2.5, 3e-8]),
        " [ 1.00000000e+00, -2.50000000e+00,  2.99999989e-08]",
    ),
    "specials": (
        np.float32([1, NAN, INF, -INF]),
        " [ 1.00000000e+00,             nan,             inf,            -inf]",
    ),
    "doubles": (np.float64([0.1, 1e300]), " [ 1.00000000e-01, 1.00000000e+300]"),
    "halves": (np.float16([0.1, NAN, 65504]), " [ 9.9976e-02,         nan,  6.5504e+04]"),
    "ints": (np.int32([1, -20, 300]), " [  1, -20, 300]"),
    "bytes": (np.int8([1, -128]), " [   1, -128]"),
    "unsigned": (np.uint64([2**64 - 1, 1]), " [18446744073709551615,                    1]"),
    "truths": (np.array([True, True]), " [ True,  True]"),
    "complexes": (np.complex64([1 + 2j, -0.5j, complex(NAN, INF)]), " [1+2j, -0-0.5j, nan+infj]"),
    "no elements": (np.zeros(0, np.float32), " "),
    "no rows": (np.zeros((0, 3), np.float32), "\n"),
    "empty rows": (np.zeros((2, 0), np.int32), "\n"),
    "matrix": (
        np.float32([[1.5, -2], [4, 5e5]]),
        "\n[[ 1.50000000e+00, -2.00000000e+00],\n [ 4.00000000e+00,  5.00000000e+05]]",
    ),
    "one": (np.float64([[5]]), "\n[[ 5.00000000e+00]]"),
    "int matrix": (np.int64([[-1, 22], [333, 4]]), "\n[[ -1,  22],\n [333,   4]]"),
    "truth matrix": (
        np.array([[True, False], [False, False]]),
        "\n[[ True, False],\n [False, False]]",
    ),
    "complex matrix": (
        np.complex64([[1 + 2j, 3], [0.5j, -1.25]]),
        "\n[[1+2j, 3+0j],\n [0+0.5j, -1.25+0j]]",
    ),
    "blocks": (ints(2, 2, 2), "\n[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]]"),
    "five axes": (ints(1, 2, 1, 2, 1), "\n[[[[[0],\n    [1]]],\n  [[[2],\n    [3]]]]]"),
    # A vector goes on in a new line after 24 numbers, or 12 floats, and is whole up to 1000;
    # other axes up to 6.
    "lines": (
        ints(26) % 3,
        " [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, \n 0, 1]",
    ),
    "full lines": (
        np.arange(12) % 2 == 0,
        " [" + ", ".join([" True", "False"] * 6) + "\n ]",
    ),
    "lines of floats": (
        np.zeros(13, np.float32),
        " [" + ", ".join([" 0.00000000e+00"] * 12) + ", \n  0.00000000e+00]",
    ),
    "long": (ints(1001), " [   0,    1,    2 ...  998,  999, 1000]"),
    "hidden": (HIDDEN, " [0, 1, 2 ... 2, 3, 4]"),
    "long floats": (
        np.float16(ints(1001)),
        " [ 0.0000e+00,  1.0000e+00,  2.0000e+00 ...  9.9800e+02,  9.9900e+02,  1.0000e+03]",
    ),
    "six columns": (ints(2, 6), "\n[[ 0,  1,  2,  3,  4,  5],\n [ 6,  7,  8,  9, 10, 11]]"),
    "seven columns": (ints(2, 7), "\n[[ 0,  1,  2 ...  4,  5,  6],\n [ 7,  8,  9 ... 11, 12, 13]]"),
    "seven rows": (
        ints(7, 2),
        "\n[[ 0,  1],\n [ 2,  3],\n [ 4,  5],\n ...\n [ 8,  9],\n [10, 11],\n [12, 13]]",
    ),
    "seven blocks": (
        ints(7, 1, 2),
        "\n[[[ 0,  1]],\n [[ 2,  3]],\n [[ 4,  5]],\n ...\n [[ 8,  9]],\n [[10, 11]],\n [[12, 13]]]",
    ),
    "seven within": (
        ints(1, 7, 1),
        "\n[[[0],\n  [1],\n  [2],\n  ...\n  [4],\n  [5],\n  [6]]]",
    ),
    "large": (
        np.float32(ints(40, 40)),
        "\n[[ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00 ...  3.70000000e+01,  3.80000000e+01,  3.90000000e+01],"
        "\n [ 4.00000000e+01,  4.10000000e+01,  4.20000000e+01 ...  7.70000000e+01,  7.80000000e+01,  7.90000000e+01],"
        "\n [ 8.00000000e+01,  8.10000000e+01,  8.20000000e+01 ...  1.17000000e+02,  1.18000000e+02,  1.19000000e+02],"
        "\n ..."
        "\n [ 1.48000000e+03,  1.48100000e+03,  1.48200000e+03 ...  1.51700000e+03,  1.51800000e+03,  1.51900000e+03],"
        "\n [ 1.52000000e+03,  1.52100000e+03,  1.52200000e+03 ...  1.55700000e+03,  1.55800000e+03,  1.55900000e+03],"
        "\n [ 1.56000000e+03,  1.56100000e+03,  1.56200000e+03 ...  1.59700000e+03,  1.59800000e+03,  1.59900000e+03]]",
    ),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_repr(name: str) -> None:
    array, elements = ELEMENTS[name]
    x = Tensor(np.asarray(array))
    assert repr(x) == f"Tensor(shape={list(x.shape)}, dtype={x.dtype}, value={elements})"


@pytest.mark.parametrize("name", [n for n in ELEMENTS if "complex" not in n])
def test_str_is_that_of_the_array(name: str) -> None:
    array = np.asarray(ELEMENTS[name][0])
    assert str(Tensor(array)) == str(array) == f"{Tensor(array)}"


def test_a_matrix_prints_aligned(capsys: pytest.CaptureFixture) -> None:
    print(Tensor([[1.5, -20.0], [300.0, 4.0]]))
    assert capsys.readouterr().out == "[[  1.5 -20. ]\n [300.    4. ]]\n"


def test_tensors_in_containers_print_by_repr() -> None:
    assert str([Tensor(3)]) == "[Tensor(shape=[], dtype=Int64, value= 3)]"
    assert str({"a": Tensor([1, 2])}) == "{'a': Tensor(shape=[2], dtype=Int64, value= [1, 2])}"


BF16: dict[str, tuple[list, str, str]] = {
    "vector": (
        [1.5, -2.25, 0.1, 3e38],
        " [        1.5,       -2.25,    0.100098, 3.00406e+38]",
        "[1.500000 -2.250000 0.100098\n 300405527047390987276260395623357874176.000000]",
    ),
    "matrix": (
        [[1.5, -2.25], [0.1, NAN]],
        "\n[[     1.5,    -2.25],\n [0.100098,      nan]]",
        "[[1.500000 -2.250000]\n [0.100098 nan]]",
    ),
}


@pytest.mark.parametrize("name", BF16)
def test_bfloat16(name: str) -> None:
    values, elements, text = BF16[name]
    x = Tensor(np.array(values), ms.bfloat16)
    assert repr(x) == f"Tensor(shape={list(x.shape)}, dtype=BFloat16, value={elements})"
    assert str(x) == text


def test_parameters_say_their_names_and_types() -> None:
    text = "Parameter (name=w, shape=(2, 2), dtype=Float32, requires_grad=False)"
    weight = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="w", requires_grad=False)
    assert str(weight) == repr(weight) == f"{weight}" == f"{weight!s}" == text
    assert str((weight,)) == f"({text},)"
    assert str(weight.value()) == "[[1. 2.]\n [3. 4.]]"
