"""Whether a part of a program only computes, as far as its text and the values at hand tell: it changes no object, takes nothing of an
iterator and draws no random numbers, so that nothing can tell when it runs. What is not known to be so is taken not to be."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.compile.values import foreign
from mindspore.compile.values.foreign import MUTATING, Does

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame

_NUMBERS = (int, float, complex)
_CHANGING = (
    (ast.Global, ast.Nonlocal, ast.Delete, ast.Import, ast.ImportFrom)
    + (ast.With, ast.AsyncWith, ast.Await, ast.AsyncFor)
    + (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)  # scopes of their own
)
_UNKNOWN = object()


def only_computes(frame: Frame, nodes: Iterable[ast.AST], assigned: Iterable[str]) -> bool:
    """Whether these nodes do, each of which is looked at alone; what the `assigned` names will be is not known yet."""
    known = _Known(frame, frozenset(assigned))
    return all(known.is_plain(node) for node in nodes)


def body_only_computes(frame: Frame, loop: ast.For, stored: Iterable[str]) -> bool:
    """Whether the body of a loop does, which stores these names."""
    body = [n for statement in loop.body for n in ast.walk(statement)]
    return only_computes(frame, body, stored)


class _Known:
    """What can be said of the names in a frame."""

    def __init__(self, frame: Frame, assigned: frozenset[str]):
        self.frame, self.assigned = frame, assigned

    def value(self, node: ast.expr) -> Any:
        """What a name means; unknown for other expressions."""
        if not isinstance(node, ast.Name) or node.id in self.assigned:
            return _UNKNOWN
        try:
            return self.frame.peek(node.id)
        except (KeyError, ValueError):
            return getattr(builtins, node.id, _UNKNOWN)

    def is_plain(self, node: ast.AST) -> bool:
        """Whether a node by itself changes nothing."""
        if isinstance(node, _CHANGING):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Name):
            return not isinstance(self.value(node), Iterator)
        if isinstance(node, ast.For):
            return not isinstance(node.iter, ast.Attribute)  # it may be an iterator
        if isinstance(node, ast.AugAssign):
            return self._is_new(node)
        return not isinstance(node, ast.Call) or self._is_plain_call(node)

    def _is_new(self, node: ast.AugAssign) -> bool:
        """Whether an augmented assignment makes another value: a list, say, takes no number, and multiplies with none but whole
        ones."""
        if isinstance(node.target, ast.Name) and isinstance(self._before(node.target), Tensor):
            return True
        number = node.value.value if isinstance(node.value, ast.Constant) else None
        return isinstance(number, float) or (
            isinstance(number, _NUMBERS) and not isinstance(node.op, ast.Mult)
        )

    def _before(self, name: ast.Name) -> Any:
        try:
            return self.frame.peek(name.id)
        except (KeyError, ValueError):
            return _UNKNOWN

    def _is_plain_call(self, node: ast.Call) -> bool:
        function = self.value(node.func)
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if isinstance(owner, types.ModuleType):
                function = getattr(owner, node.func.attr, _UNKNOWN)
            elif owner is _UNKNOWN or isinstance(owner, Tensor):
                if node.func.attr in MUTATING:
                    return False
                function = getattr(Tensor, node.func.attr, _UNKNOWN)
        if Does.COMPUTES in foreign.does(function):
            return not node.keywords  # a key may do anything
        return foreign.only_computes(function)
