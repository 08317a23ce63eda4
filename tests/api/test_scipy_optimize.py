"""Optimisation and iterative solvers under SciPy's names, against SciPy."""

import numpy as np
import pytest
from scipy import optimize

import mindspore as ms
from mindspore import Tensor
from mindspore.scipy.optimize import line_search, linear_sum_assignment, minimize
from mindspore.scipy.sparse.linalg import bicgstab, cg, gmres


def rosenbrock(x):
    return ((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2).sum()


def himmelblau(p):
    x, y = p
    return (x**2 + y - 11.0) ** 2 + (x + y**2 - 7.0) ** 2


# ---- minima ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [ms.float32, ms.float64], ids=str)
@pytest.mark.parametrize("method", ["BFGS", "LBFGS", "lbfgs"])
def test_minimize_finds_minima(method, dtype, mode):
    result = minimize(rosenbrock, Tensor([-1.2, 1.0, 0.5], dtype), method=method)
    assert result.success
    assert result.status == 0
    assert result.x.dtype == dtype
    np.testing.assert_allclose(result.x.asnumpy(), 1.0, atol=2e-3)
    assert np.abs(result.jac.asnumpy()).max() <= 1e-5
    assert (result.hess_inv is None) == (method != "BFGS")
    valley = minimize(himmelblau, Tensor([0.0, 0.0], dtype), method=method)
    np.testing.assert_allclose(valley.x.asnumpy(), [3, 2], atol=1e-4)


def test_the_inverse_of_the_hessian(mode):
    a = np.array([[3.0, 1.0], [1.0, 2.0]])
    matrix = Tensor(a)
    x0 = Tensor([1.0, -2.0], ms.float64)
    result = minimize(lambda x: 0.5 * (x * (matrix @ x)).sum(), x0, method="BFGS")
    np.testing.assert_allclose(result.hess_inv.asnumpy(), np.linalg.inv(a), rtol=0.05)


def test_minimize_takes_what_it_is_given(mode):
    to, seen = Tensor([1.0, 2.0]), []
    result = minimize(
        lambda x, to: ((x - to) ** 2).sum(),
        Tensor([3.0, 1.0]),
        (to,),
        method="BFGS",
        jac=lambda x, to: 2 * (x - to),
        callback=seen.append,
    )
    np.testing.assert_allclose(result.x.asnumpy(), [1, 2], atol=1e-5)
    assert len(seen) == result.nit
    np.testing.assert_array_equal(seen[-1].asnumpy(), result.x.asnumpy())
    few = minimize(rosenbrock, Tensor([-1.2, 1.0]), method="BFGS", options={"maxiter": 3})
    assert (few.success, few.status, few.nit) == (False, 1, 3)
    rough = minimize(rosenbrock, Tensor([-1.2, 1.0]), method="BFGS", tol=10.0)
    assert rough.success
    assert rough.nit < few.nit + 20


def test_minimize_inside_of_a_compiled_function():
    @ms.jit
    def nearest(to):
        return minimize(lambda x: ((x - to) ** 2).sum(), Tensor([0.0, 0.0]), method="BFGS").x * 2

    np.testing.assert_allclose(nearest(Tensor([1.0, 3.0])).asnumpy(), [2, 6], atol=1e-4)


def test_what_has_no_minimum_says_so():
    nothing = minimize(lambda x: (x / 0).sum(), Tensor([3.0, 1.0]), method="BFGS")
    assert (nothing.success, nothing.status) == (False, 3)
    options = {"maxiter": 5}
    endless = minimize(lambda x: x.sum(), Tensor([3.0, 1.0]), method="LBFGS", options=options)
    assert not endless.success


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, ValueError, "'method' must be"),
        ({"method": "CG"}, ValueError, "but got 'CG'"),
        ({"method": "BFGS", "options": {"unknown": 1}}, ValueError, "but got unknown"),
        ({"method": "BFGS", "args": 3}, TypeError, "'args' must be a tuple"),
        ({"method": "BFGS", "bounds": [(0, 1)]}, ValueError, "'bounds' must be None"),
        ({"method": "BFGS", "x0": Tensor([1, 2])}, ValueError, "must be a vector of Float32"),
        ({"method": "BFGS", "x0": Tensor([[1.0]])}, ValueError, "must be a vector of Float32"),
        ({"method": "BFGS", "func": lambda x: x}, ValueError, "must give one number"),
    ],
)
def test_what_minimize_refuses(arguments, error, text):
    given = {"func": rosenbrock, "x0": Tensor([3.0, 1.0]), **arguments}
    if "one number" in text:
        given["jac"] = lambda x: x
    with pytest.raises(error, match=text):
        minimize(**given)


# ---- steps -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("scale", [0.01, 1.0, 200.0])
def test_steps_satisfy_the_wolfe_conditions(scale, mode):
    x0 = np.array([-1.2, 1.0])
    gradient = optimize.rosen_der(x0)
    p = -scale * gradient / np.linalg.norm(gradient)
    found = line_search(rosenbrock, Tensor(x0), Tensor(p))
    assert not found.failed
    after = x0 + found.a_k * p
    assert optimize.rosen(after) <= optimize.rosen(x0) + 1e-4 * found.a_k * gradient @ p
    assert abs(optimize.rosen_der(after) @ p) <= 0.9 * abs(gradient @ p)
    np.testing.assert_allclose(found.f_k, optimize.rosen(after), rtol=1e-9)
    np.testing.assert_allclose(found.g_k.asnumpy(), optimize.rosen_der(after), rtol=1e-6)


def test_no_step_goes_up():
    found = line_search(lambda x: (x**2).sum(), Tensor([3.0, 1.0]), Tensor([1.0, 0.5]))
    assert (found.failed, found.a_k) == (True, 0.0)
    known = line_search(
        lambda x: (x**2).sum(),
        Tensor([3.0, 1.0]),
        Tensor([-1.0, -0.5]),
        gfk=Tensor([6.0, 2.0]),
        old_fval=Tensor(10.0),
    )
    assert (known.a_k, known.f_k, known.nfev) == (1.0, 4.25, 1)
    with pytest.raises(ValueError, match="'pk' must have the shape of 'xk'"):
        line_search(rosenbrock, Tensor([3.0, 1.0]), Tensor([1.0]))


# ---- assignments -----------------------------------------------------------------------------------
@pytest.mark.parametrize("maximize", [False, True])
def test_assignments_have_the_sums_of_scipy(maximize):
    random = np.random.default_rng(0)
    for i in range(200):
        shape = random.integers(1, 9, 2)
        cost = random.integers(0, 5, shape).astype(float) if i % 2 else random.random(shape)
        rows, columns = (x.asnumpy() for x in linear_sum_assignment(Tensor(cost), maximize))
        expected = cost[optimize.linear_sum_assignment(cost, maximize)].sum()
        np.testing.assert_allclose(cost[rows, columns].sum(), expected)
        assert len(set(columns.tolist())) == len(columns) == min(shape)
        assert (np.diff(rows) > 0).all()


@pytest.mark.parametrize(
    ("cost", "more", "text"),
    [
        ([1.0, 2.0], (), "must be a matrix"),
        ([[4.0, np.nan], [1.0, 2.0]], (), "neither NaN"),
        ([[np.inf, np.inf], [1.0, 2.0]], (), "an assignment of finite cost"),
        ([[1.0]], (Tensor(0),), "'dimension_limit' must be greater than 0"),
    ],
)
def test_what_assignments_refuse(cost, more, text):
    with pytest.raises(ValueError, match=text):
        linear_sum_assignment(Tensor(cost), False, *more)


# ---- systems ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solve", [cg, bicgstab, gmres], ids=lambda f: f.__name__)
def test_systems_are_solved(solve, dtype, mode):
    random = np.random.default_rng(0)
    square = random.normal(size=(30, 30)).astype(dtype)
    a = square @ square.T + 5 * np.eye(30, dtype=dtype)
    if solve is not cg:
        a = square + 20 * np.eye(30, dtype=dtype)
    b = random.normal(size=30).astype(dtype)
    matrix, scale = Tensor(a), Tensor(np.diag(1 / np.diag(a)))
    x0 = Tensor(random.normal(size=30).astype(dtype))
    for given, more in (
        (matrix, {}),
        (matrix, {"x0": x0}),
        (matrix.to_csr(), {"M": scale}),
        (lambda x: matrix @ x, {"M": lambda x: scale @ x, "tol": 1e-4}),
    ):
        x, info = solve(given, Tensor(b), **more)
        assert info == 0
        assert np.linalg.norm(a @ x.asnumpy() - b) <= 2e-4 * np.linalg.norm(b)
    _, info = solve(matrix, Tensor(b), tol=0.0, atol=1e-30, maxiter=1)
    assert info == 1
    x, info = solve(matrix, Tensor(np.zeros(30, dtype)))
    assert (info, np.abs(x.asnumpy()).max()) == (0, 0)


@pytest.mark.parametrize("solve", [cg, bicgstab, gmres], ids=lambda f: f.__name__)
def test_systems_that_cannot_be_solved_say_so(solve):
    _, info = solve(Tensor(np.zeros((2, 2))), Tensor([1.0, 2.0], ms.float64), maxiter=3)
    assert info > 0
    _, info = solve(Tensor(np.full((2, 2), np.nan)), Tensor([1.0, 2.0], ms.float64), maxiter=3)
    assert info > 0
    for a, b, error, text in (
        (Tensor(np.ones((2, 3))), Tensor([1.0, 2.0]), ValueError, "'A' must be a square matrix"),
        (3, Tensor([1.0, 2.0]), TypeError, "'A' must be a Tensor, a CSRTensor or a function"),
        (Tensor(np.eye(2)), Tensor([1, 2]), ValueError, "'b' must be a vector of Float32"),
    ):
        with pytest.raises(error, match=text):
            solve(a, b)


def test_gmres_begins_again_and_tells():
    random = np.random.default_rng(1)
    a = random.normal(size=(30, 30)) + 12 * np.eye(30)
    b, told = random.normal(size=30), []
    x, info = gmres(Tensor(a), Tensor(b), restart=5, tol=1e-10, callback=told.append)
    assert info == 0
    assert len(told) > 1
    np.testing.assert_allclose(x.asnumpy(), np.linalg.solve(a, b), rtol=1e-6, atol=1e-9)
