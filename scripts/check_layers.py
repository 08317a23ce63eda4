#!/usr/bin/env python3
"""Checks that C++ includes and Python imports only go down the layers of scripts/layers.txt.

Also: every quoted include exists, and only ccsrc/python includes Python.h or pybind11. Of a backend,
others include the one header of its name, and they name neither its device nor its libraries. Imports
inside functions count as well, for a late import is how a layer leaks; `if TYPE_CHECKING` does not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPP = ROOT / "mindspore" / "ccsrc"
PYTHON = ROOT / "mindspore" / "python" / "mindspore"
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
FACE = re.compile(r"backends/(\w+)/\1\.h")  # of a backend
# Devices and what their kernels are made with; one of them is where values of the host live.
DEVICE = re.compile(r"(?i:onednn|dnnl|llvm)|\b(?:CPU|AVX\w*)\b")
HOST_DEVICE = re.compile(r'kHostDevice = "\w+";$')


def read_layers(language: str, text: str) -> dict[str, set[str]]:
    """For each unit, all units that it may use (itself included)."""
    below: dict[str, set[str]] = {}
    for line in text.splitlines():
        name, _, order = line.partition(":")
        if name.strip() != language:
            continue
        seen: set[str] = set()
        for level in order.split("<"):
            units = {unit.strip() for unit in level.strip(" {}").split(",")}
            for unit in units:
                below.setdefault(unit, {unit}).update(seen)
            seen |= units
    for _ in below:  # transitive closure: lines add up
        for users in below.values():
            users.update(*(below[unit] for unit in tuple(users)))
    return below


def read_paths(text: str) -> frozenset[tuple[str, str]]:
    """(module, unit) pairs of the public module paths that re-export from above."""
    lines = [line.partition(":") for line in text.splitlines()]
    pairs = [rest.split("->") for name, _, rest in lines if name.strip() == "python-paths"]
    return frozenset((module.strip(), unit.strip()) for module, unit in pairs)


def check_cpp(allowed: dict[str, set[str]]) -> Iterator[str]:
    """Every include that goes up or sideways, or whose file does not exist."""
    for path in sorted([*CPP.rglob("*.h"), *CPP.rglob("*.cc")]):
        unit = path.relative_to(CPP).parts[0]
        if unit not in allowed:
            yield f"{path.relative_to(ROOT)}: the folder {unit} is not in scripts/layers.txt"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            where = f"{path.relative_to(ROOT)}:{number}"
            if name.startswith(("Python.h", "pybind11/")) and unit != "python":
                yield f"{where}: only ccsrc/python may include {name}"
            if quote == '"':
                if not (CPP / name).exists():
                    yield f"{where}: {name} does not exist under mindspore/ccsrc"
                elif name.split("/")[0] not in allowed[unit]:
                    yield f"{where}: {unit} may not include {name}"
                elif inside(name) and not inside(unit) and not FACE.fullmatch(name):
                    yield f"{where}: of a backend, {unit} may include backends/X/X.h alone"


def inside(path: str) -> bool:
    """Whether a path below ccsrc is of the backends."""
    return path.split("/")[0] == "backends"


def check_devices() -> Iterator[str]:
    """Every line outside of the backends that names a device, or a library that one is made with."""
    for path in sorted([*CPP.rglob("*.h"), *CPP.rglob("*.cc")]):
        if inside(path.relative_to(CPP).as_posix()):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = DEVICE.search(line)
            if match and not HOST_DEVICE.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: only backends may name {match[0]}"


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything a module imports, TYPE_CHECKING left out."""
    package = ("mindspore", *path.relative_to(PYTHON).parts[:-1])
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
            continue
        pending.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{stem}.{alias.name}") for alias in node.names)


def check_python(
    allowed: dict[str, set[str]], paths: frozenset[tuple[str, str]] = frozenset()
) -> Iterator[str]:
    """Every import that goes up or sideways; modules not named in the table may import all."""
    for path in sorted(PYTHON.rglob("*.py")):
        parts = path.relative_to(PYTHON).parts
        unit = parts[0].removesuffix(".py")
        if unit not in allowed or unit == "__init__":
            continue
        for line, name in imports(path):
            package, _, rest = name.partition(".")
            target = rest.split(".")[0]
            module = ".".join(parts).removesuffix(".py")
            if package != "mindspore" or target in allowed[unit] or (module, target) in paths:
                continue
            what = f"mindspore.{target}" if target else "the package itself"
            yield f"{path.relative_to(ROOT)}:{line}: {unit} may not import {what}"


def check_rooms(package: str, allowed: dict[str, set[str]]) -> Iterator[str]:
    """Every import between the folders of one package that goes up; its own modules may import all."""
    stem = f"mindspore.{package}."
    for folder in sorted(p.name for p in (PYTHON / package).iterdir() if p.is_dir()):
        if folder == "__pycache__":
            continue
        if folder not in allowed:
            yield f"{package}/{folder} is not in scripts/layers.txt"
            continue
        for path in sorted((PYTHON / package / folder).rglob("*.py")):
            for line, name in imports(path):
                room = name.removeprefix(stem).split(".")[0]
                if name.startswith(stem) and room not in allowed[folder]:
                    yield f"{path.relative_to(ROOT)}:{line}: {folder} may not import {name}"


def main() -> int:
    """Print every violation; the exit status says whether there was one."""
    text = (ROOT / "scripts" / "layers.txt").read_text()
    python = check_python(read_layers("python", text), read_paths(text))
    found = [*check_cpp(read_layers("c++", text)), *check_devices(), *python]
    found += check_rooms("compile", read_layers("rooms of compile", text))
    for line in found:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
