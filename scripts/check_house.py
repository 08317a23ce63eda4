#!/usr/bin/env python3
"""Checks the rules of the house that no other tool checks: sizes, file headers, leftovers.

A file has at most 800 lines (500 is the aim, --notes lists those above) and a header comment (a
.cc may leave that to its .h). A Python function has at most 80 lines (the aim is 50). No TODO and
no code behind #if 0.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_AIM, FILE_LIMIT = 500, 800
FUNCTION_AIM, FUNCTION_LIMIT = 50, 80
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX)\b|^\s*#\s*if\s+0\b")


def sources() -> list[Path]:
    """Our C++ and Python files."""
    places = ("mindspore", "tests", "benchmarks", "scripts", "docs", "cmake")
    found = (path for place in places for path in (ROOT / place).rglob("*.*"))
    return sorted(path for path in found if path.suffix in (".py", ".cc", ".h"))


def check_file(path: Path) -> Iterator[tuple[bool, str]]:
    """(whether it fails the check, message) for one file."""
    text = path.read_text()
    lines = text.splitlines()
    where = path.relative_to(ROOT)
    if len(lines) > FILE_AIM:
        yield len(lines) > FILE_LIMIT, f"{where}: {len(lines)} lines, the aim is {FILE_AIM}"
    if path != Path(__file__).resolve():
        for number, line in enumerate(lines, 1):
            if LEFTOVER.search(line):
                yield True, f"{where}:{number}: leftover: {line.strip()[:60]}"
    if path.suffix == ".py":
        yield from check_python(where, text)
    elif lines and not lines[0].startswith(("//", "/*")) and not path.with_suffix(".h").exists():
        yield True, f"{where}:1: needs a header comment: what lives here and why"


def check_python(where: Path, text: str) -> Iterator[tuple[bool, str]]:
    """The header docstring and the length of each function."""
    tree = ast.parse(text)
    if tree.body and not ast.get_docstring(tree):
        yield True, f"{where}:1: needs a docstring: what lives here and why"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            documented = ast.get_docstring(node) is not None
            start = first.end_lineno if documented else first.lineno - 1
            size = (node.end_lineno or 0) - (start or 0)
            if size > FUNCTION_AIM:
                message = f"{where}:{node.lineno}: {node.name} has {size} lines, the aim is 50"
                yield size > FUNCTION_LIMIT, message


def main() -> int:
    """Print violations (with --notes also what is above the aim but within the limit)."""
    notes = "--notes" in sys.argv
    bad = 0
    for path in sources():
        for fails, message in check_file(path):
            bad += fails
            if fails or notes:
                print(message if fails else f"note: {message}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
