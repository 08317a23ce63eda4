"""Solutions of linear systems by iteration: of matrices, sparse ones, and functions that multiply. How many iterations it takes
depends on values, so these run line by line in compiled code, too."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import PositiveInt, Real, described
from mindspore.ops._sparse import CSRTensor

Times: TypeAlias = Callable[[Tensor], Tensor]
_FLOATS = (_core.float32, _core.float64)


def _times(name: str, argument: str, a: Any) -> Times:
    """The product with a vector."""
    if a is None:
        return lambda x: x
    if isinstance(a, Tensor):
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise ValueError(
                f"For '{name}', '{argument}' must be a square matrix, but got shape {a.shape}."
            )
        return lambda x: ops.matmul(a, x)
    if isinstance(a, CSRTensor):
        return lambda x: a.mm(x.reshape(-1, 1)).reshape(-1)
    if callable(a):
        return functools.partial(_product, name, argument, a)
    raise TypeError(
        f"For '{name}', '{argument}' must be a Tensor, a CSRTensor or a function, but got {type(a).__name__}."
    )


def _product(name: str, argument: str, function: Times, x: Tensor) -> Tensor:
    """What a function of the user's gives for a vector."""
    y = function(x)
    if not isinstance(y, Tensor) or y.shape != x.shape:
        raise ValueError(
            f"For '{name}', the function '{argument}' must give a Tensor of shape {x.shape}, but got {described(y)}."
        )
    return y


class _System:
    """A system to solve: its products, its right-hand side, how small the residual must become."""

    def __init__(self, name: str, a: Any, b: Tensor, x0: Any, m: Any, tol: Real, atol: Real):
        if b.dtype not in _FLOATS or b.ndim != 1:
            raise ValueError(
                f"For '{name}', 'b' must be a vector of Float32 or Float64, but got {b.dtype} of shape {b.shape}."
            )
        self.a, self.m, self.b = _times(name, "A", a), _times(name, "M", m), b
        self.x = ops.zeros_like(b) if x0 is None else x0
        if self.x.shape != b.shape:
            raise ValueError(
                f"For '{name}', 'x0' must have the shape of 'b', but got {self.x.shape} and {b.shape}."
            )
        self.bound = max(tol * _norm(b), atol)

    def residual(self, x: Tensor) -> Tensor:
        """What is left of b."""
        return self.b - self.a(x)


def _dot(x: Tensor, y: Tensor) -> float:
    return float((x * y).sum().asnumpy())


def _norm(x: Tensor) -> float:
    return float(np.linalg.norm(x.asnumpy().astype(np.float64)))


def cg(
    A: Any,
    b: Tensor,
    x0: Tensor | None = None,
    *,
    tol: Real = 1e-5,
    atol: Real = 0.0,
    maxiter: PositiveInt | None = None,
    M: Any = None,
) -> tuple[Tensor, int]:
    """x with `A @ x = b` by conjugate gradients, for a symmetric positive definite A.

    Args:
        A: A matrix, a CSRTensor, or a function that multiplies a vector with it.
        b: The right-hand side, a vector of Float32 or Float64.
        x0: Where to begin; zeros by default.
        tol: To which share of b the residual must fall.
        atol: Or to which norm.
        maxiter: After how many iterations to stop; 10 for each number of b by default.
        M: About the inverse of A, given as A is.

    Returns:
        The solution, and 0, or the number of iterations if the residual is still larger.
    """
    system = _System("cg", A, b, x0, M, tol, atol)
    x, limit = system.x, maxiter or 10 * b.shape[0]
    r = system.residual(x)
    p = z = system.m(r)
    before = _dot(r, z)
    for _ in range(limit):
        if _norm(r) <= system.bound:
            return x, 0
        product = system.a(p)
        along = _dot(p, product)
        if along == 0 or before == 0:  # A or M is not positive definite
            break
        step = before / along
        x, r = x + step * p, r - step * product
        z = system.m(r)
        after = _dot(r, z)
        p, before = z + (after / before) * p, after
    return x, _told(system, x, limit)


def _told(system: _System, x: Tensor, iterations: int) -> int:
    return 0 if _norm(system.residual(x)) <= system.bound else iterations


def bicgstab(
    A: Any,
    b: Tensor,
    x0: Tensor | None = None,
    *,
    tol: Real = 1e-5,
    atol: Real = 0.0,
    maxiter: PositiveInt | None = None,
    M: Any = None,
) -> tuple[Tensor, int]:
    """x with `A @ x = b` by stabilised biconjugate gradients; arguments and results are those of `cg`, A any matrix."""
    system = _System("bicgstab", A, b, x0, M, tol, atol)
    x, limit = system.x, maxiter or 10 * b.shape[0]
    r = first = system.residual(x)
    p, before = r, _dot(r, r)
    for _ in range(limit):
        if _norm(r) <= system.bound:
            return x, 0
        if before == 0:  # r has become orthogonal to where it began: begin again
            r = first = p = system.residual(x)
            before = _dot(r, r)
        preconditioned = system.m(p)
        v = system.a(preconditioned)
        along = _dot(first, v)
        if along == 0:
            break
        step = before / along
        s = r - step * v
        if _norm(s) <= system.bound:
            return x + step * preconditioned, 0
        middle = system.m(s)
        t = system.a(middle)
        size = _dot(t, t)
        omega = _dot(t, s) / size if size else 0.0
        x, r = x + step * preconditioned + omega * middle, s - omega * t
        after = _dot(first, r)
        if omega == 0:
            break
        p = r + (after / before) * (step / omega) * (p - omega * v)
        before = after
    return x, _told(system, x, limit)


def gmres(
    A: Any,
    b: Tensor,
    x0: Tensor | None = None,
    *,
    tol: Real = 1e-5,
    restart: PositiveInt = 20,
    maxiter: PositiveInt | None = None,
    M: Any = None,
    callback: Callable | None = None,
    restol: Real | None = None,
    atol: Real = 0.0,
    callback_type: Literal["x", "pr_norm", "legacy"] | None = None,
    solve_method: Literal["batched", "incremental"] = "batched",
) -> tuple[Tensor, int]:
    """x with `A @ x = b` by generalised minimal residuals, for any matrix A.

    Args:
        A: A matrix, a CSRTensor, or a function that multiplies a vector with it.
        b: The right-hand side, a vector of Float32 or Float64.
        x0: Where to begin; zeros by default.
        tol: To which share of b the residual must fall.
        restart: How many products there are before it begins again from where it came to.
        maxiter: How often it may begin again; 10 times for each number of b by default.
        M: About the inverse of A, given as A is.
        callback: Called after each round with what `callback_type` says.
        restol: An older name of `tol`.
        atol: Or to which norm the residual must fall.
        callback_type: The solution for `x`, else the residual's share of b.
        solve_method: Not used: both names mean the same here.

    Returns:
        The solution, and 0, or the number of iterations if the residual is still larger.
    """
    del solve_method
    system = _System("gmres", A, b, x0, M, tol if restol is None else restol, atol)
    x, limit = system.x, maxiter or 10 * b.shape[0]
    size, whole = min(restart, b.shape[0]), _norm(b) or 1.0
    for _ in range(limit):
        r = system.residual(x)
        left = _norm(r)
        if left <= system.bound:
            return x, 0
        if not np.isfinite(left):
            break
        x = x + system.m(_least(system, r, size))
        if callback is not None:
            left = _norm(system.residual(x)) / whole
            callback(x if callback_type == "x" else left)
    return x, _told(system, x, limit)


def _least(system: _System, r: Tensor, size: int) -> Tensor:
    """Of the vectors that some products of the residual span, that which leaves least of it (before M)."""
    norm = _norm(r)
    basis, small = [r / norm], np.zeros((size + 1, size))
    count = size
    for j in range(size):
        v = system.a(system.m(basis[j]))
        for _ in range(2):  # twice: what rounding leaves of the first time
            for i, q in enumerate(basis):
                share = _dot(q, v)
                small[i, j] += share
                v = v - share * q
        small[j + 1, j] = _norm(v)
        if small[j + 1, j] <= 1e-12 * norm:
            count = j + 1
            break
        basis.append(v / float(small[j + 1, j]))
    right = np.zeros(count + 1)
    right[0] = norm
    shares = np.linalg.lstsq(small[: count + 1, :count], right, rcond=None)[0]
    result = ops.zeros_like(r)
    for share, q in zip(shares, basis):
        result = result + float(share) * q
    return result


__all__ = ["bicgstab", "cg", "gmres"]
check_functions(sys.modules[__name__], __all__)
