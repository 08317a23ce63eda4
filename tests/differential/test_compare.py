"""Which results count as the same."""

from __future__ import annotations

from typing import Any

import pytest

from differential.compare import difference


def _array(dtype: str, *values: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [len(values)], "values": list(values)}


@pytest.mark.parametrize(
    ("dtype", "expected", "got"),
    [
        ("Float32", (1e-6, 2e-6), (0.0, 0.0)),
        ("Float32", (0.0, 0.0), (1e-9, 0.0)),
        ("Float32", (1.0, 1e-3), (1.0, 1.001e-3)),  # each by its own size
        ("Float16", (1.0, 1e-2), (1.0, 1.1e-2)),
        ("Float16", (3e-3,), (0.0,)),
        ("numpy complex64", (1e-7, 0.0), (0.0, 0.0)),
        ("Int64", (2**62,), (2**62 + 1,)),
        ("UInt64", (1, 2**64 - 1), (1, 2**64 - 2)),
        ("Bool", (True,), (False,)),
    ],
)
def test_arrays_that_differ(dtype: str, expected: tuple, got: tuple) -> None:
    assert difference(_array(dtype, *expected), _array(dtype, *got))


@pytest.mark.parametrize(
    ("dtype", "expected", "got"),
    [
        ("Float32", (1e-6, 2e-6), (1.000001e-6, 2e-6)),
        ("Float32", (1.0, 1e-9), (1.0, 1e-8)),  # as little of the largest as rounding leaves
        ("Float32", (float("inf"), float("nan"), 1.0), (float("inf"), float("nan"), 1.000001)),
        ("Float32", (), ()),
        ("UInt64", (1, 2**64 - 1), (1, 2**64 - 1)),
    ],
)
def test_arrays_that_agree(dtype: str, expected: tuple, got: tuple) -> None:
    assert not difference(_array(dtype, *expected), _array(dtype, *got))


def test_no_tolerance_is_not_the_usual_one() -> None:
    assert difference(1.0, 1.0 + 1e-7, tol=0)
    assert difference(_array("Float32", 1.0), _array("Float32", 1.0 + 1e-6), tol=0)
    assert not difference(_array("Float32", float("nan")), _array("Float32", float("nan")), tol=0)
    assert not difference(_array("Float32", 1.0, 1e-3), _array("Float32", 1.0, 1.1e-3), tol=1e-3)
    assert not difference(_array("Int32", 10), _array("Int32", 11), tol=0.2)
