"""Views in compiled functions: branches, loops, gradients, Parameters, and what crosses the border of the function."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from viewlib import MODES, check, grid, open_sizes

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops


def test_branches():
    def program(a):
        v, w = a[0], a.T
        if a.sum() > 0:
            v[:] = 7
            w[0] = w[0] + 1
        else:
            a[1] = -1
        return v, w, a * 1

    check(program, grid(3, 3))
    check(program, -grid(3, 3))


def test_a_view_made_before_is_read_in_both_ways():
    def program(a):
        v = a[1:]
        a[1] = 5
        if a.sum() > 0:
            x = v + 1
        else:
            a[2] = 9
            x = v * 2
        return x, v

    check(program, grid(3, 3))
    check(program, -grid(3, 3))


def test_a_view_made_in_a_branch():
    def program(a):
        if a.sum() > 0:
            v = a[0]
            v[0] = 100
        else:
            v = a[1]
            v[0] = 200
        return a * 1, v * 1

    check(program, grid(2, 2))
    check(program, -grid(2, 2))


def test_a_tensor_chooses_the_view_that_is_written_to():
    def program(a):
        v = a[0] if a.sum() > 0 else a[1]
        v[0] = 100
        return a * 1, v * 1

    check(program, grid(2, 2), compiled=False)
    check(program, -grid(2, 2), compiled=False)


def test_a_tensor_chooses_between_base_and_copy():
    def program(a):
        v = a[0] if a.sum() > 0 else a[1] * 1
        a[0] = 100
        a[1] = 200
        return a * 1, v * 1

    check(program, grid(2, 2), compiled=False)
    check(program, -grid(2, 2), compiled=False)


def test_loops():
    def program(a, n):
        i = n * 0
        v, column = a[0], a[:, 1]
        while i < n:
            v[:] = v + 1
            column[1] = v[1] * 2
            i = i + 1
        return v, column, a * 1

    check(program, grid(3, 3), np.array(3, np.int32))
    check(program, grid(3, 3), np.array(0, np.int32))


def test_views_made_in_a_loop():
    def program(a, n):
        i = n * 0
        while i < n:
            v = a[1:].reshape(2, 3)
            v[0] = v[1] + a[0]
            i = i + 1
        return a * 1

    check(program, grid(3, 3), np.array(3, np.int32))


def test_a_loop_that_moves_a_view():
    def program(a, n):
        i = n * 0
        v = a[0]
        while i < n:
            v = a[1]
            v[0] = v[0] + 1
            i = i + 1
        v[1] = 70
        return v * 1, a * 1

    check(program, grid(2, 3), np.array(2, np.int32), compiled=False)


def test_helpers_get_and_give_views():
    def clear(v):
        v[:] = 0

    def tail(x):
        return x[1:]

    def program(a):
        clear(a[0])
        t = tail(a)
        t[0] = 9
        clear(tail(t))
        return a * 1

    check(program, grid(4, 2))


def test_results_are_views_of_arguments():
    @ms.jit
    def tail(x):
        return x[1:].T

    for mode in MODES.values():
        context.set_context(mode=mode)
        x = Tensor(grid(3, 2))
        for n in (1, 2):
            t = tail(x)
            t[0, 0] = 50 + n
            assert x.asnumpy()[1, 0] == 50 + n
            x[2, 1] = 60 + n
            assert t.asnumpy()[1, 1] == 60 + n


def test_results_are_views_of_results_and_parameters():
    p = Parameter(grid(2, 2), name="p")

    @ms.jit
    def both(x):
        y = x * 2
        return y, y[0], p.reshape(4)

    for mode in MODES.values():
        context.set_context(mode=mode)
        y, row, flat = both(Tensor(grid(2, 2)))
        row[1] = -4
        flat[3] = 33
        assert y.asnumpy().tolist() == [[0, -4], [4, 6]]
        assert p.asnumpy()[1, 1] == 33
        y[0] = 1
        assert row.asnumpy().tolist() == [1, 1]


def test_tensors_from_outside_that_are_returned():
    c = Tensor(np.array([1.0, 2.0], np.float32))

    @ms.jit
    def f(x):
        return c, c[0:1], x + 1

    for mode in MODES.values():
        context.set_context(mode=mode)
        for n in (1, 2):
            same, view, _ = f(Tensor(1.0))
            assert same is c
            same[0] = 9 + n
            view.add_(1)
            assert c.asnumpy().tolist() == [10 + n, 2]


def test_arguments_that_share_memory():
    @ms.jit
    def change(x, v):
        v[0] = 40
        return x.sum()

    for mode in MODES.values():
        context.set_context(mode=mode)
        x, other = Tensor(grid(2, 2)), Tensor(grid(2))
        assert change(x, other) == 6
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert change(x, x[0]) == 46
            assert change(x, x.T[1]) == 85
        assert x.asnumpy().tolist() == [[40, 40], [2, 3]]
        v = x[1]
        assert change(other, v) == 41
        assert x.asnumpy()[1].tolist() == [40, 3]


def test_a_view_from_outside():
    p = Parameter(grid(2, 2), name="p")
    v = p[0]

    @ms.jit
    def add(x):
        ops.assign_add(p, x)
        return v * 1

    for mode in MODES.values():
        context.set_context(mode=mode)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = p.asnumpy().copy()
            np.testing.assert_array_equal(
                add(Tensor(np.ones((2, 2), np.float32))).asnumpy(), before[0] + 1
            )
            np.testing.assert_array_equal(v.asnumpy(), before[0] + 1)


def test_an_argument_that_is_a_view_of_an_updated_parameter():
    p = Parameter(grid(2, 2), name="p")

    @ms.jit
    def add(x, v):
        ops.assign_add(p, x)
        return v * 1

    one = Tensor(np.ones((2, 2), np.float32))
    for mode in MODES.values():
        context.set_context(mode=mode)
        assert add(one, Tensor(grid(2))).asnumpy().tolist() == [0, 1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = p.asnumpy()[1] + 1
            np.testing.assert_array_equal(add(one, p[1]).asnumpy(), expected)


@pytest.mark.parametrize("mode", MODES)
def test_parameters(mode):
    context.set_context(mode=MODES[mode])

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(grid(3, 2), name="w")

        def construct(self, x):
            row = self.w[1]
            row[:] = x
            self.w.T[1][0] = 30
            return row + self.w[0]

    net = Net()
    outside = net.w[1]
    out = net(Tensor(np.array([7.0, 8.0], np.float32)))
    assert net.w.asnumpy().tolist() == [[0, 30], [7, 8], [4, 5]]
    assert outside.asnumpy().tolist() == [7, 8]
    assert out.asnumpy().tolist() == [7, 38]


@pytest.mark.parametrize("mode", MODES)
def test_views_of_parameters_follow_updates(mode):
    context.set_context(mode=MODES[mode])
    net = nn.Dense(2, 1)
    row, flat = net.weight[0], net.weight.reshape(-1)
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.1)
    )
    x, y = Tensor(np.ones((3, 2), np.float32)), Tensor(np.ones((3, 1), np.float32))
    for _ in range(2):
        step(x, y)
        np.testing.assert_array_equal(row.asnumpy(), net.weight.asnumpy()[0])
        np.testing.assert_array_equal(flat.asnumpy(), net.weight.asnumpy()[0])
    ops.assign(net.weight, net.weight * 2)
    np.testing.assert_array_equal(row.asnumpy(), net.weight.asnumpy()[0])
    old = row.asnumpy()
    net.weight.set_data(net.weight + 1)  # another value, not another content
    np.testing.assert_array_equal(row.asnumpy(), old)
    row[0] = 100
    assert net.weight.asnumpy()[0, 0] != 100


def test_a_line_that_runs_eagerly_between():
    def program(a):
        v = a[0] * 1
        w = v[1:]
        n = int(v.asnumpy().sum())
        w[0] = n
        return v, w

    check(program, grid(3, 3), numpy=lambda a: _between(a), compiled=False)


def _between(a):
    v = a[0] * 1
    w = v[1:]
    w[0] = int(v.sum())
    return v, w


def test_equal_cells_with_views():
    class Layer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(4, 4)

        def construct(self, x):
            y = self.dense(x)
            y[0][:] = 0
            return y

    class Tail(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = nn.Identity()

        def construct(self, x):
            return self.inner(x)[1:]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([Layer() for _ in range(4)])
            self.tails = nn.CellList([Tail() for _ in range(3)])

        def construct(self, x):
            for layer in self.layers:
                x = layer(x)
            y = x * 1
            for tail in self.tails:
                tail(y)[0] = tail(y)[0] + 1
            return y

    net = Net()
    x = Tensor(grid(3, 4) / 10)
    found = {}
    for mode in MODES:
        context.set_context(mode=MODES[mode])
        found[mode] = net(x).asnumpy()
    np.testing.assert_allclose(found["graph"], found["eager"], rtol=1e-5, atol=1e-6)


def test_the_only_view_of_what_is_gone_changes_in_a_branch():
    def one(a):
        v = (a * 2)[0:2]
        if a.sum() > 0:
            v[...] += 1
        return v

    def several(a):
        v = (a * 2)[0:2]
        while a.sum() > v[0, 0]:
            w = v[1:]
            w[...] += v[:1]
            v[0] += 1
        return v

    def whole(a):
        v = w = (a * 2).T
        if a.sum() > 0:
            v[...] += 1
        return w

    for program in (one, several, whole):
        check(program, grid(3, 3))
        check(program, -grid(3, 3))


def test_no_handler_takes_what_the_compiler_asks():
    def program(a):
        try:
            a = ops.cast(a, ms.float16) + ms.jvp(lambda b: b, a, ops.ones((2, 2)))[0]
        except ValueError:
            return a - 100
        return a

    context.set_context(mode=ms.GRAPH_MODE)
    a = Tensor(np.ones((2, 2), np.float32))
    assert open_sizes(program, None, None)(a).asnumpy().tolist() == [[2, 2], [2, 2]]
