"""One call of a user function under compilation: its variables and the statements still to run. Statements run on an explicit
stack, so that a branch decided by a tensor can fork the rest of a region: each arm runs it to its end in a graph of its own.

Its storeys, each built on those before: Flow (decided/flow.py), Names, Logic, Comparisons, Comprehensions,
Expressions, Handlers, Matching, Rounds, Statements."""

from __future__ import annotations

import ast
import types
from typing import TYPE_CHECKING, Any

from mindspore.compile.program.borders import program_error
from mindspore.compile.walk.statements import Statements

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


class Frame(Statements):
    """Variables, scopes and the statement stack of one call."""

    def __init__(
        self,
        tracer: Tracer,
        source: Any,
        function_globals: dict,
        cells: dict[str, types.CellType] | None = None,
        parent: Frame | None = None,
    ):
        self.tracer, self.source, self.globals = tracer, source, function_globals
        self.cells = cells or {}
        self.parent = parent  # whose variables a nested function or a comprehension sees
        self.env: dict[str, Any] = {}
        self.stack = []  # of what is still to run; see decided/exits.py
        self.loops: dict[ast.While, int] = {}  # branches around each `while` when it began
        self.outer_names: dict[str, str] = {}  # names declared global or nonlocal
        self.is_scope = False  # a comprehension: statements and errors belong to the parent
        self.node: ast.AST | None = None
        self.body: ast.AST | None = None  # the function, unless it is a comprehension
        self.name: ast.Name | None = None  # the last one that was read
        self.first_argument: Any = None


def bind_arguments(
    node: Any, name: str, args: list, kwargs: dict, defaults: list, keyword_defaults: dict
) -> dict[str, Any]:
    """Parameters by name, as Python binds them."""
    spec = node.args
    positional = [a.arg for a in spec.posonlyargs + spec.args]
    env: dict[str, Any] = dict(zip(positional, args))
    rest = list(args[len(positional) :])
    if spec.vararg:
        env[spec.vararg.arg] = tuple(rest)
    elif rest:
        raise program_error(
            TypeError,
            f"{name}() takes {len(positional)} positional arguments but {len(args)} were given",
        )
    extra: dict[str, Any] = {}
    keyword_only = [a.arg for a in spec.kwonlyargs]
    for key, value in kwargs.items():
        if key in positional[len(spec.posonlyargs) :] or key in keyword_only:
            if key in env:
                raise program_error(TypeError, f"{name}() got multiple values for argument '{key}'")
            env[key] = value
        elif spec.kwarg:
            extra[key] = value
        else:
            takes = ", ".join([*positional, *keyword_only])
            raise program_error(
                TypeError,
                f"{name}() got an unexpected keyword argument '{key}'; it takes ({takes})",
            )
    for key, value in zip(positional[len(positional) - len(defaults) :], defaults):
        env.setdefault(key, value)
    for key, value in keyword_defaults.items():
        env.setdefault(key, value)
    if spec.kwarg:
        env[spec.kwarg.arg] = extra
    missing = [p for p in positional + keyword_only if p not in env]
    if missing:
        raise program_error(
            TypeError,
            f"{name}() is missing {len(missing)} required argument{'s' * (len(missing) > 1)}: "
            + ", ".join(f"'{m}'" for m in missing),
        )
    return env
