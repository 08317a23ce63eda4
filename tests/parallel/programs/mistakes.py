"""Two processes that do not do the same."""

from __future__ import annotations

import sys

import numpy as np
from ends import end_when_all_have

from mindspore import Tensor, ops
from mindspore.communication import create_group, get_rank, init

init()
RANK = get_rank()


def ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


def shapes() -> None:
    ops.AllReduce()(ones(4 + RANK))


def calls() -> None:
    (ops.AllGather() if RANK else ops.AllReduce())(ones(4))


def reductions() -> None:
    ops.AllReduce("max" if RANK else "sum")(ones(4))


def roots() -> None:
    ops.Broadcast(RANK)((ones(4),))


def gathers() -> None:
    ops.AllGatherV()(ones(2), [2, 3] if RANK == 0 else [3, 2])


def scatters() -> None:
    ops.ReduceScatterV("sum")(ones(5), [2, 3] if RANK == 0 else [3, 2])


def counts() -> None:
    """One of them alone is wrong; both refuse, and the next call is a call of both."""
    try:
        ops.AlltoAllV()(ones(4), [2, 2], [2, 2] if RANK else [2, 1])
    finally:
        come = ops.AlltoAllV()(ones(4) + RANK, [2, 2], [2, 2]).asnumpy()
        assert come.tolist() == [1, 1, 2, 2], come


def rows() -> None:
    ops.AllGatherV()(ones(3), [2, 4])


def target() -> None:
    ops.Send(0, RANK)(ones(3))


def scatter() -> None:
    ops.CollectiveScatter(0)(ones(3))


def members() -> None:
    create_group("g", [RANK, 1 - RANK])


try:
    globals()[sys.argv[1]]()
except (RuntimeError, ValueError) as error:
    print(f"refused by {RANK}: " + str(error).replace("\n", " "), flush=True)
end_when_all_have(RANK, 2)  # the others may be anywhere: nobody is waited for in a call
