"""`python tests/fuzz SEED...` runs single programs, `--count N --seed S` many."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from fuzz.command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
