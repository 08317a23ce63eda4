"""The Python face of jvp, vjp, jacfwd, jacrev and vmap: structure of results, axes, and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mindspore
from mindspore import Tensor, context, jacfwd, jacrev, jit, jvp, nn, ops, vjp, vmap


@pytest.fixture(
    params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["eager", "graph"], autouse=True
)
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def counted(*shape: int) -> Tensor:
    return Tensor(np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(np.float32))


def plain(value):
    """Tensors as nested lists, in the structure that came."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def square(x):
    return x * x


def add(x, y):
    return x + y


def two(x, y):
    return x * y, x + y


def three(x, y):
    return x * y, x + y, x - y


A = counted(2)


def test_where_they_live():
    for name in ("jvp", "vjp", "jacfwd", "jacrev", "vmap"):
        assert getattr(mindspore, name) is getattr(ops, name) is getattr(ops.functional, name)


# ---- jvp and vjp --------------------------------------------------------------------------------------------------------
def test_jvp_structures():
    assert plain(jvp(square, A, A)) == ([1, 4], [2, 8])
    assert plain(jvp(square, (A,), A)) == ([1, 4], [2, 8])
    assert plain(jvp(two, [A, A], [A, A])) == (([1, 4], [2, 4]), ([2, 8], [2, 4]))
    assert plain(jvp(two, (A, A), (A, A), has_aux=True)) == ([1, 4], [2, 8], [2, 4])
    aux = jvp(three, (A, A), (A, A), has_aux=True)[2]
    assert plain(aux) == ([2, 4], [0, 0])


def test_vjp_structures():
    out, back = vjp(square, A)
    assert plain(out) == [1, 4] and plain(back(A)) == ([2, 8],)
    out, back = vjp(two, A, A)
    assert plain(out) == ([1, 4], [2, 4])
    assert plain(back(A, A)) == plain(back((A, A))) == ([2, 6], [2, 6])
    out, back, aux = vjp(two, A, A, has_aux=True)
    assert plain(back(A)) == ([1, 4], [1, 4]) and plain(aux) == [2, 4]
    out, back, aux = vjp(three, A, A, has_aux=True)
    assert plain(aux) == ([2, 4], [0, 0])


def test_vjp_of_weights():
    net = nn.Dense(2, 1)
    x, u = counted(3, 2), counted(3, 1)
    _, back = vjp(net, x, weights=net.trainable_params())
    (of_x,), (of_w, of_b) = back(u)
    np.testing.assert_allclose(of_w.asnumpy(), u.asnumpy().T @ x.asnumpy())
    np.testing.assert_allclose(of_b.asnumpy(), [6])
    np.testing.assert_allclose(of_x.asnumpy(), u.asnumpy() @ net.weight.asnumpy(), rtol=1e-5)
    assert plain(vjp(net, x, weights=net.bias)[1](u)[1]) == [6]


def test_inside_compiled_code():
    @jit
    def both(x, v):
        out, tangent = jvp(square, x, v)
        same, back = vjp(square, x)
        return out, tangent, same, back(v)[0], vmap(square, 0, 0)(x)

    assert plain(both(A, A)) == ([1, 4], [2, 8], [1, 4], [2, 8], [1, 4])


def test_numbers_that_a_tensor_decided():
    def double(x):
        n, factor = 0, 2.0
        if x.sum() > 0:
            factor = 3.0
        while x.sum() < 100:
            x = x * 2
            n = n + 1
        shared = vmap(lambda x, y: x * y, (0, None))(x, n)
        return shared, jvp(lambda x: x * factor, x, x)[1], vjp(lambda x: x * factor, x)[1](x)[0]

    x = counted(2)
    assert plain(jit(double)(x)) == plain(double(x)) == ([384, 768], [192, 384], [64 * 3, 128 * 3])


def test_open_sizes():
    def slope(x):
        return jvp(lambda x: ops.softmax(x * 2), x, x)[1], vjp(lambda x: x * x, x)[1](x)[0]

    compiled = jit(slope, input_signature=Tensor(shape=[None, 3], dtype=mindspore.float32))
    for n in (2, 5):
        for a, b in zip(compiled(counted(n, 3)), slope(counted(n, 3))):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)


def test_cells_of_the_earlier_releases():
    assert plain(nn.Jvp(square)(A, A)) == ([1, 4], [2, 8])
    assert plain(nn.Vjp(square)(A, A)) == ([1, 4], [2, 8])
    assert plain(nn.Jvp(two)(A, A, (A, A))) == (([1, 4], [2, 4]), ([2, 8], [2, 4]))
    assert plain(nn.Vjp(two)(A, A, (A, A))) == (([1, 4], [2, 4]), ([2, 6], [2, 6]))
    assert plain(nn.Jvp(nn.ReLU())(A, A)) == ([1, 2], [1, 2])


def test_what_cannot_be_compiled_runs_eagerly():
    def f(x):
        return x * float(np.asarray(x.asnumpy()).sum())

    x = counted(3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert plain(vmap(f)(x)) == plain(ops.stack([f(v) for v in x]))
        assert plain(jvp(f, A, A)[1]) == [3, 6]


# ---- Jacobians ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobian_structures(jacobian):
    def f(x, y):
        return x**2 * y

    one, other = [[2, 0], [0, 8]], [[1, 0], [0, 4]]
    assert plain(jacobian(f)(A, A)) == one
    assert plain(jacobian(f, (0,))(A, A)) == one
    assert plain(jacobian(f, (0, 1))(A, A)) == (one, other)
    assert plain(jacobian(f, (1, 0))(A, A)) == (other, one)
    diagonal, unit = [[1, 0], [0, 2]], [[1, 0], [0, 1]]
    assert plain(jacobian(two)(A, A)) == (diagonal, unit)
    assert plain(jacobian(two, (0, 1))(A, A)) == ((diagonal, diagonal), (unit, unit))
    assert plain(jacobian(two, 0, True)(A, A)) == (diagonal, [2, 4])
    assert plain(jacobian(three, (0, 1), True)(A, A)) == ((diagonal, diagonal), ([2, 4], [0, 0]))
    assert plain(jacobian(square)(Tensor(3.0))) == 6
    weight = counted(3, 2)
    assert jacobian(lambda x: ops.matmul(x, weight))(counted(4, 3)).shape == (4, 2, 4, 3)


def test_hessian():
    def f(x):
        return (x**3).sum()

    assert plain(jacfwd(jacrev(f))(A)) == plain(jacrev(jacfwd(f))(A)) == [[6, 0], [0, 12]]


# ---- vmap ---------------------------------------------------------------------------------------------------------------
X, Y = counted(3, 2), counted(2, 3)
SUM = X.asnumpy() + Y.asnumpy().T


@pytest.mark.parametrize("axes", [(0, 1), (0, -1), [0, 1], (-2, -1)])
def test_axes_of_arguments(axes):
    assert plain(vmap(add, axes)(X, Y)) == SUM.tolist()


@pytest.mark.parametrize(
    ("axis", "order"), [(0, (0, 1, 2)), (1, (1, 0, 2)), (2, (1, 2, 0)), (-1, (1, 2, 0))]
)
def test_axes_of_results(axis, order):
    x = counted(3, 2, 4)
    assert plain(vmap(square, 0, axis)(x)) == (x.asnumpy() ** 2).transpose(order).tolist()


def test_shared_arguments_and_results():
    assert plain(vmap(add, (0, None))(X, A)) == (X.asnumpy() + A.asnumpy()).tolist()
    assert plain(vmap(add, (0, None))(X, 3)) == (X.asnumpy() + 3).tolist()
    f = vmap(lambda x, y: (x, y + 1), (0, None), (0, None))
    assert plain(f(X, A)) == (plain(X), [2, 3])
    g = vmap(lambda x, y: (x, y + 1), (0, None), 0)
    assert plain(g(X, A)) == (plain(X), [[2, 3]] * 3)
    assert plain(vmap(lambda x: 3)(X)) == [3, 3, 3]


def test_nested_structures():
    def f(x, pair):
        return x + pair[0] * pair[1]

    wanted = (X.asnumpy() + X.asnumpy() * A.asnumpy()).tolist()
    assert plain(vmap(f, (0, (0, None)))(X, (X, A))) == wanted
    assert plain(vmap(f, (0, [0, None]))(X, [X, A])) == wanted
    assert plain(vmap(f, (0, None))(X, (A, A))) == (X.asnumpy() + A.asnumpy() ** 2).tolist()

    def g(x):
        return x, (x + 1, x * 2)

    out = vmap(g, 0, (0, (1, 0)))(X)
    assert plain(out) == (plain(X), ((X.asnumpy() + 1).T.tolist(), (X.asnumpy() * 2).tolist()))
    both = vmap(g, 0, (0, 1))(X)
    assert plain(both[1][1]) == (X.asnumpy() * 2).T.tolist()
    assert plain(vmap(lambda d: {"b": d["a"] * 2})({"a": X})) == {"b": (X.asnumpy() * 2).tolist()}


def test_outer_sum():
    table = vmap(vmap(add, (0, None)), (None, 0))(counted(3), counted(4))
    assert plain(table) == (np.arange(1, 5)[:, None] + np.arange(1, 4)).tolist()


def test_repeated_calls_do_not_compile_again(caplog):
    def f(x):
        return x * 2

    vmap(f)(X)
    home = f._compiled_transforms
    before = {k: c.compiled for k, c in home.items()}
    for _ in range(3):
        vmap(f)(X)
        jvp(f, A, A)
    assert all(home[k].compiled == n for k, n in before.items())
    assert [c.compiled for c in home.values()] == [1, 1]


# ---- refusals -----------------------------------------------------------------------------------------------------------
P = mindspore.Parameter(counted(2), name="p")


def assign(x):
    ops.assign(P, x)
    return x


REFUSED = [
    (lambda: jvp(3, A, A), TypeError, "For 'jvp', 'fn' must be a function, but got int"),
    (
        lambda: jvp(square, 3, A),
        TypeError,
        "'inputs' must be a Tensor, or a tuple or list of Tensors",
    ),
    (lambda: jvp(square, A, 3), TypeError, "'v' must be a Tensor"),
    (lambda: jvp(add, (A, A), (A,)), ValueError, "one tangent for each of the 2 inputs, but got 1"),
    (lambda: jvp(square, A, counted(3)), ValueError, r"tangent 0 must have the shape \(2,\)"),
    (lambda: jvp(square, A, Tensor([1, 2])), TypeError, "must have the dtype Float32"),
    (
        lambda: jvp(square, Tensor([True]), Tensor([True])),
        TypeError,
        "must not be of dtype Bool to have a tangent",
    ),
    (lambda: jvp(square, A, A, has_aux=1), TypeError, "'has_aux' must be a bool"),
    (lambda: jvp(square, A, A, has_aux=True), ValueError, "must return at least two values"),
    (lambda: vjp(3, A), TypeError, "For 'vjp', 'fn' must be a function"),
    (lambda: vjp(square, 2.0), TypeError, "'inputs' must be a Tensor, but got float"),
    (lambda: vjp(square, A)[1](counted(3)), ValueError, r"must have the shape \(2,\)"),
    (
        lambda: vjp(square, A)[1](A, A),
        ValueError,
        "takes 1 of them, one for each output, but got 2",
    ),
    (lambda: vjp(square, A)[1](), ValueError, "but got 0"),
    (lambda: jacfwd(square, 1)(A), ValueError, r"'grad_position' must be in \[0, 1\)"),
    (lambda: jacrev(square, -1), ValueError, "must not be negative"),
    (lambda: jacfwd(square, "a"), TypeError, "must be an int or a tuple of ints"),
    (lambda: jacrev(add, (0, 0)), ValueError, "must be different positions"),
    (lambda: jacfwd(square)(3.0), TypeError, "argument 0 must be a Tensor of numbers"),
    (lambda: vmap(3), TypeError, "'fn' must be a function, a Cell or a CellList, but got int"),
    (lambda: vmap(add, None), ValueError, "'in_axes' must not be None throughout"),
    (lambda: vmap(add, (None, None)), ValueError, "'in_axes' must not be None throughout"),
    (lambda: vmap(add, 0, None), ValueError, "'out_axes' must not be None throughout"),
    (lambda: vmap(add, 0.5), TypeError, "'in_axes' must be an int, None, or a tuple or list"),
    (lambda: vmap(add, True), TypeError, "'in_axes' must be an int, None, or a tuple or list"),
    (lambda: vmap(add, 2)(X, X), ValueError, r"must be in \[-2, 2\)"),
    (lambda: vmap(add, 0, 3)(X, X), ValueError, r"'out_axes' must be in \[-2, 2\)"),
    (lambda: vmap(add)(X, counted(4, 2)), ValueError, "must all have one size, but got 4 beside 3"),
    (lambda: vmap(add, (0, 0, 0))(X, X), ValueError, "one item for each of the 2 arguments"),
    (
        lambda: vmap(add, 0, (0, 0))(X, X),
        ValueError,
        "must have the structure of what it describes",
    ),
    (lambda: vmap(add)(X, 3), TypeError, "what 'in_axes' gives the axis 0 must be a Tensor"),
    (lambda: vmap(add)(Tensor(1.0), counted(3)), ValueError, r"must be in \[-0, 0\)"),
    (lambda: vmap(square)(ops.zeros((0, 2))), ValueError, "must not be empty"),
    (lambda: vmap(square)(), ValueError, "at least one argument must be mapped"),
    (
        lambda: vmap(lambda x: None)(X),
        TypeError,
        "must return tensors or numbers, but got NoneType",
    ),
    (lambda: vmap(two, 0, (0, None))(X, X), ValueError, "must be the same for all items"),
    (lambda: vmap(assign)(X), ValueError, "must be the same for all items"),
    (lambda: vmap(nn.CellList([nn.Dense(2, 1)]))(X), ValueError, "at least 2 cells"),
    (
        lambda: vmap(nn.CellList([nn.Dense(2, 1), nn.Dense(2, 3)])),
        ValueError,
        "Parameters of the same shapes",
    ),
    (
        lambda: vmap(nn.CellList([nn.Dense(2, 1), nn.Dense(2, 1)]))(counted(3, 1, 2)),
        ValueError,
        "must all have one size, but got 3 beside 2, the number of cells",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
