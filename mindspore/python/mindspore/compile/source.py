"""The syntax tree of a function, found from its code object: each file is parsed once."""

from __future__ import annotations

import ast
import linecache
import sys
import types
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """Where a function was written. `node` is a FunctionDef or a Lambda."""

    node: ast.AST
    file: str
    name: str


class NoSource(Exception):
    """The text of a function is not available, or does not single it out."""


_LONG = 20_000  # lines
_trees: dict[str, tuple[int, dict[int, list[ast.AST]]]] = {}
_sources: dict[types.CodeType, Source] = {}


def find_source(function: types.FunctionType) -> Source:
    """The source of a Python function; NoSource says why there is none."""
    code = function.__code__
    found = _sources.get(code)
    if found is None:
        found = _sources[code] = Source(
            _find_node(code, function.__globals__),
            code.co_filename,
            code.co_qualname if hasattr(code, "co_qualname") else function.__qualname__,
        )
    return found


def _find_node(code: types.CodeType, module_globals: dict) -> ast.AST:
    is_lambda = code.co_name == "<lambda>"
    lines = linecache.getlines(code.co_filename, module_globals) or _given_lines(code)
    by_line = None if is_lambda or len(lines) <= _LONG else _functions_of_block(lines, code)
    if by_line is None:
        by_line = _functions_by_line(code.co_filename, lines)
    candidates = by_line.get(code.co_firstlineno, [])
    fitting = [
        n
        for n in candidates
        if (isinstance(n, ast.Lambda) if is_lambda else getattr(n, "name", "") == code.co_name)
    ]
    if len(fitting) > 1:
        fitting = _at_positions(fitting, code) or [n for n in fitting if _same_code(n, code)]
    if not fitting:
        raise NoSource(f"the source of '{code.co_name}' is not available ({code.co_filename})")
    if len(fitting) > 1:
        raise NoSource(
            f"several functions on line {code.co_firstlineno} of {code.co_filename} look the same"
        )
    return fitting[0]


def _given_lines(code: types.CodeType) -> list[str]:
    """The program that was given to `python -c`, if the function is part of it."""
    options = getattr(sys, "orig_argv", [])
    text = options[options.index("-c") + 1] if "-c" in options[:-1] else ""
    if code.co_filename != "<string>" or not text:
        return []
    try:
        pending: list = [compile(text, code.co_filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, MemoryError):
        return []
    while pending:
        made = pending.pop()
        if made == code:
            return text.splitlines(keepends=True)
        pending.extend(c for c in made.co_consts if isinstance(c, types.CodeType))
    return []


def _functions_by_line(file: str, lines: list[str]) -> dict[int, list[ast.AST]]:
    if not lines:
        raise NoSource(f"the source file {file} is not available")
    text = "".join(lines)
    known = _trees.get(file)
    if known and known[0] == hash(text):
        return known[1]
    by_line = _index(_parse(text, file))
    _trees[file] = (hash(text), by_line)
    return by_line


def _index(tree: ast.AST) -> dict[int, list[ast.AST]]:
    """The functions in a tree by their first lines."""
    by_line: dict[int, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            by_line.setdefault(first, []).append(node)
        elif isinstance(node, ast.Lambda):
            by_line.setdefault(node.lineno, []).append(node)
    return by_line


def _functions_of_block(lines: list[str], code: types.CodeType) -> dict[int, list[ast.AST]] | None:
    """Of a long file only the function is parsed, with its indentation, so that columns are right. None where its end is not
    certain."""
    first, inside = code.co_firstlineno, lines[code.co_firstlineno - 1][:1].isspace()
    text = "if 1:\n" * inside + "".join(lines[first - 1 : _last_line(code)])
    try:
        tree = ast.parse(text, code.co_filename)
    except (SyntaxError, ValueError):
        return None
    return _index(ast.increment_lineno(tree, first - 1 - inside))


def _last_line(code: types.CodeType) -> int:
    if hasattr(code, "co_positions"):
        ends = (end for _, end, _, _ in code.co_positions() if end is not None)
    else:
        ends = (line for _, _, line in code.co_lines() if line is not None)
    inner = (_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return max(code.co_firstlineno, *ends, *inner)


def _parse(text: str, file: str) -> ast.AST:
    try:
        return ast.parse(text, file)
    except (SyntaxError, ValueError, MemoryError) as error:
        raise NoSource(f"{file} could not be parsed: {error}") from None


def _at_positions(lambdas: list, code: types.CodeType) -> list:
    """Of lambdas on one line the one that the instructions stand in, where Python notes their columns."""
    if not hasattr(code, "co_positions"):
        return []
    found = [p for p in code.co_positions() if None not in p and p[3] > 0]
    if not found:
        return []
    first, last = min((p[0], p[2]) for p in found), max((p[1], p[3]) for p in found)
    around = [
        n
        for n in lambdas
        if isinstance(n, ast.Lambda) and _start(n.body) <= first and last <= _end(n.body)
    ]
    return sorted(around, key=_start)[-1:]  # the innermost


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def _same_code(node: ast.AST, code: types.CodeType) -> bool:
    """Compiles a candidate alone and compares what it does."""
    if isinstance(node, ast.Lambda):
        compiled = compile(ast.Expression(node), code.co_filename, "eval")
    else:
        compiled = compile(ast.Module([node], []), code.co_filename, "exec")
    inner = [
        c for c in compiled.co_consts if isinstance(c, types.CodeType) and c.co_name == code.co_name
    ]
    return any(
        c.co_consts == code.co_consts
        and c.co_varnames == code.co_varnames
        and set(c.co_names) | set(c.co_freevars) >= set(code.co_names)
        and _free_names(c) == _free_names(code)
        for c in inner
    )


def _free_names(code: types.CodeType) -> set[str]:
    return set(code.co_names) | set(code.co_freevars)


# ---- names ----------------------------------------------------------------------------------------------------------
def local_names(function: Any) -> frozenset[str]:
    """The names that a function assigns anywhere, which makes them its own everywhere in it."""
    known = getattr(function, "local_names", None)
    if known is None:
        found = _Assigned()
        for part in function.body if isinstance(function.body, list) else [function.body]:
            found.visit(part)
        known = function.local_names = frozenset(found.names - found.outer)
    return known


class _Assigned(ast.NodeVisitor):
    """Names that statements assign, but not those of functions and comprehensions inside."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.outer: set[str] = set()  # declared global or nonlocal
        self.inside = 0  # nesting of comprehensions

    def visit_Name(self, node: ast.Name) -> None:
        if not self.inside and not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.names.add(node.target.id)
        self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def _pattern(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.names.add(node.rest)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.names.add(node.asname or node.name.partition(".")[0])

    def _declared(self, node: ast.Global | ast.Nonlocal) -> None:
        self.outer.update(node.names)

    def _function(self, node: Any) -> None:
        self.names.add(node.name)
        for part in [*node.decorator_list, *_defaults(node)]:
            self.visit(part)

    def _comprehension(self, node: ast.AST) -> None:
        self.inside += 1
        self.generic_visit(node)
        self.inside -= 1

    visit_MatchAs = visit_MatchStar = _pattern
    visit_Global = visit_Nonlocal = _declared
    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _function
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _defaults(node):
            self.visit(part)


def _defaults(node: Any) -> list[ast.expr]:
    arguments = getattr(node, "args", None)
    return [d for d in [*arguments.defaults, *arguments.kw_defaults] if d] if arguments else []
