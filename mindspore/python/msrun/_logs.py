"""The logs of processes, as `msrun` shows them."""

from __future__ import annotations

import sys
from pathlib import Path


class Tail:
    """Shows what is written to a file, in whole lines, as it comes."""

    def __init__(self, path: Path):
        self.path = path
        self.offset = 0

    def show(self, whole: bool = False) -> bool:
        """Whether there was something; with `whole`, what has no end of line, too."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                bytes_ = file.read(1 << 20)
        except OSError:  # it is not there yet
            return False
        if not whole:
            bytes_ = bytes_[: bytes_.rfind(b"\n") + 1]
        elif bytes_ and not bytes_.endswith(b"\n"):
            bytes_ += b"\n"
        if not bytes_:
            return False
        self.offset += len(bytes_)
        sys.stdout.write(bytes_.decode(errors="replace"))
        sys.stdout.flush()
        return self.show(whole) if whole else True


def last_lines(path: Path, count: int) -> list[str]:
    """The last lines of a file; none where there is no file."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - 20_000))
            return file.read().decode(errors="replace").splitlines()[-count:]
    except OSError:
        return []
