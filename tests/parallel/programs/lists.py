"""Tensors in lists of one process, rows of different numbers, objects from one process to another."""

from __future__ import annotations

import numpy as np

from mindspore import Tensor, ops
from mindspore.communication import get_group_size, get_rank, init
from mindspore.mint import distributed

init()
RANK, SIZE = get_rank(), get_group_size()


def full(rows, value, dtype=np.float32):
    return Tensor(np.full((rows, 3), value, dtype))


def refused(text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (TypeError, ValueError) as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


for dtype in (np.float32, np.int8):
    came = [full(2, 0, dtype) for _ in range(SIZE)] if RANK == 1 else None
    distributed.gather(full(2, RANK + 1, dtype), came, dst=1)
    for rank, one in enumerate(came or []):
        assert (one.asnumpy() == rank + 1).all(), one
    mine = full(2, 0, dtype)
    given = [full(2, 5 + rank, dtype) for rank in range(SIZE)] if RANK == 0 else None
    handle = distributed.scatter(mine, given, src=0, async_op=True)
    handle.wait()
    assert (mine.asnumpy() == 5 + RANK).all(), mine

    sizes = [rank + 1 for rank in range(SIZE)]
    total = full(sum(sizes), 0, dtype)
    distributed.all_gather_into_tensor_uneven(total, full(RANK + 1, RANK, dtype), sizes)
    assert total.asnumpy()[:, 0].tolist() == [r for r in range(SIZE) for _ in range(r + 1)]
    rows = Tensor(np.repeat(np.arange(sum(sizes)).reshape(-1, 1), 3, 1).astype(dtype))
    part = full(RANK + 1, 0, dtype)
    distributed.reduce_scatter_tensor_uneven(part, rows, sizes)
    begin = sum(sizes[:RANK])
    assert part.asnumpy()[:, 2].tolist() == [SIZE * i for i in range(begin, begin + RANK + 1)]
    counts = [1, 2, 0, 3]  # of rows, from process i to j
    came = full(counts[RANK] + counts[2 + RANK], 0, dtype)
    sent = full(sum(counts[2 * RANK :][:2]), RANK + 1, dtype)
    ops.all_to_all_v_c(came, sent, counts)
    assert came.asnumpy()[:, 0].tolist() == [1] * counts[RANK] + [2] * counts[2 + RANK]
even = full(SIZE, 0)
distributed.all_gather_into_tensor_uneven(even, full(1, RANK))
assert even.asnumpy()[:, 0].tolist() == list(range(SIZE))

if RANK == 0:
    distributed.send_object_list([{"a": 1}, "text", None, np.arange(3)], dst=1)
elif RANK == 1:
    objects = [0] * 4
    distributed.recv_object_list(objects, src=0)
    assert objects[:3] == [{"a": 1}, "text", None] and objects[3].tolist() == [0, 1, 2]
ops.Barrier()()

uneven, reduced = (
    distributed.all_gather_into_tensor_uneven,
    distributed.reduce_scatter_tensor_uneven,
)
refused("'gather_list' must be a list of Tensors", distributed.gather, full(1, 0), None, RANK)
refused("for each process of the group, 2", distributed.gather, full(1, 0), [full(1, 0)], RANK)
refused("shape and dtype of 'tensor'", distributed.scatter, full(1, 0), [full(2, 0)] * SIZE, RANK)
refused("'dst' must be in [0, 2)", distributed.gather, full(1, 0), None, 2)
refused("add up to 3", uneven, full(3, 0), full(1, 0), [1, 1])
refused("no multiple of 2", uneven, full(3, 0), full(1, 0))
refused("of ints", reduced, full(1, 0), full(3, 0), [1.0, 2.0])
refused("must be one of", reduced, full(1, 0), full(2, 0), None, "mean")
refused("must not be empty", distributed.send_object_list, [], 1 - RANK)
refused("must be another process", distributed.recv_object_list, [0], RANK)
print("all is well", flush=True)
