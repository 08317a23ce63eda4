"""Arguments that are accepted and do nothing here: those that the body of their function does not use but to check them, and those whose
description says so."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

_CHECKS = re.compile(r"_?(check(?!_unsupported)|require)")
_SAYS = re.compile(r"^\s*([\w, ]+): (?:[Aa]ccepted\b|[Uu]nused\b)", re.MULTILINE)
# Read by what is around the function, or handed to all callbacks.
_ELSEWHERE = {"self", "cls", "cache", "run_context", "ds_run_context"}
_KINDS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def ignored(value: Any) -> list[str]:
    """The arguments of a function or class that change nothing."""
    found: list[str] = []
    for function in _functions(value):
        known = _parameters(function)
        names = [p.name for p in known if p.kind not in _KINDS and not _is_fixed(p.annotation)]
        used = _used(function)
        found += _said(function)
        found += [n for n in names if n not in _ELSEWHERE and n not in used]
    return list(dict.fromkeys([*_said(value), *found]))


def _functions(value: Any) -> Iterator[Any]:
    if not inspect.isclass(value):
        yield inspect.unwrap(value) if callable(value) else value
        return
    for name in ("__init__", "construct"):
        own = next((vars(c)[name] for c in value.__mro__ if name in vars(c)), None)
        if inspect.isfunction(own) and own.__module__.startswith("mindspore."):
            yield inspect.unwrap(own)


def _parameters(function: Any) -> list[inspect.Parameter]:
    """What it takes, with annotations as what they mean where that can be known; nothing of what is written in C++."""
    for evaluated in True, False:
        with contextlib.suppress(TypeError, ValueError, NameError, AttributeError):
            return list(inspect.signature(function, eval_str=evaluated).parameters.values())
    return []


def methods(value: type) -> Iterator[tuple[str, Any]]:
    """The public methods of a class that are written in this package, and what calls its objects."""
    found: dict[str, Any] = {}
    for home in value.__mro__ if value.__module__.startswith("mindspore") else ():
        for name, own in vars(home).items():
            is_public = not name.startswith("_") or name == "__call__"
            if is_public and name != "construct" and name not in found:
                found[name] = getattr(own, "__func__", own)
    for name, own in found.items():
        own = inspect.unwrap(own) if callable(own) else own  # what checks arguments is around it
        if inspect.isfunction(own) and own.__module__.startswith("mindspore"):
            yield name, own


def _said(value: Any) -> list[str]:
    text = inspect.getdoc(value) or ""
    return [name.strip() for names in _SAYS.findall(text) for name in names.split(",")]


def _is_fixed(annotation: Any) -> bool:
    """Whether an argument may have one value alone, which a check of its type sees to."""
    return annotation is None or (
        get_origin(annotation) is Literal and len(get_args(annotation)) == 1
    )


class _Everything(set):
    """The names that a body reads which cannot be looked at."""

    def __contains__(self, name: object) -> bool:
        return True


def _used(function: Any) -> set[str]:
    """The names that its body reads for more than a check."""
    code = getattr(function, "__code__", None)
    try:
        (made,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return _Everything()
    if code is None or not isinstance(made, ast.FunctionDef):
        return _Everything()
    body = [
        s for s in made.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    if all(isinstance(s, (ast.Raise, ast.Pass)) for s in body):
        return _Everything()  # an interface, or a refusal
    if any(isinstance(n, ast.Name) and n.id == "locals" for n in ast.walk(made)):
        return _Everything()
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = inspect.signature(function).parameters
    read = {name for name in known if name not in own}  # of a function that hands all of them on
    return read.union(*(_read(statement) for statement in body))


def _refuses(node: ast.If) -> bool:
    return not node.orelse and all(isinstance(s, ast.Raise) for s in node.body)


def _is_check(test: ast.expr) -> bool:
    """Whether a condition asks for sizes and types, and not for whether an argument is there at all."""
    return not any(
        isinstance(n, ast.Compare)
        and isinstance(n.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.NotIn, ast.In))
        for n in ast.walk(test)
    ) and not isinstance(test, ast.Name)


def _read(node: ast.AST) -> set[str]:
    if isinstance(node, (ast.Delete, ast.Raise)):
        return set()
    if isinstance(node, ast.If) and _refuses(node) and _is_check(node.test):
        return set()
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if _CHECKS.match(name):
            return set()
    if isinstance(node, ast.Name):
        return {node.id}
    return {name for child in ast.iter_child_nodes(node) for name in _read(child)}
