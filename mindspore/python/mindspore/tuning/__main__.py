"""The command `python -m mindspore.tuning`: prints and merges files of tunings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mindspore import tuning


def _show(path: Path) -> None:
    for name, kernels in sorted(tuning.read(path).items()):
        print(name)
        for key, entry in sorted(kernels.items()):
            state = "" if entry["complete"] else ", not complete"
            print(
                f"  {key}  {tuning.gain(entry):5.2f} x  {entry['tuning'] or 'plain loops'}{state}"
            )


def main(arguments: list[str] | None = None) -> int:
    """`merge OUT FILE...` or `show [FILE]`."""
    parser = argparse.ArgumentParser(prog="python -m mindspore.tuning", description=tuning.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    merging = commands.add_parser("merge", help="make one file of several; OUT keeps what it has")
    merging.add_argument("out", type=Path)
    merging.add_argument("files", type=Path, nargs="+")
    showing = commands.add_parser("show", help="print what was found, and how much it gains")
    showing.add_argument("file", type=Path, nargs="?", default=tuning.cache_path())
    options = parser.parse_args(arguments)
    if options.command == "show":
        if options.file:
            _show(options.file)
        return 0
    bad = [str(path) for path in options.files if not tuning.read(path)]
    if bad:
        print(
            f"For 'merge', files must hold results of tuning, but got {', '.join(bad)}.",
            file=sys.stderr,
        )
        return 1
    try:
        tuning.add(options.out, tuning.merge(*(tuning.read(path) for path in options.files)))
    except OSError as error:
        print(f"For 'merge', OUT must be writable, but got {error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
