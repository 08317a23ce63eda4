"""Control flow that a tensor decides, and Python around it: compiled code gives what eager code gives, gradients too."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, grad, jit, nn, ops, value_and_grad

X = np.array([1.5, -2.0, 3.0], np.float32)


def branch(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x * x
    return y


def early_returns(x):
    if x.sum() > 100:
        return x
    if x.sum() > 2:
        return x * 3
    y = x + 1
    if x[0] > 0:
        return y * y
    return y


def loop(x):
    i = 0
    s = x
    while s.sum() < 100:
        s = s * 2 + x + 1
        i += 1
    return s * i


def break_in_unrolled_loop(x):
    s = x
    for _ in range(10):
        if s.sum() > 20:
            break
        s = s * 1.5 + 1
    return s + 1


def continue_in_unrolled_loop(x):
    s = x
    for _ in range(6):
        if s.sum() > 5:
            s = s - 1
            continue
        s = s * 1.5
    return s + 1


def break_in_tensor_loop(x):
    s = x + 3
    while s.sum() < 1000:
        s = s * 2
        if s[0] > 20:
            break
        s = s + 1
    return s


def return_in_tensor_loop(x):
    s = x + 3
    while s.sum() < 1000:
        s = s * 2
        if s[0] > 20:
            return s * 7
        s = s + 1
    return s


def nested_loops(x):
    s = x
    k = Tensor(0, ms.int32)
    while k < 3:
        j = Tensor(0, ms.int32)
        while j < 2:
            if s.sum() > 4:
                s = s * 0.9
            else:
                s = s + 1
            j += 1
        k = k + 1
    return s


def range_of_tensor(x):
    s = x
    n = ops.cast(ops.abs(x[1]), ms.int32)
    for _ in range(n + 2):
        s = s + ops.sin(s)
    return s


def containers(x):
    out = []
    for i in range(3):
        out.append(x * i)
    named = {"first": out[0], "last": out[-1]}
    a, *rest = out
    return ops.stack(out).sum(0) + named["last"] + a + rest[0]


def functions(x):
    def scaled(a, *args, k=2, **more):
        return a * k + sum(args) + more.get("shift", 0)

    triple = lambda a: scaled(a, k=3)
    return triple(x) + sum([triple(v) for v in (x, x)]) + scaled(x, 1.0, 2.0, shift=3)


def conditional_expression(x):
    return x * 2 if x.sum() > 0 else x * 3


def boolean_logic(x):
    if (x.sum() > 0 and x[0] > 0) or not x[2] > 0:
        return x * 2
    return -x


def tuple_of_branches(x):
    if x[0] > 0:
        pair = (x, x * 2)
    else:
        pair = (x * 3, x)
    return pair[0] + pair[1] * 2


def number_in_branch(x):
    if x.sum() > 0:
        k = 2
    else:
        k = 3.5
    return x * k


def second_order(x):
    return grad(lambda a: (grad(lambda b: (b * b * b).sum())(a) * a).sum())(x)


def value_inside(x):
    value, gradient = value_and_grad(lambda a: (a * a).sum())(x)
    return value * gradient


def gradient_of_branch(x):
    return grad(branch)(x)


def gradient_of_loop(x):
    return (grad(loop)(x) * x).sum()


PROGRAMS = [
    branch,
    early_returns,
    loop,
    break_in_unrolled_loop,
    continue_in_unrolled_loop,
    break_in_tensor_loop,
    return_in_tensor_loop,
    nested_loops,
    range_of_tensor,
    containers,
    functions,
    conditional_expression,
    boolean_logic,
    tuple_of_branches,
    number_in_branch,
    second_order,
    value_inside,
    gradient_of_branch,
    gradient_of_loop,
]


@pytest.mark.parametrize("x", [X, -X + 3, X - 1], ids=["a", "b", "c"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_equals_eager(program, x):
    x = Tensor(x)
    np.testing.assert_allclose(jit(program)(x).asnumpy(), program(x).asnumpy(), rtol=1e-6)
    eager = grad(program)(x).asnumpy()
    np.testing.assert_allclose(jit(lambda v: grad(program)(v))(x).asnumpy(), eager, rtol=1e-5)


def test_twenty_early_returns_stay_small():
    lines = (
        ["def many(x):"]
        + [f"    if x.sum() > {100 - i}:\n        return x * {i}" for i in range(20)]
        + ["    return x"]
    )
    import linecache

    text = "\n".join(lines) + "\n"
    linecache.cache["<many>"] = (len(text), None, text.splitlines(True), "<many>")
    scope = {}
    exec(compile(text, "<many>", "exec"), scope)
    compiled = jit(scope["many"])
    np.testing.assert_allclose(
        compiled(Tensor(X + 30)).asnumpy(), scope["many"](Tensor(X + 30)).asnumpy()
    )


def test_long_loop_and_its_gradient():
    def long(x):
        i, s = Tensor(0, ms.int32), x
        while i < 100_000:
            s = s * 0.9999 + 0.0001
            i = i + 1
        return s.sum()

    gradient = jit(lambda x: grad(long)(x))(Tensor(X)).asnumpy()
    np.testing.assert_allclose(
        gradient, np.full(3, np.exp(100_000 * np.log(float(np.float32(0.9999))))), rtol=1e-4
    )


def test_parameters_in_branches_and_loops():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor(1.0, ms.float32), name="p")

        def construct(self, x):
            i = Tensor(0, ms.int32)
            while i < 3:
                self.p = self.p * 2
                i += 1
            if x > 0:
                self.p = self.p + 1
            return self.p * x

    results = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        net = Net()
        results.append(
            (float(net(Tensor(2.0))), float(net.p), float(net(Tensor(-1.0))), float(net.p))
        )
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert results[0] == results[1] == (18.0, 9.0, -72.0, 72.0)


def test_early_return_under_gradient_of_weights():
    net = nn.Dense(3, 1)

    def forward(x):
        y = net(x)
        if y.sum() > 0:
            return (y * 2).sum()
        return (y * y).sum()

    x = Tensor(np.ones((2, 3), np.float32))
    eager_value, eager_grads = value_and_grad(forward, None, net.trainable_params())(x)
    value, grads = jit(lambda v: value_and_grad(forward, None, net.trainable_params())(v))(x)
    np.testing.assert_allclose(value.asnumpy(), eager_value.asnumpy(), rtol=1e-6)
    for a, b in zip(grads, eager_grads):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5)
