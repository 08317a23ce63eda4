"""jvp, vjp, vmap, grad and Jacobians of each other, through control flow, closures and recursion, in both modes: equal to what
one item at a time, or finite differences, give."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore
from mindspore import Tensor, context, grad, jacfwd, jacrev, jvp, nn, ops, vjp, vmap

F64 = mindspore.float64


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["eager", "graph"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def tensor(*shape: int, low: float = 0.3, high: float = 1.7, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).uniform(low, high, shape))


# ---- functions ----------------------------------------------------------------------------------------------------------
def smooth(x):
    return ops.sin(x) * x + ops.exp(-x * x)


def product(x):
    return ops.matmul(x, x.T).sum() + (x * x * x).mean()


def branch(x):
    if x.sum() > 2.0:
        return ops.sqrt(x) * 3.0
    return x * x - 1.0


def nested_branch(x):
    y = x * 2.0
    if x.sum() > 2.0:
        if x.max() > 1.4:
            y = ops.log(x)
        else:
            y = x * 5.0
    elif x.min() < 0.5:
        y = y + x[0]
    return y * x


def loop(x):
    i = 0
    while x.sum() < 20.0:
        x = x * 1.5 + 0.1
        i = i + 1
    return x * i


def counted(x):
    y = x
    for _ in range(3):
        y = ops.tanh(y) + x
    return y


def tensor_counted(x):
    i = Tensor(0)
    y = x
    while i < 4:
        y = y * ops.cos(y) + x
        i = i + 1
    return y


def broken(x):
    total = x * 0.0
    i = Tensor(0)
    while i < 10:
        total = total + x
        if total.sum() > 5.0:
            break
        i = i + 1
    return total * total


def early(x):
    if x.sum() > 2.5:
        return x
    x = x * 3.0
    if x.sum() > 5.0:
        return x * x
    return ops.sqrt(x)


def closure(x):
    def inner(y):
        return y * x.sum()

    return inner(x) + inner(ops.exp(x))


def guarded(x):
    """The arm not taken has no finite slope."""
    if x.sum() > 2.0:
        return ops.log(x.sum() - 2.0) * x
    return x * 2.0


def singular_loop(x):
    """An item that is through sits where the body has no slope."""
    while x.min() > 0.5:
        x = x - ops.sqrt(x - x.min() + 0.04) * 0.3 - 0.1
    return x


def indexed(x):
    i = ops.argmax(x)
    return x[i] * x


FUNCTIONS = [
    smooth,
    product,
    branch,
    nested_branch,
    loop,
    counted,
    tensor_counted,
    broken,
    early,
    closure,
    guarded,
    singular_loop,
    indexed,
]


def sum_of(f):
    def total(x):
        return f(x).sum()

    return total


def same(actual, wanted, tolerance=1e-9):
    np.testing.assert_allclose(actual.asnumpy(), wanted, rtol=tolerance, atol=tolerance)


def sample(f) -> Tensor:
    """Items on both sides of each condition."""
    shape = (6, 3, 2) if f is product else (6, 3)
    return tensor(*shape, seed=3)


def items(f, x) -> np.ndarray:
    return np.stack([f(Tensor(v)).asnumpy() for v in x.asnumpy()])


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batch(mode, f):
    x = sample(f)
    same(vmap(f)(x), items(f, x))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batch_of_gradients(mode, f):
    x = sample(f)
    same(vmap(grad(sum_of(f)))(x), items(grad(sum_of(f)), x))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient_of_batch(mode, f):
    x = sample(f)
    same(grad(lambda x: vmap(f)(x).sum())(x), items(grad(sum_of(f)), x))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_forward_is_the_slope(mode, f):
    x, v = sample(f)[1], sample(f)[2]
    value, tangent = jvp(f, x, v)
    same(value, f(x).asnumpy())
    step = 1e-6
    slope = (f(x + v * step).asnumpy() - f(x - v * step).asnumpy()) / (2 * step)
    np.testing.assert_allclose(tangent.asnumpy(), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_forward_against_reverse(mode, f):
    x, v = sample(f)[1], sample(f)[4]
    value, tangent = jvp(f, x, v)
    out, back = vjp(f, x)
    u = Tensor(np.random.default_rng(7).normal(size=value.shape))
    same(out, value.asnumpy())
    np.testing.assert_allclose(
        (tangent * u).sum().asnumpy(), (back(u)[0] * v).sum().asnumpy(), rtol=1e-9
    )


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_hessian(mode, f):
    x, v = sample(f)[1], sample(f)[2]
    g = grad(sum_of(f))
    forward_over_reverse = jvp(g, x, v)[1]
    reverse_over_reverse = grad(lambda x: (g(x) * v).sum())(x)
    same(forward_over_reverse, reverse_over_reverse.asnumpy())
    reverse_over_forward = grad(lambda x: jvp(sum_of(f), x, v)[1])(x)
    same(reverse_over_forward, reverse_over_reverse.asnumpy())


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batch_of_forward_and_forward_of_batch(mode, f):
    x = sample(f)
    v = Tensor(np.random.default_rng(5).normal(size=x.shape))
    single = np.stack([jvp(f, a, b)[1].asnumpy() for a, b in zip(x, v)])
    same(vmap(lambda x, v: jvp(f, x, v)[1])(x, v), single)
    same(jvp(vmap(f), x, v)[1], single)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_jacobians(mode, f):
    x = sample(f)[1]
    forward, reverse = jacfwd(f)(x), jacrev(f)(x)
    same(forward, reverse.asnumpy())
    y = f(x)
    assert forward.shape == (*y.shape, *x.shape)


@pytest.mark.parametrize("f", [smooth, branch, loop, guarded], ids=lambda f: f.__name__)
def test_batch_of_batches(mode, f):
    x = tensor(3, 4, 2, seed=9)
    wanted = np.stack([items(f, v) for v in x])
    same(vmap(vmap(f))(x), wanted)
    same(vmap(vmap(f, 1, 1), 0, 0)(ops.transpose(x, (0, 2, 1))), wanted.transpose(0, 2, 1))


@pytest.mark.parametrize("f", [smooth, branch, counted, closure], ids=lambda f: f.__name__)
def test_batched_jacobians_and_hessians(mode, f):
    x = tensor(3, 2, seed=4)
    same(vmap(jacfwd(f))(x), np.stack([jacrev(f)(v).asnumpy() for v in x]))
    scalar = sum_of(f)
    same(vmap(jacfwd(grad(scalar)))(x), np.stack([jacrev(grad(scalar))(v).asnumpy() for v in x]))


def power(x, n):
    if n <= 0:
        return x * 0.0 + 1.0
    return x * power(x, n - 1)


def test_recursion(mode):
    x, n = tensor(4), Tensor(np.array([3, 0, 5, 2]))
    wanted = x.asnumpy() ** n.asnumpy()
    same(vmap(power)(x, n), wanted)
    slope = n.asnumpy() * x.asnumpy() ** (n.asnumpy() - 1.0)
    same(vmap(lambda x, n: jvp(lambda y: power(y, n), x, x * 0 + 1)[1])(x, n), slope)
    same(grad(lambda x: vmap(power)(x, n).sum())(x), slope)


def test_shared_depth_of_recursion(mode):
    x = tensor(4)
    three = Tensor(3)
    same(vmap(power, in_axes=(0, None))(x, three), x.asnumpy() ** 3)


def test_an_arm_that_no_item_reaches_does_not_run(mode):
    table = Tensor(np.arange(5.0))

    def pick(i):
        if i < 5:
            return table[i] * 2
        return Tensor(-1.0, F64)

    def halves(x):
        if x > 0:
            while x < 10:
                x = x * 2
        return x

    same(vmap(pick)(Tensor(np.array([7, 8, 9]))), [-1, -1, -1])
    same(vmap(pick)(Tensor(np.array([1, 8, 4]))), [2, -1, 8])
    same(vmap(halves)(Tensor(np.array([-1.0, 0.0]))), [-1, 0])
    same(vmap(halves)(Tensor(np.array([-1.0, 2.0]))), [-1, 16])


def test_shared_value_in_an_arm_that_has_no_slope(mode):
    def f(x, w):
        if x > 0:
            return ops.sqrt(x * w)
        return x * w

    x, w = Tensor(np.array([-1.0, 4.0, -2.0])), Tensor(np.array(2.25))

    def slope(x):
        return grad(lambda w: vmap(f, (0, None))(x, w).sum())(w)

    same(slope(x), -3 + 2 / 3)
    same(slope(x[0:1]), -1.0)  # no item reaches the arm with the root


def test_effects_happen_for_each_item(mode, capfd):
    def f(x):
        print("item", x)
        return x * 2

    same(vmap(f)(Tensor(np.array([1.0, 2.0]))), [2, 4])
    out = capfd.readouterr().out
    assert out.count("item") == 2 and out.index("1") < out.index("2")


def test_a_loop_runs_until_the_last_item_is_through(mode):
    def collatz(n):
        steps = n * 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = n * 3 + 1
            steps = steps + 1
        return steps

    n = Tensor(np.array([1, 2, 3, 6, 7, 27]))
    assert vmap(collatz)(n).asnumpy().tolist() == [0, 1, 7, 8, 16, 111]


def test_structures(mode):
    def f(pair, extra):
        return {"sum": pair[0] + pair[1], "rest": (pair[0] * extra["k"], [pair[1]])}

    a, b, k = tensor(3, 2), tensor(3, 2, seed=1), tensor(2, seed=2)
    out = vmap(f, in_axes=((0, 0), None))((a, b), {"k": k})
    same(out["sum"], a.asnumpy() + b.asnumpy())
    same(out["rest"][0], a.asnumpy() * k.asnumpy())
    same(out["rest"][1][0], b.asnumpy())


def test_per_sample_gradients_of_a_network(mode):
    mindspore.set_seed(1)  # normalised rows of nearly equal numbers would magnify rounding
    net = nn.SequentialCell(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(2 * 16, 3), nn.LayerNorm((3,))
    )
    x = Tensor(np.random.default_rng(0).normal(size=(5, 1, 4, 4)).astype(np.float32))
    weights = net.trainable_params()

    def loss(x):
        y = net(x.expand_dims(0))
        return (y * y * y).sum()

    gradients = grad(loss, None, weights)
    together = vmap(gradients)(x)
    for i in range(5):
        for w, g in zip(together, gradients(x[i])):
            np.testing.assert_allclose(w[i].asnumpy(), g.asnumpy(), rtol=1e-4, atol=1e-5)


def test_parameter_is_shared_and_differentiable(mode):
    w = mindspore.Parameter(tensor(3), name="w")

    def f(x):
        return (x * w).sum()

    x = tensor(4, 3, seed=1)
    same(vmap(f)(x), x.asnumpy() @ w.asnumpy())
    same(grad(lambda x: vmap(f)(x).sum(), None, w)(x), x.asnumpy().sum(0))
    same(jvp(f, x[0], x[1])[1], (x[1].asnumpy() * w.asnumpy()).sum())


def test_parameter_written_the_same_for_all(mode):
    count = mindspore.Parameter(Tensor(np.float64(1.0)), name="count")

    def f(x):
        ops.assign(count, count * 2.0)
        return x * count

    same(vmap(f)(tensor(3)) * 0 + count, [2.0] * 3)


def test_ensemble(mode):
    nets = nn.CellList([nn.Dense(2, 3) for _ in range(4)])
    x = Tensor(np.random.default_rng(0).normal(size=(4, 5, 2)).astype(np.float32))
    out = vmap(nets)(x)
    for i in range(4):
        np.testing.assert_allclose(out[i].asnumpy(), nets[i](x[i]).asnumpy(), rtol=1e-5, atol=1e-6)
    shared = vmap(nets, in_axes=None)(x[0])
    np.testing.assert_allclose(shared[2].asnumpy(), nets[2](x[0]).asnumpy(), rtol=1e-5, atol=1e-6)


def test_random_numbers_differ_between_items(mode):
    mindspore.set_seed(1)
    drop = nn.Dropout(p=0.5)
    drop.set_train()
    y = vmap(drop)(ops.ones((4, 64), mindspore.float32)).asnumpy()
    assert set(np.unique(y)) == {0.0, 2.0}
    assert len({row.tobytes() for row in y}) == 4


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda x: jvp(lambda g: x * g * g, x, x)[1], 24.0),  # 2 x^3
        (lambda x: jvp(lambda g: g * 2.0, x, x * x)[1], 8.0),  # 2 x^2
        (lambda x: jvp(lambda g: g * g, ops.stop_gradient(x), x)[1], 4.0),  # 2 c x
        (lambda x: jvp(lambda g: ops.stop_gradient(x * 2.0) * g, x, x)[1], 4.0),  # 2 c x
        (lambda x: vjp(lambda g: g * g, x)[1](x * x), 24.0),  # 2 x^3
        (lambda x: jvp(lambda t: jvp(lambda g: g * g * g, x, t)[1], x, x)[1], 36.0),  # 3 x^3
    ],
)
def test_gradients_pass_through_tangents(mode, function, slope) -> None:
    """What a function is differentiated along may depend on the variable, too."""

    def result(x):
        value = function(x)
        return value[0] if isinstance(value, tuple) else value

    x = Tensor(2.0, mindspore.float64)
    np.testing.assert_allclose(grad(result)(x).asnumpy(), slope, rtol=1e-12)


def test_second_order_through_recomputation(mode) -> None:
    """d2/dx2 of sin(x)^4: the tangent that reaches the cell depends on x."""

    class Part(nn.Cell):
        def construct(self, x):
            return ops.sin(x) * ops.sin(x)

    net = Part()
    net.recompute()
    x = Tensor(0.7, mindspore.float64)
    found = grad(lambda a: grad(lambda y: net(y) ** 2)(a))(x)
    s, c = np.sin(0.7), np.cos(0.7)
    np.testing.assert_allclose(found.asnumpy(), 12 * s * s * c * c - 4 * s**4, rtol=1e-12)
