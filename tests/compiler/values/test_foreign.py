"""What is known of callables that are run, not compiled."""

from __future__ import annotations

import copy
import math
import os
import random
import time
import traceback

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops
from mindspore.compile.values import foreign
from mindspore.compile.values.foreign import Does

DRAWING = [
    *(ops.dropout, ops.dropout2d, ops.rand, ops.randn, ops.shuffle, ops.bernoulli, ops.gamma),
    *(ops.laplace, ops.gumbel_softmax, ops.rrelu, ops.fractional_max_pool2d, ops.standard_normal),
]
WRITING = [ops.index_add, ops.inplace_index_add, ops.embedding, ops.assign, ops.batch_norm]
COMPUTING = [ops.softmax, ops.norm, ops.interpolate, ops.cdist, ops.einsum, ops.cross_entropy]


@pytest.mark.parametrize("function", COMPUTING, ids=lambda f: f.__name__)
def test_compositions_that_only_compute(function) -> None:
    assert foreign.only_computes(function) and foreign.changes_nothing(function)


@pytest.mark.parametrize("function", DRAWING, ids=lambda f: f.__name__)
def test_compositions_that_draw(function) -> None:
    """The state of the numbers can be put back, so that a call may be made again; but when it is made, others can tell."""
    assert not foreign.only_computes(function) and foreign.changes_nothing(function)


@pytest.mark.parametrize("function", WRITING, ids=lambda f: f.__name__)
def test_compositions_that_may_write(function) -> None:
    assert not foreign.only_computes(function) and not foreign.changes_nothing(function)


def test_the_tables() -> None:
    assert foreign.is_standard(copy.deepcopy)
    assert not foreign.is_standard(test_the_tables)
    assert foreign.is_repeatable(math.sin) and foreign.is_repeatable(np.ones(2).sum)
    assert not foreign.is_repeatable(np.ones(2).fill) and not foreign.is_repeatable(print)
    assert foreign.meets_the_world(time.time, ()) and foreign.meets_the_world(random.random, ())
    assert foreign.meets_the_world(np.random.rand, ())
    assert foreign.meets_the_world(dict.get, (os.environ, "HOME"))
    assert not foreign.meets_the_world(math.sin, (1,))
    assert foreign.looks_at_frames(traceback.print_stack, ()) and foreign.looks_at_frames(dir, ())
    assert not foreign.looks_at_frames(dir, (1,))
    assert foreign.only_reads(sorted) and not foreign.only_reads([].append)
    assert Does.COPIES in foreign.does(copy.copy)
    assert foreign.does([].append) is Does.NOTHING


def draws(x):
    """The numbers of a generator are drawn when it is asked for them."""

    def noisy():
        for i in range(3):
            yield ops.gamma((2,), Tensor(float(i + 1)), Tensor(1.0))

    found = []
    for noise in noisy():
        found.append(ops.standard_normal((2,)) + noise + x)
        if x.sum() > 100:
            break
    return ops.stack(found)


def test_numbers_are_drawn_in_the_order_of_the_program() -> None:
    x = Tensor([1.0, 2.0])
    ms.set_seed(5)
    expected = draws(x).asnumpy()
    ms.set_seed(5)
    np.testing.assert_array_equal(jit(draws)(x).asnumpy(), expected)


class Table(nn.Cell):
    """Rows are made shorter when they are looked up, one after another."""

    def __init__(self):
        super().__init__()
        self.table = Parameter(Tensor(np.full((3, 2), 4, np.float32)), name="table")

    def construct(self, x, i):
        rows = (ops.embedding(i[k], self.table, max_norm=1.0) for k in range(2))
        total = x * 0
        for row in rows:
            total = total + row + self.table.sum()
            if total.sum() < 0:
                break
        return total


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_lookup_that_writes_is_made_when_its_turn_comes(mode) -> None:
    ms.set_context(mode=mode)
    x, i = Tensor([1.0, 2.0]), Tensor([[0], [1]], ms.int32)
    with ms._no_grad():
        total = Table()(x, i)
    short = math.sqrt(2)
    sums = (short + 16) + (2 * short + 8)
    np.testing.assert_allclose(total.asnumpy()[0], np.full(2, 2 / short + sums), rtol=1e-5)
