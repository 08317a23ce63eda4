"""The value of a Parameter is known only when the program runs: what reads it in Python is a step between two graphs, and never a
constant."""

from __future__ import annotations

import io
import logging
import math

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, jit, nn, ops


class Counting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(1.0), name="count")

    def construct(self, x):
        y = x * self.read(x)
        self.count = self.count + 1
        return y + self.read(x)


class Item(Counting):
    def read(self, x):
        return self.count.item()


class ItemOfAlias(Counting):
    def read(self, x):
        alias = +self.count
        return alias.item()


class Array(Counting):
    def read(self, x):
        return float(self.count.asnumpy().max())


class Listed(Counting):
    def read(self, x):
        return self.count.tolist()


class FloatOf(Counting):
    def read(self, x):
        return float(self.count)


class Copied(Counting):
    def read(self, x):
        return Tensor(self.count)


class InAList(Counting):
    def read(self, x):
        return Tensor([self.count, self.count])


class InMath(Counting):
    def read(self, x):
        return math.sqrt(self.count)


class Rounded(Counting):
    def read(self, x):
        return round(float(self.count) * 2.5)


class Decided(Counting):
    def read(self, x):
        return 2.0 if self.count > 2 else 1.0


class Truth(Counting):
    def read(self, x):
        return 2.0 if bool(self.count - 2) else 1.0


class InNumPy(Counting):
    def read(self, x):
        return float(np.sqrt(self.count.asnumpy()))


class InText(Counting):
    def read(self, x):
        return len(f"{self.count.item():.0f}" * int(self.count.item()))


class Indexing(Counting):
    def read(self, x):
        return [5.0, 6.0, 7.0, 8.0, 9.0, 10.0][int(self.count.item())]


KINDS = (
    Item,
    ItemOfAlias,
    Array,
    Listed,
    FloatOf,
    Copied,
    InAList,
    InMath,
    Rounded,
    Decided,
    Truth,
    InNumPy,
    InText,
    Indexing,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_read_in_each_run(kind: type) -> None:
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        net = kind()
        results.append([net(Tensor([1.0, 2.0])).asnumpy().tolist() for _ in range(3)])
    assert results[1] == results[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_read_in_each_gradient(kind: type) -> None:
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        grad = ms.grad(kind())
        results.append([grad(Tensor([1.0, 2.0])).asnumpy().tolist() for _ in range(3)])
    assert results[1] == results[0]


def test_refused_where_nothing_may_run_eagerly() -> None:
    p = Parameter(Tensor(1.0), name="p")

    @jit(fullgraph=True)
    def f(x):
        return ops.maximum(x, p.item())

    with pytest.raises(TypeError, match="known only at run time"):
        f(Tensor([1.0]))


class OfTwoTypes(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor([1.0, 1.0]), name="count")

    def construct(self, x):
        y = x * 2 if x.sum() > 4 else ops.cast(x, ms.float16)
        self.count = y
        return self.count + x


def test_assigned_a_value_of_two_types() -> None:
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        net = OfTwoTypes()
        found = [net(Tensor(v)).asnumpy().tolist() for v in ([1.0, 2.0], [3.0, 4.0])]
        results.append([*found, net.count.asnumpy().tolist()])
    assert results[1] == results[0]


# ---- Python code that a graph calls on its way takes the value, which the graph updates afterwards -----------------------
class Taking(io.StringIO):
    """Where what is printed goes: it takes something of a net each time."""

    def __init__(self, take):
        super().__init__()
        self.take, self.taken = take, []

    def write(self, text):
        if "total" in text:
            self.taken.append(self.take())
        return len(text)


class Printing(nn.Cell):
    def __init__(self, update):
        super().__init__()
        self.p = Parameter(Tensor([0.0, 0.0, 0.0]), name="p")
        self.update = update

    def construct(self, x):
        print("total", x.sum())
        self.update(self.p, x)
        return self.p * 1


UPDATES = {
    "assign_add": ops.assign_add,
    "set_data": lambda p, x: p.set_data(p + x),
    "item": lambda p, x: p.__setitem__(0, p[0] + x[0]),
}
TAKES = {
    "value": lambda p: p.value(),
    "copy": lambda p: p.copy(),
    "array": lambda p: p.asnumpy(),
    "view": lambda p: p[1:],
    "other": lambda p: Tensor([1.0, 1.0, 1.0]).assign_value(p),
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    "take",
    [  # only the host shares memory with arrays
        pytest.param(t, marks=[pytest.mark.host_device] if t == "array" else []) for t in TAKES
    ],
)
def test_a_value_taken_while_the_graph_runs(update, take, monkeypatch):
    found = []
    for way in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        context.set_context(mode=way)
        net = Printing(UPDATES[update])
        out = Taking(lambda net=net: TAKES[take](net.p))
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", out)
            for k in range(3):
                net(Tensor([1.0, 2.0, 3.0]) + k)
        found.append([np.array(t if take == "array" else t.asnumpy()).tolist() for t in out.taken])
        found[-1].append(net.p.asnumpy().tolist())
    context.set_context(mode=ms.PYNATIVE_MODE)
    assert found[0] == found[1]


@pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "compiled"])
def test_weights_logged_in_a_training_step(way):
    class Keeping(logging.Handler):
        def emit(self, record):
            kept.append(net.weight.value())

    kept, before = [], []
    logger = logging.Logger("training")
    logger.addHandler(Keeping())
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradients = ms.value_and_grad(lambda x: (net(x) ** 2).sum(), None, optimizer.parameters)

    @way
    def step(x):
        loss, grads = gradients(x)
        logger.info("loss %s", loss)
        optimizer(grads)
        return loss

    for _ in range(3):
        before.append(net.weight.asnumpy().tolist())
        step(Tensor([[1.0, 2.0], [0.5, 1.0]]))
    assert [value.asnumpy().tolist() for value in kept] == before
