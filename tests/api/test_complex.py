"""Complex numbers through ops and their gradients, in both modes, against PyTorch: a gradient is the direction of steepest
ascent, the conjugate of the derivative."""

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, nn, ops

RANDOM = np.random.default_rng(0)


def numbers(*shape):
    return (RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)).astype(np.complex64)


A, B, WEIGHTS = numbers(3, 3), numbers(3, 3), numbers(3, 3)
# `lib` is mindspore.ops or torch.
CASES = {
    "add": lambda a, b, lib: a + b * 2.0,
    "subtract": lambda a, b, lib: a * (1 + 2j) - b,
    "multiply": lambda a, b, lib: a * b,
    "divide": lambda a, b, lib: a / b,
    "divided": lambda a, b, lib: 2.0 / a + b,
    "abs": lambda a, b, lib: lib.abs(a) * lib.abs(b) + 0j,
    "abs of 0": lambda a, b, lib: lib.abs(a - a) + b,
    "conj": lambda a, b, lib: lib.conj(a) * b,
    "parts": lambda a, b, lib: lib.real(a) * lib.imag(b) + 0j,
    "angle": lambda a, b, lib: lib.angle(a) * b,
    "exp": lambda a, b, lib: lib.exp(a) * b,
    "log": lambda a, b, lib: lib.log(a) * b,
    "sqrt": lambda a, b, lib: lib.sqrt(a) * b,
    "rsqrt": lambda a, b, lib: lib.rsqrt(a) * b,
    "reciprocal": lambda a, b, lib: lib.reciprocal(a) * b,
    "sin": lambda a, b, lib: lib.sin(a) * lib.cos(b),
    "sinh": lambda a, b, lib: lib.sinh(a) * lib.cosh(b),
    "square": lambda a, b, lib: lib.square(a) + b,
    "cube": lambda a, b, lib: a**3 + b,
    "root": lambda a, b, lib: a**0.5 + b,
    "power": lambda a, b, lib: a**b,
    "sum": lambda a, b, lib: a.sum(0) * b,
    "mean": lambda a, b, lib: a.mean() * b,
    "prod": lambda a, b, lib: a.prod() * b,
    "cumsum": lambda a, b, lib: lib.cumsum(a, 0) * b,
    "cumprod": lambda a, b, lib: lib.cumprod(a, 0) * b,
    "cat": lambda a, b, lib: lib.cat([a[:2], b[1:2]], 0) * a,
    "stack": lambda a, b, lib: lib.stack([a, b]).sum(0) * a,
    "index": lambda a, b, lib: a[1] * b[[0, 2, 1]],
    "where": lambda a, b, lib: lib.where(lib.real(a) > 0, a, b),
    "matmul": lambda a, b, lib: lib.matmul(a, b),
    "transposed": lambda a, b, lib: a.T @ b,
    "einsum": lambda a, b, lib: lib.einsum("bi,io->bo", a, b),
    "flip": lambda a, b, lib: lib.flip(a, (0,)) * b,
    "roll": lambda a, b, lib: lib.roll(a, 1, 0) * b,
    "tril": lambda a, b, lib: lib.tril(a) * b,
    "view_as_real": lambda a, b, lib: lib.view_as_real(a)[..., 1] * b,
    "polar": lambda a, b, lib: lib.polar(lib.abs(a), lib.real(a)) * b,
    "xlogy": lambda a, b, lib: lib.xlogy(a, b) if lib is ops else a * lib.log(b),
}
# Functions of one operand, whose second derivatives are compared as well.
FUNCTIONS = {
    "sign": lambda a, lib: lib.sign(a) if lib is ops else lib.sgn(a),
    "sigmoid": lambda a, lib: lib.sigmoid(a),
    "silu": lambda a, lib: lib.silu(a) if lib is ops else a * lib.sigmoid(a),
    "logsigmoid": lambda a, lib: lib.logsigmoid(a) if lib is ops else lib.log(lib.sigmoid(a)),
}
for _name in "tan asin acos atan sinh tanh asinh acosh atanh expm1 log1p".split():
    FUNCTIONS[_name] = lambda a, lib, name=_name: getattr(lib, name)(a)


def total(y, weights, lib):
    product = y * weights
    return lib.real(product).sum() + 0.5 * lib.imag(product).sum()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, mode):
    inputs = [torch.tensor(x, requires_grad=True) for x in (A, B)]
    wanted = CASES[name](*inputs, torch)
    wanted_gradients = torch.autograd.grad(
        total(wanted, torch.tensor(WEIGHTS), torch), inputs, materialize_grads=True
    )
    weights = Tensor(WEIGHTS)

    class Net(nn.Cell):
        def construct(self, a, b):
            y = CASES[name](a, b, ops)
            return total(y, weights, ops), y

    ms.set_context(mode=mode)
    (_, found), gradients = ms.value_and_grad(Net(), (0, 1), has_aux=True)(Tensor(A), Tensor(B))
    np.testing.assert_allclose(
        found.asnumpy(), wanted.detach().resolve_conj().numpy(), rtol=1e-4, atol=1e-5
    )
    for got, want in zip(gradients, wanted_gradients):
        np.testing.assert_allclose(got.asnumpy(), want.resolve_conj().numpy(), rtol=3e-4, atol=3e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_two_derivatives(name):
    function = FUNCTIONS[name]

    def slopes(a, lib, grad):
        first = grad(lambda x: total(function(x, lib), 1 - 0.5j, lib))
        return first(a), grad(lambda x: total(first(x), 0.3 + 1j, lib))(a)

    def by_torch(f):
        return lambda a: torch.autograd.grad(f(a), a, create_graph=True)[0]

    a = A.astype(np.complex128)
    x = torch.tensor(a, requires_grad=True)
    wanted = [function(x, torch), *slopes(x, torch, by_torch)]
    for run in (lambda f: f, ms.jit):
        found = run(lambda x: (function(x, ops), *slopes(x, ops, ms.grad)))(Tensor(a))
        for got, want in zip(found, wanted):
            np.testing.assert_allclose(got.asnumpy(), want.detach().resolve_conj().numpy(), 1e-9)


PARTS = [0.0, -0.0, 1, -1, 0.5, -2, 30, 800, 3e38, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", "tan tanh asin acos atan asinh acosh atanh".split())
def test_extreme_values(name):
    """Sides of branch cuts, overflow, infinities and nan are those of NumPy."""
    z = np.array([complex(x, y) for x in PARTS for y in PARTS], np.complex64)
    numpy_name = f"arc{name[1:]}" if name[0] == "a" else name
    with np.errstate(all="ignore"):
        wanted = getattr(np, numpy_name)(z)
    found = getattr(ops, name)(Tensor(z)).asnumpy()
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(found), part(wanted), 1e-6)
        known = ~np.isnan(part(wanted))
        np.testing.assert_array_equal(*(np.signbit(part(v))[known] for v in (found, wanted)))


def test_small_and_large_numbers_of_log1p_and_expm1():
    z = np.array([1e-20 + 1e-30j, complex(-1e-20, -0.0), complex(np.inf, 0.0)])
    np.testing.assert_array_equal(ops.expm1(Tensor(z)).asnumpy(), z)
    np.testing.assert_allclose(ops.log1p(Tensor(z)).asnumpy(), z, 1e-15)
    far = ops.expm1(Tensor([complex(-np.inf, 1.0), 2j * np.pi])).asnumpy()
    np.testing.assert_allclose(far, [-1, np.expm1(2j * np.pi)], rtol=1e-15, atol=1e-30)


# The slope on each side of a cut, and where a square would overflow.
SLOPES = [
    ("asin", complex(2, 0.0), 1j / np.sqrt(3)),
    ("asin", complex(2, -0.0), -1j / np.sqrt(3)),
    ("acos", complex(-2, 0.0), 1j / np.sqrt(3)),
    ("asinh", complex(0.0, 2), -1j / np.sqrt(3)),
    ("asinh", complex(-0.0, 2), 1j / np.sqrt(3)),
    ("acosh", complex(0.5, 0.0), -1j / np.sqrt(0.75)),
    ("acosh", complex(-2, 0.0), -1 / np.sqrt(3)),
    ("acosh", -2 + 1j, 1 / np.sqrt(-3 + 1j) / np.sqrt(-1 + 1j)),
    *((name, 1e200 + 1e200j, 1 / (1e200 + 1e200j)) for name in ("asinh", "acosh")),
    ("asin", 1e200 + 1e200j, 1j / (1e200 + 1e200j)),
    *((name, 1e200 + 1e200j, 0) for name in ("atan", "atanh")),
]


@pytest.mark.parametrize(("name", "z", "slope"), SLOPES)
def test_slopes_at_cuts_and_far_away(name, z, slope):
    def f(x):
        return ops.real(getattr(ops, name)(x)).sum()

    for grad in (ms.grad(f), ms.jit(ms.grad(f))):
        found = grad(Tensor([z])).asnumpy()[0]
        np.testing.assert_allclose(found, np.conj(slope), 1e-12)


def test_small_whole_powers_are_products():
    x = Tensor(np.array([0, 1j, 2 - 1j], np.complex64))
    np.testing.assert_array_equal((x**0).asnumpy(), np.ones(3, np.complex64))
    np.testing.assert_array_equal((x**2).asnumpy(), np.array([0, -1, 3 - 4j], np.complex64))


MASK = Tensor([False, True])
WRITES = {
    "an item": lambda x, value: x.__setitem__(0, value),
    "where a mask is": lambda x, value: x.__setitem__(MASK, value),
    "fill_": lambda x, value: x.fill_(value),
    "masked_fill": lambda x, value: x.masked_fill(MASK, value),
    "index_fill": lambda x, value: ops.index_fill(x, 0, Tensor([0]), value),
    "scatter": lambda x, value: x.scatter(0, Tensor([0]), value),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", WRITES)
def test_a_complex_number_does_not_go_into_real_ones(name, compiled):
    def write(x, value):
        x = x * 1
        result = WRITES[name](x, value)
        return x if result is None else result

    run = ms.jit(write) if compiled else write
    x = Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"must be real where it goes into a tensor of Float32"):
        run(x, 1 + 2j)
    assert 1 + 2j in run(x.astype(ms.complex64), 1 + 2j).asnumpy()
