"""Arguments that an object keeps and that nothing reads: stored on `self` as they are, in a class of whose attribute neither its own modules,
nor those that name it, nor the core ask again."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mindspore
from differential.ignored import methods

_PACKAGE = Path(mindspore.__file__).parent
# Not by the package's own place: it may be installed elsewhere.
_CORE = Path(__file__).parents[2] / "mindspore" / "ccsrc" / "python"


class _Source(NamedTuple):
    """The words of a module, and those that it reads as attributes or has as texts."""

    words: frozenset[str]
    reads: frozenset[str]


def kept(value: type) -> dict[str, list[str]]:
    """By method, the arguments that a class stores and of which nothing comes."""
    found = {}
    for name, function in (("__init__", value.__init__), *methods(value)):  # type: ignore[misc]
        if isinstance(function, type(kept)) and function.__module__.startswith("mindspore."):
            stored = _stored(inspect.unwrap(function))
            if stored and (idle := [a for a, at in stored.items() if not at & _reads(value)]):
                found[name] = idle
    return found


def _stored(function: Any) -> dict[str, set[str]]:
    """The attributes that arguments are stored as, of those that are used for nothing else."""
    try:
        (made,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    names = set(inspect.signature(function).parameters)
    loads = [n.id for n in ast.walk(made) if isinstance(n, ast.Name) and _is_read(n)]
    stored: dict[str, set[str]] = {}
    for node in ast.walk(made):
        for target, value in _assigned(node):
            is_own = isinstance(target, ast.Attribute) and isinstance(value, ast.Name)
            if is_own and value.id in names and ast.unparse(target.value) == "self":
                stored.setdefault(value.id, set()).add(target.attr)
    return {name: at for name, at in stored.items() if loads.count(name) == len(at)}


def _is_read(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _assigned(node: ast.AST) -> Iterator[tuple[Any, Any]]:
    for target in node.targets if isinstance(node, ast.Assign) else ():
        assert isinstance(node, ast.Assign)
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts)
        else:
            yield target, node.value


def _reads(value: type) -> frozenset[str]:
    """What is read where the class, its bases and what derives from it are written or named."""
    family = {c for c in value.__mro__ if c.__module__.startswith("mindspore.")} | _below(value)
    homes = {getattr(sys.modules.get(c.__module__), "__file__", None) for c in family}
    names = {value.__name__}
    read = [s.reads for path, s in _sources().items() if path in homes or s.words & names]
    return frozenset().union(_of_core(), *read)


def _below(value: type) -> set[type]:
    return {c for below in type.__subclasses__(value) for c in (below, *_below(below))}


@functools.cache
def _sources() -> dict[str, _Source]:
    return {str(p): _source(p.read_text()) for p in _PACKAGE.rglob("*.py")}


def _source(text: str) -> _Source:
    reads = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and _is_read(node):
            reads.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            reads.add(node.value)
    return _Source(frozenset(re.findall(r"\w+", text)), frozenset(reads))


@functools.cache
def _of_core() -> frozenset[str]:
    texts = (p.read_text() for p in _CORE.rglob("*.*") if p.suffix in (".cc", ".h"))
    return frozenset(word for text in texts for word in re.findall(r'"(\w+)"', text))
