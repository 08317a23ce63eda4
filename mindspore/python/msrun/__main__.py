"""The command `msrun`."""

from __future__ import annotations

import sys

from msrun._arguments import Refused, parse
from msrun._job import run


def main() -> int:
    """Starts what the command line says and returns the exit status."""
    try:
        return run(parse(sys.argv[1:]))
    except Refused as refused:
        print(f"msrun: {refused}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
