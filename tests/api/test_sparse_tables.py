"""Rows of a sparse EmbeddingLookup that a step does not look up: LazyAdam, FTRL and ProximalAdagrad leave them alone."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

pytestmark = pytest.mark.usefixtures("mode")

ROWS = 6
OPTIMIZERS = {
    "LazyAdam": lambda p, **o: nn.LazyAdam(p, learning_rate=0.1, **o),
    "nesterov": lambda p, **o: nn.LazyAdam(p, learning_rate=0.1, use_nesterov=True, **o),
    "use_lazy": lambda p, **o: nn.Adam(p, learning_rate=0.1, use_lazy=True, **o),
    "FTRL": lambda p, **o: nn.FTRL(p, learning_rate=0.1, l1=0.01, l2=0.02, **o),
    "power": lambda p, **o: nn.FTRL(p, learning_rate=0.1, lr_power=-0.7, **o),
    "ProximalAdagrad": lambda p, **o: nn.ProximalAdagrad(p, learning_rate=0.1, l1=0.1, **o),
}


class Net(nn.Cell):
    """Two lookups in one table, and a layer whose weights have no rows that are looked up."""

    def __init__(self, sparse=True, dtype=ms.float32):
        super().__init__()
        self.table = nn.EmbeddingLookup(ROWS, 3, target="DEVICE", sparse=sparse, dtype=dtype)
        start = np.random.default_rng(3).normal(size=(ROWS, 3)).astype(np.float32)
        self.table.embedding_table.set_data(Tensor(start, dtype))
        self.head = Parameter(Tensor([1.0, -2.0, 0.5]), name="head")

    def construct(self, first, second):
        rows = self.table(first) * 2 - self.table(second)
        return (rows.astype(ms.float32) * self.head).sum() ** 2


def copied(parameter):
    """Its numbers now: what asnumpy() gives changes with it."""
    return parameter.asnumpy().copy()


def trained(net, optimizer, *steps, **options):
    """The table, what the optimizer keeps of it, and the head after each step."""
    update = optimizer(net.trainable_params(), **options)
    step = nn.TrainOneStepCell(net, update)
    seen = []
    for first, second in steps:
        step(Tensor(first, ms.int32), Tensor(second, ms.int32))
        kept = [p for p in update.get_parameters() if p.shape == (ROWS, 3)]
        seen.append([copied(p) for p in kept])
    return seen, copied(net.head)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_rows_that_are_not_looked_up_stay(name, decay):
    steps = [([0, 1], [1, 4]), ([1, 1], [4, 4]), ([5, 0], [5, 0])]
    options = {"weight_decay": decay} if decay else {}
    net = Net()
    before = [copied(net.table.embedding_table)]
    seen, _ = trained(net, OPTIMIZERS[name], *steps, **options)
    for (first, second), after in zip(steps, seen):
        others = sorted(set(range(ROWS)) - set(first) - set(second))
        own = sorted({*first, *second})
        for was, now in zip(before, after):
            np.testing.assert_array_equal(now[others], was[others])
        assert (before[0][own] != after[0][own]).all()
        before = after


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.01}, {"loss_scale": 4.0}], ids=str)
def test_where_all_are_looked_up_it_is_the_dense_update(name, options):
    steps = [([0, 1, 2], [3, 4, 5]), ([3, 1, 2], [0, 5, 4])]
    sparse, head = trained(Net(), OPTIMIZERS[name], *steps, **options)
    dense, head_of_dense = trained(Net(sparse=False), OPTIMIZERS[name], *steps, **options)
    for a, b in zip(sparse[-1], dense[-1]):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose(head, head_of_dense, rtol=1e-4, atol=2e-6)


def test_a_row_whose_gradient_is_zero_was_looked_up():
    """Its moments fade, and it goes on moving."""
    steps = [([0, 1], [2, 3]), ([0, 0], [0, 0])]
    net = Net()
    net.head.set_data(Tensor([0.0, 0.0, 1.0]))  # two columns of the gradient are zero
    seen, _ = trained(net, OPTIMIZERS["ProximalAdagrad"], *steps)
    assert (seen[1][0][0, :2] != seen[0][0][0, :2]).all()  # the penalty is for it, too


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32])
def test_it_is_known_after_scaling_and_clipping(dtype):
    net = Net(dtype=dtype)
    table = net.table.embedding_table
    update = nn.LazyAdam(net.trainable_params(), learning_rate=0.1)
    find = ops.value_and_grad(lambda a, b: net(a, b) * 8.0, None, net.trainable_params())

    def step(a, b):
        _, gradients = find(a, b)
        gradients = ops.clip_by_global_norm(tuple(g / 8.0 for g in gradients), 1.0)
        update(
            tuple(
                ops.clip_by_value(g, Tensor(-1.0, g.dtype), Tensor(1.0, g.dtype)) for g in gradients
            )
        )

    step(Tensor([0, 1], ms.int32), Tensor([0, 2], ms.int32))
    once = copied(table)
    step(Tensor([1, 1], ms.int32), Tensor([2, 2], ms.int32))
    np.testing.assert_array_equal(table.asnumpy()[[0, 3, 4, 5]], once[[0, 3, 4, 5]])
    assert (table.asnumpy()[[1, 2]] != once[[1, 2]]).all()


def test_the_gradient_is_that_of_a_dense_table():
    sparse, dense = Net(), Net(sparse=False)
    first, second = Tensor([[0, 1], [1, 9]], ms.int32), Tensor([[2, -1], [1, 1]], ms.int32)
    for order in (1, 2):
        found = []
        for net in (sparse, dense):
            table = net.table.embedding_table
            grad = ops.grad(net, None, table)
            if order == 2:

                class Norm(nn.Cell):
                    def __init__(self, grad):
                        super().__init__()
                        self.grad = grad

                    def construct(self, a, b):
                        return (self.grad(a, b) ** 2).sum()

                grad = ops.grad(Norm(grad), None, table)
            found.append(grad(first, second).asnumpy())
        np.testing.assert_allclose(*found, rtol=1e-5)
        assert found[0].any()


def test_a_copy_of_a_network_is_sparse_too():
    net = copy.deepcopy(Net())
    before = copied(net.table.embedding_table)
    trained(net, OPTIMIZERS["FTRL"], ([0, 1], [1, 1]))
    np.testing.assert_array_equal(net.table.embedding_table.asnumpy()[2:], before[2:])


def test_fields_that_are_joined():
    table = nn.MultiFieldEmbeddingLookup(ROWS, 3, 2, param_init="ones")
    indices, fields = Tensor([[0, 2]], ms.int32), Tensor([[0, 1]], ms.int32)
    step = nn.TrainOneStepCell(table, nn.FTRL(table.trainable_params(), learning_rate=0.1))
    step(indices, Tensor([[1.0, 2.0]]), fields)
    now = table.embedding_table.asnumpy()
    assert (now[[1, 3, 4, 5]] == 1).all() and (now[[0, 2]] != 1).all()
