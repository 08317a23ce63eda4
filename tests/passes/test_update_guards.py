"""A step that raises leaves Parameters as eager code does, though updates may run as soon as their gradients are there."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P


def network() -> tuple[nn.Cell, nn.Momentum]:
    """Large enough that gradients need not all wait for the end."""
    ms.set_seed(1)
    net = nn.SequentialCell(
        nn.Dense(256, 256), nn.ReLU(), nn.Dense(256, 256), nn.ReLU(), nn.Dense(256, 10)
    )
    return net, nn.Momentum(net.trainable_params(), 0.1, 0.9)


def by_loss(loss, gradients, x):
    if loss > 100.0:
        raise RuntimeError("the loss is too large")


def by_gradient(loss, gradients, x):
    if ops.abs(gradients[0]).sum() > 1e4:
        raise RuntimeError("a gradient is too large")


def by_index(loss, gradients, x):
    ops.gather(x, (loss * 10).astype(ms.int32), 0)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("guard", [by_loss, by_gradient, by_index])
def test_all_parameters_stay(guard, compiled):
    net, optimizer = network()
    forward = lambda x, y: ops.cross_entropy(net(x), y)
    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x, y):
        loss, gradients = gradient(x, y)
        guard(loss, gradients, x)
        optimizer(gradients)
        return loss

    run = ms.jit(step) if compiled else step
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 256)).astype(np.float32)
    y = Tensor(rng.integers(0, 10, 64).astype(np.int32))
    run(Tensor(x), y)
    kept = [p.asnumpy().copy() for p in net.get_parameters()]
    with pytest.raises((RuntimeError, IndexError)):
        run(Tensor(x * 1e6), y)
    for p, old in zip(net.get_parameters(), kept, strict=True):
        assert p.asnumpy().tobytes() == old.tobytes()


@pytest.mark.host_device
@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_updates_before_a_failure_stay(mode):
    ms.set_context(mode=mode)

    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor([1.0, 2.0], ms.float32), name="w")
            self.v = ms.Parameter(Tensor([1.0, 2.0], ms.float32), name="v")
            self.k = ms.Parameter(Tensor(0, ms.int32), name="k")

        def construct(self, table):
            ops.assign(self.w, self.w + 1)
            ops.assign_add(self.k, Tensor(1, ms.int32))
            chosen = ops.gather(table, self.k, 0)
            ops.assign(self.v, self.v + 1)
            return chosen

    net = Counting()
    for _ in range(2):
        try:
            net(Tensor([5.0, 6.0], ms.float32))
        except IndexError:
            pass
    assert net.w.asnumpy().tolist() == [3, 4] and int(net.k) == 2
    assert net.v.asnumpy().tolist() == [2, 3]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_the_same_positions_in_a_smaller_tensor(mode):
    """The second look-up may fail where the first does not."""
    ms.set_context(mode=mode)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = ms.Parameter(np.zeros(3, np.float32), name="p")

        def construct(self, big, small, at, x):
            y = ops.gather(big, at, 0).sum()
            ops.assign_add(self.p, x + y)
            return ops.gather(small, at, 0)

    net = Net()
    big, small, x = (Tensor(np.ones(n, np.float32)) for n in (8, 4, 3))
    net(big, small, Tensor([1, 2]), x)
    assert net.p.asnumpy().tolist() == [3, 3, 3]
    with pytest.raises(IndexError):
        net(big, small, Tensor([1, 6]), x)
    assert net.p.asnumpy().tolist() == [6, 6, 6]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_what_is_not_taken_cannot_fail(mode):
    ms.set_context(mode=mode)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = ms.Parameter(np.zeros(3, np.float32), name="p")

        def construct(self, flag, at, x):
            if flag:
                P.ScatterAdd()(self.p, at, x)
            return x * 2

    net, x = Net(), Tensor(np.ones(1, np.float32))
    net(Tensor(False), Tensor([7], ms.int32), x)
    net(Tensor(True), Tensor([1], ms.int32), x)
    assert net.p.asnumpy().tolist() == [0, 1, 0]
    with pytest.raises(IndexError):
        net(Tensor(True), Tensor([7], ms.int32), x)
