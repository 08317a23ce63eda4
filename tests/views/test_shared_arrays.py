"""Memory that tensors share with NumPy and DLPack: either side sees what the other writes, as in MindSpore 2.10."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from viewlib import MODES, grid

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops

pytestmark = pytest.mark.host_device  # only the host shares memory with arrays


@pytest.fixture(params=MODES, autouse=True)
def mode(request):
    context.set_context(mode=MODES[request.param])


def test_asnumpy_shares_both_ways():
    t = Tensor(grid(4))
    a = t.asnumpy()
    a[0] = 9
    assert t[0] == 9
    t[1] = 7
    t[2:] = 3
    assert a.tolist() == [9, 7, 3, 3]
    t.add_(1)
    t[3:][0] = 0
    assert a.tolist() == [10, 8, 4, 0]
    assert t.asnumpy() is not a and np.shares_memory(t.asnumpy(), a)


def test_asnumpy_of_a_result():
    t = ops.ones(4, ms.float32) * 2
    a = t.asnumpy()
    t[0] = 5
    a[1] = 6
    assert a.tolist() == t.asnumpy().tolist() == [5, 6, 2, 2]


def test_copies_are_apart():
    t = Tensor(grid(3))
    before = t.copy()
    a = t.asnumpy()
    after, doubled = t.copy(), t * 2
    a[0] = 50
    t[1] = 60
    assert before.asnumpy().tolist() == after.asnumpy().tolist() == [0, 1, 2]
    assert doubled.asnumpy().tolist() == [0, 2, 4]
    assert t.asnumpy().tolist() == [50, 60, 2]


def test_an_array_of_a_view_is_its_own():
    t = Tensor(grid(4))
    v = t[1:3]
    a = v.asnumpy()
    a[0] = 9
    assert v.asnumpy().tolist() == [1, 2] and t.asnumpy().tolist() == [0, 1, 2, 3]
    v[0] = 8
    assert a.tolist() == [9, 2]
    lone = Tensor(grid(4))[1:3]  # nobody else has what it shows
    b = lone.asnumpy()
    b[0] = 9
    assert lone.asnumpy()[0] == 9


def test_views_see_what_arrays_write():
    t = Tensor(grid(2, 2))
    row, flat, transposed = t[0], t.reshape(4), t.T
    a = t.asnumpy()
    a[0, 1] = 9
    assert row.asnumpy().tolist() == [0, 9]
    assert flat.asnumpy().tolist() == [0, 9, 2, 3]
    assert transposed.asnumpy().tolist() == [[0, 2], [9, 3]]
    assert (transposed + 0).asnumpy()[1, 0] == 9
    row[0] = 5
    assert a[0, 0] == 5
    a[0, 0] = 6
    assert row[0] == 6


def test_from_numpy_shares_both_ways():
    a = grid(4)
    t = Tensor.from_numpy(a)
    a[0] = 5
    assert t[0] == 5
    t[1] = 6
    t[2:][:] = 7
    assert a.tolist() == [5, 6, 7, 7]
    t.zero_()
    assert a.tolist() == [0, 0, 0, 0]
    assert np.shares_memory(ms.from_numpy(a).asnumpy(), a)


def test_from_numpy_of_what_cannot_be_written_to():
    a = grid(4)
    a.flags.writeable = False
    t = Tensor.from_numpy(a)
    t[0] = 5
    assert t[0] == 5 and a.tolist() == [0, 1, 2, 3]


def test_tensor_of_an_array_is_a_copy():
    a = grid(4)
    t = Tensor(a)
    a[0] = 5
    t[1] = 6
    assert t.asnumpy().tolist() == [0, 6, 2, 3] and a.tolist() == [5, 1, 2, 3]


def test_dlpack():
    t = Tensor(grid(4))
    a = np.from_dlpack(t)
    t[0] = 4
    assert a[0] == 4
    source = grid(3)
    u = Tensor.from_dlpack(source)
    u[1] = 8
    source[2] = 9
    assert source.tolist() == u.asnumpy().tolist() == [0, 8, 9]


def train(net, steps=1):
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.1)
    )
    for _ in range(steps):
        step(Tensor(np.ones((3, 2), np.float32)), Tensor(np.ones((3, 1), np.float32)))


def test_arrays_of_parameters_follow_the_optimizer():
    net = nn.Dense(2, 1)
    a = net.weight.asnumpy()
    before = a.copy()
    train(net, 3)
    assert not np.array_equal(a, before)
    np.testing.assert_array_equal(a, net.weight.asnumpy())
    a[:] = 0.5
    assert net.weight.asnumpy().tolist() == [[0.5, 0.5]]
    net.weight.set_data(Tensor([[1.0, 2.0]]))  # another value: what was shown before stays
    assert a.tolist() == [[0.5, 0.5]]
    train(net)
    assert a.tolist() == [[0.5, 0.5]]


def test_gradients_read_what_was_there():
    t = Tensor(grid(3) + 1)

    def f(x):
        y = x * x
        z = y * y
        y[0] = 100
        return z.sum()

    np.testing.assert_allclose(ms.grad(f)(t).asnumpy(), 4 * (grid(3) + 1) ** 3)


def test_eager_gradients_keep_shared_values():
    context.set_context(mode=context.PYNATIVE_MODE)
    held = []

    def f(x):
        y = x * 1
        a = y.asnumpy()
        held.append(a)
        z = y * y
        a[0] = 1000
        y[1] = 2000
        return z.sum()

    np.testing.assert_allclose(ms.grad(f)(Tensor(grid(3))).asnumpy(), 2 * grid(3))


@pytest.mark.parametrize("again", [lambda y, x: y * x, lambda y, x: ops.sin(y) * 0 + y * x])
def test_eager_gradients_read_each_value_that_was_there(again):
    context.set_context(mode=context.PYNATIVE_MODE)
    p = Parameter(Tensor(np.ones(3, np.float32)), name="p")
    a = p.asnumpy()

    def of_parameter(x):
        a[:] = 1
        z = p * x
        a[:] = 10  # between two ops that read it
        return (z + again(p, x)).sum()

    x = Tensor(np.ones(3, np.float32))
    _, (of_x, (of_p,)) = ms.value_and_grad(of_parameter, 0, [p])(x)
    assert of_x.asnumpy().tolist() == [11, 11, 11] and of_p.asnumpy().tolist() == [2, 2, 2]


@pytest.mark.filterwarnings("ignore::UserWarning")  # lines that run eagerly
@pytest.mark.parametrize("reads", [lambda x: x, lambda x: x[0:3], lambda x: x.reshape(3, 1)])
def test_gradients_see_what_arrays_write_to_arguments(reads):
    """As the function that is called by itself does."""

    def build(a):
        def f(x):
            y = (reads(x) * reads(x)).sum()
            a[0] = 10
            return y + (reads(x) * reads(x)).sum()

        return f

    arrays = [grid(3) + 1 for _ in range(3)]
    plain = build(arrays[0])(Tensor.from_numpy(arrays[0]))
    value, gradient = ms.value_and_grad(build(arrays[1]))(Tensor.from_numpy(arrays[1]))
    assert plain == value == 14 + 113
    assert gradient.asnumpy().ravel().tolist() == [22, 8, 12]
    value, back = ms.vjp(build(arrays[2]), Tensor.from_numpy(arrays[2]))
    assert value == plain
    assert back(Tensor(1.0))[0].asnumpy().ravel().tolist() == [22, 8, 12]
    assert all(a[0] == 10 for a in arrays)


def test_what_a_differentiated_function_writes_to_an_argument_is_its_own():
    a = grid(3)
    t = Tensor.from_numpy(a)

    def f(x):
        x[0] = 7
        x[1:].mul_(2)
        return (x * x).sum()

    value, gradient = ms.value_and_grad(f)(t)
    assert value == 49 + 4 + 16 and gradient.asnumpy().tolist() == [0, 8, 16]
    assert a.tolist() == t.asnumpy().tolist() == [0, 1, 2]


def test_results_of_differentiated_functions_are_apart_from_arrays():
    a = grid(3)

    def f(x):
        return x[0] * x[1], x, x[1:]

    (_, whole, part), _ = ms.value_and_grad(f, 0, has_aux=True)(Tensor.from_numpy(a))
    a[:] = 100
    assert whole.asnumpy().tolist() == [0, 1, 2] and part.asnumpy().tolist() == [1, 2]
    whole[0] = 9
    assert a.tolist() == [100] * 3


def test_eager_gradients_of_a_result_that_arrays_change():
    context.set_context(mode=context.PYNATIVE_MODE)

    def f(x):
        y = x * 1
        b = y.asnumpy()
        z = y * y
        b[:] = 10
        return z.sum() + 0 * (y * y).sum() + 0 * ops.sin(y).sum()

    x = Tensor(np.ones(3, np.float32))
    assert ms.grad(f)(x).asnumpy().tolist() == [2, 2, 2]
    assert ms.grad(lambda x: ms.grad(f)(x).sum())(x).asnumpy().tolist() == [2, 2, 2]


def test_steady_inference_sees_arrays():
    net = nn.Dense(2, 1, has_bias=False)
    x = Tensor(np.ones((1, 2), np.float32))
    for _ in range(3):
        net(x)
    a = net.weight.asnumpy()
    a[:] = [[3, 4]]
    assert net(x) == 7
    a[:] = [[5, 6]]
    assert net(x) == 11
    del a
    net.weight[0, 0] = 1
    assert net(x) == 7


def test_copying_pickling_and_saving(tmp_path):
    t = Tensor(grid(4, 256))
    v = t[1:3]
    for other in (copy.deepcopy(v), copy.copy(v), pickle.loads(pickle.dumps(v))):
        np.testing.assert_array_equal(other.asnumpy(), grid(4, 256)[1:3])
        other[0] = 0
        assert t[1, 1] == 257
    assert len(pickle.dumps(v)) < 3 * 256 * 4
    both = copy.deepcopy([v, v])
    both[0][0] = 0
    assert both[0] is both[1]
    path = tmp_path / "view.ckpt"
    ms.save_checkpoint([{"name": "v", "data": v}], str(path))
    assert path.stat().st_size < 4 * 256 * 4
    np.testing.assert_array_equal(ms.load_checkpoint(str(path))["v"].asnumpy(), grid(4, 256)[1:3])


def test_a_parameter_made_of_a_tensor_is_its_own():
    t = Tensor(grid(3))
    p = Parameter(t, name="p")
    p[0] = 9
    t[1] = 8
    assert t.asnumpy().tolist() == [0, 8, 2] and p.asnumpy().tolist() == [9, 1, 2]


def test_views_of_what_shares_memory_write_to_it():
    a = np.zeros(6, np.float32)
    Tensor.from_numpy(a).reshape(2, 3).fill_(6)
    assert a.tolist() == [6] * 6
    Tensor.from_numpy(a)[0:2].fill_(5)
    Tensor.from_numpy(a)[3:][0] = 4
    assert a.tolist() == [5, 5, 6, 4, 6, 6]
    v = Tensor.from_numpy(a).reshape(2, 3).T
    a[0] = 100
    assert v.asnumpy()[0, 0] == 100
    t = Tensor(grid(4))
    n, w = t.asnumpy(), t[1:3]
    del t
    w[1] = 60
    n[1] = 50
    assert n.tolist() == [0, 50, 60, 3] and w.asnumpy().tolist() == [50, 60]


def test_values_that_are_taken_over_are_apart():
    a = grid(3)
    t = Tensor.from_numpy(a)
    p = Parameter(np.zeros(3, np.float32), name="p")
    p.set_data(t)
    a[0] = 9
    t[1] = 9
    assert p.asnumpy().tolist() == [0, 1, 2]

    def f(x):
        str(x.asnumpy()) if not x.is_symbolic else None
        x[0] = 100
        return x.sum()

    b = grid(3)
    ms.grad(f)(Tensor.from_numpy(b))
    assert b.tolist() == [0, 1, 2]
    lone = Tensor(grid(2, 2)).T
    n = lone.asnumpy()
    y = lone.reshape(-1)
    lone[0, 0] = 50
    assert n[0, 0] == 50 and y.asnumpy()[0] == 0


def test_parameters_that_arrays_share_are_restored():
    """A step that is run again for its gradient changes Parameters once."""
    net = nn.SequentialCell(nn.BatchNorm1d(2), nn.Dense(2, 1))
    net.set_train()
    net[0].recompute()
    held = net[0].moving_mean.asnumpy()
    view = net[0].moving_mean[0:1]
    other = nn.SequentialCell(nn.BatchNorm1d(2), nn.Dense(2, 1))
    other.set_train()
    x = Tensor(grid(4, 2))
    for network in (net, other):
        ms.value_and_grad(lambda x, run=network: run(x).sum(), None, network.trainable_params())(x)
    np.testing.assert_allclose(held, other[0].moving_mean.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(net[0].moving_mean.asnumpy(), held)
    np.testing.assert_allclose(view.asnumpy(), held[:1])


def test_a_refused_write_writes_nothing():
    lone = Tensor(grid(3)).broadcast_to((2, 3))
    with pytest.raises(ValueError):
        lone[0] = 9
    assert lone.asnumpy().tolist() == [[0, 1, 2], [0, 1, 2]]
