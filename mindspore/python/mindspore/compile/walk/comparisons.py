"""Comparisons, and chains of them. `in` compares with one item after the other where a tensor is among them."""

from __future__ import annotations

import ast
import operator
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.compile.program.borders import each, is_true
from mindspore.compile.values.operators import COMPARE
from mindspore.compile.values.values import Choice, is_symbolic
from mindspore.compile.walk.logic import Logic


class Comparisons(Logic):
    """A storey of Frame."""

    def _Compare(self, node: ast.Compare) -> Any:
        return self._chain(node, self.eval(node.left), 0)

    def _chain(self, node: ast.Compare, left: Any, at: int) -> Any:
        """The comparisons of a chain from one on, which Python joins by `and`."""
        right = self.eval(node.comparators[at])
        self.at(node)
        value = self._compare(node.ops[at], left, right)
        rest = node.comparators[at + 1 :]
        if not rest:
            return value
        if not self.tracer.is_undecided(value):
            return self._chain(node, right, at + 1) if is_true(value) else value
        harmless = all(map(self.is_harmless, rest))
        return self.pick_other(
            node, value, harmless, lambda: self._chain(node, right, at + 1), True
        )

    def _compare(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        """One comparison."""
        tracer = self.tracer
        if isinstance(op, (ast.Is, ast.IsNot)):
            if isinstance(right, Choice):
                left, right = right, left
            return tracer.split(left, lambda option: self._is(op, option, right))
        if not isinstance(op, (ast.In, ast.NotIn)):
            return tracer.operate(COMPARE[type(op)], left, right)
        if isinstance(right, Choice):
            return tracer.split(right, lambda option: self._compare(op, left, option))
        method = tracer.special_method(right, "__contains__")
        if method is not None:
            found = tracer.call(method, [left], {})
        elif tracer.is_traced(left) or tracer.has_traced(right):
            found = self._contains(left, right)
        else:
            return tracer.operate(COMPARE[type(op)], left, right)
        return self.negation(found) if isinstance(op, ast.NotIn) else self.truth_as_bool(found)

    def _is(self, op: ast.cmpop, a: Any, b: Any) -> bool:
        self.tracer.given.check_identity(a, b)
        return COMPARE[type(op)](a, b)

    def _contains(self, item: Any, container: Any) -> Any:
        if isinstance(container, Tensor):  # any of its elements, whatever its rank
            equal = self.tracer.operate(operator.eq, container, item)
            return ops.any(equal) if isinstance(equal, Tensor) else equal
        found: Any = False
        for other in each(self.tracer.iterate(container)):
            if other is item:
                return True
            equal = self.tracer.operate(operator.eq, item, other)
            if is_symbolic(equal):
                equal = self.tracer.truth(equal)
            elif is_true(equal):
                return True
            found = self.either(found, equal)
        return found
