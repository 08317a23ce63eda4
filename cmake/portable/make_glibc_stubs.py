#!/usr/bin/env python3
"""Makes libraries to link against in place of glibc's: `make_glibc_stubs.py FOLDER [LIMIT]`.

Every glibc still has the symbols of all before it, but a linker takes the newest of each name. The libraries made here name, of
what this machine's glibc has, the newest that is not above LIMIT (2.28): what is linked against them runs from that version on, and
what has no such symbol fails to link instead of failing to load. They hold no code and are never run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LIMIT = "2.28"
LIBRARIES = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2")
LINE = re.compile(
    r"\d+: \w+ +(\w+) (FUNC|IFUNC|OBJECT) +\w+ +\w+ +(?!UND)\w+ (\S+?)@@?GLIBC_([\d.]+)$"
)


class Symbol(NamedTuple):
    """One that a library defines."""

    name: str
    version: tuple[int, ...]
    is_function: bool
    size: int


def number(version: str) -> tuple[int, ...]:
    """A version as what can be compared."""
    return tuple(map(int, version.split(".")))


def symbols_up_to(limit: str, listing: str) -> list[Symbol]:
    """The newest symbol of each name in what `readelf --dyn-syms` lists that is not above the limit."""
    newest: dict[str, Symbol] = {}
    for line in listing.splitlines():
        if not (match := LINE.match(line.strip())):
            continue
        size, kind, name, version = match.groups()
        symbol = Symbol(name, number(version), kind != "OBJECT", int(size, 0))
        before = newest.get(name)
        if symbol.version <= number(limit) and (not before or before.version < symbol.version):
            newest[name] = symbol
    return sorted(newest.values())


def assembly(symbols: list[Symbol]) -> Iterator[str]:
    """The text that defines them, functions and objects of their sizes."""
    for i, symbol in enumerate(symbols):
        kind, section = ("function", ".text") if symbol.is_function else ("object", ".data")
        yield f"{section}\n.globl ms_stub{i}\n.type ms_stub{i},@{kind}\n.size ms_stub{i},{max(symbol.size, 1)}"
        yield f"ms_stub{i}: .skip {1 if symbol.is_function else max(symbol.size, 1)}"
        version = ".".join(map(str, symbol.version))
        yield f".symver ms_stub{i}, {symbol.name}@@GLIBC_{version}, remove"


def make(folder: Path, name: str, limit: str) -> None:
    """Makes one library."""
    compiler = ["gcc", f"-print-file-name={name}"]
    real = subprocess.run(compiler, check=True, capture_output=True, text=True).stdout.strip()
    listed = subprocess.run(
        ["readelf", "--dyn-syms", "--wide", real], check=True, capture_output=True, text=True
    )
    symbols = symbols_up_to(limit, listed.stdout)
    text, script = folder / f"{name}.s", folder / f"{name}.map"
    text.write_text("\n".join((*assembly(symbols), '.section .note.GNU-stack,"",@progbits', "")))
    versions = sorted({symbol.version for symbol in symbols})
    nodes = [f"GLIBC_{'.'.join(map(str, version))} {{ }};" for version in versions]
    script.write_text("\n".join(nodes) + "\n")
    command = [
        "gcc",
        "-shared",
        "-nostdlib",
        f"-Wl,-soname,{name}",
        f"-Wl,--version-script={script}",
    ]
    subprocess.run([*command, "-o", folder / name, text], check=True)


def main() -> None:
    """Makes all, and the script that stands for -lc as glibc's own does."""
    folder, limit = Path(sys.argv[1]).resolve(), (sys.argv[2:] or [LIMIT])[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name in LIBRARIES:
        make(folder, name, limit)
    (folder / "libm.so").unlink(missing_ok=True)
    (folder / "libm.so").symlink_to("libm.so.6")
    shared, loader = folder / "libc.so.6", folder / "ld-linux-x86-64.so.2"
    rest = subprocess.run(
        ["gcc", "-print-file-name=libc_nonshared.a"], capture_output=True, text=True
    )
    (folder / "libc.so").write_text(
        f"GROUP ( {shared} {rest.stdout.strip()} AS_NEEDED ( {loader} ) )\n"
    )


if __name__ == "__main__":
    main()
