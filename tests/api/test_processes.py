"""What goes to processes of a pool."""

from __future__ import annotations

import multiprocessing
import pickle

import numpy as np

from mindspore import Tensor, nn, ops


def outcome(net: nn.Cell, x: np.ndarray) -> np.ndarray:
    return net(Tensor(x)).asnumpy()


def test_a_network_is_sent_to_a_spawned_process():
    net = nn.SequentialCell(nn.Dense(3, 2), nn.ReLU(), nn.BatchNorm1d(2), nn.Dense(2, 2))
    x = np.ones((2, 3), np.float32)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(outcome, (net, x)).get(120)
    assert np.array_equal(found, outcome(net, x))


def test_primitives_are_pickled_with_their_attributes():
    x, y = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), Tensor(np.ones((2, 3), np.float32))
    product = pickle.loads(pickle.dumps(ops.MatMul(transpose_b=True)))
    assert product(x, y).asnumpy().tolist() == [[3, 3], [12, 12]]
    assert repr(product) == repr(ops.MatMul(transpose_b=True))
    total = pickle.loads(pickle.dumps(ops.ReduceSum(keep_dims=True).add_prim_attr("mine", 3)))
    assert total(x, 1).shape == (2, 1) and total.mine == 3
