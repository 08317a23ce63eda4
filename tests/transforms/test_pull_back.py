"""The function that `vjp` returns outside of compiled code: it may be called again and again, for other tangents, later, and under
gradients, forward mode and batches of its own; both modes agree bit for bit without the fast stage."""

from __future__ import annotations

import functools
import gc
import os
import weakref

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops, vjp

X = np.array([1.0, 2.0, 3.0], np.float32)
U = np.array([1.0, -1.0, 2.0], np.float32)


@pytest.fixture(
    params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"], autouse=True
)
def mode(request):
    context.set_context(mode=request.param)
    return request.param


def t(values) -> Tensor:
    return Tensor(np.array(values, np.float32))


def cube(x):
    return x * x * x


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Recomputed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Cubed()
        self.inner.recompute()

    def construct(self, x):
        return self.inner(x)


class Cubed(nn.Cell):
    def construct(self, x):
        return x * x * x


class WithRule(nn.Cell):
    def construct(self, x):
        return x * x * x

    def bprop(self, x, out, dout):
        return (dout * 3 * x * x,)


def hooked(x):
    y = x * x
    handle = ops.HookBackward(lambda g: g * 1)(y)
    return (handle[0] if isinstance(handle, tuple) else handle) * x


FUNCTIONS = {
    "plain": lambda: cube,
    "recomputed": Recomputed,
    "a rule of the user's": WithRule,
    "hooked": lambda: hooked,
}


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_derivatives_through_it(kind):
    _, back = vjp(FUNCTIONS[kind](), t(X))
    v = t(U)
    slope = 3 * X**2
    assert np.array_equal(back(v)[0].asnumpy(), slope * U)
    gradient = ms.grad(lambda v: (back(v)[0] * v * v).sum())
    np.testing.assert_allclose(gradient(v).asnumpy(), 3 * slope * U**2, rtol=1e-6)
    second = ms.grad(lambda v: gradient(v).sum())(v)
    np.testing.assert_allclose(second.asnumpy(), 6 * slope * U, rtol=1e-6)
    value, moved = ms.jvp(lambda v: back(v)[0] * v, v, t(X))
    np.testing.assert_allclose(value.asnumpy(), slope * U * U, rtol=1e-6)
    np.testing.assert_allclose(moved.asnumpy(), 2 * slope * U * X, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_over_a_batch_and_in_compiled_code():
    _, back = vjp(cube, t(X))
    rows = ms.vmap(back)(ops.eye(3, 3, ms.float32))[0]
    assert np.array_equal(rows.asnumpy(), np.diag(3 * X**2))
    assert np.array_equal(ms.jit(lambda v: back(v * 2)[0] + 1)(t(U)).asnumpy(), 6 * X**2 * U + 1)


def test_inside_another_gradient_and_too_late():
    kept = []

    def f(x):
        y, back = vjp(cube, x * 2)
        kept.append(back)
        return (back(y)[0] * x).sum()

    context.set_context(mode=context.PYNATIVE_MODE)
    x = t(X)
    # y = 8 x^3, slope at 2 x is 12 x^2: 96 x^6, whose derivative is 576 x^5.
    np.testing.assert_allclose(ms.grad(f)(x).asnumpy(), 576 * X**5, rtol=1e-6)
    with pytest.raises(
        RuntimeError, match="must be called there, but got a call after the gradient"
    ):
        kept[0](t(U))


def test_calls_leave_nothing_behind():
    n = 1 << 18
    x, v = Tensor(np.ones(n, np.float32)), Tensor(np.ones(n, np.float32))
    _, back = vjp(lambda u: ops.tanh(u * u * u) * u, x)
    for _ in range(5):
        back(v)
    before = resident()
    for _ in range(100):
        back(v)
    assert resident() - before < 250 << 20  # all calls make 700 arrays of 1 MB


def test_goes_with_what_it_keeps():
    class Marked(nn.Cell):
        def construct(self, x):
            return x * x

    net = Marked()
    reference = weakref.ref(net)
    n = 1 << 22
    _, back = vjp(net, Tensor(np.ones(n, np.float32)))
    back(Tensor(np.ones(n, np.float32)))
    del net, back
    gc.collect()
    assert reference() is None


def test_what_is_changed_later_does_not_matter():
    x = t(X)
    w = Parameter(t([2.0, 2.0, 2.0]), name="w")
    y, back = vjp(lambda x: x * x * w, x, weights=w)
    expected = back(t(U))
    x[0] = 100.0
    y[1] = 5.0
    w.set_data(t([7.0, 7.0, 7.0]))
    again = back(t(U))
    assert np.array_equal(again[0][0].asnumpy(), expected[0][0].asnumpy())
    assert np.array_equal(again[0][0].asnumpy(), 4 * X * U)
    assert np.array_equal(again[1].asnumpy(), X * X * U)


def test_parameters_stepped_in_place_meanwhile():
    net = nn.Dense(3, 3)
    step = nn.SGD(net.trainable_params(), 0.5)
    x, v = t([X, U]), t([U, X])
    _, back = vjp(net, x, weights=net.trainable_params())
    first = back(v)
    step(tuple(ops.ones_like(p) for p in net.trainable_params()))
    second = back(v)
    assert np.array_equal(first[0][0].asnumpy(), second[0][0].asnumpy())


def test_wrong_tangents_are_refused_and_do_no_harm():
    _, back = vjp(cube, t(X))
    with pytest.raises(ValueError, match=r"must have the shape \(3,\)"):
        back(t([1.0, 2.0]))
    with pytest.raises(TypeError, match="must have the dtype Float32"):
        back(Tensor(X.astype(np.float64)))
    with pytest.raises(ValueError, match="takes 1 of them"):
        back(t(X), t(X))
    with pytest.raises(
        TypeError, match="must be a Tensor, or a structure of Tensors, but got float"
    ):
        back(1.0)
    assert np.array_equal(back(t(U))[0].asnumpy(), 3 * X**2 * U)


# ---- compiled -----------------------------------------------------------------------------------------------------------
def with_branch(x):
    if x.sum() > 0:
        return ops.tanh(x) * x
    return ops.exp(x)


def with_loop(x):
    i = 0
    while x.sum() < 100:
        x = x * (1.5 + i)
        i += 1
    return x * x


def with_choice(x):
    f = ops.sin if x[0] > 0 else ops.cos
    return f(x) * x


def structured(x):
    return {"a": x * 2, "b": [ops.exp(x), ops.argmax(x)]}


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        return self.dense(ops.relu(self.norm(self.conv(x))).mean((2, 3)))


def in_mode(mode, work):
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        return work()
    finally:
        context.set_context(mode=before)


def leaves(value) -> list:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def all_calls(f, x, weights=None) -> list:
    """Values and gradients of two calls of vjp and two of the function that it returns, with different tangents."""
    found = []
    for point in (x, x * x - 0.2) if f is not with_loop else (x, x * 2):
        out, back = vjp(f, point, weights=weights)
        found += leaves(out)
        for scale in (1.0, -0.3):
            found += leaves(back(*(ops.ones_like(y) * scale for y in leaves(out))))
    return [v.asnumpy() for v in found]


@pytest.fixture
def plain_passes():
    before = context.get_context("enable_graph_kernel")
    context.set_context(enable_graph_kernel=False)
    yield
    context.set_context(enable_graph_kernel=before)


@pytest.mark.parametrize("f", [cube, with_branch, with_loop, with_choice, structured])
def test_compiled_equals_eager(f, plain_passes, mode, recwarn):
    x = t([0.3, -0.2, 0.7])
    found = in_mode(mode, lambda: all_calls(f, abs(x) if f is with_loop else x))
    expected = in_mode(context.PYNATIVE_MODE, lambda: all_calls(f, abs(x) if f is with_loop else x))
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
    assert not [w for w in recwarn if "runs eagerly" in str(w.message)]


@pytest.mark.parametrize("train", [False, True])
def test_a_network(train, plain_passes, mode):
    rng = np.random.default_rng(0)
    x = Tensor(rng.standard_normal((2, 2, 5, 5)).astype(np.float32))
    results = []
    for m in (mode, context.PYNATIVE_MODE):
        ms.set_seed(1)
        net = Net()
        net.set_train(train)
        weights = net.trainable_params()
        results.append(in_mode(m, functools.partial(all_calls, net, x, weights)))
        results[-1] += [p.asnumpy() for p in net.get_parameters()]
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_compiles_once():
    from mindspore import _core

    context.set_context(mode=context.GRAPH_MODE)
    scale = [2.0]

    def f(x):
        return x * x * scale[0]

    def once(x):
        return vjp(f, x)[1](x)[0].asnumpy()

    first = once(t(X))
    runs = _core.pass_runs()
    assert np.array_equal(once(t(U)), 4 * U * U) and np.array_equal(first, 4 * X * X)
    assert _core.pass_runs() == runs
    scale[0] = 3.0
    assert np.array_equal(once(t(X)), 6 * X * X)
    assert np.array_equal(once(t(X[:2])), 6 * X[:2] * X[:2])


def test_what_python_decides_is_seen_anew_but_not_by_an_older_one():
    factor = Tensor(2.0)
    holder = {"f": factor}

    def f(x):
        return x * holder["f"]

    _, back = vjp(f, t(X))
    holder["f"] = Tensor(5.0)
    assert np.array_equal(back(t(U))[0].asnumpy(), 2 * U)
    assert np.array_equal(vjp(f, t(X))[1](t(U))[0].asnumpy(), 5 * U)


def test_derivatives_of_it_see_the_parameters_that_it_saw(mode):
    w = Parameter(t([2.0, 3.0, 4.0]), name="w")
    _, back = vjp(lambda x: x * x * w, t(X))
    w.set_data(t([0.0, 0.0, 0.0]))
    gradient = in_mode(
        context.PYNATIVE_MODE, lambda: ms.grad(lambda v: (back(v)[0] * v).sum())(t(U))
    )
    np.testing.assert_allclose(gradient.asnumpy(), 2 * 2 * X * [2.0, 3.0, 4.0] * U, rtol=1e-6)
    assert np.array_equal(w.asnumpy(), np.zeros(3, np.float32))


def test_derivatives_of_what_cannot_run_again():
    _, back = vjp(lambda x: ops.dropout(x, 0.5), t(X))
    context_is_graph = context.get_context("mode") == context.GRAPH_MODE
    context.set_context(mode=context.PYNATIVE_MODE)
    gradient = ms.grad(lambda v: (back(v)[0] * v).sum())
    if context_is_graph:
        with pytest.raises(RuntimeError, match="draws random numbers"):
            gradient(t(U))
    else:
        assert np.array_equal(gradient(t(U)).asnumpy(), 2 * back(t(U))[0].asnumpy())


def test_a_rule_that_calls_python():
    calls = []

    class Loud(nn.Cell):
        def construct(self, x):
            print("forward", x.shape)
            return x * 2

        def bprop(self, x, out, dout):
            print("backward", dout.shape)
            return (dout * 7,)

    _, back = vjp(Loud(), t(X))
    for _ in range(2):
        calls.append(back(t(U))[0].asnumpy())
    assert all(np.array_equal(c, 7 * U) for c in calls)


def test_a_parameter_as_an_input():
    p = Parameter(t(X), name="p")
    out, back = vjp(cube, p)
    assert np.array_equal(out.asnumpy(), X**3)
    assert np.array_equal(back(t(U))[0].asnumpy(), 3 * X**2 * U)


def test_inputs_without_a_gradient():
    index = Tensor(np.array([2, 0], np.int32))
    out, back = vjp(lambda x, i: x[i] * 2, t(X), index)
    gradients = back(ops.ones_like(out))
    assert np.array_equal(gradients[0].asnumpy(), [2, 0, 2])
    assert gradients[1].dtype is ms.int32 and not gradients[1].asnumpy().any()


def test_parameters_that_the_function_changes():
    count = Parameter(t([0.0, 0.0, 0.0]), name="count")

    def f(x):
        ops.assign(count, count + x)
        return x * count

    out, back = vjp(f, t(X))
    assert np.array_equal(count.asnumpy(), X)
    assert np.array_equal(out.asnumpy(), X * X)
    assert np.array_equal(back(t(U))[0].asnumpy(), 2 * X * U)
    assert np.array_equal(count.asnumpy(), X)


def test_the_tangent_may_be_written_later():
    """Also where its memory is NumPy's."""
    tangent = np.ones(3, np.float32)
    (gradient,) = vjp(lambda x: x + 1, t(X))[1](Tensor.from_numpy(tangent))
    tangent[:] = 7
    np.testing.assert_array_equal(gradient.asnumpy(), np.ones(3))


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
@pytest.mark.parametrize("write", ["array", "tensor"])
def test_the_tangent_may_be_written_before_the_second_derivative(write):
    tangent = np.ones(3, np.float32)
    seed = Tensor.from_numpy(tangent)

    def first(x):
        (result,) = vjp(lambda x: x * x * x, x)[1](seed)
        if write == "array":
            tangent[:] = 0
        else:
            seed[...] = 0.0
        return result.sum()

    np.testing.assert_array_equal(ms.grad(first)(t(X)).asnumpy(), 6 * X)
