"""What the arms of a branch print, where a line in them turns out to be one that runs eagerly, is printed once."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

import mindspore as ms
from mindspore import Tensor, jit, ops

Pair = namedtuple("Pair", "a b")


@dataclass
class Item:
    a: object
    b: object


def same(value):
    return value


def shown(value):
    print("shown")
    return value


def the_other_way_raises(x, y, n):
    for e in map(lambda z: z, ops.broadcast_to(n, (1,))):  # noqa: C417
        k = 0
        while -1 < same(k) < n:
            held = Item(x / (ops.abs(2.0 if e else -0.25) + 1.5), ops.stop_gradient(y))
            shown(held).b += ops.broadcast_to(y, (3,)).mean(0)
            _ = ops.tanh(held.b)
            return ops.broadcast_to(e.astype(ms.int32), (3,)), (x,), Pair(x, x)
    [a, b] = 1
    return a, b


def test_the_only_way_that_ends(capsys):
    found = []
    for function in (the_other_way_raises, jit(the_other_way_raises)):
        x, y, n = Tensor(np.ones((2, 2))), Tensor(0.5, ms.float64), Tensor(4, ms.int64)
        values = [str(v) for v in function(x, y, n)[:2]]
        found.append((values, capsys.readouterr().out))
    assert found[0] == found[1]
