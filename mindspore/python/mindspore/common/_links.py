"""The machine that plans are made for where processes have come together: how long their collectives take, and what one of them computes
in a second. Measured once, by all of them together; all go by what the first has seen, so that all make one plan."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mindspore import _core
from mindspore.common import _groups

Axis = tuple[str, int, float, float]  # name, size, seconds for each message, seconds for each byte


class Link(NamedTuple):
    """What a collective between neighbours takes."""

    alpha: float  # seconds for each message
    beta: float  # seconds for each byte


class Machine(NamedTuple):
    """Links within a host and between hosts, how many processes a host has, and what one of them does."""

    inner: Link
    outer: Link
    host: int
    device: dict[str, float]


MEMORY = Link(3e-6, 1 / 8e9)  # processes of one host, through its memory, where nobody has measured
HOST = {"flops": 1e11, "bytes": 2e10, "launch": 2e-6, "memory": 0}  # a few cores
UNKNOWN = Machine(MEMORY, MEMORY, 1 << 20, HOST)
_measured: dict[int, Machine] = {}  # by the number of processes
_LARGE = 1 << 20  # elements of the sum that shows what a byte takes
_PRODUCT, _COPIED = 512, 1 << 21  # rows of matrices, elements
_TIMES = 5


def machine() -> Machine:
    """That of the processes that have come together. At the first call all of them must call it."""
    size = _groups.world_size()
    if size not in _measured:
        _measured[size] = _measure()
    return _measured[size]


def axes_with_links(axes: Sequence[tuple[str, int]], made: Machine) -> tuple[Axis, ...]:
    """Axes, the outermost first, with what the links along them take."""
    found: list[Axis] = []
    stride = 1
    for name, size in reversed(axes):
        stride *= size
        link = made.inner if stride <= made.host else made.outer
        found.insert(0, (name, size, *link))
    return tuple(found)


def _measure() -> Machine:
    rank, size, _, local = _groups.world()
    own = _device()
    if size == 1:
        return UNKNOWN._replace(device=own)
    outer = inner = _link(_groups.WORLD, size)
    if 1 < local < size and size % local == 0:
        first = rank - rank % local
        name = f"the links of host {first // local}"
        if not _groups.known(name):
            _groups.make(name, list(range(first, first + local)))
        inner = _link(name, local)
    seen = json.loads(_core.share_text(json.dumps([inner, outer, own])))
    return Machine(Link(*seen[0]), Link(*seen[1]), local, seen[2])


def _link(group: str, ranks: int) -> Link:
    """From the time of small sums and of large ones, as the planner counts sums."""
    small, large = _core.time_sums(group, 1, 40), _core.time_sums(group, _LARGE, _TIMES)
    sent = 2 * 4 * _LARGE * (ranks - 1) / ranks
    rounds = 1 + 2 * math.ceil(math.log2(ranks))
    return Link(max(small / rounds, 1e-8), max(large - small, 1e-9) / sent)


def _device() -> dict[str, float]:
    """What one process computes in a second, with the threads that it has."""
    import numpy as np

    with _core.NoRecord():
        a = _core.Tensor(np.ones((_PRODUCT, _PRODUCT), np.float32))
        b = _core.Tensor(np.ones(_COPIED, np.float32))
        product = _least(lambda: a.matmul(a))
        added = _least(lambda: b + b)
    byte = added / (3 * 4 * _COPIED)
    # The planner counts the bytes of a product beside what it multiplies.
    multiplied = max(product - 3 * 4 * _PRODUCT**2 * byte, product / 2)
    return {**HOST, "flops": 2 * _PRODUCT**3 / multiplied, "bytes": 1 / byte}


def _least(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


__all__ = ["HOST", "MEMORY", "UNKNOWN", "Axis", "Link", "Machine", "axes_with_links", "machine"]
