"""Calls of linear algebra: factorisations, solutions, norms, named products."""

import numpy as np
from differential.calllib import at, call, case, f16, f32, f64, i32, i64, made, of

S = of([[4, 1, 0.5], [1, 5, 0.25], [0.5, 0.25, 3]])
D = of([[4, 1, 0.5], [1, 5, 0.25], [0.5, 0.25, 3]], "float64")
S2 = of([[[2, 0.5], [0.5, 1]], [[3, -1], [-1, 2]]])
R3 = of([[2, 1, 0.5], [-1, 3, 0.25], [0.5, -0.25, 4]])
R2 = of([[[2, 1], [-1, 3]], [[1, 2], [3, -4]]])
Z3 = of([[0.0] * 3] * 3)
C3 = of([[2 + 1j, 1, 0.5j], [-1, 3 - 1j, 0.25], [0.5, -0.25j, 4]], "complex64")
I3 = of([[1, 2, 3], [4, 5, 6], [7, 8, 10]], "int32")
L3 = of([[2, 0, 0], [0.5, 1.5, 0], [1, -1, 3]])
U3 = of([[2, 0.5, 1], [0, 1.5, -1], [0, 0, 3]])
PIVOTS = of([2, 3, 3], "int32")

# ---- Cholesky -------------------------------------------------------------------------------------
for name in ("ops.cholesky", "Tensor.cholesky"):
    call(name, S)
    call(name, S, upper=True)
    call(name, D)
    call(name, S2)
    call(name, of([[1, 2], [2, 1]]))
    call(name, f32(2, 3))
made("ops.Cholesky", True)(S)
call("ops.cholesky", S, grad=True)
call("ops.cholesky_inverse", L3)
call("ops.cholesky_inverse", U3, upper=True)
call("ops.cholesky_inverse", f32(2, 3))
call("Tensor.cholesky_inverse", L3)
made("ops.CholeskyInverse")(L3)
call("ops.cholesky_solve", f32(3, 2), L3)
call("ops.cholesky_solve", f32(3, 2), U3, True)
call("ops.cholesky_solve", f32(2, 3, 2), of([[[2, 0, 0], [1, 2, 0], [1, 1, 2]]] * 2))
call("ops.cholesky_solve", f32(2, 2), L3)
call("Tensor.cholesky_solve", f32(3, 2), L3)
made("ops.CholeskySolve", True)(f32(3, 1), U3)

# ---- inverses, determinants, powers ---------------------------------------------------------------
for name in ("ops.inverse", "Tensor.inverse"):
    call(name, R3)
    call(name, R2)
    call(name, C3)
    call(name, f32(2, 3))
    call(name, I3)
call("ops.inverse", R3, grad=True)
call("ops.inverse", Z3)
made("ops.MatrixInverse", adjoint=True)(R3)
for name in (
    "ops.det",
    "ops.matrix_determinant",
    "ops.logdet",
    "Tensor.det",
    "Tensor.matrix_determinant",
    "Tensor.logdet",
):
    call(name, R3)
    call(name, R2)
    call(name, D)
    call(name, Z3)
    call(name, f32(2, 3))
call("ops.det", R3, grad=True)
call("ops.det", f16(2, 2), tol=2e-2)
call("ops.det", C3)
for name in (
    "ops.slogdet",
    "ops.log_matrix_determinant",
    "Tensor.slogdet",
    "Tensor.log_matrix_determinant",
):
    call(name, R3)
    call(name, R2)
    call(name, Z3)
    call(name, f32(3))
call("ops.slogdet", R3, grad=True)
made("ops.MatrixDeterminant")(R2)
made("ops.LogMatrixDeterminant")(R2)
call("ops.matrix_power", R3, 3)
call("ops.matrix_power", R3, 0)
call("ops.matrix_power", R2, -2)
call("ops.matrix_power", of([[1, 2], [3, 4]], "int32"), 2)
call("ops.matrix_power", R3, 3, grad=True)
call("ops.matrix_power", Z3, -1)
call("ops.matrix_power", R3, 1.5)
call("ops.matrix_power", f32(2, 3), 2)
call("Tensor.matrix_power", R3, 2)
made("ops.MatrixPower", 2)(R2)
call("ops.matrix_exp", f32(3, 3), ref=lambda x: np.array(__import__("scipy.linalg").linalg.expm(x)))
call("ops.matrix_exp", f32(2, 3))
made("ops.MatrixLogarithm")(C3)
made("ops.MatrixLogarithm")(R3)
made("nn.MatDet")(S, ref=lambda x: np.linalg.det(x))
made("nn.MatInverse")(S, ref=lambda x: np.linalg.inv(x))
made("nn.MatDet")(of([[1, 2], [2, 1]]))

# ---- solutions ------------------------------------------------------------------------------------
call("ops.matrix_solve", R3, f32(3, 2))
call("ops.matrix_solve", R3, f32(3, 2), adjoint=True)
call("ops.matrix_solve", R2, f32(2, 2, 3))
call("ops.matrix_solve", C3, C3)
call("ops.matrix_solve", R3, f32(3, 2), grad=True)
call("ops.matrix_solve", Z3, f32(3, 2))
call("ops.matrix_solve", R3, f32(3))
call("ops.matrix_solve", R3, f64(3, 2))
made("ops.MatrixSolve", adjoint=True)(R3, f32(3, 2))
made("ops.MatrixTriangularSolve")(R3, f32(3, 2))
made("ops.MatrixTriangularSolve", lower=False, adjoint=True)(R3, f32(3, 2))
made("ops.MatrixTriangularSolve")(R3, f32(2, 3, 2))
made("ops.MatrixTriangularSolve")(R3, f32(2, 2))
call("ops.lu_solve", f32(3, 2), R3, PIVOTS)
call("ops.lu_solve", f32(2, 2, 1), R2, of([[1, 2], [2, 2]], "int32"))
call("ops.lu_solve", f32(3, 2), R3, of([0, 2, 3], "int32"))
call("ops.lu_solve", f32(3), R3, PIVOTS)
call("Tensor.lu_solve", f32(3, 2), R3, PIVOTS)
made("ops.LuSolve")(f32(3, 2), R3, PIVOTS)
call("ops.lu_unpack", R3, PIVOTS)
call("ops.lu_unpack", f32(4, 3), PIVOTS)
call("ops.lu_unpack", f32(3, 4), PIVOTS)
call("ops.lu_unpack", R2, of([[1, 2], [2, 2]], "int32"))
call("ops.lu_unpack", R3, PIVOTS, unpack_data=False)
call("ops.lu_unpack", R3, PIVOTS, unpack_pivots=False)
call("ops.lu_unpack", R3, of([0, 2, 4], "int32"))
call("ops.lu_unpack", R3, of([1, 2], "int32"))
made("ops.LuUnpack")(R3, PIVOTS)
call("ops.lstsq", f32(4, 3), f32(4, 2), tol=1e-3)
call("ops.lstsq", f32(4, 3), f32(4), tol=1e-3)
call("ops.lstsq", f32(3, 4), f32(3, 2), tol=1e-3)
call("ops.lstsq", f32(4, 3), f32(3, 2))
call("ops.lstsq", f32(2, 4, 3), f32(2, 4, 3))
call("Tensor.lstsq", f32(4, 3), f32(4, 2), tol=1e-3)
made("ops.Lstsq")(f32(4, 3), f32(4, 2), tol=1e-3)
made("ops.MatrixSolveLs")(f32(4, 3), f32(4, 2), of(0.5, "float64"), tol=1e-3)
made("ops.MatrixSolveLs", fast=False)(f32(4, 3), f32(4, 2), of(0.5, "float64"), tol=1e-3)
made("ops.MatrixSolveLs")(f32(3, 4), f32(3, 2), of(0.5, "float64"), tol=1e-3)
call("ops.pinv", f32(4, 3), tol=1e-3)
call("ops.pinv", R3, rtol=0.01, tol=1e-4)
call("ops.pinv", S, hermitian=True)
call("ops.pinv", Z3)
call("ops.pinv", f32(3))
call("ops.pinv", I3)

# ---- orthogonal factors, eigenvalues --------------------------------------------------------------
for name in ("ops.qr", "Tensor.qr"):
    call(name, f32(4, 3))
    call(name, f32(3, 4))
    call(name, f32(2, 3, 3))
    call(name, f32(3))
call("ops.qr", f32(4, 3), mode="complete")
call("ops.qr", f32(4, 3), mode="r")
call("ops.qr", R3, grad=True)
call("Tensor.qr", f32(4, 3), some=False)
made("ops.Qr")(f32(4, 3))
made("ops.Qr", full_matrices=True)(f32(4, 3))
call("ops.geqrf", f32(4, 3))
call("ops.geqrf", f32(2, 3, 3))
call("ops.geqrf", f32(3))
call("Tensor.geqrf", f32(4, 3))
made("ops.Geqrf")(f32(4, 3))
call("ops.orgqr", f32(4, 3), f32(3))
call("ops.orgqr", f32(4, 3), f32(2))
call("ops.orgqr", f32(4, 3), f32(4))
call("Tensor.orgqr", f32(4, 3), f32(3))
made("ops.Orgqr")(f32(4, 3), f32(3))


def reflections(x, tau, transposed):
    q = np.eye(len(x))
    for i, t in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1], x[i + 1 :, i]])
        q = q @ (np.eye(len(x)) - t * np.outer(v, v))
    return q.T if transposed else q


call(
    "ops.ormqr",
    f32(4, 3),
    f32(3),
    f32(4, 2),
    ref=lambda x, t, c: (reflections(x, t, False) @ c).astype(np.float32),
)
call(
    "ops.ormqr",
    f32(4, 3),
    f32(3),
    f32(4, 2),
    True,
    True,
    ref=lambda x, t, c, *_: (reflections(x, t, True) @ c).astype(np.float32),
)
call(
    "ops.ormqr",
    f32(4, 3),
    f32(3),
    f32(2, 4),
    False,
    ref=lambda x, t, c, *_: (c @ reflections(x, t, False)).astype(np.float32),
)
call(
    "Tensor.ormqr",
    f32(4, 3),
    f32(3),
    f32(4, 2),
    ref=lambda x, t, c: (reflections(x, t, False) @ c).astype(np.float32),
)
call("ops.ormqr", f32(4, 3), f32(3), f32(3, 2))
call("ops.svd", f32(4, 3), compute_uv=False)
call("ops.svd", f32(2, 3, 4), compute_uv=False)
call("ops.svd", f32(3))
call("Tensor.svd", f32(4, 3), compute_uv=False)
made("ops.Svd", compute_uv=False)(f32(4, 3))


@case("ops.svd", tol=1e-4)
def _(ms):
    """vectors and values give the matrices back"""
    results = []
    for x in (f32(4, 3), f32(3, 4), f32(2, 3, 3)):
        for full in (False, True):
            s, u, v = ms.ops.svd(ms.Tensor(x.value), full)
            k = s.shape[-1]
            product = ms.ops.matmul(u[..., :k] * s.expand_dims(-2), v[..., :k].swapaxes(-1, -2))
            results.append((s, product, u.shape, v.shape))
    return results


@case("ops.eig", tol=1e-4)
def _(ms):
    """The vectors times the values are the matrix times the vectors."""
    x = ms.Tensor(R3.value)
    values, vectors = ms.ops.eig(x)
    apart = x.asnumpy() @ vectors.asnumpy() - vectors.asnumpy() * values.asnumpy()
    return values.shape, str(values.dtype), bool(np.abs(apart).max() < 1e-5)


@case("ops.eigvals", tol=1e-4)
def _(ms):
    """sorted"""
    return [np.sort_complex(ms.ops.eigvals(ms.Tensor(x.value)).asnumpy()) for x in (R3, S, D, C3)]


call("ops.eig", f32(2, 3))
call("ops.eigvals", f32(3))
call("ops.eig", I3)
for p in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    call("ops.cond", R3, p, tol=1e-4)
call("ops.cond", R2)
call("ops.cond", f32(4, 3), "fro")
call("ops.cond", f32(3))

# ---- norms and distances --------------------------------------------------------------------------
for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf, 3):
    call("ops.matrix_norm", f32(4, 3), order)
    call("ops.norm", f32(4, 3), order)
    call("ops.norm", f32(2, 4, 3), order, dim=(0, 2), keepdim=True)
call("ops.matrix_norm", f32(2, 4, 3), 2, axis=(0, 2), keepdims=True)
call("ops.matrix_norm", f32(2, 4, 3), "nuc", axis=(2, 0))
call("ops.matrix_norm", f32(4, 3), dtype=at("float64"))
call("ops.matrix_norm", I3)
call("ops.matrix_norm", f32(3))
call("ops.matrix_norm", f32(4, 3), axis=(0, 0))
call("ops.matrix_norm", f32(4, 3), grad=True)
for order in (2, 1, 0, np.inf, -np.inf, 3, -1, 0.5):
    call("ops.vector_norm", f32(4, 3), order)
call("ops.vector_norm", f32(2, 4, 3), 3, axis=(0, 1), keepdims=True)
call("ops.vector_norm", f32(4, 3), axis=0, dtype=at("float64"))
call("ops.vector_norm", I3)
call("ops.vector_norm", f32())
call("ops.vector_norm", f32(4, 3), grad=True)
call("ops.vector_norm", f32(4, 3), "fro")
made("ops.NuclearNorm")(f32(4, 3))
made("ops.NuclearNorm", dim=(0, 2), keepdim=True)(f32(2, 3, 4))
made("ops.NuclearNorm")(f32(2, 3, 4))
made("ops.EuclideanNorm")(f32(2, 3), of([0], "int64"), ref=lambda x, _: np.linalg.norm(x, axis=0))
made("ops.EuclideanNorm", keep_dims=True)(
    f32(2, 3), of([0, 1], "int64"), ref=lambda x, _: np.linalg.norm(x, keepdims=True)
)
for p in (0.0, 1.0, 2.0, 3.0, np.inf, 0.5):
    call("ops.cdist", f32(2, 3), f32(4, 3), p)
    call("ops.pdist", f32(4, 3), p)
call("ops.cdist", f32(2, 3), f32(4, 3), grad=True)
call("ops.cdist", f32(2, 2, 3), f32(2, 4, 3))
call("ops.cdist", f32(2, 3), f32(2, 4))
call("ops.cdist", f32(2, 3), f32(2, 3), -1.0)
call("ops.cdist", f32(3), f32(3))
made("ops.Cdist", 1.0)(f32(2, 3), f32(4, 3))
call("ops.pdist", f32(4, 3), grad=True)
call("ops.pdist", f32(1, 3))
call("ops.pdist", f32(2, 4, 3))
call("ops.pdist", f32(3))
made("ops.Pdist", 1.0)(f32(4, 3))
for p in (1, 2, 3):
    call("ops.dist", f32(2, 3), f32(3), p)
call(
    "ops.dist",
    f32(2, 3),
    f32(2, 3, seed=1),
    0.5,
    ref=lambda x, y, p: np.float32((np.abs(x - y) ** p).sum() ** (1 / p)),
)
call("ops.dist", f32(2, 3), f32(2))
for name in ("ops.renorm", "Tensor.renorm"):
    call(name, f32(3, 3), 1, 0, 2.0)
    call(name, f32(2, 3, 4), 2, 1, 1.5)
    call(name, f32(3, 3), 2, -1, 1.0)
    call(name, f32(3), 2, 0, 1.0)
    call(name, f32(3, 3), 0, 0, 1.0)
    call(name, f32(3, 3), 2, 0, -1.0)
    call(name, f32(3, 3), 2, 5, 1.0)
made("ops.Renorm", p=1, dim=0, maxnorm=1.0)(f32(3, 3))

# ---- products -------------------------------------------------------------------------------------
for shapes in (((2, 3), (2, 2)), ((2,), (3,)), ((2, 3), (2,)), ((2,), (2, 3, 2)), ((), (2,))):
    call("ops.kron", *(f32(*s) for s in shapes))
call("ops.kron", I3, f32(2, 2))
call("ops.kron", f32(2, 2), f32(2, 2, seed=1), grad=True)
for name in ("ops.cross", "Tensor.cross"):
    call(name, f32(2, 3), f32(2, 3, seed=1))
    call(name, f32(3, 3), f32(3, 3, seed=1))
    call(name, f32(3, 3), f32(3, 3, seed=1), 1)
    call(name, f32(2, 3), f32(2, 3, seed=1), -1)
    call(name, i64(3), i64(3, seed=1))
    call(name, f32(2, 2), f32(2, 2))
    call(name, f32(2, 3), f32(2, 3), 2)
call("ops.cross", f32(2, 3), f32(2, 3, seed=1), grad=True)
call("ops.cross", f32(2, 3), f32(3), ref=lambda x, y: np.cross(x, y))
made("ops.Cross", 0)(f32(3, 3), f32(3, 3, seed=1))
made("ops.Cross")(f32(3, 3), f32(3, 3, seed=1))
EQUATIONS = {
    "ij,jk->ik": ((2, 3), (3, 4)),
    "ii": ((3, 3),),
    "ii->i": ((3, 3),),
    "ij->ji": ((2, 3),),
    "ij": ((2, 3),),
    "ba": ((2, 3),),
    "ij->": ((2, 3),),
    "i,j": ((2,), (3,)),
    "bij,bjk,bkl->bil": ((2, 2, 3), (2, 3, 4), (2, 4, 2)),
    "bn,anm,bm->ba": ((2, 3), (4, 3, 2), (2, 2)),
    "ij,ij->i": ((2, 3), (2, 3)),
    "i...->...": ((2, 3),),
    "...ij,...jk->...ik": ((2, 2, 3), (2, 3, 2)),
    "...ii,i->...": ((2, 3, 3), (3,)),
    "iJ,Jk": ((2, 3), (3, 2)),
    " i j , j k -> i k": ((2, 3), (3, 4)),
    "ij,kl->ijkl": ((2, 3), (2, 2)),
    ",i->i": ((), (3,)),
}
for equation, shapes in EQUATIONS.items():
    call(
        "ops.einsum",
        equation,
        *(f32(*s, seed=i) for i, s in enumerate(shapes)),
        ref=lambda e, *x: np.einsum(e, *x),
    )
call(
    "ops.einsum",
    "ij,jk->ik",
    [f32(2, 3), f32(3, 2)],
    ref=lambda e, x: np.einsum(e, *(a.value for a in x)),
)
call("ops.einsum", f32(2, 3), [0, 1], f32(3, 2), [1, 2], [0, 2], ref=np.einsum)
made("ops.Einsum", "ij,jk->ik")([f32(2, 3), f32(3, 2)], ref=lambda x: x[0].value @ x[1].value)
call("ops.einsum_ext", "ij,jk->ik", f32(2, 3), f32(3, 2), ref=lambda e, *x: np.einsum(e, *x))
call("ops.einsum", "ij,jk->iz", f32(2, 3), f32(3, 2))
call("ops.einsum", "ij,jk", f32(2, 3))
call("ops.einsum", "ijk", f32(2, 3))
call("ops.einsum", "ij,j1->i", f32(2, 3), f32(3, 2))
call("ops.einsum", "bij,bjk->bik", f32(1, 2, 3), f32(4, 3, 2))
for axes in (None, 0, 1, 2, (1, 2), [2, 1], (-1, 1), (0, 0), 3):
    call("ops.batch_dot", f32(2, 3, 3), f32(2, 3, 3, seed=1), axes)
call("ops.batch_dot", f32(2, 3), f32(2, 3, seed=1))
call("ops.batch_dot", f32(2, 3), f32(2, 3, 4))
call("ops.batch_dot", f32(2, 2, 3, 4), f32(2, 4, 3), (3, 1))
call("ops.batch_dot", f32(2, 3), f32(3, 3))
call("ops.batch_dot", f32(2), f32(2))
call("ops.vecdot", f32(2, 3), f32(2, 3, seed=1))
call("ops.vecdot", f32(2, 3), f32(3), axis=-1)
call("ops.vecdot", f32(2, 3), f32(2, 3, seed=1), axis=0)
call("ops.vecdot", C3, C3)
call("ops.vecdot", i64(3), i64(3, seed=1))
made("ops.Ger")(f32(3), f32(2))
made("ops.Ger")(f32(2, 3), f32(2, 2))
call("ops.bidense", f32(2, 3), f32(2, 4), f32(5, 3, 4), f32(5))
call("ops.bidense", f32(2, 2, 3), f32(2, 2, 4), f32(5, 3, 4))
call("ops.bidense", f32(3), f32(4), f32(5, 3, 4))
call("ops.bidense", f32(2, 3), f32(3, 4), f32(5, 3, 4))
made("nn.BiDense", 3, 4, 2)(f32(2, 3), f32(2, 4))
made("nn.BiDense", 3, 4, 2, has_bias=False)(f32(2, 5, 3), f32(2, 5, 4))
made("nn.BiDense", 0, 4, 2)(f32(2, 3), f32(2, 4))
made("nn.BiDense", 3, 4, 2, weight_init=f32(2, 3, 3))(f32(2, 3), f32(2, 4))


@case("nn.BiDense")
def _(ms):
    """its text"""
    return str(ms.nn.BiDense(3, 4, 2)), str(ms.nn.BiDense(3, 4, 2, has_bias=False))


TRIDIAGONAL = (of([[1.0, 2, 3]]), of([[2.0, 3, 4]]), of([[3.0, 4, 5]]))
made("ops.TridiagonalMatMul")(*TRIDIAGONAL, f32(3, 2))
made("ops.TridiagonalMatMul")(
    f32(2, 1, 3), f32(2, 1, 3, seed=1), f32(2, 1, 3, seed=2), f32(2, 3, 4)
)
made("ops.TridiagonalMatMul")(f32(3), f32(3), f32(3), f32(3, 2))

# ---- statistics and choices -----------------------------------------------------------------------
for name in ("ops.cov", "Tensor.cov"):
    call(name, f32(3, 4))
    call(name, f32(3, 4), correction=0)
    call(
        name,
        f32(3, 4),
        fweights=of([1, 2, 3, 4], "int64"),
        aweights=of([0.5, 1, 2, 0.25]),
        tol=1e-4,
    )
    call(name, f32(3, 4), aweights=of([1.0, 2, 3, 4]), tol=1e-4)
    call(name, f32(4))
    call(name, i32(2, 3))
    call(name, f32(2, 3, 4))
call("ops.cov", f32(3, 4), grad=True)
call("ops.vander", f32(3))
call("ops.vander", f32(3), 5)
call("ops.vander", i64(3), 2)
call("ops.vander", f32(3), 0)
call("ops.vander", f32(2, 3))
call("ops.cartesian_prod", i64(2), i64(1), i64(2, seed=1))
call("ops.cartesian_prod", i64(2))
call("ops.cartesian_prod", f32(3, 3), f32(3, 3))
call("ops.combinations", i64(4))
call("ops.combinations", f32(4), 3)
call("ops.combinations", i64(3), 2, True)
call("ops.combinations", i64(3), 1)
call("ops.combinations", i64(3), 0)
call("ops.combinations", f32(3, 3))

# ---- SciPy's names --------------------------------------------------------------------------------
call("scipy.linalg.block_diag", f32(2, 2), f32(1, 3), f32(2))
call("scipy.linalg.block_diag", f32(), f32(2, 2))
call("scipy.linalg.block_diag", I3, f32(2, 2))
call("scipy.linalg.block_diag")
call("scipy.linalg.block_diag", f32(2, 2, 2))
for lower in (False, True):
    call("scipy.linalg.cholesky", S, lower)
    call("scipy.linalg.cho_factor", S, lower)
    call("scipy.linalg.cho_solve", (L3 if lower else U3, lower), f32(3, 2))
    call("scipy.linalg.eigh", D, lower=lower, eigvals_only=True)
    for trans in (0, 1, 2, "N", "T", "C"):
        call("scipy.linalg.solve_triangular", R3, f32(3), trans=trans, lower=lower)
call("scipy.linalg.cho_solve", (U3, False), f32(3))
call("scipy.linalg.cholesky", of([[1, 2], [2, 1]]))
call("scipy.linalg.cholesky", S2)
call("scipy.linalg.eigh", I3, eigvals_only=True)
call("scipy.linalg.eigh", S, S)
call("scipy.linalg.eigh", S, eigvals=(0, 1))
call("scipy.linalg.eigh", S2)
call("scipy.linalg.solve_triangular", R3, f32(3, 2), unit_diagonal=True)
call("scipy.linalg.solve_triangular", I3, I3)
call("scipy.linalg.solve_triangular", R2, f32(2, 2, 3))
call("scipy.linalg.solve_triangular", R3, f32(3), trans="X")
call("scipy.linalg.solve_triangular", R3, f64(3))
call("scipy.linalg.inv", R3)
call("scipy.linalg.inv", I3)
call("scipy.linalg.inv", R2)
call("scipy.linalg.inv", f32(4, 3))
call("scipy.linalg.det", R3)
call("scipy.linalg.det", R2)
call("scipy.linalg.lu", R3)
call("scipy.linalg.lu", f32(3, 4))
call("scipy.linalg.lu", R2)
call("scipy.linalg.lu_factor", R3)
call("scipy.linalg.lu_factor", I3)
call("scipy.linalg.lu_factor", f32(4, 3))
call("scipy.linalg.lstsq", f32(4, 3), f32(4, 2), tol=1e-3)
call("scipy.linalg.lstsq", f32(3, 4), f32(3, 2), tol=1e-3)


@case("scipy.linalg.eigh", tol=1e-4)
def _(ms):
    """vectors and values give the matrix back"""
    from importlib import import_module

    values, vectors = import_module(f"{ms.__name__}.scipy.linalg").eigh(ms.Tensor(S.value))
    return values, ms.ops.matmul(vectors * values, vectors.T)
