"""Steps along a direction that satisfy the strong Wolfe conditions: first a bracket is found, then it shrinks."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import PositiveInt, Real
from mindspore.scipy.optimize._function import Function, array_of

FOUND, NO_BRACKET, NO_POINT = 0, 1, 3


class LineSearchResults(NamedTuple):
    """What `line_search` finds: whether it failed, its iterations, how often it took values and gradients, the step, and the
    value and the gradient there. `status` is 0, or 1 where no bracket was found, or 3 where no point of it would do."""

    failed: bool
    nit: int
    nfev: int
    ngev: int
    k: int
    a_k: float
    f_k: float
    g_k: Tensor
    status: int


@dataclass(frozen=True)
class Point:
    """A point on the line: the step, the value, the slope, the gradient."""

    step: float
    value: float
    slope: float
    gradient: np.ndarray


class Line:
    """The function along a direction, and which points of it would do."""

    def __init__(
        self,
        function: Function,
        x: np.ndarray,
        direction: np.ndarray,
        start: Point,
        c1: Real,
        c2: Real,
    ):
        self._function, self._x, self._direction = function, x, direction
        self.start, self._c1, self._c2 = start, c1, c2
        self._room = function.noise * abs(start.value)  # no decrease is seen in what is smaller
        self.tried = 0

    def at(self, step: float) -> Point:
        """The point after a step."""
        self.tried += 1
        value, gradient = self._function(self._x + step * self._direction)
        return Point(step, value, float(gradient @ self._direction), gradient)

    def low_enough(self, point: Point) -> bool:
        """Whether the value has decreased by enough; not if it is NaN."""
        bound = self.start.value + self._c1 * point.step * self.start.slope
        return point.value <= bound + self._room

    def flat_enough(self, point: Point) -> bool:
        """Whether the slope has become small enough."""
        return abs(point.slope) <= -self._c2 * self.start.slope


def searched(line: Line, maxiter: int) -> tuple[Point, int]:
    """A point of the line, and whether it satisfies the conditions: FOUND, or why not."""
    if not line.start.slope < 0:
        return line.start, NO_BRACKET
    before, step = line.start, 1.0
    for i in range(maxiter):
        point = line.at(step)
        if not line.low_enough(point) or (i and point.value >= before.value):
            return _shrunk(line, before, point, maxiter)
        if line.flat_enough(point):
            return point, FOUND
        if point.slope >= 0:
            return _shrunk(line, point, before, maxiter)
        before, step = point, 2 * step
    return before, NO_BRACKET


def _shrunk(line: Line, low: Point, high: Point, maxiter: int) -> tuple[Point, int]:
    """A point between two, of which the first is the better one."""
    for _ in range(2 * maxiter):
        point = line.at(_between(low, high))
        if not line.low_enough(point) or point.value >= low.value + line._room:
            high = point
            continue
        if line.flat_enough(point):
            return point, FOUND
        if point.slope * (high.step - low.step) >= 0:
            high = low
        low = point
    return low, NO_POINT


def _between(low: Point, high: Point) -> float:
    """Where a cubic through both points is least, or the middle if that is not well between them."""
    width = high.step - low.step
    first = low.slope + high.slope - 3 * (high.value - low.value) / width if width else math.nan
    under = first * first - low.slope * high.slope
    if under >= 0:
        second = math.copysign(math.sqrt(under), width)
        whole = high.slope - low.slope + 2 * second
        share = (high.slope + second - first) / whole if whole else math.nan
        if 0.1 <= share <= 0.9:
            return high.step - width * share
    return low.step + 0.5 * width


def line_search(
    f: Callable,
    xk: Tensor,
    pk: Tensor,
    jac: Callable | None = None,
    gfk: Tensor | None = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    c1: Real = 1e-4,
    c2: Real = 0.9,
    maxiter: PositiveInt = 20,
) -> LineSearchResults:
    """How far to go from xk along pk: a step after which f has decreased by enough and become flat enough.

    Args:
        f: A function of a vector that gives one number.
        xk: Where to begin.
        pk: The direction; f must decrease along it.
        jac: The gradient of f; by default it is derived.
        gfk: The gradient at xk, if it is known.
        old_fval: The value at xk, if it is known.
        old_old_fval: Not used.
        c1: By which share of what the slope promises the value must decrease.
        c2: To which share of it the slope must fall.
        maxiter: How many steps are tried.
    """
    del old_old_fval
    function = Function("line_search", f, jac, xk, ())
    if pk.shape != xk.shape:
        raise ValueError(
            f"For 'line_search', 'pk' must have the shape of 'xk', but got {pk.shape} and {xk.shape}."
        )
    x, direction = array_of(xk), array_of(pk)
    if gfk is None or old_fval is None:
        value, gradient = function(x)
    else:
        value, gradient = float(old_fval), array_of(gfk)
    start = Point(0.0, value, float(gradient @ direction), gradient)
    line = Line(function, x, direction, start, c1, c2)
    found, status = searched(line, maxiter)
    calls, g_k = function.calls, function.tensor(found.gradient)
    return LineSearchResults(
        status != FOUND, line.tried, calls, calls, line.tried, found.step, found.value, g_k, status
    )


check_functions(sys.modules[__name__], ["line_search"])
