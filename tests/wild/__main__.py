"""`python -m wild [quick | COUNT] [NAME]`: runs the cases of targets whose names begin so, and prints the findings: a part of them, or
COUNT drawn ones of each."""

from __future__ import annotations

import sys
import time

from wild.runner import run_all

start = time.monotonic()
arguments = sys.argv[1:]
kind = next((a for a in arguments if a == "quick" or a.isdigit()), "all")
findings = run_all(kind, "".join(a for a in arguments if a != kind))
for case, what in sorted(findings):
    print(f"{case}: {what}")
print(f"{len(findings)} findings in {time.monotonic() - start:.0f} s")
