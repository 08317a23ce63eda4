"""Messages between two processes: of any length and order, from threads, and such as nobody waits for any more."""

from __future__ import annotations

import sys
import time

import numpy as np
from ends import end_when_all_have

import mindspore as ms
from mindspore import Tensor, _core, ops
from mindspore.communication import create_group, destroy_group, get_group_size, get_rank, init
from mindspore.communication.comm_func import P2POp, batch_isend_irecv

init()
RANK, SIZE = get_rank(), get_group_size()
RIGHT, LEFT = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def full(size: int, value: float) -> Tensor:
    return Tensor(np.full(size, value, np.float32))


def posted() -> None:
    """In a batch all are under way at once, also where none fits into what MPI holds back."""
    size = 1_000_000
    left, right = ops.zeros((size,)), ops.zeros((size,))
    batch = [P2POp("isend", full(size, RANK), peer) for peer in (RIGHT, LEFT)]
    batch += [P2POp("irecv", right, RIGHT), P2POp("irecv", left, LEFT)]
    for handle in batch_isend_irecv(batch):
        handle.wait()
    assert (left.asnumpy() == LEFT).all() and (right.asnumpy() == RIGHT).all()


def tags() -> None:
    """What comes under one tag does not wait for another; under one tag all comes in its order."""
    first, second, third = ops.zeros((4,)), ops.zeros((4,)), ops.zeros((4,))
    if RANK == 0:
        late = ops.irecv(second, 1, tag=1)
        ops.irecv(first, 1, tag=0).wait()
        ops.Barrier()()
        ops.recv(third, 1, tag=1)  # after the one that was asked for before
        late.wait()
        got = [x.asnumpy()[0] for x in (first, second, third)]
        assert got == [1, 2, 3], got
    else:
        if RANK == 1:
            ops.isend(full(4, 1), 0, tag=0).wait()
        ops.Barrier()()
        if RANK == 1:
            ops.isend(full(4, 2), 0, tag=1)
            ops.send(full(4, 3), 0, tag=1)


def lengths() -> None:
    for size in (0, 1, 1000, 1023, 1024, 1025, 5_000_000):
        if RANK == 0:
            ops.Send(0, 1)(full(size, 7))
        elif RANK == 1:
            got = ops.Receive(0, 0, (size,), ms.float32)().asnumpy()
            assert got.shape == (size,) and (got == 7).all()


def one_way() -> None:
    """Who has nothing to send calls the exchange as well."""
    if RANK == 0:
        assert ops.BatchISendIRecv(["isend"], [1])((full(4, 5),)) == ()
    elif RANK == 1:
        (got,) = ops.BatchISendIRecv(["irecv"], [0], [[4]], [ms.float32])(())
        assert got.asnumpy().tolist() == [5] * 4
    else:
        assert ops.BatchISendIRecv([], [])(()) == ()


def unlike() -> None:
    """A message of another type or length is refused by who receives it, and is not taken for the next one."""
    for sent, shape, dtype in (
        (full(2, 1), (8,), ms.int32),
        (full(8, 1), (8,), ms.int32),
        (full(3000, 1), (2,), ms.float32),
    ):
        if RANK == 0:
            ops.Send(0, 1)(sent)
            ops.Send(0, 1)(full(2, 9))
        elif RANK == 1:
            try:
                got = ops.Receive(0, 0, shape, dtype)()
            except ValueError as error:
                text = f"rank 0 sends {sent.nbytes} bytes of Float32 to rank 1, which expects"
                assert text in str(error), error
            else:
                raise AssertionError(f"what came was believed: {got}")
            assert ops.Receive(0, 0, (2,), ms.float32)().asnumpy().tolist() == [9, 9]


def outlived() -> None:
    """What a group that is no more has sent is not taken for a message of the next one of the same processes."""
    for life in range(2):
        create_group("both", [0, 1])
        if RANK == 0:
            ops.Send(0, 1, group="both")(full(2, life))
        elif RANK == 1 and life == 1:
            got = ops.Receive(0, 0, (2,), ms.float32, group="both")().asnumpy()
            assert got.tolist() == [1, 1], got
        if RANK < 2:
            ops.Barrier(group="both")()
        destroy_group("both")


def given_up() -> None:
    """A message that comes when its receiver has heard of a failure, and has gone on, is written into nobody's tensor."""
    size = 800
    receive = ops.Receive(0, 0, (size,), ms.float32)
    ops.Barrier()()
    if RANK == 0:
        time.sleep(1.5)
        _core.watch.leave()  # so that it may send yet
        send = ops.Send(0, 1)
        for _ in range(10):
            send(full(size, 7))
        ops.Send(5, 1)(full(1, 0))
    elif RANK == 1:
        for _ in range(10):
            try:
                receive()
            except RuntimeError as error:
                assert "the disk is full" in str(error)
            else:
                raise AssertionError("nobody has heard of the failure")
        kept = [Tensor(np.zeros(size, np.float32)) for _ in range(40)]
        kept += [ops.zeros((size,), ms.float32) + 0 for _ in range(40)]
        _core.watch.leave()
        ops.Receive(5, 0, (1,), ms.float32)()  # what was sent before has come as well
        assert not any(x.asnumpy().any() for x in kept)
    else:
        time.sleep(0.5)
        _core.watch.raised("ValueError: the disk is full")
        time.sleep(3)


for name in sys.argv[1:]:
    globals()[name]()
print("all is well", flush=True)
if "given_up" in sys.argv:
    end_when_all_have(RANK, SIZE)
