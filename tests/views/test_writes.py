"""Writing through a view: base and other views change, as in NumPy, in both modes."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from viewlib import MODES, check, grid

import mindspore as ms
from mindspore import Tensor, context, nn, ops

# name -> (as Tensors have it, as NumPy has it); of a [4, 4] matrix
VIEWS = {
    "row": (lambda a: a[1],) * 2,
    "last row": (lambda a: a[-1],) * 2,
    "rows": (lambda a: a[1:3],) * 2,
    "column": (lambda a: a[:, 1],) * 2,
    "step": (lambda a: a[::2, 1::2],) * 2,
    "backwards": (lambda a: a[::-1],) * 2,
    "ellipsis": (lambda a: a[..., 0],) * 2,
    "new axis": (lambda a: a[None, :, None, 2],) * 2,
    "whole": (lambda a: a[:],) * 2,
    "of a row": (lambda a: a[2][1:],) * 2,
    "reshape": (lambda a: a.reshape(2, 8), lambda a: a.reshape(2, 8)),
    "ops.reshape": (lambda a: ops.reshape(a, (-1,)), lambda a: a.reshape(-1)),
    "P.Reshape": (lambda a: ops.Reshape()(a, (8, 2)), lambda a: a.reshape(8, 2)),
    "view": (lambda a: a.view(16), lambda a: a.reshape(16)),
    "flatten": (lambda a: a.flatten(), lambda a: a.reshape(-1)),
    "ravel": (lambda a: a.ravel(), lambda a: a.reshape(-1)),
    "transpose": (lambda a: a.transpose(1, 0),) * 2,
    "ops.transpose": (lambda a: ops.transpose(a, (1, 0)), lambda a: a.T),
    "T": (lambda a: a.T,) * 2,
    "swapaxes": (lambda a: a.swapaxes(0, 1),) * 2,
    "permute": (lambda a: ops.permute(a, (1, 0)), lambda a: a.T),
    "movedim": (lambda a: ops.movedim(a, 0, 1), lambda a: np.moveaxis(a, 0, 1)),
    "expand_dims": (lambda a: a.expand_dims(1), lambda a: np.expand_dims(a, 1)),
    "unsqueeze": (lambda a: ops.unsqueeze(a, 0), lambda a: a[None]),
    "squeeze": (lambda a: a.reshape(4, 1, 4).squeeze(1), lambda a: a.reshape(4, 4)),
    "chunk": (lambda a: ops.chunk(a, 2)[1], lambda a: a[2:]),
    "split": (lambda a: a.split(1)[2], lambda a: a[2:3]),
    "split sizes": (lambda a: ops.split(a, (1, 3), 1)[1], lambda a: a[:, 1:]),
    "P.Split": (lambda a: ops.Split(1, 2)(a)[0], lambda a: a[:, :2]),
    "tensor_split": (lambda a: ops.tensor_split(a, 3)[0], lambda a: a[:2]),
    "unbind": (lambda a: a.unbind(1)[2], lambda a: a[:, 2]),
    "unstack": (lambda a: ops.unstack(a)[3], lambda a: a[3]),
    "narrow": (lambda a: a.narrow(0, 1, 2), lambda a: a[1:3]),
    "slice": (lambda a: ops.slice(a, (1, 0), (2, 3)), lambda a: a[1:3, :3]),
    "strided_slice": (
        lambda a: ops.strided_slice(a, (0, 1), (4, 4), (2, 2)),
        lambda a: a[::2, 1::2],
    ),
    "diagonal": (lambda a: a.diagonal(), lambda a: np.einsum("ii->i", a)),
    "diagonal above": (lambda a: ops.diagonal(a, 1), lambda a: np.einsum("ii->i", a[:3, 1:])),
    "transposed rows": (lambda a: a.T[1:3],) * 2,
    "reshaped transposed": (lambda a: a.T.reshape(2, 2, 4),) * 2,
    "same dtype": (lambda a: a.astype(ms.float32), lambda a: a),
    "Tensor(t)": (lambda a: Tensor(a), lambda a: a),
    "stop_gradient": (lambda a: ops.stop_gradient(a), lambda a: a),
    "four steps": (
        lambda a: a[1:].T.reshape(4, 3, 1)[:, 1:],
        lambda a: a[1:].T.reshape(4, 3, 1)[:, 1:],
    ),
}
COPIES = {
    "list": lambda a: a[[0, 1]],
    "mask": lambda a: ops.masked_select(a, a > 3),
    "reshaped transposed": lambda a: a.T.reshape(16),
    "flattened columns": lambda a: a[:, :2].flatten(),
    "ops.flatten": lambda a: ops.flatten(a),
    "P.Flatten": lambda a: ops.Flatten()(a),
    "copy": lambda a: a.copy(),
    "clone": lambda a: a.clone(),
    "identity": lambda a: ops.Identity()(a),
    "flip": lambda a: ops.flip(a, (0,)),
    "concat": lambda a: ops.cat([a]),
    "tile": lambda a: ops.tile(a, (1, 1)),
    "dtype": lambda a: a.astype(ms.float64),
    "arithmetic": lambda a: a * 1,
    "gather": lambda a: ops.gather(a, Tensor(0), 0),
}


def write_row(v):
    v[0] = 50


def write_all(v):
    v[...] = -1


def write_twice(v):
    v[:] = v + 1
    v[-1] = v[0] * 2


@pytest.mark.parametrize("write", [write_row, write_all, write_twice])
@pytest.mark.parametrize("name", VIEWS)
def test_the_base_follows_its_view(name, write):
    ours, numpys = VIEWS[name]

    def program(a):
        v = ours(a)
        write(v)
        return v

    def numpy(a):
        v = numpys(a)
        write(v)
        return v

    check(program, grid(4, 4), numpy=numpy)


@pytest.mark.parametrize("name", VIEWS)
def test_views_follow_their_base_and_each_other(name):
    ours, numpys = VIEWS[name]

    def body(a, view):
        v, w, r = view(a), view(a), a.reshape(16)
        a[1] = 7
        before = v * 1
        v[0] = w[0] * 2 + 1
        r[5] = 100
        return v, w, before, r

    def program(a):
        return body(a, ours)

    def numpy(a):
        return body(a, numpys)

    check(program, grid(4, 4), numpy=numpy)


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("mode", MODES)
def test_copies_do_not(name, mode):
    context.set_context(mode=MODES[mode])

    def program(a):
        v = COPIES[name](a)
        before = v * 1
        a[0] = 100
        kept = v * 1
        v[0] = -5
        return a, before, kept

    a, before, kept = (ms.jit(program) if mode == "graph" else program)(Tensor(grid(4, 4)))
    np.testing.assert_array_equal(before.asnumpy(), kept.asnumpy())
    expected = grid(4, 4)
    expected[0] = 100
    np.testing.assert_array_equal(a.asnumpy(), expected)


def test_items_of_items():
    def program(a):
        a[0][1] = 5
        a[1][2:][0] += 3
        a[2][::2] *= 2
        for row in a:
            row[3] = 9
        return a.sum()

    check(program, grid(4, 4))


def test_assignment_to_a_name_is_no_write():
    def program(a):
        b = a[0]
        b = b * 2
        c = a
        c = c + 1
        return b, c

    check(program, grid(3, 3))


@pytest.mark.parametrize("mode", MODES)
def test_what_shows_one_element_twice_is_not_written_to(mode):
    context.set_context(mode=MODES[mode])

    def program(a):
        v = a.broadcast_to((3, 4))
        v[0] = 1
        return a

    with pytest.raises(ValueError, match=r"hold each of its elements once.*BroadcastTo.*copy\(\)"):
        (ms.jit(program) if mode == "graph" else program)(Tensor(grid(4)))

    lone = Tensor(grid(4)).broadcast_to((3, 4))  # nobody else has what it shows
    with pytest.raises(ValueError, match="hold each of its elements once"):
        lone[0] = 1

    def other(a):
        v = a.broadcast_to((3, 4)).copy()
        v[0] = 1
        w = a.expand_as(a)  # no element twice
        w[0] = 5
        return a, v

    a, v = other(Tensor(grid(4)))
    assert a.asnumpy().tolist() == [5, 1, 2, 3] and v.asnumpy()[0].tolist() == [1, 1, 1, 1]
    assert v.asnumpy()[1].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "dtype",
    [ms.bool_, ms.int8, ms.uint8, ms.int64, ms.float16, ms.bfloat16, ms.float64, ms.complex64],
)
def test_dtypes(dtype):
    a = Tensor(np.arange(6).reshape(2, 3) % 2).astype(dtype)
    v = a.T[1:]
    v[0] = 1
    v.reshape(2, 2)[1, 0] = 0
    assert a.dtype == dtype
    assert a.astype(ms.float32).asnumpy().tolist() == [[0, 1, 0], [1, 1, 1]]


def test_empty_and_scalar_views():
    a = Tensor(grid(2, 3))
    a[:0] = 1
    a[1:1].T[:] = 4
    a[0, 0][...] = 9
    s = a[1, 2]
    s[()] = 8
    assert a.asnumpy().tolist() == [[9, 1, 2], [3, 4, 8]]


def test_a_view_that_outlives_its_base():
    a = Tensor(grid(4, 4))
    v, w = a[1:3], a[2:4]
    del a
    v[1] = 50  # row 2, the first of w
    assert w.asnumpy()[0].tolist() == [50] * 4
    assert v.asnumpy()[0].tolist() == [4, 5, 6, 7]
    w[:] = 1
    assert v.asnumpy().tolist() == [[4, 5, 6, 7], [1, 1, 1, 1]]
    del w
    v[0] = 2
    assert v.asnumpy().tolist() == [[2] * 4, [1] * 4]
    x = v[0]
    x[0] = 30
    assert v.asnumpy()[0].tolist() == [30, 2, 2, 2]


def test_a_changed_base_that_is_gone():
    a = Tensor(grid(4))
    v, w = a[:3], a[1:]
    a[1] = 10
    del a
    assert v.asnumpy().tolist() == [0, 10, 2] and w.asnumpy().tolist() == [10, 2, 3]
    w[0] = 11
    assert v.asnumpy().tolist() == [0, 11, 2]


def test_nothing_is_kept_alive_by_a_view():
    size = 1 << 20
    gc.collect()
    start = ms.runtime.memory_allocated()
    row = Tensor(np.zeros((4, size // 4), np.float32))[0, :16]
    assert ms.runtime.memory_allocated() - start < size
    parts = ops.chunk(Tensor(np.zeros(size, np.float32)), 4)
    assert ms.runtime.memory_allocated() - start < 4 * size + size
    parts[0][0] = 1
    assert parts[0].asnumpy().sum() == 1 and parts[1].asnumpy().sum() == 0
    del row, parts


def test_many_views_cost_little():
    a = Tensor(np.zeros((200, 8), np.float32))
    rows = [a[i] for i in range(200)]
    for i, row in enumerate(rows):
        row[i % 8] = i
    assert a.asnumpy().sum() == sum(range(200))
    assert all(row.asnumpy().sum() == i for i, row in enumerate(rows))


def test_views_without_a_name():
    a = Tensor(grid(4, 4))
    ops.narrow(a, 0, 0, 1)[:] = 1
    ops.reshape(a, (16,))[4:8] = 2
    ops.squeeze(ops.unsqueeze(a, 0), 0)[2] = 3
    ops.chunk(a, 4)[3][:] = 4
    assert a.asnumpy().tolist() == [[float(i)] * 4 for i in (1, 2, 3, 4)]


@ms.jit
def assign_row(b, k, row):
    b[k] = row


@pytest.mark.parametrize("way", ["view", "item", "compiled"])
def test_threads_that_write_to_rows_of_one_tensor(way):
    b = Tensor(np.zeros((8, 20000), np.float32))
    rows = [Tensor(np.full(20000, k + 1, np.float32)) for k in range(8)]
    views = [b[k] for k in range(8)]
    write = {
        "view": lambda k: views[k].copy_(rows[k]),
        "item": lambda k: b.__setitem__(k, rows[k]),
        "compiled": lambda k: assign_row(b, k, rows[k]),
    }[way]
    for _ in range(5):
        b.zero_()
        threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert b.asnumpy()[:, 0].tolist() == b.asnumpy()[:, -1].tolist() == list(range(1, 9))


def test_long_chains_take_linear_time():
    w = Tensor(grid(10))
    v = w
    for _ in range(3000):
        v = v.reshape(10, 1)[:, 0]
    v[3] = 50
    assert w.asnumpy()[3] == 50


def test_nothing_else_gives_views():
    """Where there is nothing to do, too."""
    x = Tensor(grid(2, 2))
    for make in (
        lambda: ops.pad(x, (0, 0)),
        lambda: ops.roll(x, 0, 0),
        lambda: ops.rot90(x, 4, (0, 1)),
        lambda: x.repeat_interleave(1, 0),
        lambda: x.resize(2, 2),
        lambda: ops.nan_to_num(Tensor(np.zeros((2, 2), np.int32))),
        lambda: nn.Flatten()(x),
        lambda: nn.ZeroPad2d(0)(x.reshape(1, 1, 2, 2)),
    ):
        y = make()
        y[0] = 9
        assert x.asnumpy().tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_copy_of_a_parameter_is_no_view_of_it(mode: int) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.p = ms.Parameter(Tensor(np.zeros(3, np.float32)), name="p")

        def construct(self, x: Tensor) -> Tensor:
            copy = self.p.copy()
            copy[:] = 1
            return copy + x

    ms.set_context(mode=mode)
    net = Net()
    assert net(Tensor(np.zeros(3, np.float32))).asnumpy().tolist() == [1, 1, 1]
    assert net.p.asnumpy().tolist() == [0, 0, 0]


def test_what_is_written_is_read_from_the_same_memory():
    def program(a):
        b = a * 1
        b[::-1] = b
        c = a * 1
        c[::-1].reshape(a.shape)[...] = c
        d = a * 1
        d.T[...] = d
        return a, b, c, d

    check(program, grid(3, 3))


def test_writes_through_views_of_a_tensor_that_is_known_while_compiling() -> None:
    """One that the program makes of numbers alone: it is not the caller's."""

    def program(x: Tensor) -> Tensor:
        made = ops.zeros((4, 4), ms.float32)
        corner, row = made[2:, 2:], made[0]
        corner.copy_(x[:2, :2])
        corner[1, 1] = corner[0, 0]
        row[:2] = x[0, :2]
        return made

    x = Tensor(grid(4, 4))
    compiled = ms.jit(program, fullgraph=True)
    np.testing.assert_array_equal(compiled(x).asnumpy(), program(x).asnumpy())
    np.testing.assert_array_equal(compiled(x).asnumpy(), program(x).asnumpy())


def _of_the_whole(x: Tensor) -> Tensor:
    y = x * 2
    ops.stop_gradient(y)[1:] = 0
    return (y * y).sum()


def _of_a_part_that_is_read(x: Tensor) -> Tensor:
    y = x * 2
    z = ops.stop_gradient(y[1:])
    z[0] = 5
    return (y * y).sum() + (z * y[1:]).sum()


def _by_a_mask(x: Tensor) -> Tensor:
    y = x * 2
    ops.stop_gradient(y).reshape(3, 1)[Tensor([True, False, True])] = 7
    return (y * y).sum()


def _in_a_loop(x: Tensor) -> Tensor:
    y = x * 2
    z = ops.stop_gradient(y)
    for i in range(2):
        z[i] += 1
    return (y * y).sum()


@pytest.mark.parametrize(
    "program, slopes",
    [
        (_of_the_whole, [8, 0, 0]),
        (_of_a_part_that_is_read, [8, 0, 36]),
        (_by_a_mask, [0, 16, 0]),
        (_in_a_loop, [0, 0, 24]),
    ],
)
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_what_is_not_written_keeps_its_gradient(program, slopes, mode) -> None:
    """Though the view by which the rest was written was made by stop_gradient."""
    context.set_context(mode=mode)
    x = Tensor(np.array([1, 2, 3], np.float32))
    for function in (ms.grad(program), ms.grad(ms.jit(program)), ms.jit(ms.grad(program))):
        assert function(x).asnumpy().tolist() == slopes
