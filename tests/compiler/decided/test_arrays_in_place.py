"""NumPy's arrays that compiled code makes and changes in place: whoever holds one sees the change, as in Python."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, nn, ops
from mindspore.compile.program.errors import RunsEagerly

OUTSIDE = np.ones(3, np.float32)


def plain(x):
    h = np.ones(3, np.float32)
    held = [h, 3]
    h += 2
    h[1:] *= 3
    return x + Tensor(held[0])


def through_views(x):
    h = np.ones((2, 3), np.float32)
    row, across = h[0], h.T
    row += 1
    h -= [1, 2, 3]
    across[2] **= 2
    h.flat[1] = 4
    h[1, :2] //= 2
    np.fill_diagonal(h, 7)
    h.sort()
    return x + Tensor(row) + Tensor(h[1])


def by_functions(x):
    h = np.zeros(3, np.float32)
    held = (h,)
    np.add(h, 2, out=h)
    np.add.at(h, [0, 0], 1)
    np.copyto(h, h[::-1].copy())
    return x + Tensor(held[0])


def of_what_a_run_gives(x):
    h = np.ones(3, np.float32)
    held = [h]
    h += x.asnumpy()
    return x + Tensor(held[0])


def filled_by_a_run(x):
    h, k = np.ones(3, np.float32), np.zeros(3, np.float32)
    h.fill(x.asnumpy()[0])
    np.copyto(k, x.asnumpy())
    np.add(k, x.asnumpy(), out=k)
    k[:1] = x.asnumpy()
    return x + Tensor(h) + Tensor(k)


def in_a_branch(x):
    h = np.ones(3, np.float32)
    held = [h]
    if x.sum() > 0:
        h += 2
    else:
        h[:] = 3
    return x + Tensor(held[0])


def through_a_view_in_a_branch(x):
    h = np.ones((2, 3), np.float32)
    for row in h:
        if x.sum() > 0:
            row += 2
    return x + Tensor(h[1])


def in_a_loop(x):
    h = np.zeros(3, np.float32)
    while x.abs().sum() < 20:
        h += 1
        x = x * 2
    for _ in range(int(x.sum() * 0) + 2):
        h.fill(h[0] + 1)
    return x + Tensor(h)


def chosen(x):
    h, k = np.zeros(3, np.float32), np.zeros(3, np.float32)
    m = h if x.sum() > 0 else k
    m += 1
    return x + Tensor(h) + Tensor(k) * 10


def chosen_list(x):
    h, k = [1], [2]
    m = h if x.sum() > 0 else k
    m += [5]
    return x + len(h) + len(k) * 10


def chosen_number(x):
    h = np.zeros(3, np.float32)
    h += 2 if x.sum() > 0 else 3
    return x + Tensor(h)


def made_in_a_branch(x):
    if x.sum() > 0:
        h = np.zeros(3, np.float32)
        h += 2
        x = x + Tensor(h)
    return x


FUNCTIONS = [
    plain,
    through_views,
    by_functions,
    of_what_a_run_gives,
    filled_by_a_run,
    in_a_branch,
    through_a_view_in_a_branch,
    in_a_loop,
    chosen,
    chosen_list,
    chosen_number,
    made_in_a_branch,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_all_who_hold_it_see_it(function):
    compiled = jit(function)
    for number in (2.0, 3.0, -1.0, 2.0):
        x = Tensor([number], ms.float32)
        np.testing.assert_array_equal(compiled(x).asnumpy(), function(x).asnumpy())


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_an_array_from_outside_changes_with_each_call():
    def function(x):
        h = OUTSIDE
        h += 1
        return x + Tensor(h)

    compiled = jit(function)
    OUTSIDE[:] = 1
    assert [compiled(Tensor([1.0])).asnumpy()[0] for _ in range(3)] == [3, 4, 5]


def test_what_stays_in_a_call_is_compiled():
    class Block(nn.Cell):
        def construct(self, x):
            pad = np.zeros(2, np.float32)
            pad[1] = 3
            pad += 1
            return x * Tensor(pad).sum()

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.CellList([Block() for _ in range(3)])

        def construct(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    with warnings.catch_warnings():
        warnings.simplefilter("error", RunsEagerly)
        compiled = jit(made_in_a_branch)
        np.testing.assert_array_equal(compiled(Tensor([2.0])).asnumpy(), [4, 4, 4])
        ms.set_context(mode=ms.GRAPH_MODE)
        assert Net()(Tensor([1.0])).asnumpy() == [125]
        assert ops.grad(Net())(Tensor([1.0])).asnumpy() == [125]


@pytest.mark.parametrize(
    "change",
    [
        lambda a: np.clip(a, 0, 1, a),
        lambda a: a.clip(0, 1, out=a),
        lambda a: np.concatenate([a * 0], 0, a),
        lambda a: np.add.reduce(np.ones((2, 3), np.float32), 0, None, a),
        lambda a: np.nan_to_num(a, copy=False),
        lambda a: np.ndarray.fill(a, 9),
        lambda a: np.add(1.0, 2.0, out=(a,)),
        lambda a: np.lib.stride_tricks.as_strided(a).fill(4),
    ],
)
@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
def test_a_branch_not_taken_changes_nothing(change):
    def function(x):
        a = np.full(3, 5, np.float32)
        a[1] = np.nan
        if x.sum() > 100:
            change(a)
        return x + Tensor(a)

    compiled = jit(function)
    for number in (1.0, 200.0, 1.0):
        x = Tensor([number], ms.float32)
        np.testing.assert_array_equal(compiled(x).asnumpy(), function(x).asnumpy())
