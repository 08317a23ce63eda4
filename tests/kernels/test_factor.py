"""What factorisations promise beside their rows: orthogonality, order, and the matrix back, at sizes on both sides of every block."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, _core

SIZES = [1, 2, 3, 16, 17, 33, 64, 65, 130]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def matrix(m: int, n: int, dtype: type, seed: int = 0) -> np.ndarray:
    """Random elements around zero."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(m, n)) + 1j * random.normal(size=(m, n))
    return (values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)


def made(name: str, *inputs: np.ndarray, **attrs: object) -> list[np.ndarray]:
    """The results of an op as arrays."""
    results = _core.op(name)(*[Tensor(x) for x in inputs], **attrs)
    return [r.asnumpy() for r in (results if isinstance(results, tuple) else (results,))]


def close(a: np.ndarray, b: np.ndarray, size: int) -> None:
    """Equal up to the rounding of as many steps as the matrix is large."""
    precision = np.finfo(a.dtype).eps * max(size, 8) * 4
    scale = max(float(np.linalg.norm(b.astype(np.complex128))), 1e-300)
    np.testing.assert_allclose(a / scale, b / scale, rtol=0, atol=precision)


def orthonormal(columns: np.ndarray, size: int) -> None:
    close(np.conj(columns.T) @ columns, np.eye(columns.shape[1], dtype=columns.dtype), size)


def hard(m: int, n: int, dtype: type) -> dict[str, np.ndarray]:
    """Matrices at which iterations have something to do."""
    x = matrix(m, n, dtype)
    return {
        "random": x,
        "zeros": 0 * x,
        "rank one": x[:, :1] * x[:1],
        "diagonal": np.eye(m, n, dtype=dtype) * np.arange(n, dtype=dtype),
        "equal": np.ones((m, n), dtype),
        "graded": x * (10.0 ** -np.linspace(0, 12, n)).astype(dtype),
        "tiny": x * np.asarray(1e-30, dtype),
        "huge": x * np.asarray(1e18 if x.real.dtype == np.float32 else 1e150, dtype),
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 3), (5, 3), (3, 5), (33, 32), (40, 17), (17, 66), (130, 64), (70, 70)]
)
def test_singular_values_and_vectors(shape, full, dtype):
    m, n = shape
    k = min(m, n)
    for kind, x in hard(m, n, dtype).items():
        s, u, v = made("Svd", x, full_matrices=full)
        assert u.shape == (m, m if full else k) and v.shape == (n, n if full else k), kind
        assert (s[:-1] >= s[1:]).all() and (s >= 0).all(), kind
        orthonormal(u, max(m, n))
        orthonormal(v, max(m, n))
        close((u[:, :k] * s) @ np.conj(v[:, :k].T), x, max(m, n))
        close(
            s, np.linalg.svd(x.astype(np.complex128), compute_uv=False).astype(s.dtype), max(m, n)
        )
        close(made("Svd", x, compute_uv=False)[0], s, max(m, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_eigenvalues_and_vectors_of_symmetric_matrices(n, dtype):
    for kind, x in hard(n, n, dtype).items():
        part = (x + np.conj(x.T)) / 2
        w, v = made("SymmetricEigen", x)
        assert (w[:-1] <= w[1:]).all(), kind
        orthonormal(v, n)
        close((v * w) @ np.conj(v.T), part, n)
        close(w, np.linalg.eigvalsh(part.astype(np.complex128)).astype(w.dtype), n)


def glued(n: int) -> np.ndarray:
    """Copies of Wilkinson's matrix, whose eigenvalues lie in pairs, with little between them."""
    d = np.abs(np.arange(n) % 21 - 10.0)
    e = np.where(np.arange(n - 1) % 21 == 20, 1e-9, 1.0)
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [48, 49, 210, 513, 700])
def test_eigenvalues_that_lie_together(n, dtype):
    q = np.linalg.qr(matrix(n, n, np.float64))[0]
    half = np.arange(n) < n // 2
    spectra = {
        "clusters": np.where(half, 1, 1 + 1e-9 * np.arange(n)),
        "two values": np.where(half, -1.0, 1.0),
        "low rank": np.where(np.arange(n) < 3, 1.0, 0.0),
    }
    made_of = {kind: (q * spectrum) @ q.T for kind, spectrum in spectra.items()}
    steps = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    for kind, x in {**made_of, "glued": glued(n), "steps": steps}.items():
        x = ((x + x.T) / 2).astype(dtype)
        w, v = made("SymmetricEigen", x)
        assert (w[:-1] <= w[1:]).all(), kind
        orthonormal(v, n)
        close((v * w) @ v.T, x, n)
        close(w, np.linalg.eigvalsh(x.astype(np.float64)).astype(dtype), n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(33, 33), (66, 66), (70, 67), (210, 210), (513, 500), (900, 130)]
)
def test_singular_values_that_lie_together(shape, dtype):
    m, n = shape
    q, p = (np.linalg.qr(matrix(size, n, np.float64, size))[0] for size in shape)
    place, half = np.arange(n), np.arange(n) < n // 2
    spectra = {
        "clusters": np.where(half, 1, 1 + 1e-9 * place),
        "two values": np.where(half, 2.0, 1.0),
        "low rank": np.where(place < 3, 1.0, 0.0),
        "graded": 0.5 ** (place / 4.0),
        "little and nothing": np.where(half, 1e-9, 0.0) + (place == 0),
    }
    made_of = {kind: (q * spectrum) @ p.T for kind, spectrum in spectra.items()}
    unlike = {
        "glued": glued(n),
        "bidiagonal": np.eye(n) + np.eye(n, k=1),
        "small": np.diag(np.where(place % 5 == 4, 0, 1e-8)) + np.eye(n, k=1),
        "part": np.pad(matrix(n // 3, n // 3, np.float64), (0, n - n // 3)),
        "zeros among ones": np.diag((place % 2).astype(float)),
    }
    whole = {kind: np.pad(x, ((0, m - n), (0, 0))) for kind, x in unlike.items()}
    for kind, x in {**made_of, **whole}.items():
        x = x.astype(dtype)
        s, u, v = made("Svd", x)
        assert (s[:-1] >= s[1:]).all() and (s >= 0).all(), kind
        orthonormal(u, m)
        orthonormal(v, m)
        close((u * s) @ v.T, x, m)
        close(s, np.linalg.svd(x.astype(np.float64), compute_uv=False).astype(dtype), m)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 3, 20])
def test_eigenvalues_and_vectors_of_any_matrix(n, dtype):
    x = matrix(n, n, dtype)
    w, v = made("GeneralEigen", x)
    close(x.astype(v.dtype) @ v, v * w, 8 * n)
    close(np.linalg.norm(v, axis=0).astype(x.real.dtype), np.ones(n, x.real.dtype), n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (33, 33), (65, 40), (40, 65), (130, 130)])
def test_orthogonal_factors(shape, dtype):
    x = matrix(*shape, dtype)
    for full in (False, True):
        q, r = made("Qr", x, full_matrices=full)
        orthonormal(q, max(shape))
        close(q @ r, x, max(shape))
        assert not np.tril(r, -1).any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_elimination(n, dtype):
    x = matrix(n, n, dtype)
    lu, pivots = made("Lu", x)
    order = made("PivotsToPermutation", pivots, size=n)[0]
    lower = np.tril(lu, -1) + np.eye(n, dtype=dtype)
    assert np.abs(lower).max() <= 1 + 1e-6
    close(lower @ np.triu(lu), x[order], n)
    b = matrix(n, 70, dtype, 1)
    for adjoint in (False, True):
        solution = made("MatrixSolve", x, b, lu, pivots, adjoint=adjoint)[0]
        residual = (np.conj(x.T) if adjoint else x) @ solution - b
        bound = np.finfo(dtype).eps * 16 * n * np.abs(x).sum(1).max() * np.abs(solution).max()
        assert np.abs(residual).max() <= bound


@pytest.mark.parametrize("name", ["Svd", "SymmetricEigen", "GeneralEigen"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite_has_no_values(name, dtype):
    for bad in (np.nan, np.inf):
        x = matrix(3, 3, dtype)
        x[1, 1] = bad
        for result in made(name, x):
            assert np.isnan(result).all()


def test_a_singular_matrix_of_a_batch_is_refused():
    x = np.stack([np.eye(3), np.zeros((3, 3)), np.eye(3)]).astype(np.float32)
    with pytest.raises(ValueError, match="For 'MatrixInverse', the matrix must be invertible"):
        made("MatrixInverse", x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batches_are_made_of_single_ones(dtype):
    x = np.stack([matrix(9, 9, dtype, seed) for seed in range(50)])
    for name in ("Qr", "Lu", "SymmetricEigen", "Svd", "MatrixInverse", "MatrixExp"):
        of_all = made(name, x)
        for i in (0, 24, 49):
            for all_, one in zip(of_all, made(name, x[i]), strict=True):
                np.testing.assert_array_equal(all_[i], one, err_msg=name)
