"""Primitive classes of linear algebra that are compositions: which function a call runs, and what the constructor is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.common._checked import checked
from mindspore.common._dtypes import require_same_dtype
from mindspore.common._kinds import Real
from mindspore.common._size import require_rank
from mindspore.ops._bind import raw
from mindspore.ops.function import einsum_func, factor_func, matrix_func, norm_func, reduce_func
from mindspore.ops.primitive import PythonPrimitive


def _eig(x: Tensor, compute_v: bool) -> tuple[Tensor, Tensor]:
    values, vectors = factor_func.eig(x)
    return values, vectors if compute_v else raw("Zeros")(shape=(), dtype=values.dtype)


def _svd(input: Tensor, full_matrices: bool, compute_uv: bool) -> tuple[Tensor, ...]:
    if compute_uv:
        return factor_func.svd(input, full_matrices)
    nothing = raw("Zeros")(shape=(1,), dtype=input.dtype)
    return factor_func.svd(input, compute_uv=False), nothing, nothing


def _lstsq(x: Tensor, a: Tensor, fast: bool, l2_regularizer: float) -> Tensor:
    if not fast:
        raise ValueError("For 'Lstsq', 'fast' must be True, but got False.")
    if l2_regularizer == 0:
        return factor_func.lstsq(x, a)
    right = raw("Reshape")(a, shape=(-1, 1)) if a.ndim == 1 else a
    return factor_func._regularised(x, right, l2_regularizer)


def _matrix_solve_ls(
    matrix: Tensor, rhs: Tensor, l2_regularizer: Real | Tensor, fast: bool
) -> Tensor:
    for argument, x in (("matrix", matrix), ("rhs", rhs)):
        factor_func._require_matrices("MatrixSolveLs", argument, x)
    require_same_dtype("MatrixSolveLs", matrix, rhs)
    if isinstance(l2_regularizer, Tensor):
        require_rank("MatrixSolveLs", "l2_regularizer", l2_regularizer, 0)
    if not fast:
        return raw("BatchMatMul")(factor_func.pinv(matrix), rhs)
    if isinstance(l2_regularizer, Tensor):
        l2_regularizer = raw("Cast")(l2_regularizer, dtype=matrix.dtype)
    return factor_func._regularised(matrix, rhs, l2_regularizer)


def _triangular(matrix: Tensor, rhs: Tensor, lower: bool, adjoint: bool) -> Tensor:
    factor_func._require_matrices("MatrixTriangularSolve", "matrix", matrix, square=True)
    factor_func._require_matrices("MatrixTriangularSolve", "rhs", rhs)
    require_same_dtype("MatrixTriangularSolve", matrix, rhs)
    batch = factor_func._common_batch("MatrixTriangularSolve", matrix, rhs)
    a, b = (raw("BroadcastTo")(x, shape=(*batch, *x.shape[-2:])) for x in (matrix, rhs))
    return raw("MatrixTriangularSolve")(a, b, lower=lower, adjoint=adjoint)


def _nuclear_norm(x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    if dim is None:
        require_rank("NuclearNorm", "x", x, 2)
    return norm_func.matrix_norm(x, "nuc", (0, 1) if dim is None else dim, keepdim)


def _euclidean_norm(x: Tensor, axes: Any, keep_dims: bool) -> Tensor:
    chosen = reduce_func._axes(matrix_func._ints("EuclideanNorm", axes))
    size = norm_func._vector_norm(x, 2, chosen, keep_dims)
    return size if size.dtype == x.dtype else raw("Cast")(size, dtype=x.dtype)


def _einsum(inputs: Sequence[Tensor], equation: str) -> Tensor:
    return einsum_func.einsum(equation, *inputs)


def _cross(x1: Tensor, x2: Tensor, dim: int) -> Tensor:
    return matrix_func.cross(x1, x2, None if dim == -65530 else dim)


def _renorm(input_x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    return norm_func.renorm(input_x, p, dim, maxnorm)


class _Composed(PythonPrimitive):
    """A primitive that calls a function with its inputs and, by name, what its constructor was told."""

    _run: Callable

    def __call__(self, *inputs: Any) -> Any:
        return self._run(*inputs, **self.attrs)


Constructor = dict[str, Any]
_NEEDED = object()
# Name, what its call gives in a sentence, the function, and the constructor's arguments: they go to it by name.
_TABLE: list[tuple[str, str, Callable, Constructor]] = [
    ("Cdist", "The p-norms of all differences of rows.", norm_func.cdist, {"p": 2.0}),
    (
        "CholeskyInverse",
        "The inverse, from a Cholesky factor.",
        factor_func.cholesky_inverse,
        {"upper": False},
    ),
    (
        "CholeskySolve",
        "A solution, from a Cholesky factor.",
        factor_func.cholesky_solve,
        {"upper": False},
    ),
    ("Cross", "Cross products along an axis.", _cross, {"dim": -65530}),
    ("Eig", "Complex eigenvalues, and vectors if these are wanted.", _eig, {"compute_v": False}),
    ("Einsum", "Sums of products that letters name.", _einsum, {"equation": _NEEDED}),
    ("EuclideanNorm", "The 2-norm over axes.", _euclidean_norm, {"keep_dims": False}),
    ("Ger", "All products of elements of two vectors.", matrix_func._ger, {}),
    ("Lstsq", "The least squares solution.", _lstsq, {"fast": True, "l2_regularizer": 0.0}),
    ("LuSolve", "A solution, from the factors of elimination.", factor_func.lu_solve, {}),
    (
        "LuUnpack",
        "The three matrices of elimination.",
        factor_func.lu_unpack,
        {"unpack_data": True, "unpack_pivots": True},
    ),
    ("MatrixBandPart", "Some diagonals of matrices.", matrix_func.matrix_band_part, {}),
    (
        "MatrixDiagPartV3",
        "Diagonals as rows.",
        matrix_func.matrix_diag_part,
        {"align": "RIGHT_LEFT"},
    ),
    ("MatrixDiagV3", "Matrices of diagonals.", matrix_func.matrix_diag, {"align": "RIGHT_LEFT"}),
    ("MatrixPower", "Powers of matrices.", factor_func.matrix_power, {"n": _NEEDED}),
    (
        "MatrixSetDiagV3",
        "Matrices with other diagonals.",
        matrix_func.matrix_set_diag,
        {"align": "RIGHT_LEFT"},
    ),
    (
        "MatrixSolve",
        "The solution of linear equations.",
        factor_func.matrix_solve,
        {"adjoint": False},
    ),
    ("MatrixSolveLs", "The regularised least squares solution.", _matrix_solve_ls, {"fast": True}),
    (
        "MatrixTriangularSolve",
        "The solution for a triangle.",
        _triangular,
        {"lower": True, "adjoint": False},
    ),
    ("NuclearNorm", "The sum of singular values.", _nuclear_norm, {"dim": None, "keepdim": False}),
    ("Orgqr", "The first columns of a product of reflections.", factor_func.orgqr, {}),
    ("Ormqr", "A product with reflections.", factor_func.ormqr, {"left": True, "transpose": False}),
    ("Pdist", "The p-norms of differences of pairs of rows.", norm_func.pdist, {"p": 2.0}),
    (
        "Renorm",
        "Slices shrunk to a largest norm.",
        _renorm,
        {"p": _NEEDED, "dim": _NEEDED, "maxnorm": _NEEDED},
    ),
    ("Svd", "Singular values and vectors.", _svd, {"full_matrices": False, "compute_uv": True}),
    ("Trace", "The sum of the main diagonal.", matrix_func.trace, {}),
    (
        "TridiagonalMatMul",
        "The product with three diagonals.",
        matrix_func._tridiagonal_product,
        {},
    ),
]


def _made(name: str, doc: str, function: Callable, constructor: Constructor) -> type:
    arguments = [
        (n, None if value is _NEEDED else value, value is not _NEEDED)
        for n, value in constructor.items()
    ]
    members = {
        "__doc__": doc,
        "__module__": "mindspore.ops.operations",
        "_constructor": arguments,
        "_run": staticmethod(checked(function)),
    }
    return type(name, (_Composed,), members)


CLASSES = {row[0]: _made(*row) for row in _TABLE}
__all__: list[str] = []
