"""Rows of factorisations. Vectors that are known up to their signs have no reference here: what they are made of is checked in
tests/kernels/test_factor.py."""

import numpy as np
import scipy.linalg
from rowlib import args, bf16, c64, f16, f32, f64, i32, row, wrt

LOOSE = {f16: 1e-2, bf16: 8e-2, f32: 1e-4}
SAME_ROWS = "must have as many rows as 'a'"


def definite(*shape):
    """Symmetric positive definite matrices."""
    x = f32(*shape, shape[-1])
    return (x @ np.swapaxes(x, -1, -2) + 2 * np.eye(shape[-1], dtype=np.float32)).astype(np.float32)


def regular(*shape):
    """Matrices that are far from singular."""
    n = shape[-1]
    return f32(*shape, n) * np.float32(min(1, 9 / n)) + 4 * np.eye(n, dtype=np.float32)


def each(function):
    """A function of one matrix, for a stack of them too."""

    def of_stack(x, **attrs):
        if x.ndim == 2:
            return function(x, **attrs)
        made = [function(matrix, **attrs) for matrix in x]
        return tuple(map(np.stack, zip(*made))) if isinstance(made[0], tuple) else np.stack(made)

    return of_stack


row(
    "Cholesky",
    ref=lambda x, upper=False: (
        np.swapaxes(np.linalg.cholesky(x), -1, -2) if upper else np.linalg.cholesky(x)
    ),
    good=[
        args(definite(1, 3)),  # a stack, since other items are made by moving the first axis
        args(definite(1, 3), upper=True),
        args(definite(2, 4)),
        args(definite(1, 70)),
        args(definite(1)),
        args(f32(0, 0)),
        args(f32(0, 2, 2)),
    ],
    bad=[
        args(f32(2, 3), says="'input_x' must hold square matrices, but got shape [2, 3]"),
        args(f32(3), says="'input_x' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'input_x' must be one of"),
        args(-definite(3), says="the matrix must be positive definite"),
        args(np.array([[4, 9], [1, 5]], np.float32), says="the matrix must be symmetric"),
        args(np.full((2, 2), np.nan, np.float32), says="the matrix must be"),
    ],
    tol=LOOSE,
)


def triangular(a, b, lower=True, adjoint=False, unit=False):
    t = np.tril(a) if lower else np.triu(a)
    if unit:
        t = t - t * np.eye(t.shape[-1], dtype=t.dtype) + np.eye(t.shape[-1], dtype=t.dtype)
    return np.linalg.solve(np.conj(np.swapaxes(t, -1, -2)) if adjoint else t, b)


row(
    "MatrixTriangularSolve",
    ref=triangular,
    good=[
        args(regular(3), f32(3, 2)),
        args(regular(3), f32(3, 2), lower=False),
        args(regular(3), f32(3, 2), adjoint=True),
        args(regular(3), f32(3, 2), lower=False, adjoint=True, unit=True),
        args(regular(2, 4), f32(2, 4, 1), unit=True),
        args(regular(1), f32(1, 17)),
        args(0.1 * f32(80, 80) + np.eye(80, dtype=np.float32) * 4, f32(80, 130)),
        args(0.1 * f32(80, 80) + np.eye(80, dtype=np.float32) * 4, f32(80, 3), lower=False),
        args(c64(3, 3) + 4 * np.eye(3, dtype=np.complex64), c64(3, 2), adjoint=True),
        args(f32(0, 0), f32(0, 2)),
        args(regular(3), f32(3, 0)),
    ],
    bad=[
        args(f32(2, 3), f32(2, 3), says="'a' must hold square matrices"),
        args(f32(3, 3), f32(2, 3), says=SAME_ROWS),
        args(f32(3, 3), f32(2, 3, 2), says=SAME_ROWS),
        args(f32(3, 3), f32(3), says="'b' must have at least 2 dimensions"),
        args(f32(3, 3), f64(3, 2), says="must have the same dtype"),
    ],
    tol=LOOSE,
)


@each
def eliminated(x):
    lu = np.array(x)
    pivots = np.zeros(min(x.shape), np.int32)
    for k in range(min(x.shape)):
        pivots[k] = best = k + np.argmax(np.abs(lu[k:, k]))
        lu[[k, best]] = lu[[best, k]]
        if lu[k, k]:
            lu[k + 1 :, k] /= lu[k, k]
            lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return lu, pivots


row(
    "Lu",
    ref=eliminated,
    good=[
        args(f32(3, 3)),
        args(f32(2, 4, 4)),
        args(f32(40, 40)),
        args(np.zeros((3, 3), np.float32), kink=True),
        args(f32(5, 3), kink=True),
        args(f32(3, 5), kink=True),
        args(c64(3, 3)),
        args(f32(0, 0)),
    ],
    bad=[
        args(f32(3), says="'x' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'x'"),
    ],
    tol={f16: 2e-2, bf16: 2e-1, f32: 1e-3},
)


def permuted(pivots, size, base=0):
    result = np.broadcast_to(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], size)).copy()
    for i in np.ndindex(pivots.shape[:-1]):
        for k, p in enumerate(pivots[i]):
            result[i][[k, p - base]] = result[i][[p - base, k]]
    return result


row(
    "PivotsToPermutation",
    ref=permuted,
    good=[
        args(i32([2, 2, 2]), size=3),
        args(i32([[3, 2], [1, 2]]), size=4, base=1),
        args(i32([]), size=2),
    ],
    bad=[
        args(i32([0, 5]), size=3, says="'pivots' must be in [0, 3), but got 5"),
        args(i32([0, 1]), size=3, base=1, says="'pivots' must be in [1, 4), but got 0"),
        args(i32([0, 1, 2]), size=2, says="at most as many exchanges as rows, but got 3 of 2"),
        args(i32(), size=2, says="'pivots' must have at least 1 dimension"),
    ],
    grad=False,
)


def solved(a, b, lu, pivots, adjoint=False):
    n = a.shape[-1]
    lower = np.tril(lu, -1) + np.eye(n, dtype=lu.dtype)
    places = np.argsort(permuted(pivots, n), -1)[..., None]
    whole = np.take_along_axis(lower @ np.triu(lu), places, -2)
    return np.linalg.solve(np.conj(np.swapaxes(whole, -1, -2)) if adjoint else whole, b)


def factors(a):
    """A matrix and its factors, as the op wants them."""
    lu, pivots = eliminated(a)
    return lu.astype(a.dtype), pivots


A3, A24, A90 = regular(3), regular(2, 4), regular(90)
C3 = c64(3, 3) + 4 * np.eye(3, dtype=np.complex64)
row(
    "MatrixSolve",
    ref=solved,
    good=[
        args(A3, f32(3, 2), *factors(A3)),
        args(A3, f32(3, 2), *factors(A3), adjoint=True),
        args(A24, f32(2, 4, 1), *factors(A24)),
        args(A90, f32(90, 70), *factors(A90)),
        args(C3, c64(3, 2), *factors(C3), adjoint=True),
        args(C3, c64(3, 2), *factors(C3)),
    ],
    bad=[
        args(A3, f32(2, 3), *factors(A3), says=SAME_ROWS),
        args(A3, f32(3), *factors(A3), says="'b' must have at least 2 dimensions"),
        args(f32(2, 3), f32(2, 3), f32(2, 3), i32(2), says="'a' must hold square matrices"),
        args(A3, f64(3, 2), *factors(A3), says="must have the same dtype"),
        args(A3, f32(3, 2), A3.astype(np.float64), factors(A3)[1], says="must have the same dtype"),
        args(A3, f32(3, 2), f32(2, 2), i32([0, 1]), says="must have the same shape"),
        args(A3, f32(3, 2), A3, i32([0, 1]), says="'pivots' must have shape [3], but got [2]"),
        args(A3, f32(3, 2), 0 * A3, i32([0, 1, 2]), says="the matrix must be invertible"),
    ],
    tol=LOOSE,
    grad=wrt(
        1
    ),  # the matrix is read in its factors alone; that of matrix_solve is tested in tests/api
)


def inverted(x, adjoint=False):
    inverse = np.linalg.inv(x)
    return np.conj(np.swapaxes(inverse, -1, -2)) if adjoint else inverse


row(
    "MatrixInverse",
    ref=inverted,
    good=[
        args(regular(3)),
        args(regular(3), adjoint=True),
        args(regular(2, 4)),
        args(regular(90)),
        args(C3, adjoint=True),
        args(f32(0, 0)),
        args(regular(1)),
    ],
    bad=[
        args(
            np.ones((3, 3), np.float32),
            says="the matrix must be invertible, but got one that is not",
        ),
        args(np.ones((3, 3), np.complex64), says="the matrix must be invertible"),
        args(f32(2, 3), says="'x' must hold square matrices"),
        args(f32(3), says="'x' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'x'"),
    ],
    tol=LOOSE,
)
row(
    "MatrixDeterminant",
    ref=np.linalg.det,
    good=[
        args(f32(3, 3)),
        args(f32(2, 4, 4)),
        args(np.zeros((2, 2), np.float32), kink=True),
        args(C3),
        args(f32(1, 1)),
    ],
    bad=[
        args(f32(2, 3), says="'input' must hold square matrices"),
        args(f32(3), says="'input' must have at least 2 dimensions"),
    ],
    tol={f16: 3e-2, bf16: 0.3, f32: 1e-4},
)
row(
    "LogMatrixDeterminant",
    ref=lambda x: tuple(y.astype(x.dtype) for y in np.linalg.slogdet(x)),
    good=[
        args(f32(3, 3)),
        args(f32(2, 4, 4)),
        args(np.zeros((2, 2), np.float32), kink=True),
        args(C3),
        args(f32(1, 1)),
    ],
    bad=[
        args(f32(2, 3), says="'input' must hold square matrices"),
        args(f32(3), says="'input' must have at least 2 dimensions"),
    ],
    tol={f16: 3e-2, bf16: 0.3, f32: 1e-4},
)


@each
def reflected(x):
    if not x.size:
        return x, np.zeros(min(x.shape), x.dtype)
    (packed, tau), _ = scipy.linalg.qr(x, mode="raw")
    return packed.astype(x.dtype), tau.astype(x.dtype)


row(
    "Geqrf",
    ref=reflected,
    good=[
        args(f32(3, 3)),
        args(f32(5, 3)),
        args(f32(3, 5)),
        args(f32(2, 4, 2)),
        args(f32(70, 50)),
        args(f32(0, 2)),
        args(c64(4, 3)),
    ],
    bad=[
        args(f32(3), says="'input' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'input'"),
    ],
    tol={f16: 2e-2, bf16: 1e-1, f32: 1e-4},
    grad=False,
)


@each
def orthogonal(x, full_matrices=False):
    if not x.size:
        inner = x.shape[0] if full_matrices else 0
        return np.eye(x.shape[0], inner, dtype=x.dtype), np.zeros((inner, x.shape[1]), x.dtype)
    q, r = np.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


row(
    "Qr",
    ref=orthogonal,
    good=[
        args(f32(3, 3)),
        args(f32(5, 3)),
        args(f32(3, 5)),
        args(f32(3, 5), full_matrices=True),
        args(f32(5, 3), full_matrices=True, kink=True),
        args(f32(2, 4, 2)),
        args(f32(70, 50)),
        args(f32(40, 70)),
        args(f32(3, 0)),
        args(c64(4, 3)),
        args(c64(3, 4), full_matrices=True),
    ],
    bad=[
        args(f32(3), says="'x' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'x'"),
    ],
    tol={f16: 2e-2, bf16: 1e-1, f32: 1e-4},
)
row(
    "Svd",
    ref=None,
    good=[
        args(f32(3, 3)),
        args(f32(5, 3)),
        args(f32(3, 5)),
        args(f32(3, 5), full_matrices=True, kink=True),
        args(f32(5, 3), compute_uv=False),
        args(f32(2, 3, 2)),
        args(f32(0, 3, 2)),
        args(f32(3, 0)),
        args(c64(3, 2)),
    ],
    bad=[
        args(f32(3), says="'input' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'input'"),
    ],
)
row(
    "SymmetricEigen",
    ref=None,
    good=[
        args(definite(3)),
        args(f32(4, 4)),
        args(f32(2, 3, 3)),
        args(f32(0, 0)),
        args(f32(1, 1)),
        args(c64(3, 3)),
    ],
    bad=[
        args(f32(2, 3), says="'x' must hold square matrices"),
        args(f32(3), says="'x' must have at least 2 dimensions"),
    ],
)
row(
    "GeneralEigen",
    ref=None,
    good=[args(f32(3, 3)), args(f32(2, 4, 4)), args(c64(3, 3)), args(f32(0, 0))],
    bad=[
        args(f32(2, 3), says="'x' must hold square matrices"),
        args(f32(3), says="'x' must have at least 2 dimensions"),
        args(f16(2, 2), says="the dtype of 'x'"),
    ],
)
row(
    "PseudoInverse",
    ref=lambda x, atol=0.0, rtol=0.0: np.linalg.pinv(x, rcond=max(rtol, 1e-6)),
    good=[
        args(f32(3, 3), rtol=1e-6),
        args(f32(5, 3), rtol=1e-6),
        args(f32(2, 3, 4), rtol=1e-6),
        args(np.diag([3, 2, 1, 0.5]).astype(np.float32), rtol=0.4, kink=True),
        args(np.zeros((2, 3), np.float32), rtol=1e-6, kink=True),
    ],
    bad=[
        args(f32(3), says="'x' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'x'"),
    ],
    tol={f16: 5e-2, bf16: 0.3, f32: 1e-3},
)
row(
    "MatrixExp",
    ref=lambda x: scipy.linalg.expm(x).astype(x.dtype) if x.size else x,
    good=[
        args(f32(3, 3)),
        args(f32(2, 3, 3)),
        args(10 * f32(2, 2)),
        args(np.zeros((2, 2), np.float32)),
        args(f32(0, 0)),
        args(c64(3, 3)),
    ],
    bad=[
        args(f32(2, 3), says="'input' must hold square matrices"),
        args(f32(3), says="'input' must have at least 2 dimensions"),
        args(i32(2, 2), says="the dtype of 'input'"),
    ],
    tol={f16: 5e-2, bf16: 0.3, f32: 5e-4},
)
row(
    "MatrixLogarithm",
    ref=each(lambda x: scipy.linalg.logm(x).astype(x.dtype)),
    good=[args(C3), args(np.stack([C3, C3 @ C3])), args(c64(1, 1) + 3)],
    bad=[
        args(c64(2, 3), says="'x' must hold square matrices"),
        args(c64(3), says="'x' must have at least 2 dimensions"),
        args(f32(2, 2), says="the dtype of 'x'"),
    ],
    tol={c64: 2e-4},
)
