"""Every collective, in each dtype, of even and uneven sizes, in both modes, against NumPy. Each process knows what all have."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import create_group, get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
DTYPES = [
    np.dtype(t)
    for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?")
] + [np.dtype(ml_dtypes.bfloat16)]
SIZES = [1, 7, 5000, 300_001]  # one round, some, and more than a slot holds


def data(rank: int, size: int, dtype: np.dtype) -> np.ndarray:
    """What a process has: small integers, which every sum of every type holds."""
    values = np.random.RandomState(rank + 11 * size).randint(0, 3, size)
    return values.astype(dtype)


def all_data(size: int, dtype: np.dtype) -> list[np.ndarray]:
    return [data(rank, size, dtype) for rank in range(SIZE)]


class Applied(nn.Cell):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, *inputs):
        return self.op(*inputs)


def in_both_modes(op, *inputs):
    """The result of a primitive, the same in both modes."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    eager = op(*inputs)
    ms.set_context(mode=ms.GRAPH_MODE)
    graph = Applied(op)(*inputs)
    pairs = zip(eager, graph) if isinstance(eager, tuple) else [(eager, graph)]
    for a, b in pairs:
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    return eager


def equal(got: Tensor, wanted: np.ndarray) -> None:
    got = got.asnumpy()
    assert got.dtype == wanted.dtype, (got.dtype, wanted.dtype)
    np.testing.assert_array_equal(got, wanted)


def reduced(parts: list[np.ndarray], op: str) -> np.ndarray:
    dtype = parts[0].dtype
    if dtype == np.bool_:
        return np.any(parts, 0) if op in ("sum", "max") else np.all(parts, 0)
    total = getattr(np, op)(
        np.stack(parts), 0, **({"dtype": dtype} if op in ("sum", "prod") else {})
    )
    return total.astype(dtype)


def test_sums() -> None:
    for dtype in DTYPES:
        for size in SIZES if dtype in (np.dtype("f4"), np.dtype("i4")) else SIZES[1:3]:
            for op in ("sum", "prod", "max", "min"):
                if dtype.kind == "c" and op in ("max", "min"):
                    continue
                parts = all_data(size, dtype)
                equal(in_both_modes(ops.AllReduce(op), Tensor(parts[RANK])), reduced(parts, op))
                parts = all_data(size * SIZE, dtype)
                mine = slice(RANK * size, (RANK + 1) * size)
                got = in_both_modes(ops.ReduceScatter(op), Tensor(parts[RANK]))
                equal(got, reduced(parts, op)[mine])
    x = Tensor(np.full((3, 2), float(RANK), np.float32))
    equal(ops.AllReduce("avg")(x), np.full((3, 2), (SIZE - 1) / 2, np.float32))


def test_moves() -> None:
    for dtype in DTYPES:
        for size in SIZES if dtype == np.dtype("f4") else SIZES[1:3]:
            parts = all_data(size, dtype)
            equal(in_both_modes(ops.AllGather(), Tensor(parts[RANK])), np.concatenate(parts))
            root = SIZE - 1
            equal(in_both_modes(ops.Broadcast(root), (Tensor(parts[RANK]),))[0], parts[root])
            wide = [p.reshape(-1, 1).repeat(SIZE, 1) * (r + 1) for r, p in enumerate(parts)]
            wide = [p.astype(dtype) for p in wide]
            got = in_both_modes(ops.AlltoAll(SIZE, 1, 0), Tensor(wide[RANK]))
            equal(got, np.concatenate([p[:, RANK : RANK + 1] for p in wide], 0))
    test_rooted()


def test_rooted() -> None:
    for dtype in DTYPES if SIZE < 4 else DTYPES[9:10]:
        rooted(dtype)


def rooted(dtype: np.dtype) -> None:
    parts = [p.reshape(-1, 3) for p in all_data(6 * SIZE, dtype)]
    x, root = Tensor(parts[RANK]), SIZE // 2
    equal(in_both_modes(ops.CollectiveScatter(root), x), parts[root][RANK * 2 : RANK * 2 + 2])
    gathered = in_both_modes(ops.CollectiveGather(root), x)
    total = in_both_modes(ops.Reduce(root), x)
    if RANK == root:
        equal(gathered, np.concatenate(parts))
        equal(total, reduced(parts, "sum"))
    else:
        assert gathered.shape == total.shape == (1,)


def test_uneven() -> None:
    for dtype in DTYPES if SIZE < 4 else DTYPES[9:10]:
        uneven(dtype)


def uneven(dtype: np.dtype) -> None:
    rows = [rank % 3 * 2 + 1 for rank in range(SIZE)]
    parts = [data(rank, rows[rank] * 2, dtype).reshape(-1, 2) for rank in range(SIZE)]
    equal(in_both_modes(ops.AllGatherV(), Tensor(parts[RANK]), rows), np.concatenate(parts))
    whole = [data(rank, sum(rows) * 2, dtype).reshape(-1, 2) for rank in range(SIZE)]
    starts = np.cumsum([0, *rows])
    equal(
        in_both_modes(ops.ReduceScatterV(), Tensor(whole[RANK]), rows),
        reduced(whole, "sum")[starts[RANK] : starts[RANK + 1]],
    )
    counts = np.array([[(i + j) % 3 for j in range(SIZE)] for i in range(SIZE)])
    flat = [data(rank, int(counts[rank].sum()) * 2, dtype) for rank in range(SIZE)]
    ends = [np.cumsum(row) * 2 for row in counts]
    want = [flat[r][ends[r][RANK] - counts[r][RANK] * 2 : ends[r][RANK]] for r in range(SIZE)]
    lists = counts[RANK].tolist(), counts[:, RANK].tolist()
    got = in_both_modes(ops.AlltoAllV(block_size=2), Tensor(flat[RANK]), *lists)
    equal(got, np.concatenate(want))
    got = in_both_modes(ops.AlltoAllVC(block_size=2), Tensor(flat[RANK]), counts.tolist())
    equal(got, np.concatenate(want))


def test_pairs() -> None:
    if SIZE == 1:
        return
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    parts = all_data(1000, np.dtype("f4"))
    exchange = ops.NeighborExchange([right], [left], [(1000,)], [(1000,)], ms.float32)
    equal(in_both_modes(exchange, (Tensor(parts[RANK]),))[0], parts[left])
    receive = ops.Receive(3, left, (1000,), ms.float32)
    if RANK == 0:  # round the ring
        ops.Send(3, right)(Tensor(parts[RANK]))
        equal(receive(), parts[left])
    else:
        equal(receive(), parts[left])
        ops.Send(3, right)(Tensor(parts[RANK]))
    handles = [ops.isend(Tensor(parts[RANK]), left), ops.irecv(y := ops.zeros((1000,)), right)]
    for handle in handles:
        handle.wait()
    equal(y, parts[right])
    ops.Barrier()()


def test_groups() -> None:
    evens = list(range(0, SIZE, 2))
    create_group("evens", evens)
    if RANK in evens:
        x = Tensor(np.array([RANK], np.float32))
        equal(ops.AllReduce(group="evens")(x), np.array([sum(evens)], np.float32))
        equal(ops.AllGather(group="evens")(x), np.array(evens, np.float32))
    elif SIZE > 1:
        try:
            ops.AllReduce(group="evens")
        except ValueError as error:
            assert "must be in the group 'evens'" in str(error)
        else:
            raise AssertionError("a stranger to the group was let in")
    found = [None] * SIZE
    ops.all_gather_object(found, {"rank": RANK, "text": "x" * RANK})
    assert found == [{"rank": r, "text": "x" * r} for r in range(SIZE)]


def test_gradients() -> None:
    """Of the sum over all processes of what each makes of the result: weights differ by process."""
    weight = Tensor(np.arange(6, dtype=np.float32) + RANK)
    weights = [np.arange(6, dtype=np.float32) + rank for rank in range(SIZE)]
    x = Tensor(np.arange(6, dtype=np.float32) * (RANK + 1))
    tall = Tensor(np.arange(SIZE * 6, dtype=np.float32))
    cases = [
        (ops.AllReduce(), x, lambda y: (y * weight).sum(), sum(weights)),
        (ops.AllGather(), x, lambda y: (y.reshape(SIZE, 6) * weight).sum(), sum(weights)),
        (ops.ReduceScatter(), tall, lambda y: (y * weight).sum(), np.concatenate(weights)),
        (
            ops.AlltoAll(SIZE, 0, 0),
            tall,
            lambda y: (y.reshape(SIZE, 6) * weight).sum(),
            np.concatenate(weights),
        ),
    ]
    for op, value, loss, wanted in cases:
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            equal(ms.grad(lambda v, op=op, loss=loss: loss(op(v)))(value), wanted)
    largest = ms.grad(lambda v: (ops.AllReduce("max")(v) * weight).sum())(x)
    ties = np.arange(6) == 0  # all have 0 there
    equal(largest, np.where(ties | (RANK == SIZE - 1), sum(weights), 0).astype(np.float32))
    root = ms.grad(lambda v: (ops.Broadcast(0)((v,))[0] * weight).sum())(x)
    equal(root, sum(weights) if RANK == 0 else np.zeros(6, np.float32))


def test_gradients_of_roots_and_of_uneven_parts() -> None:
    root, rows = SIZE // 2, [rank % 3 * 2 + 1 for rank in range(SIZE)]
    weights = [np.arange(6, dtype=np.float32) + rank for rank in range(SIZE)]
    tall, ends = np.arange(SIZE * 6, dtype=np.float32), np.cumsum([0, *rows])
    mine = slice(ends[RANK], ends[RANK + 1])
    long = np.arange(sum(rows), dtype=np.float32)
    counts = [[(i + j) % 3 for j in range(SIZE)] for i in range(SIZE)]
    lists = counts[RANK], [counts[i][RANK] for i in range(SIZE)]
    flat = np.ones(sum(counts[RANK]), np.float32)
    owners = np.repeat(np.arange(SIZE, dtype=np.float32) + 1, counts[RANK])
    at_root = RANK == root
    cases = [
        (ops.Reduce(root), (), weights[0], weights[root] * at_root, weights[root]),
        (ops.CollectiveGather(root), (), weights[0], tall * at_root, tall[RANK * 6 : RANK * 6 + 6]),
        (
            ops.CollectiveScatter(root), (), tall, weights[RANK],
            np.concatenate(weights) if at_root else 0 * tall,
        ),
        (ops.AllGatherV(), (rows,), long[mine], long * (RANK + 1), long[mine] * sum(range(SIZE + 1))),
        (
            ops.ReduceScatterV(), (rows,), long, np.full(rows[RANK], RANK + 1, np.float32),
            np.repeat(np.arange(SIZE, dtype=np.float32) + 1, rows),
        ),
        (ops.AlltoAllV(), lists, flat, np.float32(RANK + 1), owners),
        (ops.AlltoAllVC(), (counts,), flat, np.float32(RANK + 1), owners),
    ]  # fmt: skip
    for op, given, value, weight, wanted in cases:
        made = op(Tensor(value), *given).shape
        short = np.ndim(weight) > 0 and made == (1,) != np.shape(weight)
        factor = Tensor(np.zeros(1, np.float32) if short else np.asarray(weight, np.float32))
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            found = ms.grad(
                lambda v, op=op, given=given, factor=factor: (op(v, *given) * factor).sum()
            )(Tensor(value))
            equal(found, np.asarray(wanted, np.float32))


TESTS = (test_sums, test_moves, test_uneven, test_pairs, test_groups, test_gradients)
for test in (*TESTS, test_gradients_of_roots_and_of_uneven_parts):
    test()
print("all is well", flush=True)
