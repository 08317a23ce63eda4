"""Makes a failing program small: statements go, blocks give way to their bodies, expressions to their parts, as long as the
program fails in the same way."""

from __future__ import annotations

import ast
import copy
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fuzz.child import Crash, in_child
from fuzz.program import Program
from fuzz.runner import Outcome, check

_SECONDS = 28.0
_BODIES = ("body", "orelse", "finalbody")


def signature(failure: str) -> tuple[str, ...]:
    """What must stay while shrinking: the comparison that failed, and how roughly."""
    if not failure:
        return ()
    head, _, rest = failure.partition(":")
    eager, _, graph = rest.partition(" became ")
    if "Error(" in rest:
        words = graph.split("Error(")[-1]
        kind = "raised", str("Error(" in eager), "".join(c for c in words if c.isalpha())[:40]
    else:
        kind = ("values" if "np." in eager else "types", "", "")
    return (head.split()[0], *kind)


def shrink(outcome: Outcome) -> Program:
    """The smallest program found that fails like this one."""
    wanted = signature(outcome.failure)
    best = outcome.program
    tree = ast.parse(best.source)
    end = time.monotonic() + _SECONDS
    progress = True
    with tempfile.TemporaryDirectory() as folder:
        number = cursor = 0
        while progress and time.monotonic() < end:
            progress = False
            # After a success the candidates before the cursor are not tried again in this pass.
            for at, smaller in enumerate(candidates(tree)):
                if time.monotonic() > end:
                    break
                attempt = _program(best, smaller) if at >= cursor else None
                if attempt is None:
                    continue
                number += 1
                place = Path(folder) / str(number)
                place.mkdir()
                if _fails(attempt, place) == wanted:
                    best, tree, progress, cursor = attempt, ast.parse(attempt.source), True, at
                    break
            else:
                progress, cursor = cursor > 0, 0
    return best


def _fails(program: Program, folder: Path) -> tuple[str, ...]:
    try:
        return signature(in_child(lambda: _failure(program, folder)))
    except Crash as crash:
        return signature(f"crash: {crash}")


def _failure(program: Program, folder: Path) -> str:
    try:
        return check(program, folder).failure
    except Exception:  # the cut left a class that cannot even be made
        return ""


def _program(program: Program, tree: ast.AST) -> Program | None:
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "program", "exec")
    except (SyntaxError, ValueError, AttributeError):
        return None
    return replace(program, source=text + "\n") if text + "\n" != program.source else None


def candidates(tree: ast.Module) -> Iterator[ast.AST]:
    """Smaller trees: large cuts first."""
    for path, index, statement in reversed(list(_statements(tree))):
        yield _edit(tree, path, index, [])
        for name in _BODIES:
            inner = getattr(statement, name, None)
            if (
                isinstance(inner, list)
                and inner
                and not isinstance(statement, (ast.FunctionDef, ast.ClassDef))
            ):
                yield _edit(tree, path, index, inner)
                if name == "orelse":
                    without = copy.deepcopy(statement)
                    without.orelse = []
                    yield _edit(tree, path, index, [without])
    total = sum(isinstance(n, ast.expr) for n in ast.walk(tree))
    for number in range(total):
        node = [n for n in ast.walk(tree) if isinstance(n, ast.expr)][number]
        for child in _parts(node):
            yield _Replace(number, child).apply(tree)


def _parts(node: ast.expr) -> list[ast.expr]:
    """Expressions that may stand for a larger one."""
    if isinstance(node, (ast.Name, ast.Constant)) or not isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        return []
    parts = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    parts += [k.value for k in getattr(node, "keywords", [])]
    if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) > 1:
        parts.append(type(node)(node.elts[1:], node.ctx))
        parts.append(type(node)(node.elts[:-1], node.ctx))
    return [
        p for p in parts if not (isinstance(p, ast.Name) and p.id in ("ops", "ms", "P", "self"))
    ]


def _statements(tree: ast.AST, path: tuple = ()) -> Iterator[tuple[tuple, int, ast.stmt]]:
    for name in (*_BODIES, "handlers"):
        block = getattr(tree, name, None)
        if not isinstance(block, list):
            continue
        for index, statement in enumerate(block):
            here = (*path, (name, index))
            if not isinstance(statement, (ast.Import, ast.ImportFrom, ast.ExceptHandler)):
                yield (*path, (name, None)), index, statement
            yield from _statements(statement, here)


def _edit(tree: ast.AST, path: tuple, index: int, new: list) -> ast.AST:
    result = copy.deepcopy(tree)
    node = result
    for name, at in path[:-1]:
        node = getattr(node, name)[at]
    block = getattr(node, path[-1][0])
    block[index : index + 1] = copy.deepcopy(new) or (
        [ast.Pass()] if len(block) == 1 and path[-1][0] == "body" else []
    )
    return result


class _Replace(ast.NodeTransformer):
    """Puts another expression in place of the one with a number."""

    def __init__(self, number: int, new: ast.expr):
        self.number, self.new = number, new

    def apply(self, tree: ast.AST) -> ast.AST:
        result = copy.deepcopy(tree)
        self.target = [n for n in ast.walk(result) if isinstance(n, ast.expr)][self.number]
        return self.visit(result)

    def visit(self, node: ast.AST) -> ast.AST:
        return copy.deepcopy(self.new) if node is self.target else super().generic_visit(node)
