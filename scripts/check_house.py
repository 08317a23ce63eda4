#!/usr/bin/env python3
"""Checks the rules of the house that no other tool checks: sizes, file headers, leftovers.

A file has at most 800 lines (500 is the aim, --notes lists those above) and a header comment (a
.cc may leave that to its .h). A Python function has at most 80 lines (the aim is 50). No TODO and
no code behind #if 0. The core locks with its own Mutex, which forks know of. No type is defined twice, no rule between sections is broken in two, files that
comments and documents name exist, and a package has one version wherever it is stated.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folders whose files texts name: not those of users or other projects, nor what a build makes.
OURS = {
    path.name
    for room in (ROOT, ROOT / "mindspore/ccsrc", ROOT / "mindspore/python/mindspore")
    for path in room.iterdir()
    if path.is_dir() and path.name not in ("build", "dist")
}
FILE_AIM, FILE_LIMIT = 500, 800
FUNCTION_AIM, FUNCTION_LIMIT = 50, 80
TYPE = re.compile(r"^(?:enum class|enum|struct|class) (\w+)(?: final)?(?: : [^;{]*)?\s*\{")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{|^\}  // namespace (\S*)|^namespace (\{)")
BROKEN_RULE = re.compile(r"^[ ]*// ----.*\n[ ]*// -{8,}.*$", re.MULTILINE)
COMMENT = re.compile(r"^\s*//[^\n]*|^\s*# [^\n]*|\"\"\".*?\"\"\"", re.MULTILINE | re.DOTALL)
NAMED_FILE = re.compile(r"(?<![\w./<-])((?:[\w-]+/)+[\w-]+\.(?:h|cc|py|md|sh|txt))\b")
NAMED_PLACE = re.compile(r"`((?:[\w-]+/)+[\w.-]*)`")
PINNED = re.compile(r"\b([a-z][\w-]+)(?:==| \| )(\d+(?:\.\d+)+)")
FOREIGN_LOCK = re.compile(r"std::(?:\w+_)?mutex\b|std::call_once")
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX)\b|^\s*#\s*if\s+0\b")


def sources() -> list[Path]:
    """Our C++ and Python files."""
    places = ("mindspore", "tests", "benchmarks", "examples", "scripts", "docs", "cmake")
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
        return
    if "ccsrc" in where.parts and path.stem != "mutex" and FOREIGN_LOCK.search(text):
        yield True, f"{where}: locks with what forks do not know of: see base/mutex.h"
    for match in BROKEN_RULE.finditer(text):
        yield True, f"{where}:{text.count(chr(10), 0, match.start()) + 1}: a rule in two lines"
    if lines and not lines[0].startswith(("//", "/*")) and not path.with_suffix(".h").exists():
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


def check_types() -> Iterator[str]:
    """Types that two headers define under one name in one namespace."""
    found: dict[str, Path] = {}
    for path in sorted((ROOT / "mindspore" / "ccsrc").rglob("*.h")):
        spaces: list[str] = []
        for line in path.read_text().splitlines():
            if match := NAMESPACE.match(line):
                opened = match[1] or match[3]
                spaces = [*spaces, opened] if opened else spaces[:-1]
            elif (match := TYPE.match(line)) and "{" not in spaces:
                name = "::".join([*spaces, match[1]])
                if found.setdefault(name, path) != path:
                    other = found[name].relative_to(ROOT)
                    yield f"{path.relative_to(ROOT)}: {name} is defined in {other}, too"


def exists(name: str, beside: Path) -> bool:
    """Whether a file that a text names is there: from the root, from a room's parent, or beside the text."""
    package = ROOT / "mindspore"
    places = (ROOT, package, package / "ccsrc", package / "python", package / "python/mindspore")
    return any(
        (place / name).exists() for place in (*places, beside, ROOT / "tests", ROOT / "docs")
    )


def check_names() -> Iterator[str]:
    """Files that comments and documents name, and that are not there."""
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for path in [*sources(), *texts]:
        text = path.read_text()
        said = [text] if path.suffix == ".md" else COMMENT.findall(text)
        names = {name for part in said for name in NAMED_FILE.findall(part)}
        if path.suffix == ".md":
            names.update(NAMED_PLACE.findall(text))
        for name in sorted(names):
            if name.split("/")[0] in OURS and not exists(name, path.parent):
                yield f"{path.relative_to(ROOT)}: there is no {name}"


def check_versions() -> Iterator[str]:
    """Packages that are stated with two versions."""
    found: dict[str, tuple[str, Path]] = {}
    for path in (ROOT / "pyproject.toml", ROOT / "third_party/README.md", *ROOT.glob("*.md")):
        for package, version in PINNED.findall(path.read_text()):
            known, other = found.setdefault(package, (version, path))
            if known != version:
                yield f"{path.relative_to(ROOT)}: {package} {version}, but {known} in {other.name}"


def main() -> int:
    """Print violations (with --notes also what is above the aim but within the limit)."""
    notes = "--notes" in sys.argv
    bad = 0
    for path in sources():
        for fails, message in check_file(path):
            bad += fails
            if fails or notes:
                print(message if fails else f"note: {message}")
    for message in (*check_types(), *check_names(), *check_versions()):
        bad += 1
        print(message)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
