#!/usr/bin/env python3
"""Prints the Python packages of groups, one a line, as pyproject.toml states them: `packages.py [--oldest] build run test`.

`build` is what building needs, `run` what the package itself does; the others are its optional dependencies. With --oldest `run` is the
oldest that is allowed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def packages(*groups: str, oldest: bool = False) -> list[str]:
    """The requirements of these groups."""
    stated = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    known = {
        "build": stated["build-system"]["requires"],
        "run": [
            re.sub(r">=([\d.]+)", r"==\1.*", text) if oldest else text
            for text in stated["project"]["dependencies"]
        ],
        **stated["project"]["optional-dependencies"],
    }
    return list(dict.fromkeys(text for group in groups for text in known[group]))


if __name__ == "__main__":
    wanted = [word for word in sys.argv[1:] if word != "--oldest"]
    print("\n".join(packages(*wanted, oldest="--oldest" in sys.argv)))
