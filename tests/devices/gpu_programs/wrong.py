"""What goes wrong between ranks that have GPUs: `wrong.py WHAT` prints the error that rank 0 gets."""

from __future__ import annotations

import os
import sys

import numpy as np

from mindspore import Tensor, ops
from mindspore.communication import get_rank, init

WHAT = sys.argv[1]
init()
total = ops.AllReduce()
x = Tensor(np.ones(4, np.float32))
try:
    if WHAT not in ("missing", "same", "refuse"):
        assert total(x).asnumpy()[0] == 2
    if get_rank() == 1 and WHAT == "died":
        os.kill(os.getpid(), 9)
    if get_rank() == 1 and WHAT == "left":
        sys.exit()
    if get_rank() == 1 and WHAT == "raised":
        raise KeyError("of rank 1")
    if get_rank() == 1 and WHAT == "another":
        print(ops.AllGather()(x).asnumpy())
    print(total(x).asnumpy())
except RuntimeError as error:
    if get_rank() == 0:
        print(f"rank 0 heard: {error}", flush=True)
    raise
