"""The syntax tree of a function, found from its code object. What is compiled is what runs: a text counts only where it makes this
very code (see written.py). A file that was edited since its function was made tells nothing about it."""

from __future__ import annotations

import ast
import linecache
import sys
import types
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mindspore.compile.program.places import name_for_core, shown
from mindspore.compile.program.recent import put
from mindspore.compile.program.written import FileText, Written, quietly


@dataclass(frozen=True)
class Source:
    """Where a function was written. `node` is a FunctionDef or a Lambda, `around` the outermost function that it stands in."""

    node: ast.AST
    around: ast.AST
    file: str
    name: str
    core_file: str  # as the core names it


class NoSource(Exception):
    """The text of a function is not available, or is not what it was made from: a sentence about the function."""


_LONG = 20_000  # lines
_MAX_TEXTS = 4  # of one file: functions may be older than its last text
_MAX_FILES = 1000
_texts: dict[str, dict[int, FileText]] = {}  # by file, and by hash; the latest last
_sources: dict[int, Source] = {}  # by id of the code


def find_source(function: types.FunctionType) -> Source:
    """The source of a Python function; NoSource says why there is none."""
    code = function.__code__
    found = _sources.get(id(code))
    if found is None:
        written = _find(code, function.__globals__)
        found = Source(
            written.mangled(code),
            written.unit.statement,
            code.co_filename,
            getattr(code, "co_qualname", function.__qualname__),
            name_for_core(code.co_filename),
        )
        _sources[id(code)] = found
        weakref.finalize(code, _sources.pop, id(code), None).atexit = False
    return found


def _find(code: types.CodeType, space: dict) -> Written:
    name, file = code.co_name, code.co_filename
    text: FileText | None = None
    for text in _texts_of(code, space):
        written = text.find(code, space)
        if written is not None:
            return written
    if text is None or file == "<string>":  # that of anything
        raise NoSource(
            f"the function '{name}' could not be parsed: its text is not available ({shown(file)})"
        )
    written = text.find_moved(code, space)
    if written is None:
        raise NoSource(
            f"the function '{name}' is not what its text says: {shown(file)} was changed after '{name}' was made from it, or was "
            "rewritten as it was imported; import it again, as it is now, to have it compiled"
        )
    return written


def _texts_of(code: types.CodeType, space: dict) -> Iterator[FileText]:
    """What may hold the text of a function, the current text of its file last."""
    file = code.co_filename
    lines = linecache.getlines(file, space)
    if len(lines) > _LONG:
        yield from _part_around(lines, code)
    yield from _parsed(file, lines)
    if file == "<string>" and "-c" in sys.orig_argv[:-1]:
        given = sys.orig_argv[sys.orig_argv.index("-c") + 1]
        yield from _parsed(file, given.splitlines(keepends=True))
    yield from list(_texts.get(file, {}).values())
    if getattr(space.get("__spec__"), "origin", None) == file:
        yield from _parsed(file, _loaded(space))
    linecache.checkcache(file)
    yield from _parsed(file, linecache.getlines(file, space))


def _loaded(space: dict) -> list[str]:
    """The text that the loader of a module gives now: that of a module in an archive, say."""
    try:
        text = space["__spec__"].loader.get_source(space["__spec__"].name)
    except (AttributeError, ImportError, OSError, SyntaxError, ValueError):
        return []
    return (text or "").splitlines(keepends=True)


def _parsed(file: str, lines: list[str]) -> list[FileText]:
    """The text of a file, if it can be parsed; each is parsed once."""
    text = "".join(lines)
    if not text:
        return []
    known = _texts.get(file, {})
    try:
        found = known.get(hash(text)) or FileText(text, file)
    except (SyntaxError, ValueError, MemoryError):
        return []
    put(_texts, file, known, _MAX_FILES)
    return [put(known, hash(text), found, _MAX_TEXTS)]


def _part_around(lines: list[str], code: types.CodeType) -> list[FileText]:
    """Of a long file only the function is parsed, with its indentation, so that columns are right; nothing where its end is not
    certain."""
    first = code.co_firstlineno
    part = "".join(lines[first - 1 : _last_line(code)])
    inside = part[:1].isspace()
    try:
        tree = quietly(lambda: ast.parse("if 1:\n" * inside + part, code.co_filename))
    except (SyntaxError, ValueError):
        return []
    return [FileText(part, code.co_filename, ast.increment_lineno(tree, first - 1 - inside), first)]


def _last_line(code: types.CodeType) -> int:
    if hasattr(code, "co_positions"):
        ends = (end for _, end, _, _ in code.co_positions() if end is not None)
    else:
        ends = (line for _, _, line in code.co_lines() if line is not None)
    inner = (_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return max(code.co_firstlineno, *ends, *inner)


def docstring(function: Any) -> str | None:
    """That of a function in a tree, as Python keeps it: with -OO not at all, and since 3.13 without its indentation."""
    if sys.flags.optimize > 1 or isinstance(function, ast.Lambda):
        return None
    return ast.get_docstring(function, clean=sys.version_info >= (3, 13))


# ---- names ----------------------------------------------------------------------------------------------------------
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Of what binds a name by itself, the field that holds it.
_BINDING = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), "name"),
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), "name"),
    ast.MatchMapping: "rest",
}


def own_nodes(function: Any) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions and classes inside it."""
    body = getattr(function, "body", [])
    pending = list(body) if isinstance(body, list) else [body]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):  # what it is made of is evaluated outside
            arguments = [getattr(node, "args", None)]
            defaults = [d for a in arguments if a for d in (*a.defaults, *a.kw_defaults) if d]
            pending += [*getattr(node, "decorator_list", ()), *defaults]
        else:
            pending += ast.iter_child_nodes(node)


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that these nodes bind or delete, each looked at alone."""
    found: set[str | None] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        else:
            found.add(getattr(node, _BINDING.get(type(node), ""), None))
    return {name for name in found if name is not None}


def stored_names(nodes: list) -> set[str]:
    """Variables that these statements or expressions assign."""
    return bound_names(n for node in nodes for n in ast.walk(node))


def local_names(function: Any) -> frozenset[str]:
    """The names that a function assigns anywhere, which makes them its own everywhere in it."""
    known = getattr(function, "local_names", None)
    if known is None:
        nodes = list(own_nodes(function))
        loops = (n.target for n in nodes if isinstance(n, ast.comprehension))
        inside = {n for target in loops for n in ast.walk(target)}  # variables of comprehensions
        outer = {v for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for v in n.names}
        known = function.local_names = frozenset(bound_names(set(nodes) - inside) - outer)
    return known


def names_around(source: Source) -> set[str]:
    """The variables of the functions that a function stands in, whether it reads them or not."""
    names: set[str] = set()
    inner: Any = source.node
    for outer in ast.walk(source.around):
        if isinstance(outer, _FUNCTIONS):
            if outer is not inner and outer.lineno <= inner.lineno <= (outer.end_lineno or 0):
                names |= local_names(outer)
                names |= {a.arg for a in ast.walk(outer.args) if isinstance(a, ast.arg)}
    return names
