"""Optimisation under SciPy's names: minima of functions, steps along a direction, assignments. What comes out depends on values, so
these run line by line in compiled code, too; the functions that they are given are compiled as usual."""

from mindspore.scipy.optimize._assignment import linear_sum_assignment
from mindspore.scipy.optimize._line_search import line_search
from mindspore.scipy.optimize._minimize import minimize

__all__ = ["line_search", "linear_sum_assignment", "minimize"]
