"""Minima of functions of vectors by quasi-Newton methods: one loop, and two ways to keep the inverse of the Hessian."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Real
from mindspore.scipy.optimize._function import Function, array_of
from mindspore.scipy.optimize._line_search import FOUND, Line, Point, searched

_CONVERGED, _TOO_MANY, _STUCK = 0, 1, 3


class OptimizeResults(NamedTuple):
    """What `minimize` finds: the point, whether its gradient is small enough, the value and the gradient there, an estimate of the
    inverse of the Hessian (of BFGS), how often values and gradients were taken, and the iterations. `status` is 0, or 1
    after too many iterations, or 3 where no step gave a smaller value."""

    x: Tensor
    success: bool
    status: int
    fun: float
    jac: Tensor
    hess_inv: Tensor | None
    nfev: int
    njev: int
    nit: int


class _Inverse(Protocol):
    """An estimate of the inverse of the Hessian."""

    def times(self, gradient: np.ndarray) -> np.ndarray:
        """Its product with a gradient."""

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Takes the change of the gradient after a step."""

    def matrix(self) -> np.ndarray | None:
        """The whole, if it is kept."""


class _Whole:
    """The whole matrix."""

    def __init__(self, n: int):
        self._matrix = np.eye(n)

    def times(self, gradient: np.ndarray) -> np.ndarray:
        return self._matrix @ gradient

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        scale = 1 / (change @ step)
        left = np.eye(len(step)) - scale * np.outer(step, change)
        self._matrix = left @ self._matrix @ left.T + scale * np.outer(step, step)

    def matrix(self) -> np.ndarray | None:
        return self._matrix


class _Recent:
    """The last steps and changes, of which products are made."""

    def __init__(self, size: int):
        self._kept: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=size)

    def times(self, gradient: np.ndarray) -> np.ndarray:
        shares, result = [], gradient.copy()
        for step, change in reversed(self._kept):
            shares.append((step @ result) / (change @ step))
            result -= shares[-1] * change
        if self._kept:
            step, change = self._kept[-1]
            result *= (step @ change) / (change @ change)
        for (step, change), share in zip(self._kept, reversed(shares)):
            result += (share - (change @ result) / (change @ step)) * step
        return result

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        self._kept.append((step, change))

    def matrix(self) -> np.ndarray | None:
        return None


def _minimized(
    function: Function,
    x: np.ndarray,
    inverse: _Inverse,
    maxiter: int,
    gtol: Real,
    norm: Real,
    line_search_maxiter: int,
    callback: Callable | None,
) -> OptimizeResults:
    value, gradient = function(x)
    iterations, status = 0, _TOO_MANY
    while True:
        if np.linalg.norm(gradient, norm) <= gtol:
            status = _CONVERGED
        elif not np.isfinite([value, *gradient]).all():
            status = _STUCK
        if status != _TOO_MANY or iterations == maxiter:
            break
        direction = -inverse.times(gradient)
        start = Point(0.0, value, float(gradient @ direction), gradient)
        line = Line(function, x, direction, start, 1e-4, 0.9)
        found, how = searched(line, line_search_maxiter)
        step, change = found.step * direction, found.gradient - gradient
        if how != FOUND and not found.value < value:
            status = _STUCK
            continue
        x, value, gradient, iterations = x + step, found.value, found.gradient, iterations + 1
        if step @ change > 0:
            inverse.learn(step, change)
        if callback is not None:
            callback(function.tensor(x))
    matrix = inverse.matrix()
    return OptimizeResults(
        function.tensor(x),
        status == _CONVERGED,
        status,
        value,
        function.tensor(gradient),
        None if matrix is None else function.tensor(matrix),
        function.calls,
        function.calls,
        iterations,
    )


_OPTIONS = {"maxiter": None, "gtol": 1e-5, "norm": np.inf, "line_search_maxiter": 10}
_METHODS: dict[str, dict[str, Any]] = {"bfgs": _OPTIONS, "lbfgs": {**_OPTIONS, "history_size": 20}}


def minimize(
    func: Callable,
    x0: Tensor,
    args: tuple = (),
    method: str | None = None,
    jac: Callable | None = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: Real | None = None,
    callback: Callable | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResults:
    """A minimum of a function of a vector.

    Args:
        func: The function: of a vector and `args`, giving one number.
        x0: Where to begin, a vector of Float32 or Float64.
        args: Further arguments of `func` and `jac`.
        method: `BFGS` or `LBFGS`.
        jac: The gradient of `func`; by default it is derived.
        hess: Not used by these methods.
        hessp: Not used by these methods.
        bounds: Must be None.
        constraints: Must be empty.
        tol: How small the gradient must become, where `options` does not say it.
        callback: Called with the point after each iteration.
        options: `maxiter` (200 for each number of `x0`), `gtol` (1e-5), `norm` of the gradient (inf), `line_search_maxiter` (10), and for
            LBFGS how many steps are kept: `history_size` (20).

    Examples:
        >>> from mindspore.scipy.optimize import minimize
        >>> result = minimize(lambda x: ((x - 1.5) ** 2).sum(), Tensor([0.0, 0.0]), method="BFGS")
        >>> print(result.x)
        [1.5 1.5]
    """
    del hess, hessp
    key = (method or "").lower()
    if key not in _METHODS:
        raise ValueError(f"For 'minimize', 'method' must be 'BFGS' or 'LBFGS', but got {method!r}.")
    constrained = constraints if isinstance(constraints, (list, tuple)) else constraints is not None
    if bounds is not None or constrained:
        raise ValueError(
            f"For 'minimize', 'bounds' must be None and 'constraints' empty with {method}, but got {bounds} and {constraints}."
        )
    chosen = {**_METHODS[key], **({} if tol is None else {"gtol": tol}), **(options or {})}
    unknown = set(chosen) - set(_METHODS[key])
    if unknown:
        raise ValueError(
            f"For 'minimize', 'options' must be some of {', '.join(_METHODS[key])}, but got {', '.join(sorted(unknown))}."
        )
    function = Function("minimize", func, jac, x0, args)
    x = array_of(x0)
    size = chosen.pop("history_size", None)
    inverse: _Inverse = _Whole(len(x)) if size is None else _Recent(size)
    if chosen["maxiter"] is None:
        chosen["maxiter"] = 200 * len(x)
    return _minimized(function, x, inverse, **chosen, callback=callback)


check_functions(sys.modules[__name__], ["minimize"])
