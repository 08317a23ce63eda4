"""One of two processes waits for what the other one never does."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.communication import create_group, get_rank, init

init()
RANK = get_rank()
begin = time.monotonic()
try:
    if sys.argv[1] == "receive" and RANK == 1:
        ops.Receive(3, 0, (8,), ms.int32)()
    if sys.argv[1] == "send" and RANK == 1:
        ops.Send(3, 0)(Tensor(np.zeros(1_000_000, np.float32)))
    if sys.argv[1] == "group" and RANK == 0:
        create_group("g", [0, 1])
    if sys.argv[1] == "each":
        ops.Receive(3, 1 - RANK, (8,), ms.int32)()
except RuntimeError as error:
    print(f"told after {time.monotonic() - begin:.1f} s: {error}", flush=True)
    os._exit(3)
