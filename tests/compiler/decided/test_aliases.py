"""Tensors that a tensor chose are the objects that eager code chose: what changes in place is seen by all who hold it, or the call
runs eagerly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from both_modes import X, check_net

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops
from mindspore.compile.program.errors import RunsEagerly


def first(x):
    """A condition on a tensor."""
    return x[0] > 1


def parameter_or_argument(net, x):
    chosen = x[:1] and net.p[:1]
    kept = net.p if first(x) else x * 1
    net.p = x * 3
    return kept + chosen


def parameter_of_a_conjunction(net, x):
    total = x * 0
    for held in [net.p if first(x) else ops.tanh(x), x]:
        ops.assign(net.p, held * 2)
        total = total + held
    return total


def parameter_itself(net, x):
    kept = [net.p and net.p] if net.p.size == 1 else [(lambda: net.p)() if first(x) else net.p]
    net.p = x + 1
    return kept[0] * 2


def parameter_returned_by_a_branch(net, x):
    def pick(k):
        if k:
            return net.p
        return ops.stop_gradient(net.p)

    kept = pick(first(x))
    net.p += 1.5
    return kept * x


def parameter_returned_by_a_recursion(net, x):
    def pick(k):
        if k <= 0:
            return net.p
        return pick(k - 1)

    kept = pick(x[0].astype(ms.int32))
    ops.assign_add(net.p, x)
    return kept * x


def parameter_copied_by_choice(net, x):
    return (net.p if first(x) else x).copy() * x


def name_of_a_choice(net, x):
    kept = net.p if first(x) else x
    return x * (2 if isinstance(kept, Parameter) else 3)


def argument_by_choice(net, x):
    y = x if first(x) else x * 2
    y[1] = 7.0
    return y


def arguments_swapped_in_a_loop(net, x):
    y, z = x * 2, x
    for _ in range(x[2].astype(ms.int32)):
        y, z = z, y
    y[0] = 9.0
    return z


def second_name_in_a_loop(net, x):
    y = x * 2
    i = Tensor(0, ms.int32)
    while i < 2:
        z = y
        y = ops.tanh(y)
        z[0] = 5.0 + i
        i = i + 1
    return y * z


def renamed_before_a_change_in_a_loop(net, x):
    y = x * 2
    i = Tensor(0, ms.int32)
    held = [y]
    while i < 2:
        y[0] = 5.0
        y = ops.tanh(y)
        i = i + 1
    return y * held[0]


def one_object_of_both_arms(net, x):
    if first(x):
        y = x * 2
        z = y
    else:
        y = x * 3
        z = y
    y[0] = 1.0
    return z


def one_object_of_one_arm(net, x):
    if first(x):
        y = x * 2
        z = y
    else:
        y, z = x * 3, x * 4
    y[0] = 1.0
    return z


def rows_of_what_changes(net, x):
    y = ops.stack((x, x * 2, x * 3))
    total = x * 0
    for row in y:
        total = total + row
        y[2] += 1.0
    return total


def cells_that_give_back_what_they_get(net, x):
    y = x * 2
    for layer in LAYERS:
        y = layer(y)
    z = LAYERS[0](y)
    y[0] = 4.0
    return z


def parameter_given_to_equal_cells(net, x):
    for _ in range(3):
        for layer in HALVES:
            net.p = ops.tanh(layer(net.p)) + x
    return net.p * 1


class Half(nn.Cell):
    """Uses a Parameter that it is given."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Tanh()

    def construct(self, p):
        return self.inner(p) * 0.5


HALVES = [Half(), Half()]


class Same(nn.Cell):
    """Gives back its argument."""

    def __init__(self):
        super().__init__()
        self.inner = nn.ReLU()

    def construct(self, x):
        return x


LAYERS = [Same(), Same(), Same()]


FUNCTIONS = [
    parameter_or_argument,
    parameter_of_a_conjunction,
    parameter_itself,
    parameter_returned_by_a_branch,
    parameter_returned_by_a_recursion,
    parameter_copied_by_choice,
    name_of_a_choice,
    argument_by_choice,
    arguments_swapped_in_a_loop,
    second_name_in_a_loop,
    renamed_before_a_change_in_a_loop,
    one_object_of_both_arms,
    one_object_of_one_arm,
    rows_of_what_changes,
    cells_that_give_back_what_they_get,
    parameter_given_to_equal_cells,
]


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
@pytest.mark.parametrize("gradient", [False, True], ids=["value", "gradient"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_same_in_both_modes(function: Callable, gradient: bool) -> None:
    """Results, Parameters and gradients are the eager ones."""
    check_net(function, gradient)


@pytest.mark.parametrize("start", [0.5, 1.5])
def test_what_nobody_else_holds_is_compiled(start: float) -> None:
    """A variable that a branch or loop gives another tensor can change in place afterwards."""

    def branch(x):
        y = x * 2
        if first(x):
            y = y + 1
        y[0] = 3.0
        return y

    def loop(x):
        y = x * 2
        i = Tensor(0, ms.int32)
        while i < 3:
            y = y * 1.5
            y[0] = y[1] + i
            i = i + 1
        return y

    x = np.array([start, 2.0, -1.0], np.float32)
    for function in (branch, loop):
        eager, compiled = function(Tensor(x)), jit(function, fullgraph=True)(Tensor(x))
        np.testing.assert_array_equal(compiled.asnumpy(), eager.asnumpy())


def test_a_change_that_a_tensor_decides_is_named() -> None:
    """The error says why."""

    def shared(x):
        y = x if first(x) else x * 2
        y[1] = 7.0
        return y

    with pytest.raises(TypeError, match="a tensor decides which tensors a change in place is seen"):
        jit(shared, fullgraph=True)(Tensor(X))


def first_of_two(a, b):
    a[0] = 5.0
    return b * 1


def first_of_a_list(items):
    items[0][1] = 7.0
    return items[1] * 1


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_one_object_is_given_twice() -> None:
    """What changes in one argument changes in the other, whether or not other objects came before."""
    for function, pack in (
        (first_of_two, lambda x, y: (x, y)),
        (first_of_a_list, lambda x, y: ([x, y],)),
    ):
        compiled = jit(function)
        for _ in range(2):
            x, y = Tensor(X), Tensor(X * 2)
            apart = compiled(*pack(x, y))
            np.testing.assert_array_equal(apart.asnumpy(), X * 2)
            shared = compiled(*pack(x, x))
            np.testing.assert_array_equal(shared.asnumpy(), function(*pack(x, x)).asnumpy())
            np.testing.assert_array_equal(shared.asnumpy(), x.asnumpy())
    with pytest.warns(RunsEagerly, match="given twice"):
        x = Tensor(X)
        jit(first_of_two)(x, x)
    with pytest.raises(TypeError, match="given twice"):
        jit(first_of_two, fullgraph=True)(x, x)
