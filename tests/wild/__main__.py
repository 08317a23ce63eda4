"""`python -m wild [quick] [NAME]`: runs the cases of targets whose names begin so, and prints the findings."""

from __future__ import annotations

import sys
import time

from wild.runner import run_all

start = time.monotonic()
quick = "quick" in sys.argv
findings = run_all(quick, "".join(a for a in sys.argv[1:] if a != "quick"))
for case, what in sorted(findings):
    print(f"{case}: {what}")
print(f"{len(findings)} findings in {time.monotonic() - start:.0f} s")
