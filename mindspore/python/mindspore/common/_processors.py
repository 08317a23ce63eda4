"""How the processes of a job that run on one machine share its processors and its devices: each has as many threads as its part,
and the device of its place."""

from __future__ import annotations

import os

from mindspore import _core, _devices
from mindspore.common._launched import launched


def share() -> None:
    """Takes this process's device, and its part of the processors, unless OMP_NUM_THREADS says how many threads there are."""
    try:
        place = launched()
    except RuntimeError:  # said where the program asks for the other processes
        return
    # Who sets RANK_SIZE by hand may mean anything by it.
    if not place.family:
        return
    _devices.local_rank = place.local_rank
    if place.local_size < 2 or os.environ.get("OMP_NUM_THREADS"):
        return
    own = os.sched_getaffinity(0)
    try:
        launchers = os.sched_getaffinity(os.getppid())
    except OSError:  # its end has come, or it is hidden
        launchers = own
    granted = _core.num_threads()
    part = part_of(granted, len(own), len(launchers | own), place.local_size)
    if part < granted:
        _core.set_num_threads(part)


def part_of(granted: int, own: int, launchers: int, processes: int) -> int:
    """The threads of one of some processes, where the machine grants `granted`, this process may run on `own` processors,
    and the launcher on `launchers`."""
    if granted < own:  # a control group grants time, to all processes together
        return max(1, granted // processes)
    # A launcher that binds each process to processors of its own has shared them already.
    return max(1, min(granted, launchers // processes))
