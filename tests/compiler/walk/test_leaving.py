"""What a function that is traced into a graph of its own - one that is differentiated, mapped, or a cell met again - puts into
lists, dicts, variables and objects around it: as in eager mode, in each call."""

from __future__ import annotations

import dataclasses
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, jit, nn, ops

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)


def gradient(f, x):
    return ms.grad(f)(x)


def value_and_gradient(f, x):
    return ms.value_and_grad(f)(x)


def pulled(f, x):
    value, back = ms.vjp(f, x)
    return value, back(value)


def pushed(f, x):
    return ms.jvp(f, x, x)


def mapped(f, x):
    return ms.vmap(f)(x)


def forward_jacobian(f, x):
    return ms.jacfwd(f)(x)


TRANSFORMS = (gradient, value_and_gradient, pulled, pushed, mapped, forward_jacobian)


class Holder:
    def __init__(self):
        self.value = None


def appends(transform):
    def call(x):
        out = []

        def f(v):
            out.append(v * 2)
            return (v * v).sum()

        return transform(f, x), out[-1]

    return call


def sets_an_item(transform):
    def call(x):
        out = {"a": (x, [x])}

        def f(v):
            y = v * v
            out["a"] = (y, [y * 2, v])
            out["b"] = y
            return y.sum()

        return transform(f, x), out["a"][0], out["a"][1][0], out["b"] * 2

    return call


def assigns_a_variable(transform):
    def call(x):
        z, count = x, 0

        def f(v):
            nonlocal z, count
            z = v * 3
            count += 1
            return (v * v).sum()

        return transform(f, x), z, count

    return call


def sets_an_attribute(transform):
    def call(x):
        holder = Holder()

        def f(v):
            holder.value = v + 1
            return (v * v).sum()

        return transform(f, x), holder.value

    return call


def counts(transform):
    def call(x):
        out = [3]

        def f(v):
            out[0] = out[0] + 1
            return (v * v).sum() * out[0]

        return transform(f, x), out[0]

    return call


def keeps_a_function(transform):
    def call(x):
        kept = []

        def f(v):
            y = v * 2
            kept.append(lambda a: a + y.sum())
            return (v * v).sum()

        return transform(f, x), kept[-1](x)

    return call


def keeps_what_it_returns(transform):
    def call(x):
        kept = []

        def f(v):
            y = (v * v).sum()
            kept.append(y)
            return y

        result = transform(f, x)
        return result, kept[-1] + 1

    return call


def raises_afterwards(transform):
    def call(x):
        kept = []

        def f(v):
            kept.append(v * 2)
            raise ValueError("enough")

        try:
            transform(f, x)
        except ValueError:
            kept.append(x)
        return kept[0], kept[-1]

    return call


def lists(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    return [lists(v) for v in value] if isinstance(value, (tuple, list)) else value


PROGRAMS = (
    appends,
    sets_an_item,
    assigns_a_variable,
    sets_an_attribute,
    counts,
    keeps_a_function,
    keeps_what_it_returns,
    raises_afterwards,
)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_around_a_transform(program: Callable, transform: Callable) -> None:
    call = program(transform)
    context.set_context(mode=context.PYNATIVE_MODE)
    expected = lists(call(Tensor(X)))
    context.set_context(mode=context.GRAPH_MODE)
    compiled = jit(call)
    for _ in range(2):
        assert lists(compiled(Tensor(X))) == expected


@pytest.mark.parametrize("transform", [gradient, value_and_gradient, pulled, pushed])
@pytest.mark.parametrize("program", [appends, sets_an_item, assigns_a_variable])
def test_compiled_as_a_whole(program: Callable, transform: Callable) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit(program(transform), fullgraph=True)(Tensor(X))


def test_second_order_passes_what_leaves() -> None:
    def call(x):
        kept = []

        def f(v):
            y = v * v
            kept.append(y)
            return (y * v).sum()

        def slope(v):
            return (ms.grad(f)(v) * kept[-1]).sum()

        return ms.grad(slope)(x), kept[-1]

    context.set_context(mode=context.PYNATIVE_MODE)
    expected = lists(call(Tensor(X)))
    context.set_context(mode=context.GRAPH_MODE)
    assert lists(jit(call)(Tensor(X))) == expected


# ---- what a function returns ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("transform", [pulled, pushed])
@pytest.mark.filterwarnings("ignore")
def test_a_value_of_two_types(transform: Callable) -> None:
    """A tensor decides the type of what is differentiated: it runs eagerly."""

    def two(v):
        return v * 2 if v.sum() > 7 else v.astype(ms.float64)

    def call(x):
        return transform(two, x)

    for data in (X, X * 0):
        context.set_context(mode=context.PYNATIVE_MODE)
        expected = lists(call(Tensor(data)))
        context.set_context(mode=context.GRAPH_MODE)
        assert lists(jit(call)(Tensor(data))) == expected


# ---- cells that are met again --------------------------------------------------------------------------------------------
class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.relu = nn.Dense(3, 3), nn.ReLU()

    def construct(self, x, around):
        y = self.relu(self.dense(x))
        around(y) if callable(around) else around.append(y)
        return y


class Layers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Block() for _ in range(4)])


class WithMethod(Layers):
    def construct(self, x):
        kept = []
        for layer in self.layers:
            x = layer(x, kept.append)
        return x, kept


class WithFunction(Layers):
    def construct(self, x):
        total = x

        def add(v):
            nonlocal total
            total = total + v

        for layer in self.layers:
            x = layer(x, add)
        return x, total


class WithNewLists(Layers):
    def construct(self, x):
        kept = []
        for layer in self.layers:
            own = []
            x = layer(x, own)
            kept.append(own[0])
        return x, kept


class Recomputed(Layers):
    def __init__(self):
        super().__init__()
        for layer in self.layers:
            layer.recompute()

    def construct(self, x):
        kept = []
        for layer in self.layers:
            x = layer(x, kept.append)
        return x * kept[1]


@pytest.mark.filterwarnings("ignore")
def test_what_recomputed_cells_leave_has_no_gradient() -> None:
    net, values = Recomputed(), []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        values.append(lists(net(Tensor(X))))
        with pytest.raises(RuntimeError, match="must leave it as a result"):
            ms.grad(lambda x: net(x).sum())(Tensor(X))
    np.testing.assert_equal(values[1], values[0])


@pytest.mark.parametrize("kind", [WithMethod, WithFunction, WithNewLists])
@pytest.mark.filterwarnings("ignore")
def test_equal_cells(kind: type) -> None:
    net = kind()
    grad = ms.grad(lambda x: sum(ops.reduce_sum(v) for v in _tensors(net(x))))
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        results.append([lists(net(Tensor(X))), lists(grad(Tensor(X))), lists(net(Tensor(X)))])
    np.testing.assert_equal(results[1], results[0])


def _tensors(value):
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in _tensors(v)]
    return [value]


# ---- objects that a function returns --------------------------------------------------------------------------------------
@dataclasses.dataclass
class Found:
    a: Any
    b: Any


def with_object(x):
    return (x * x).sum(), Found(x * 2, [x + 1, {"c": Found(x, 3)}])


def with_deque(x):
    return (x * x).sum(), deque([x * 2, (x, 1)])


def with_function(x):
    y = x * 3
    return (x * x).sum(), lambda v: v * y


class FindingCell(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        y = self.dense(x)
        return Found(y, [y + 1, deque([x])]), lambda v: v * y


class ManyFinding(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cells = nn.CellList([FindingCell() for _ in range(5)])

    def construct(self, x):
        total, found = x * 0, []
        for cell in self.cells:
            made, scale = cell(x)
            made.b.append(len(found))
            found.append(made)
            x = ops.tanh(made.a)
            total = total + scale(made.b[0] * made.b[1][0])
        return total, [f.b[2] for f in found]


def plain_found(value):
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, Found):
        return ["Found", plain_found(value.a), plain_found(value.b)]
    if isinstance(value, dict):
        return {k: plain_found(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, deque)):
        return [plain_found(v) for v in value]
    return plain_found(value(Tensor(X))) if callable(value) else value


@pytest.mark.parametrize("function", [with_object, with_deque, with_function])
@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_objects_beside_what_is_differentiated(function) -> None:
    ways = [
        lambda x: ms.value_and_grad(function, has_aux=True)(x),
        lambda x: ms.jit(ms.value_and_grad(function, has_aux=True))(x),
        lambda x: ms.value_and_grad(ms.jit(function), has_aux=True)(x),
        lambda x: ms.value_and_grad(lambda v: ms.jit(function)(v * 1), has_aux=True)(x),
    ]
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        results += [plain_found(way(Tensor(X))) for way in ways]
    for result in results[1:]:
        np.testing.assert_equal(result, results[0])


def test_objects_of_equal_cells() -> None:
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        net, x = ManyFinding(), Tensor(X)
        results.append(plain_found([net(x), ms.grad(lambda v, net=net: net(v)[0].sum())(x)]))
    np.testing.assert_allclose(results[1][0][0], results[0][0][0], rtol=1e-5)
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-5)
    assert results[1][0][1] == results[0][0][1] == [0, 1, 2, 3, 4]
