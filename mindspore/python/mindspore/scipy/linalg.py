"""Linear algebra under SciPy's names: single matrices, integers as Float64. What may be overwritten never is."""

from __future__ import annotations

import sys
from typing import Any, Literal

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._dtypes import COMPLEX, FLOATS, require_same_dtype
from mindspore.common._kinds import Real, described
from mindspore.ops._bind import raw
from mindspore.ops.function.factor_func import (
    _hermitian,
    _lower_and_upper,
    _permutation_matrix,
    _solved_by_pivots,
)

_lu, _triangular, _cholesky = raw("Lu"), raw("MatrixTriangularSolve"), raw("Cholesky")


def _floats(x: Tensor) -> Tensor:
    return x if x.dtype in (*FLOATS, *COMPLEX) else ops.cast(x, _core.float64)


def _matrix(name: str, argument: str, x: Tensor, square: bool = True) -> Tensor:
    if x.ndim != 2 or (square and x.shape[0] != x.shape[1]):
        must = "be a square matrix" if square else "be a matrix"
        raise ValueError(f"For '{name}', '{argument}' must {must}, but got shape {x.shape}.")
    return _floats(x)


def block_diag(*arrs: Tensor) -> Tensor:
    """Matrices along the diagonal of a larger one; vectors count as rows."""
    for x in arrs:
        if x.ndim > 2:
            raise ValueError(
                f"For 'block_diag', the inputs must have at most 2 dimensions, but got shape {x.shape}."
            )
    if not arrs:
        return ops.zeros((1, 0), _core.float32)
    dtype = arrs[0].dtype
    for x in arrs[1:]:
        dtype = _core.promote(dtype, False, x.dtype, False)
    return ops.block_diag(*[ops.cast(x, dtype) for x in arrs])


# ---- Cholesky -----------------------------------------------------------------------------------
def cholesky(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Tensor:
    """The triangular factor of a symmetric positive definite matrix."""
    return _cholesky(_matrix("cholesky", "a", a), upper=not lower)


def cho_factor(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """The factor and whether it is the lower one, as `cho_solve` takes them."""
    return cholesky(a, lower), lower


def _columns(b: Tensor, of: Tensor) -> Tensor:
    """Right-hand sides as columns: a vector for each matrix is one."""
    return ops.reshape(b, (*b.shape, 1)) if b.ndim == of.ndim - 1 else b


def cho_solve(
    c_and_lower: tuple,
    b: Tensor,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """x with `a @ x = b`, where `cho_factor` factorised a."""
    if len(c_and_lower) != 2 or not isinstance(c_and_lower[0], Tensor):
        raise TypeError(
            f"For 'cho_solve', 'c_and_lower' must be a Tensor and a bool, but got {described(c_and_lower)}."
        )
    factor, lower = c_and_lower
    b = _floats(b)
    require_same_dtype("cho_solve", factor, b)
    return ops.cholesky_solve(_columns(b, factor), factor, upper=not lower).reshape(b.shape)


# ---- solutions ----------------------------------------------------------------------------------
_TRANSPOSED = {0: False, "N": False, 1: True, "T": True, 2: True, "C": True}


def solve_triangular(
    a: Tensor,
    b: Tensor,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Tensor:
    """x with `t @ x = b` for a triangle t of a; with its transpose for trans 1 or 'T', its adjoint for 2 or 'C'."""
    if trans not in _TRANSPOSED:
        raise ValueError(
            f"For 'solve_triangular', 'trans' must be one of 0, 1, 2, 'N', 'T', 'C', but got {trans!r}."
        )
    a, b = (x if x.dtype in (*FLOATS, *COMPLEX) else ops.cast(x, _core.float32) for x in (a, b))
    require_same_dtype("solve_triangular", a, b)
    if trans in (1, "T") and a.dtype in COMPLEX:
        a = ops.conj(a)
    solution = _triangular(
        a, _columns(b, a), lower=lower, adjoint=_TRANSPOSED[trans], unit=unit_diagonal
    )
    return solution.reshape(b.shape)


def inv(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The inverse; a singular matrix is refused."""
    return ops.inverse(_matrix("inv", "a", a))


def det(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The determinant."""
    return ops.det(_matrix("det", "a", a))


def lstsq(
    A: Tensor, B: Tensor, rcond: Real | None = None, driver: Any = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The least squares solution of `A @ x = B`, no residuals, the rank of A, and no singular values."""
    A, B = _matrix("lstsq", "A", A, square=False), _floats(B)
    if 0 in A.shape or B.ndim not in (1, 2) or B.shape[0] != A.shape[0]:
        raise ValueError(
            "For 'lstsq', 'A' must have elements and 'B' as many rows, in a vector or a matrix, but got shapes "
            f"{A.shape} and {B.shape}."
        )
    x = ops.matmul(ops.pinv(A, rtol=rcond), B)
    values = ops.svd(A, compute_uv=False)
    bound = (
        (max(A.shape) * (2.0**-52 if A.dtype == _core.float64 else 2.0**-23))
        if rcond is None
        else rcond
    )
    rank = ops.cast(values > bound * values[0], _core.int64).sum()
    nothing = ops.zeros((0,), values.dtype)
    return x, nothing, rank, nothing


# ---- elimination --------------------------------------------------------------------------------
def lu_factor(
    a: Tensor, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, Tensor]:
    """l and u in one matrix, and with which row each one was exchanged."""
    return _lu(_matrix("lu_factor", "a", a))


def lu_solve(
    lu_and_piv: tuple,
    b: Tensor,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """x with `a @ x = b`, where `lu_factor` factorised a."""
    factors, pivots = lu_and_piv
    b = _floats(b)
    require_same_dtype("lu_solve", factors, b)
    columns = _columns(b, factors)
    if not trans:
        return _solved_by_pivots(columns, factors, pivots, 0).reshape(b.shape)
    if trans == 1 and factors.dtype in COMPLEX:
        factors = ops.conj(factors)
    half = _triangular(factors, columns, lower=False, adjoint=True)
    moved = _triangular(factors, half, adjoint=True, unit=True)
    order = _permutation_matrix(pivots, factors.shape[-1], factors.dtype, 0)
    return ops.matmul(order, moved).reshape(b.shape)


def lu(
    a: Tensor, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, ...]:
    """p, l and u with `a = p @ l @ u`; with permute_l, p @ l and u."""
    a = _matrix("lu", "a", a, square=False)
    rows, columns = a.shape
    factors, pivots = _lu(a[:, :rows])
    lower, upper = _lower_and_upper(factors)
    order = _permutation_matrix(pivots, rows, a.dtype, 0)
    if rows < columns:  # the rest of u solves for the other columns
        rest = ops.matmul(ops.transpose(order, (1, 0)), a[:, rows:])
        upper = ops.concat((upper, _triangular(lower, rest, unit=True)), axis=1)
    if permute_l:
        return ops.matmul(order, lower), upper
    return ops.cast(order, _core.int32), lower, upper


# ---- eigenvalues --------------------------------------------------------------------------------
def eigh(
    a: Tensor,
    b: None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: Literal[1] = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues of a symmetric or Hermitian matrix, of which a triangle is read, in rising order, and eigenvectors as
    columns."""
    values, vectors = raw("SymmetricEigen")(_hermitian(_matrix("eigh", "a", a), lower))
    return values if eigvals_only else (values, vectors)


__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "eigh",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "solve_triangular",
]
check_functions(sys.modules[__name__], [*__all__, "det", "lu_solve"])
