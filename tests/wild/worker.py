"""A process that runs cases one after the other, saying which one it is at: `python -m wild.worker KIND FIRST STEP NOTES ONLY`.

NOTES is a file of which the first eight bytes hold the number of the case under way; findings are lines of standard output.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import resource
import struct
import sys
import warnings

MEMORY = 4 << 30  # bytes
FULL = 75  # the exit status of a process whose memory is used up: another one goes on


def _is_full() -> bool:
    """Whether what the cases have left behind leaves too little for the next ones."""
    if _used() <= MEMORY // 2:
        return False
    gc.collect()
    return _used() > MEMORY // 2


def _used() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def main(kind: str, first: int, step: int, notes: str, only: str) -> None:
    """Runs every `step`-th case from `first` on."""
    from wild.cases import cases, run

    found = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what the cases print
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    with open(notes, "r+b") as file, mmap.mmap(file.fileno(), 8) as place:
        for number, case in enumerate(cases(kind, only)):
            if number < first or (number - first) % step:
                continue
            place[:8] = struct.pack("q", number)
            if what := run(case):
                print(json.dumps([str(case), what]), file=found, flush=True)
            if _is_full():
                os._exit(FULL)  # what was found is written
        place[:8] = struct.pack("q", -1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
