"""Two processes that do not do the same."""

from __future__ import annotations

import os
import sys

import numpy as np

from mindspore import Tensor, ops
from mindspore.communication import get_rank, init

init()
RANK = get_rank()


def ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


def shapes() -> None:
    ops.AllReduce()(ones(4 + RANK))


def calls() -> None:
    (ops.AllGather() if RANK else ops.AllReduce())(ones(4))


def counts() -> None:
    ops.AlltoAllV()(ones(4), [2, 2], [2, 1])


def rows() -> None:
    ops.AllGatherV()(ones(3), [2, 4])


def target() -> None:
    ops.Send(0, RANK)(ones(3))


def scatter() -> None:
    ops.CollectiveScatter(0)(ones(3))


try:
    globals()[sys.argv[1]]()
except (RuntimeError, ValueError) as error:
    print(f"refused: {error}", flush=True)
os._exit(0)  # the others may be anywhere: nobody is waited for
