"""Recomputation: the same numbers, random ones included, and less memory at the peak."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.compile import memory_report


class Block(nn.Cell):
    """Dense layers, dropout, and a statistic that each call changes."""

    def __init__(self, n):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(n, n) for _ in range(4)])
        self.dropout = nn.Dropout(p=0.5)
        self.calls = Parameter(Tensor(np.float32(0)), name="calls", requires_grad=False)

    def construct(self, x):
        self.calls = self.calls + 1
        for layer in self.layers:
            x = ops.tanh(layer(x))
        return self.dropout(x) * self.calls


class Net(nn.Cell):
    def __init__(self, n=16, blocks=6):
        super().__init__()
        self.blocks = nn.CellList([Block(n) for _ in range(blocks)])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x.sum()


class Called(Net):
    """The same, through the function."""

    def construct(self, x):
        for block in self.blocks:
            x = ms.recompute(block, x)
        return x.sum()


DATA = Tensor(np.random.RandomState(0).randn(64, 16).astype(np.float32))


def gradients(kind, marked):
    np.random.seed(1)
    ms.set_seed(1)
    net = kind().set_train()
    if marked:
        for block in net.blocks:
            block.recompute()
    ms.set_seed(2)
    value, (dx, dw) = ops.value_and_grad(net, 0, net.trainable_params())(DATA)
    counts = [block.calls for block in net.blocks]
    after = ops.standard_normal((3,))  # the stream goes on as if nothing had run twice
    return [t.asnumpy() for t in (value, dx, *dw, *counts, after)]


def test_the_same_numbers(mode):
    plain = gradients(Net, False)
    for again in (gradients(Net, True), gradients(Called, False)):
        assert len(again) == len(plain)
        for a, b in zip(plain, again):
            assert (a == b).all()


def test_second_order(mode):
    class Cube(nn.Cell):
        def construct(self, x):
            return x * x * x

    cube = Cube()
    cube.recompute()
    x = Tensor(np.array([1, 2, 3], np.float32))
    assert ops.grad(ops.grad(cube))(x).asnumpy().tolist() == [6, 12, 18]
    assert ops.grad(ops.grad(ops.grad(cube)))(x).asnumpy().tolist() == [6, 6, 6]


def test_values_from_outside_of_the_block_have_gradients(mode):
    class Scale(nn.Cell):
        def construct(self, x, ys):
            return x * ys[0] * ys[1]

    scale = Scale()
    x = Tensor(np.array([1, 2, 3], np.float32))

    def f(x, w):
        return ms.recompute(scale, x, (w * 2, x))

    dx, dw = ops.grad(f, (0, 1))(x, x)
    assert dx.asnumpy().tolist() == [4, 16, 36]
    assert dw.asnumpy().tolist() == [2, 8, 18]


class Remembers(nn.Cell):
    """Leaves what it computes in a Parameter, which is read after it."""

    def __init__(self):
        super().__init__()
        self.last = Parameter(Tensor(2.0), name="last", requires_grad=False)
        self.fixed = Parameter(Tensor(5.0), name="fixed", requires_grad=False)

    def construct(self, x):
        ops.assign(self.last, self.last * x * 3)
        ops.assign(self.fixed, ops.stop_gradient(x))
        return self.last * x


@pytest.mark.parametrize("again", [False, True])
def test_parameters_that_the_block_assigns_hand_on_gradients(mode, again):
    block = Remembers()
    if again:
        block.recompute()

    def f(x):
        y = block(x)  # 6 x^2, and 6 x in the Parameter
        z = block(y + block.last)  # its state of then, times 3 (y + 6 x)
        return y + z * block.last * block.fixed

    def by_hand(x):
        y, last = 6 * x * x, 6 * x
        u = y + last
        return y + (3 * last * u) * u * (3 * last * u) * 12.0  # fixed: u at x = 1, held

    slope = (by_hand(1 + 1e-6) - by_hand(1 - 1e-6)) / 2e-6
    np.testing.assert_allclose(ms.grad(f)(Tensor(1.0)).asnumpy(), slope, rtol=1e-5)
    assert block.fixed.asnumpy() == 12.0


def test_inside_a_loop_that_a_tensor_ends(mode):
    block = nn.Dense(3, 3, weight_init="ones", bias_init="zeros", activation="tanh")
    plain = nn.Dense(3, 3, weight_init="ones", bias_init="zeros", activation="tanh")
    block.recompute()
    x = Tensor(np.full((1, 3), 0.1, np.float32))

    def make(cell):
        def f(x, n):
            i = Tensor(0)
            while i < n:
                x = cell(x)
                i = i + 1
            return x

        return f

    n = Tensor(4)
    again = ops.grad(make(block), 0, block.trainable_params())(x, n)
    once = ops.grad(make(plain), 0, plain.trainable_params())(x, n)
    assert (again[0].asnumpy() == once[0].asnumpy()).all()
    for a, b in zip(again[1], once[1]):
        assert (a.asnumpy() == b.asnumpy()).all()


def test_the_peak_of_memory_falls():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        peaks = []
        for marked in (False, True):
            net = Net().set_train()
            if marked:
                for block in net.blocks:
                    block.recompute()
            step = ms.jit(ops.grad(net, None, net.trainable_params()))
            step(DATA)
            peaks.append(memory_report(step)["feature_maps"])
    finally:
        ms.set_context(mode=before)
    assert peaks[1] < 0.6 * peaks[0]


def test_only_cells():
    with pytest.raises(TypeError, match="For 'recompute', 'block' must be a Cell"):
        ms.recompute(lambda x: x, DATA)


class Calls(nn.Cell):
    """Calls a function that it is given."""

    def construct(self, x, function):
        function(x)
        return x * 2


def writes(x, cell):
    y = x * 3

    def change(a):
        y[0] = a[0] * 9

    return (cell(x, change) * y).sum() + y.sum()


def leaves_in_a_list(x, cell):
    kept = []
    return (cell(x, lambda a: kept.append(a * 3)) * kept[0]).sum()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("function", [writes, leaves_in_a_list])
@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_what_leaves_otherwise_than_as_a_result(way, function):
    """Its gradient would be lost."""
    x, cell = Tensor([1.0, 2.0, 3.0]), Calls()
    assert way(ms.grad(lambda x: function(x, cell)))(x).shape == (3,)  # without recomputation: fine
    cell.recompute()
    value = function(x, cell)
    np.testing.assert_array_equal(way(lambda x: function(x, cell))(x).asnumpy(), value.asnumpy())
    with pytest.raises(RuntimeError, match="must leave it as a result"):
        way(ms.grad(lambda x: function(x, cell)))(x)


def test_a_custom_gradient_around_a_change_is_not_compiled_whole():
    class Own(Calls):
        def bprop(self, x, function, out, dout):
            return dout * 2, None

    cell = Own()
    with pytest.raises(TypeError, match="changes a tensor in place that was made outside"):
        ms.jit(ms.grad(lambda x: writes(x, cell)), fullgraph=True)(Tensor([1.0, 2.0, 3.0]))
