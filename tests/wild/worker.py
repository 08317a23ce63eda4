"""A process that runs cases one after the other, saying which one it is at: `python -m wild.worker KIND FIRST STEP NOTES ONLY`.

NOTES is a file of which the first eight bytes hold the number of the case under way; findings are lines behind them.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import struct
import sys
import warnings

MEMORY = 4 << 30  # bytes


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
        place[:8] = struct.pack("q", -1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
