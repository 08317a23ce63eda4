"""`mindspore._checkparam`: what the checks take and what they refuse, in the spellings of three generations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mindspore as ms
from mindspore import _checkparam as check
from mindspore._checkparam import ParamValidator, Rel, Validator, args_type_check

TAKEN = {
    "positive int": lambda: check.check_positive_int(3, "a", "P"),
    "of NumPy": lambda: check.check_positive_int(np.int64(3)),
    "int range": lambda: Validator.check_int_range(3, 0, 3, Rel.INC_BOTH, "a", "P"),
    "int range of old": lambda: Validator.check_int_range("a", 3, 0, 3, Rel.INC_BOTH, "P"),
    "integer of old": lambda: ParamValidator.check_integer("a", 3, 2, Rel.GT, "P"),
    "float range": lambda: check.check_float_range(0.5, 0, 1, Rel.INC_NEITHER, "a", "P"),
    "float of old": lambda: Validator.check_float_positive("a", 0.5, "P"),
    "legal float": lambda: Validator.check_float_legal_value("a", -0.5, "P"),
    "string": lambda: check.check_string("x", ["x", "y"], "a", "P"),
    "string of old": lambda: Validator.check_string("a", "x", ["x", "y"], "P"),
    "type": lambda: check.check_value_type("a", 3, [int, float], "P"),
    "type or None": lambda: check.check_value_type("a", None, [int, type(None)], "P") or "none",
    "bool": lambda: Validator.check_bool(True, "a", "P"),
    "dtype": lambda: check.check_type_name("a", ms.float32, [ms.float32, ms.float16], "P"),
}
REFUSED = {
    "zero": (lambda: check.check_positive_int(0, "a", "P"), ValueError, "be greater than 0"),
    "a bool": (lambda: check.check_positive_int(True, "a", "P"), TypeError, "be an int"),
    "a float": (lambda: check.check_positive_int(1.0, "a", "P"), TypeError, "but got float"),
    "an int": (lambda: check.check_positive_float(1, "a", "P"), TypeError, "be a float"),
    "nan": (lambda: check.check_positive_float(math.nan, "a", "P"), ValueError, "be finite"),
    "old zero": (lambda: Validator.check_float_positive("a", 0.0, "P"), ValueError, "than 0"),
    "outside": (
        lambda: check.check_int_range(3, 0, 3, Rel.INC_LEFT, "a", "P"),
        ValueError,
        r"be in \[0, 3\), but got 3",
    ),
    "old outside": (
        lambda: Validator.check_number_range("a", 3.0, 0, 3, Rel.INC_LEFT, float, "P"),
        ValueError,
        r"be in \[0, 3\)",
    ),
    "relation": (lambda: check.check_int(3, 4, check.GE, "a", "P"), ValueError, "be at least 4"),
    "no bool": (lambda: check.check_bool(3, "a", "P"), TypeError, "be a bool, but got int"),
    "no option": (lambda: check.check_string("z", ["x"], "a", "P"), ValueError, "be one of"),
    "type": (lambda: check.check_value_type("a", 3, [str], "P"), TypeError, "be of type str"),
    "bool as int": (lambda: check.check_value_type("a", True, [int], "P"), TypeError, "got bool"),
    "dtype": (
        lambda: check.check_type_name("a", ms.int32, [ms.float32], "P"),
        TypeError,
        "be one of",
    ),
    "kind": (
        lambda: check.check_subclass("a", ms.float32, ms.int_, "P"),
        TypeError,
        "For 'P', 'a' must be of",
    ),
    "two dtypes": (
        lambda: check.check_types_same_and_valid(
            {"a": ms.float32, "b": ms.float16}, [ms.float32, ms.float16], "P"
        ),
        TypeError,
        "'b' must be of the type of 'a'",
    ),
    "axis": (lambda: check.check_axis_in_range(3, 2), ValueError, r"be in \[-2, 2\)"),
    "axes": (lambda: check.check_axis_valid((0, 0), 2), ValueError, "name each axis once"),
    "name": (lambda: check.check_file_name_by_regular("a b"), ValueError, "must match"),
    "item": (
        lambda: check.check_positive_int_sequence([1, 0], "a", "P"),
        ValueError,
        r"'a\[1\]' must",
    ),
    "instance": (lambda: check.check_isinstance("a", 3, str), ValueError, "be an instance of"),
    "hook": (lambda: check.check_hook_fn(3), TypeError, "be a function"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name):
    assert TAKEN[name]() is not None


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, error, says = REFUSED[name]
    with pytest.raises(error, match=says):
        call()


def test_values_come_back():
    assert check.check_non_negative_int(0) == 0
    assert check.check_number("a", 4, 4, check.EQ, "P") == 4
    assert check.check_subclass("a", ms.float32, ms.number, "P") is None
    assert check.infer_out_shape((2, 3), (3,)) == (2, 3)
    assert check.check_transpose_axis((), 2) == (1, 0)
    assert check.check_axis_valid((-1, 0), 2) == (1, 0)
    assert check.twice(3) == (3, 3)


def test_decorated_functions():
    @args_type_check(a=int, b=(str, float))
    def function(a, b="x"):
        return a, b

    assert function(1) == (1, "x")
    assert function(None, b=2.0) == (None, 2.0)
    with pytest.raises(TypeError, match="'a' must be of <class 'int'>, but got float"):
        function(1.0)
    with pytest.raises(TypeError, match="'b' must be of"):
        function(1, b=[])


def test_cells_check_with_it():
    class Scaled(ms.nn.Cell):
        def __init__(self, factor):
            super().__init__()
            self.factor = Validator.check_positive_float(factor, "factor", self.cls_name)

        def construct(self, x):
            return x * self.factor

    assert Scaled(2.0)(ms.Tensor(3.0)).asnumpy() == 6
    with pytest.raises(ValueError, match="For 'Scaled', 'factor' must be greater than 0"):
        Scaled(-1.0)
