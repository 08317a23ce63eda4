"""The syntax tree of a function, found from its code object: each file is parsed once."""

from __future__ import annotations

import ast
import linecache
import types
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where a function was written. `node` is a FunctionDef or a Lambda."""

    node: ast.AST
    file: str
    name: str


class NoSource(Exception):
    """The text of a function is not available, or does not single it out."""


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
    candidates = _functions_by_line(code.co_filename, module_globals).get(code.co_firstlineno, [])
    is_lambda = code.co_name == "<lambda>"
    fitting = [
        n
        for n in candidates
        if (isinstance(n, ast.Lambda) if is_lambda else getattr(n, "name", "") == code.co_name)
    ]
    if len(fitting) > 1:
        fitting = [n for n in fitting if _same_code(n, code)]
    if not fitting:
        raise NoSource(f"the source of '{code.co_name}' is not available ({code.co_filename})")
    if len(fitting) > 1:
        raise NoSource(
            f"several functions on line {code.co_firstlineno} of {code.co_filename} look the same"
        )
    return fitting[0]


def _functions_by_line(file: str, module_globals: dict) -> dict[int, list[ast.AST]]:
    lines = linecache.getlines(file, module_globals)
    if not lines:
        raise NoSource(f"the source file {file} is not available")
    text = "".join(lines)
    known = _trees.get(file)
    if known and known[0] == hash(text):
        return known[1]
    by_line: dict[int, list[ast.AST]] = {}
    for node in ast.walk(ast.parse(text, file)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            by_line.setdefault(first, []).append(node)
        elif isinstance(node, ast.Lambda):
            by_line.setdefault(node.lineno, []).append(node)
    _trees[file] = (hash(text), by_line)
    return by_line


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
