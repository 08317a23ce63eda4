"""Programs that random testing (tests/fuzz) found to differ between eager and compiled runs, made small. The name says what was
wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from both_modes import Net, X, check_net, run

import mindspore as ms
from mindspore import Tensor, ops


def assigned_and_read(net, x):
    ops.assign(net.p, ops.tanh(x) * net.p)
    return net.p * x


def assigned_and_not_read(net, x):
    ops.assign(net.p, ops.ones_like(x))
    return x * x


def added_and_subtracted(net, x):
    ops.assign_add(net.p, x * x)
    ops.assign_sub(net.p, ops.sin(x))
    return net.p * x


def copied(net, x):
    y = x.copy()
    y[0] = 7.0
    return x * y


def changed_under_another_name(net, x):
    y, held = x, [x]
    y[0] = 5.0
    return held[0] * 2


def changed_in_a_branch(net, x):
    held = (x * 1,)
    if x[0] > 1:
        held[0][1] = 3.0
    else:
        held[0][0] = x[1]
        return held[0] * 3
    return held[0] + x


def changed_in_a_loop(net, x):
    y = x * 1
    z = y
    i = Tensor(0, ms.int32)
    while i < 3:
        y[i] = y[0] + i
        if y.sum() > i:
            y[0] += x[1]
        i = i + 1
    return z + x


def changed_by_a_function(net, x):
    def change(a):
        a[2] = 7.0

    y = ops.zeros((3,), ms.float32)
    z = y
    if x[0] > 2:
        z[1] = x[0]
    change(z)
    return y * x


def argument_changed_in_a_branch(net, x):
    if x[0] > 2:
        x[1] = 4.0
    return x * x


def cast_twice(net, x):
    return ops.log_softmax(x.astype(ms.float16), -1) - x.astype(ms.float16)


def second_gradient_of_a_broadcast(net, x):
    def inner(v):
        if v.sum() > 0:
            return ops.amin(ops.gelu(ops.broadcast_to(v.sum(), (1, 1, 1))), -1)
        return ops.zeros((1, 1), ms.float32)

    return ms.grad(inner)(x)


def index_of_truth_values(net, x):
    known = ops.broadcast_to(x > 0, (2, 3))[1]
    return ops.where(known, x, x * x)


def read_under_a_mask(net, x):
    return x[x > 0].sum()


def added_under_a_mask(net, x):
    y = x * 2
    y[y > 0] += 1.0
    return y * x


def parameter_copied_while_tracing(net, x):
    net.p = x * 2
    return net.p.copy() * x


def range_that_starts_at_a_tensor(net, x):
    total = x * 0
    for i in range(x[:1].sum().astype(ms.int32) - 3, 2, 1):
        total = total + x.astype(ms.float16) * i
    return total


def loop_whose_types_change_after_a_check(net, x):
    y = x[:1]
    for i in range(0, ops.abs(x.sum()).astype(ms.int32) % 4 + 1):  # noqa: PIE808
        y = ops.concat((y, x[i : i + 1]))
    return y.sum()


def filled_and_collected(net, x):
    y = x
    y[:] = 3
    return [y for _ in y][0] * 2  # noqa: RUF015


def changed_after_a_branch_that_swaps(net, x):
    y = x * 2
    if x.sum() > 0:
        x, y = y, x
    y[1:] += 1
    return x - y


def items_made_while_a_loop_changes_their_source(net, x):
    total = x * 0
    for item in map(lambda source: source + 1, (x, net.p)):  # noqa: C417
        ops.assign(net.p, ops.tanh(item))
        total = total + item
    return total


def tensors_made_in_a_loop_that_assigns(net, x):
    for i in range(1, ops.abs(x[0]).astype(ms.int32) + 3):
        n = Tensor(2, ms.float32)
        net.p = net.p + ops.where(n == i, n, x)
    return net.p * 2


FUNCTIONS = [
    tensors_made_in_a_loop_that_assigns,
    items_made_while_a_loop_changes_their_source,
    changed_after_a_branch_that_swaps,
    parameter_copied_while_tracing,
    range_that_starts_at_a_tensor,
    loop_whose_types_change_after_a_check,
    filled_and_collected,
    changed_under_another_name,
    changed_in_a_branch,
    changed_in_a_loop,
    changed_by_a_function,
    argument_changed_in_a_branch,
    cast_twice,
    second_gradient_of_a_broadcast,
    index_of_truth_values,
    read_under_a_mask,
    added_under_a_mask,
    assigned_and_read,
    assigned_and_not_read,
    added_and_subtracted,
    copied,
]


def test_tensors_made_in_a_loop_do_not_hinder_it() -> None:
    """They are new in every round, and older than none."""
    net = Net(tensors_made_in_a_loop_that_assigns)
    x = Tensor(X)
    wanted = [net(x).asnumpy(), net.p.asnumpy()]
    net.p.set_data(Tensor(X))
    np.testing.assert_array_equal(ms.jit(net, fullgraph=True)(x).asnumpy(), wanted[0])
    np.testing.assert_array_equal(net.p.asnumpy(), wanted[1])


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
@pytest.mark.parametrize("gradient", [False, True], ids=["value", "gradient"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_same_in_both_modes(function: Callable, gradient: bool) -> None:
    """Results, Parameters and gradients are the eager ones."""
    check_net(function, gradient)


def known_numbers(net, x):
    for _ in range(ops.abs(ops.full((), 0, dtype=ms.int64) * x[0].astype(ms.int64)) % 4):
        return net.p
    return x * 2


def product_with_its_transposed(net, x):
    y = ops.sin(ops.arange(0, 96).astype(ms.float32)).reshape(16, 6) * x[0]
    return ops.matmul(y, y.T)


def softmax_of_a_difference(net, x):
    return ops.log_softmax(x * 1.7 - net.p / 3, 0)


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "fast"])
@pytest.mark.parametrize(
    "function",
    [known_numbers, product_with_its_transposed, softmax_of_a_difference],
    ids=lambda f: f.__name__,
)
def test_last_bits(function: Callable, fast: bool) -> None:
    """Without the passes that only make code faster all bits are the eager ones; with them few last ones differ."""
    ms.set_context(enable_graph_kernel=fast)
    try:
        (eager, _), (graph, _) = (
            run(m, function, False) for m in (ms.PYNATIVE_MODE, ms.GRAPH_MODE)
        )
    finally:
        ms.set_context(enable_graph_kernel=True)
    for a, b in zip(eager, graph):
        np.testing.assert_allclose(b, a, rtol=1e-6 if fast else 0, atol=1e-6 if fast else 0)


def test_gradient_of_assignments() -> None:
    """A Parameter's new value passes its tangent on: d/dx of x * (p + x^2 - sin x)."""
    net = Net(added_and_subtracted)
    p = X.astype(np.float64)
    by_x, by_p = ms.grad(net, 0, [net.p])(Tensor(X))
    np.testing.assert_allclose(by_x.asnumpy(), p + 3 * p**2 - np.sin(p) - p * np.cos(p), rtol=1e-5)
    np.testing.assert_allclose(by_p[0].asnumpy(), X, rtol=1e-6)


def test_gradient_of_a_parameter_that_a_loop_begins_with() -> None:
    """What the loop gives back after no round is the Parameter, not a constant of its value."""

    def begins(net, x):
        y, i = net.p, Tensor(0, ms.int32)
        while i < 3 and y.max() < 1:
            i += 1
            if y.mean() > 0.2:
                y = ops.ones_like(y)
        return y + 0 * x

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = Net(begins)
        slopes = ms.value_and_grad(net, None, [net.p])(Tensor(X))[1]
        np.testing.assert_array_equal(slopes[0].asnumpy(), np.ones(3))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def evaluated_by_or(x):
    return abs(x) or missing  # noqa: F821


def evaluated_by_and(x):
    return (x > 0) and (x < missing)  # noqa: F821


def evaluated_by_a_chain(x):
    return 0 < x.sum() < missing  # noqa: F821


def evaluated_by_a_condition(x):
    if x.sum() > 3 or missing:  # noqa: F821
        return x
    return -x


@pytest.mark.parametrize(
    "function, point, fails",
    [
        (evaluated_by_or, 2.0, False),
        (evaluated_by_or, 0.0, True),
        (evaluated_by_and, 0.0, False),
        (evaluated_by_and, 2.0, True),
        (evaluated_by_a_chain, -1.0, False),
        (evaluated_by_a_chain, 1.0, True),
        (evaluated_by_a_condition, 5.0, False),
        (evaluated_by_a_condition, 2.0, True),
    ],
)
def test_a_name_that_nobody_gave_fails_only_where_python_asks_for_it(function, point, fails):
    x = Tensor(np.array([point], np.float32))
    for way in (function, ms.jit(function)):
        if fails:
            with pytest.raises(NameError, match="missing"):
                way(x)
        else:
            np.testing.assert_array_equal(way(x).asnumpy(), function(x).asnumpy())


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("way", ["grad", "vjp"])
def test_gradients_of_gradients_are_summed_in_one_order(dtype, way):
    """What the inner function gives for its argument is one term of the outer sum."""

    def slope(x):
        if way == "grad":
            return ms.grad(lambda v: ops.cos(v) * v)(x)
        return ms.vjp(lambda v: ops.cos(v) * v, x)[1](ops.ones_like(x))[0]

    second = ms.grad(lambda x: slope(x) * x)
    x = Tensor(np.linspace(-8, 8, 2001).astype(dtype))
    np.testing.assert_array_equal(ms.jit(second)(x).asnumpy(), second(x).asnumpy())


@pytest.mark.parametrize("sign", [1, -1])
def test_vmap_of_what_a_tensor_chooses_between_shapes_runs_eagerly(sign):
    def columns(x):
        held = x if x.sum() > 0 else x.reshape((3, 1))
        return ms.vmap(lambda item: held + item)(x)

    x = Tensor(sign * np.abs(X))
    with pytest.warns(match="columns runs eagerly, as in PYNATIVE_MODE"):
        compiled = ms.jit(columns)(x)
    np.testing.assert_array_equal(compiled.asnumpy(), columns(x).asnumpy())
