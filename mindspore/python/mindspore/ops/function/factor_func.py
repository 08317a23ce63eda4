"""Linear algebra through factorisations: solutions, inverses, determinants, eigenvalues."""

from __future__ import annotations

import math
from typing import Any, Literal

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import COMPLEX, require_same_dtype
from mindspore.common._kinds import Real
from mindspore.common._size import broadcast_shapes, require_rank
from mindspore.ops._bind import raw
from mindspore.ops._forms import method
from mindspore.ops.function.array_func import _number, swapaxes
from mindspore.ops.function.creation_func import arange
from mindspore.ops.function.norm_func import _singular_values, matrix_norm

_solve, _triangular = raw("MatrixSolve"), raw("MatrixTriangularSolve")
_lu, _permutation, _svd, _qr = raw("Lu"), raw("PivotsToPermutation"), raw("Svd"), raw("Qr")
_tril, _triu, _eye, _stop = raw("Tril"), raw("Triu"), raw("Eye"), raw("StopGradient")
_reshape, _transpose, _select = raw("Reshape"), raw("Transpose"), raw("Select")
_product, _broadcast_to, _conj = raw("BatchMatMul"), raw("BroadcastTo"), raw("Conj")


def _require_matrices(name: str, argument: str, x: Tensor, square: bool = False) -> None:
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        must = "hold square matrices" if square else "have at least 2 dimensions"
        raise ValueError(f"For '{name}', '{argument}' must {must}, but got shape {x.shape}.")


def _unit(x: Tensor, rows: int, columns: int | None = None) -> Tensor:
    """Unit matrices of the dtype and batch of x."""
    one = _eye(n=rows, m=columns, dtype=x.dtype)
    return _broadcast_to(one, shape=(*x.shape[:-2], *one.shape)) if x.ndim > 2 else one


def adjoint(x: Tensor) -> Tensor:
    """The transpose of matrices; of complex ones, conjugated."""
    _require_matrices("adjoint", "x", x)
    turned = swapaxes(x, -1, -2)
    return _conj(turned) if x.dtype in COMPLEX else turned


# ---- solutions ----------------------------------------------------------------------------------
def _solved(a: Tensor, b: Tensor, adjoint: bool = False) -> Tensor:
    lu, pivots = _lu(_stop(a))
    return _solve(a, b, lu, pivots, adjoint=adjoint)


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """x with `matrix @ x = rhs`, or with the adjoint of the matrix. A singular one is refused."""
    _require_matrices("matrix_solve", "matrix", matrix, square=True)
    return _solved(matrix, rhs, adjoint)


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is given."""
    _require_matrices("cholesky_inverse", "input_x", input_x, square=True)
    factor = _triangular(input_x, _unit(input_x, input_x.shape[-1]), lower=not upper)
    return _product(factor, factor, transpose_a=not upper, transpose_b=upper)


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """x with `a @ x = input`, where input2 is the Cholesky factor of a."""
    _require_matrices("cholesky_solve", "input2", input2, square=True)
    half = _triangular(input2, input, lower=not upper, adjoint=upper)
    return _triangular(input2, half, lower=not upper, adjoint=not upper)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """x with `A @ x = b` for a triangle of A, and a copy of A."""
    for name, x in (("b", b), ("A", A)):
        _require_matrices("triangular_solve", name, x)
    batch = _common_batch("triangular_solve", b, A)
    b, A = (_broadcast_to(x, shape=(*batch, *x.shape[-2:])) for x in (b, A))
    matrix = _conj(A) if transpose and A.dtype in COMPLEX else A
    return _triangular(matrix, b, lower=not upper, adjoint=transpose, unit=unitriangular), A


def _common_batch(name: str, x: Tensor, y: Tensor) -> tuple[int, ...]:
    """The dimensions before the last two, broadcast."""
    return broadcast_shapes(name, x.shape[:-2], y.shape[:-2])


def _rows_taken(x: Tensor, order: Tensor) -> Tensor:
    """The rows of matrices in another order."""
    places = _broadcast_to(_reshape(order, shape=(*order.shape, 1)), shape=x.shape)
    return raw("GatherD")(x, places, dim=x.ndim - 2)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """x with `a @ x = b`, where LU_data and LU_pivots, which count from 1, factorise a."""
    _require_matrices("lu_solve", "LU_data", LU_data, square=True)
    _require_matrices("lu_solve", "b", b)
    return _solved_by_pivots(b, LU_data, LU_pivots, 1)


def _solved_by_pivots(b: Tensor, lu: Tensor, pivots: Tensor, base: int) -> Tensor:
    if lu.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"For 'lu_solve', 'b' must have {lu.shape[-1]} rows, but got shape {b.shape}."
        )
    if pivots.ndim == 0 or pivots.shape[-1] != lu.shape[-1]:
        raise ValueError(
            f"For 'lu_solve', the pivots must have {lu.shape[-1]} items, but got shape {pivots.shape}."
        )
    batch = _common_batch("lu_solve", b, lu)
    b, lu = (_broadcast_to(x, shape=(*batch, *x.shape[-2:])) for x in (b, lu))
    pivots = _broadcast_to(pivots, shape=(*batch, pivots.shape[-1]))
    moved = _rows_taken(b, _order_of(pivots, lu.shape[-1], base))
    return _triangular(lu, _triangular(lu, moved, unit=True), lower=False)


def _order_of(pivots: Tensor, size: int, base: int) -> Tensor:
    return _permutation(raw("Cast")(pivots, dtype=_core.int32), size=size, base=base)


def _permutation_matrix(pivots: Tensor, size: int, dtype: Any, base: int) -> Tensor:
    """p with `a = p @ l @ u`."""
    order = _order_of(pivots, size, base)
    rows = arange(0, size, 1, dtype=_core.int32)
    hit = raw("Equal")(
        _reshape(order, shape=(*order.shape[:-1], 1, size)), _reshape(rows, shape=(size, 1))
    )
    return raw("Cast")(hit, dtype=dtype)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The matrices p, l and u of a factorisation `a = p @ l @ u`; None for those not wanted. Pivots count from 1."""
    _require_matrices("lu_unpack", "LU_data", LU_data)
    rows, columns = LU_data.shape[-2:]
    inner = min(rows, columns)
    if LU_pivots.shape != (*LU_data.shape[:-2], inner):
        raise ValueError(
            f"For 'lu_unpack', 'LU_pivots' must have shape {(*LU_data.shape[:-2], inner)}, but got "
            f"{LU_pivots.shape}."
        )
    permutation = lower = upper = None
    if unpack_pivots:
        permutation = _permutation_matrix(LU_pivots, rows, LU_data.dtype, 1)
    if unpack_data:
        lower, upper = _lower_and_upper(LU_data)
    return permutation, lower, upper


def _lower_and_upper(lu: Tensor) -> tuple[Tensor, Tensor]:
    rows, columns = lu.shape[-2:]
    inner = min(rows, columns)
    lower = _tril(lu[..., :inner], diagonal=-1) + _eye(n=rows, m=inner, dtype=lu.dtype)
    return lower, _triu(lu[..., :inner, :])


# ---- determinants and powers --------------------------------------------------------------------
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
    sign, size = raw("LogMatrixDeterminant")(input)
    return raw("Log")(sign) + size


def matrix_power(input: Tensor, n: int) -> Tensor:
    """The product of n such matrices; for negative n, of their inverses."""
    _require_matrices("matrix_power", "input", input, square=True)
    if n == 0:
        return _unit(input, input.shape[-1])
    square = raw("MatrixInverse")(input) if n < 0 else input
    n, result = abs(n), None
    while n:
        if n & 1:
            result = square if result is None else _product(result, square)
        n >>= 1
        if n:
            square = _product(square, square)
    return raw("Identity")(result)


# ---- orthogonal factors -------------------------------------------------------------------------
def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular values s, largest first, and u and v with `input = u @ diag(s) @ adjoint(v)`; s alone without compute_uv."""
    s, u, v = _svd(input, full_matrices=full_matrices, compute_uv=compute_uv)
    return (s, u, v) if compute_uv else s


def qr(input: Tensor, mode: Literal["reduced", "complete"] = "reduced") -> tuple[Tensor, Tensor]:
    """q with orthonormal columns and an upper triangular r with `input = q @ r`."""
    return _qr(input, full_matrices=mode == "complete")


def _method_qr(self: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """q with orthonormal columns and an upper triangular r; q is square unless `some`."""
    return _qr(self, full_matrices=not some)


class _Reflections:
    """The product q of reflections 1 - tau v v^H as 1 - v t v^H, where t is a triangle."""

    def __init__(self, name: str, x: Tensor, tau: Tensor):
        _require_matrices(name, "input", x)
        require_same_dtype(name, x, tau)
        count = tau.shape[-1] if tau.ndim else 0
        if tau.shape[:-1] != x.shape[:-2] or tau.ndim == 0 or count > min(x.shape[-2:]):
            raise ValueError(
                f"For '{name}', there must be at most {min(x.shape[-2:])} factors for each matrix, but got "
                f"shapes {x.shape} and {tau.shape}."
            )
        rows = x.shape[-2]
        self.vectors = _tril(x[..., :count], diagonal=-1) + _eye(n=rows, m=count, dtype=x.dtype)
        self.back = adjoint(self.vectors)
        dots = _triu(_product(self.back, self.vectors), diagonal=1)
        self.tau = _reshape(tau, shape=(*tau.shape, 1))
        self.triangle = self.tau * dots + _eye(n=count, m=count, dtype=x.dtype)

    def apply(self, c: Tensor, transposed: bool) -> Tensor:
        """q c, or q^H c."""
        inner = _product(self.back, c)
        if transposed:
            factors = _conj(self.tau) if self.tau.dtype in COMPLEX else self.tau
            turned = factors * _triangular(
                self.triangle, inner, lower=False, adjoint=True, unit=True
            )
        else:
            turned = _triangular(self.triangle, self.tau * inner, lower=False, unit=True)
        return c - _product(self.vectors, turned)


def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """The first columns of q, whose reflections `geqrf` gave."""
    reflections = _Reflections("orgqr", input, input2)
    return reflections.apply(_unit(input, *input.shape[-2:]), False)


def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of q, whose reflections `geqrf` gave, or of its adjoint, with other matrices."""
    reflections = _Reflections("ormqr", input, tau)
    _require_matrices("ormqr", "other", other)
    if other.shape[-2 if left else -1] != input.shape[-2] or other.shape[:-2] != input.shape[:-2]:
        raise ValueError(
            f"For 'ormqr', 'other' must have {input.shape[-2]} {'rows' if left else 'columns'} and the same "
            f"dimensions before, but got shape {other.shape}."
        )
    if left:
        return reflections.apply(other, transpose)
    return adjoint(reflections.apply(adjoint(other), not transpose))


def _method_ormqr(
    self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of q, whose reflections `geqrf` gave, or of its adjoint, with other matrices."""
    return ormqr(self, input2, input3, left, transpose)


# ---- least squares ------------------------------------------------------------------------------
def pinv(
    x: Tensor,
    *,
    atol: Real | Tensor | None = None,
    rtol: Real | Tensor | None = None,
    hermitian: bool = False,
) -> Tensor:
    """The pseudo-inverse. Singular values up to `atol`, and to `rtol` times the largest, count as zeros. Of a Hermitian matrix
    the lower triangle is read."""
    _require_matrices("pinv", "x", x, square=hermitian)
    if hermitian:
        x = _hermitian(x, True)
    least = 0.0 if atol is None else float(_number("pinv", atol))
    if rtol is None:
        relative = 0.0 if least > 0 else _EPSILON.get(x.dtype, 0.0) * max(x.shape[-2:])
    else:
        relative = float(_number("pinv", rtol))
    return raw("PseudoInverse")(x, atol=least, rtol=relative)


_EPSILON = {_core.float32: 2.0**-23, _core.complex64: 2.0**-23}
_EPSILON |= {_core.float64: 2.0**-52, _core.complex128: 2.0**-52, _core.float16: 2.0**-10}
_EPSILON[_core.bfloat16] = 2.0**-7


def _hermitian(x: Tensor, lower: bool) -> Tensor:
    """The Hermitian matrix of a triangle."""
    strict = _tril(x, diagonal=-1) if lower else _triu(x, diagonal=1)
    diagonal = _triu(_tril(x))
    if x.dtype in COMPLEX:
        diagonal = (diagonal + _conj(diagonal)) * 0.5
    return strict + adjoint(strict) + diagonal


def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """x that makes `input @ x - A` the smallest, and among such the smallest itself."""
    require_rank("lstsq", "input", input, 2)
    require_same_dtype("lstsq", input, A)
    if A.ndim not in (1, 2) or A.shape[0] != input.shape[0]:
        raise ValueError(
            f"For 'lstsq', 'A' must have {input.shape[0]} rows and 1 or 2 dimensions, but got shape {A.shape}."
        )
    right = _reshape(A, shape=(-1, 1)) if A.ndim == 1 else A
    return raw("MatMul")(pinv(input), right)


def _regularised(a: Tensor, b: Tensor, weight: Any) -> Tensor:
    """x that makes the squares of `a @ x - b` and of x, these times a weight, the smallest."""
    rows, columns = a.shape[-2:]
    tall = rows >= columns
    gram = _product(a, a, transpose_a=tall, transpose_b=not tall)
    lower = raw("Cholesky")(gram + _unit(gram, gram.shape[-1]) * weight)
    right = _product(a, b, transpose_a=True) if tall else b
    solution = cholesky_solve(right, lower)
    return solution if tall else _product(a, solution, transpose_a=True)


# ---- eigenvalues --------------------------------------------------------------------------------
def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues in no order, and eigenvectors of length 1 as columns."""
    return raw("GeneralEigen")(A)


def eigvals(A: Tensor) -> Tensor:
    """Complex eigenvalues in no order."""
    return raw("GeneralEigen")(A)[0]


def cond(A: Tensor, p: Real | Literal["fro", "nuc"] | None = None) -> Tensor:
    """How much a matrix magnifies errors: its norm times that of its inverse; inf for a singular one."""
    _require_matrices("cond", "A", A, square=p not in (None, 2, -2))
    if 0 in A.shape[-2:]:
        raise ValueError(f"For 'cond', 'A' must have rows and columns, but got shape {A.shape}.")
    if p in (None, 2, -2):
        values = _singular_values(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else _or_infinite(largest / smallest, largest)
    lu, pivots = _lu(A)
    size = matrix_norm(A, p)
    n = A.shape[-1]
    inverse = _triangular(
        lu,
        _triangular(lu, _rows_taken(_unit(A, n), _permutation(pivots, size=n)), unit=True),
        lower=False,
    )
    return _or_infinite(size * matrix_norm(inverse, p), size)


def _or_infinite(value: Tensor, size: Tensor) -> Tensor:
    """inf for nan, unless the size of the matrix is nan."""
    fails = raw("LogicalAnd")(raw("IsNan")(value), raw("LogicalNot")(raw("IsNan")(size)))
    return _select(fails, raw("ZerosLike")(value) + math.inf, value)


METHODS = [
    method(_method_ormqr),
    method(_method_qr),
    "adjoint",
    "cholesky_inverse",
    "cholesky_solve",
    "eigvals",
    "logdet",
    "lstsq",
    "lu_solve",
    "matrix_power",
    "orgqr",
    "svd",
    "triangular_solve",
]
__all__ = [
    "adjoint",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "eig",
    "eigvals",
    "logdet",
    "lstsq",
    "lu_solve",
    "lu_unpack",
    "matrix_power",
    "matrix_solve",
    "orgqr",
    "ormqr",
    "pinv",
    "qr",
    "svd",
]
