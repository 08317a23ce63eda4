"""Linear algebra: gradients against PyTorch's, what no list of calls shows, and SciPy's names."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, mint, nn, ops
from mindspore import scipy as msp

RANDOM = np.random.default_rng(11)
A = RANDOM.normal(size=(3, 3)) + 3 * np.eye(3)
B = RANDOM.normal(size=(3, 2))
S = A @ A.T + np.eye(3)
TALL, WIDE = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=(3, 5))
STACK = RANDOM.normal(size=(2, 3, 3)) + 3 * np.eye(3)
L = torch.linalg


def t(x: np.ndarray, grad: bool = True) -> torch.Tensor:
    return torch.tensor(x, dtype=torch.float64, requires_grad=grad)


def weighed(results, cos):
    """A number made of all results, which no sign of a vector changes."""
    results = results if isinstance(results, (tuple, list)) else (results,)
    return sum(((r * r + (0 if i else r)) * cos(r)).sum() for i, r in enumerate(results))


def ours_cos(r):
    return Tensor(np.cos(np.arange(r.size)).reshape(r.shape) + 1.5)


def their_cos(r):
    return torch.cos(torch.arange(r.numel(), dtype=torch.float64)).reshape(r.shape) + 1.5


GRADIENTS = {
    "cholesky": (ops.cholesky, L.cholesky, (S,)),
    "cholesky_upper": (lambda x: ops.cholesky(x, True), lambda x: L.cholesky(x, upper=True), (S,)),
    "cholesky_inverse": (
        lambda x: ops.cholesky_inverse(ops.cholesky(x)),
        lambda x: L.inv((x + x.mT) / 2),
        (S,),
    ),
    "cholesky_solve": (
        lambda b, x: ops.cholesky_solve(b, ops.cholesky(x)),
        lambda b, x: L.solve((x + x.mT) / 2, b),
        (B, S),
    ),
    "inverse": (ops.inverse, L.inv, (STACK,)),
    "inverse_adjoint": (ops.MatrixInverse(adjoint=True), lambda x: L.inv(x).mT, (STACK,)),
    "det": (ops.det, L.det, (STACK,)),
    "slogdet": (lambda x: ops.slogdet(x)[1], lambda x: L.slogdet(x)[1], (STACK,)),
    "matrix_solve": (ops.matrix_solve, L.solve, (A, B)),
    "matrix_solve_adjoint": (
        lambda a, b: ops.matrix_solve(a, b, True),
        lambda a, b: L.solve(a.mT, b),
        (A, B),
    ),
    "matrix_power": (lambda x: ops.matrix_power(x, -3), lambda x: L.matrix_power(x, -3), (A,)),
    "matrix_exp": (ops.matrix_exp, torch.matrix_exp, (A,)),
    "qr": (ops.qr, L.qr, (TALL,)),
    "qr_wide": (ops.qr, L.qr, (WIDE,)),
    "qr_complete": (lambda x: ops.qr(x, "complete"), lambda x: L.qr(x, "complete"), (WIDE,)),
    "svd_values": (lambda x: ops.svd(x, compute_uv=False), L.svdvals, (TALL,)),
    "svd": (
        ops.svd,
        lambda x: (lambda u, s, v: (s, u, v.mT))(*L.svd(x, full_matrices=False)),
        (TALL,),
    ),
    "svd_wide": (
        ops.svd,
        lambda x: (lambda u, s, v: (s, u, v.mT))(*L.svd(x, full_matrices=False)),
        (WIDE,),
    ),
    "svd_batch": (ops.svd, lambda x: (lambda u, s, v: (s, u, v.mT))(*L.svd(x)), (STACK,)),
    "eigh": (msp.linalg.eigh, lambda x: L.eigh(x.tril() + x.tril(-1).mT), (S,)),
    "pinv": (ops.pinv, L.pinv, (TALL,)),
    "pinv_wide": (ops.pinv, L.pinv, (WIDE,)),
    "lstsq": (ops.lstsq, lambda x, b: L.lstsq(x, b).solution, (TALL, RANDOM.normal(size=(5, 2)))),
    "lu_solve": (
        lambda b, x: ops.lu_solve(b, x, Tensor([2, 3, 3], ms.int32)),
        lambda b, x: torch.lu_solve(b, x, torch.tensor([2, 3, 3], dtype=torch.int32)),
        (B, A),
    ),
    "lu": (lambda x: msp.linalg.lu(x)[1:], lambda x: L.lu(x)[1:], (A,)),
    "lu_wide": (lambda x: msp.linalg.lu(x)[1:], lambda x: L.lu(x)[1:], (WIDE,)),
    "orgqr": (
        lambda x, tau: ops.orgqr(x, tau),
        torch.linalg.householder_product,
        (TALL, RANDOM.normal(size=(3,))),
    ),
    "ormqr": (
        lambda x, tau, c: ops.ormqr(x, tau, c, True, True),
        lambda x, tau, c: householders(x, tau).mT @ c,
        (TALL, RANDOM.normal(size=(3,)), RANDOM.normal(size=(5, 2))),
    ),
    "solve_triangular": (
        lambda a, b: msp.linalg.solve_triangular(a, b, trans="T", unit_diagonal=True),
        lambda a, b: L.solve_triangular(a.mT, b, upper=False, unitriangular=True),
        (A, B),
    ),
    "nuclear_norm": (
        lambda x: ops.matrix_norm(x, "nuc"),
        lambda x: L.matrix_norm(x, "nuc"),
        (TALL,),
    ),
    "spectral_norm": (lambda x: ops.matrix_norm(x, 2), lambda x: L.matrix_norm(x, 2), (TALL,)),
    "cond": (ops.cond, L.cond, (TALL,)),
    "cond_1": (
        lambda x: ops.cond(x, 1),
        lambda x: L.matrix_norm(x, 1) * L.matrix_norm(L.inv(x), 1),
        (A,),
    ),
    "cdist": (ops.cdist, torch.cdist, (TALL, B @ B.T)),
    "cdist_1": (
        lambda x, y: ops.cdist(x, y, 1.0),
        lambda x, y: torch.cdist(x, y, 1.0),
        (TALL, B @ B.T),
    ),
    "cdist_3": (
        lambda x, y: ops.cdist(x, y, 3.0),
        lambda x, y: torch.cdist(x, y, 3.0),
        (TALL, TALL),
    ),
    "pdist": (ops.pdist, torch.pdist, (TALL,)),
    "renorm": (lambda x: ops.renorm(x, 2, 0, 1.0), lambda x: torch.renorm(x, 2, 0, 1.0), (TALL,)),
    "einsum": (
        lambda x, y, z: ops.einsum("ij,kj,kl->il", x, y, z),
        lambda x, y, z: torch.einsum("ij,kj,kl->il", x, y, z),
        (TALL, A, B),
    ),
    "kron": (ops.kron, torch.kron, (A, B)),
    "cross": (ops.cross, lambda x, y: torch.linalg.cross(x, y, dim=0), (A, S)),
    "diagonal_scatter": (
        lambda x, y: ops.diagonal_scatter(x, y, 1),
        lambda x, y: torch.diagonal_scatter(x, y, 1),
        (A, RANDOM.normal(size=(2,))),
    ),
    "cov": (ops.cov, torch.cov, (TALL,)),
    "bidense": (
        ops.bidense,
        torch.nn.functional.bilinear,
        (TALL, RANDOM.normal(size=(5, 2)), RANDOM.normal(size=(4, 3, 2)), RANDOM.normal(size=(4,))),
    ),
}


def householders(x, tau):
    """The whole product of reflections."""
    q = torch.eye(len(x), dtype=x.dtype)
    for i in range(tau.numel()):
        v = torch.cat([torch.zeros(i, dtype=x.dtype), torch.ones(1, dtype=x.dtype), x[i + 1 :, i]])
        q = q @ (torch.eye(len(x), dtype=x.dtype) - tau[i] * torch.outer(v, v))
    return q


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, mode):
    ours, theirs, arrays = GRADIENTS[name]
    inputs = [t(x) for x in arrays]
    result = theirs(*inputs)
    weighed(result, their_cos).backward()

    def f(*xs):
        return weighed(ours(*xs), ours_cos)

    tensors = [Tensor(x) for x in arrays]
    grads = ms.grad(f, tuple(range(len(arrays))))(*tensors)
    for got, wanted in zip(grads if isinstance(grads, tuple) else (grads,), inputs, strict=True):
        np.testing.assert_allclose(got.asnumpy(), wanted.grad.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.matrix_solve(x, Tensor(B)),
        lambda x: ops.pinv(x),
        lambda x: ops.lstsq(x, Tensor(B)),
        lambda x: ops.det(x),
        lambda x: ops.eigvals(x).abs(),
    ],
)
def test_second_gradients(function):
    """Against differences of the first, along one direction."""
    v = RANDOM.normal(size=(3, 3))

    def slope(x):
        return (ms.grad(lambda y: weighed(function(y), ours_cos))(x) * Tensor(v)).sum()

    second = (ms.grad(slope)(Tensor(A)).asnumpy() * v).sum()
    ahead, behind = (slope(Tensor(A + h * v)).asnumpy() for h in (1e-5, -1e-5))
    np.testing.assert_allclose(second, (ahead - behind) / 2e-5, rtol=1e-5)


def test_gradients_of_eigenvalues_and_vectors(mode):
    """Of numbers that no phase of a vector changes, and no order."""
    x = t(A)
    values, vectors = L.eig(x)
    (values.abs().sum() + (vectors.abs() ** 3).sum()).backward()

    def f(y):
        w, v = ops.eig(y)
        return w.abs().sum() + (v.abs() ** 3).sum()

    np.testing.assert_allclose(
        ms.grad(f)(Tensor(A)).asnumpy(), x.grad.numpy(), rtol=1e-6, atol=1e-8
    )


def test_gradient_of_a_full_q_is_refused():
    with pytest.raises(
        ValueError, match="For 'Qr', a full q must be of a matrix with no more rows"
    ):
        ms.grad(lambda x: ops.qr(x, "complete")[0].sum())(Tensor(TALL))


def test_norms_have_gradients_at_zero(mode):
    for f in (
        lambda x: ops.cdist(x, x).sum(),
        lambda x: ops.pdist(x).sum(),
        lambda x: ops.dist(x, x),
    ):
        grad = ms.grad(f)(Tensor(np.ones((3, 2), np.float32)))
        np.testing.assert_array_equal(grad.asnumpy(), np.zeros((3, 2)))


def test_a_matrix_that_cannot_be_solved_is_refused(mode):
    for f in (
        ops.inverse,
        lambda x: ops.matrix_solve(x, x),
        lambda x: ops.matrix_power(x, -1),
        ops.cholesky,
    ):
        with pytest.raises(ValueError, match="the matrix must be"):
            f(Tensor(np.zeros((2, 2), np.float32))).asnumpy()


def test_a_branch_that_is_not_taken_refuses_nothing():
    """What may refuse stays in its branch."""

    @ms.jit
    def f(x):
        if x.sum() > 0:
            y = ops.inverse(x)
        else:
            y = x
        return y

    zeros = Tensor(np.zeros((2, 2), np.float32))
    np.testing.assert_array_equal(f(zeros).asnumpy(), zeros.asnumpy())
    np.testing.assert_array_equal(
        f(Tensor(2 * np.eye(2, dtype=np.float32))).asnumpy(), np.eye(2) / 2
    )


def test_what_nobody_reads_is_refused_too(mode):
    class Net(nn.Cell):
        def construct(self, x):
            ops.inverse(x)
            return x + 1

    with pytest.raises(ValueError, match="must be invertible"):
        Net()(Tensor(np.zeros((2, 2), np.float32))).asnumpy()
        ms.runtime.synchronize()


def test_condition_of_singular_and_unknown_matrices():
    singular = Tensor(np.ones((2, 2), np.float32))
    for p in (1, "fro", np.inf):
        assert np.isinf(ops.cond(singular, p).asnumpy())
    assert np.isinf(ops.cond(Tensor(np.zeros((2, 2), np.float32))).asnumpy())
    assert np.isnan(ops.cond(Tensor(np.full((2, 2), np.nan, np.float32)), 1).asnumpy())


def test_products_of_p_l_u_give_the_matrix_back(mode):
    for x in (A, WIDE, STACK[0]):
        p, lower, upper = msp.linalg.lu(Tensor(x))
        np.testing.assert_allclose(p.asnumpy() @ lower.asnumpy() @ upper.asnumpy(), x, atol=1e-12)
        permuted, upper = msp.linalg.lu(Tensor(x), permute_l=True)
        np.testing.assert_allclose(permuted.asnumpy() @ upper.asnumpy(), x, atol=1e-12)
    for trans, matrix in ((0, A), (1, A.T), (2, A.T)):
        solution = msp.linalg.lu_solve(msp.linalg.lu_factor(Tensor(A)), Tensor(B), trans)
        np.testing.assert_allclose(matrix @ solution.asnumpy(), B, atol=1e-12)


def test_reflections_of_geqrf_make_the_factors(mode):
    for x in (TALL, WIDE, STACK):
        packed, tau = ops.geqrf(Tensor(x))
        k = min(x.shape[-2:])
        q = ops.ormqr(
            packed,
            tau,
            Tensor(
                np.broadcast_to(np.eye(x.shape[-2]), (*x.shape[:-2], *[x.shape[-2]] * 2)).copy()
            ),
        )
        np.testing.assert_allclose(
            q.asnumpy()[..., :k] @ np.triu(packed.asnumpy())[..., :k, :], x, atol=1e-12
        )
        first = ops.orgqr(packed[..., :k], tau)
        np.testing.assert_allclose(first.asnumpy(), q.asnumpy()[..., :k], atol=1e-12)


def test_rank_of_least_squares():
    x = np.array([[1.0, 2], [2, 4], [3, 6]])
    solution, _, rank, _ = msp.linalg.lstsq(Tensor(x), Tensor(B))
    assert int(rank) == 1
    np.testing.assert_allclose(solution.asnumpy(), np.linalg.pinv(x) @ B, atol=1e-12)


def test_logdet_of_a_negative_determinant_is_nan():
    x = Tensor(np.diag([1.0, -2.0]))
    assert np.isnan(ops.logdet(x).asnumpy())
    np.testing.assert_allclose(ops.logdet(Tensor(np.diag([3.0, 2.0]))).asnumpy(), np.log(6))


def test_einsum_takes_any_order(mode):
    """Random equations against NumPy."""
    random = np.random.default_rng(5)
    sizes = dict(zip("abcdef", (2, 3, 1, 4, 2, 3)))
    for _ in range(40):
        count = random.integers(1, 4)
        terms = ["".join(random.choice(list(sizes), random.integers(0, 4))) for _ in range(count)]
        names = sorted({*"".join(terms)})
        out = (
            "".join(random.permutation(names)[: random.integers(0, len(names) + 1)])
            if names
            else ""
        )
        arrays = [random.normal(size=[sizes[n] for n in term]) for term in terms]
        equation = f"{','.join(terms)}->{out}"
        got = ops.einsum(equation, *[Tensor(x) for x in arrays])
        np.testing.assert_allclose(
            got.asnumpy(), np.einsum(equation, *arrays), atol=1e-10, err_msg=equation
        )


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [None, 0, (0, 1), (0, -1), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("p", [1, 2, 3, 0.5, 0, "fro", float("inf"), -float("inf")])
def test_the_norm_of_mint_is_that_of_a_vector(p, dim, keepdim):
    x = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    if p == "fro" and dim == (0, 1, 2):
        with pytest.raises(ValueError, match="one or two axes"):
            mint.norm(Tensor(x), p, dim, keepdim)
        return
    want = torch.norm(torch.tensor(x), p, dim, keepdim).numpy()
    got = mint.norm(Tensor(x), p, dim, keepdim).asnumpy()
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5)
