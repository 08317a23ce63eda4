"""Calls of optimisation that SciPy answers. Minima and steps: tests/api/test_scipy_optimize.py."""

import numpy as np
from differential.calllib import call, f32, f64, of
from scipy.optimize import linear_sum_assignment

COST = of([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.5]], "float64")
WIDE = of([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0]])
TALL = of([[4.0, 1.0], [2.0, 0.0], [1.0, 1.5]])
HOLES = of([[4.0, float("inf")], [1.0, 2.0]])
INTEGERS = of([[4, 1, 3], [2, 0, 5], [3, 2, 2]], "int32")


def least(cost: np.ndarray, *_: object) -> tuple:
    """The assignment of the least sum."""
    return linear_sum_assignment(cost)


def largest(cost: np.ndarray, *_: object) -> tuple:
    """The assignment of the largest sum."""
    return linear_sum_assignment(cost, maximize=True)


def of_two(cost: np.ndarray, *_: object) -> tuple:
    """The assignment of the least sum to two of three columns."""
    rows, columns = linear_sum_assignment(cost[:, :2])
    return np.append(rows, -1), np.append(columns, -1)


for cost in (COST, WIDE, TALL, f32(5, 5), f64(4, 7), f32(6, 3), INTEGERS, HOLES):
    call("scipy.optimize.linear_sum_assignment", cost, False, ref=least)
    if cost is not HOLES:
        call("scipy.optimize.linear_sum_assignment", cost, maximize=True, ref=largest)
call("scipy.optimize.linear_sum_assignment", COST, False, of(2, "int64"), ref=of_two)
