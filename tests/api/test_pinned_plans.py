"""Strategies of ops, cells and values, as the plan of a program has them."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.parallel import explain

X = Tensor(shape=(8, 16), dtype=ms.float32)


class Product(nn.Cell):
    """One product of matrices, whose op is pinned."""

    def __init__(self, *strategies, op=None):
        super().__init__()
        self.weight = Parameter(np.ones((16, 32), np.float32), name="weight")
        self.op = (op or ops.MatMul()).shard(*strategies)

    def construct(self, x):
        return self.op(x, self.weight)


def products(net, **arguments):
    plan = explain(net, X, **{"devices": 2, "mode": "semi_auto", **arguments})
    return [
        (node["inputs"], node["outputs"]) for node in plan.data["nodes"] if node["op"] == "MatMul"
    ]


@pytest.mark.parametrize("mode", ["semi_auto", "auto", "recursive_programming"])
def test_an_op_is_cut_as_pinned(mode):
    (found,) = products(Product(((1, 2), (2, 1))), mode=mode)
    assert found == (["[-, d]", "[d, -]"], ["[-, -] sum(d)"])
    (found,) = products(Product(((2, 1), (1, 1))), mode=mode)
    assert found == (["[d, -]", "[-, -]"], ["[d, -]"])
    (found,) = products(Product(((1, 1), (1, 2))), mode=mode)
    assert found == (["[-, -]", "[-, d]"], ["[-, d]"])


def test_parts_of_a_sum_go_where_the_result_is_pinned():
    (found,) = products(Product(((1, 2), (2, 1)), ((2, 1),)))
    assert found == (["[-, d]", "[d, -]"], ["[-, -] sum(d)"])


def test_what_an_op_cannot_have_is_refused_with_its_line():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.softmax = ops.Softmax().shard(((1, 2),))

        def construct(self, x):
            return self.softmax(x)

    with pytest.raises(ValueError, match=r"Softmax.*must"):
        explain(Net(), X, devices=2, mode="semi_auto")
