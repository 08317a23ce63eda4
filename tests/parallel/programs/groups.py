"""Groups that come and go, beside the world; and the child of a fork, which belongs to none."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from mindspore import Tensor, ops
from mindspore.communication import (
    create_group,
    destroy_group,
    get_group_size,
    get_rank,
    init,
)

init()
RANK, SIZE = get_rank(), get_group_size()
ALL = list(range(SIZE))
x = Tensor(np.ones(4, np.float32))


def shared_memory() -> int:
    return sum(1 for line in Path("/proc/self/maps").read_text().splitlines() if "/dev/shm" in line)


def come_and_go() -> None:
    """Equal groups share one memory, one after the other; what one has called is no history of the next."""
    held = []
    for i in range(30):
        name = f"g{i % 2}"
        create_group(name, ALL[::-1])
        total = ops.AllReduce(group=name)(x * (RANK + i)).asnumpy()
        assert (total == sum(rank + i for rank in ALL)).all(), total
        destroy_group(name)
        held.append(shared_memory())
    assert held[-1] == held[0], held


def late_ones() -> None:
    """Who comes late is waited for: the calls of one group are not those of another, though it is as large as the world, or has the
    name of one before."""
    create_group("all", ALL)
    for _ in range(20):
        ops.AllReduce()(x)
    for _ in range(15):
        ops.AllGather(group="all")(x)
    if RANK == 1:
        time.sleep(1.5)
    ops.AllGather(group="all")(x)
    destroy_group("all")
    create_group("all", ALL)
    if RANK == 1:
        time.sleep(1.5)
    for _ in range(3):
        ops.AllReduce(group="all")(x)
    destroy_group("all")


def fork() -> None:
    if RANK == 0:
        child = os.fork()
        if child == 0:
            sys.exit(0)  # with what is registered for the end
        assert os.waitpid(child, 0)[1] == 0
    assert (ops.AllReduce()(x).asnumpy() == SIZE).all()


come_and_go()
late_ones()
fork()
for refused in (None, "hccl_world_group"):
    try:
        destroy_group(refused)
    except (TypeError, ValueError) as error:
        assert "destroy_group" in str(error)
    else:
        raise AssertionError(refused)
print("all is well", flush=True)
