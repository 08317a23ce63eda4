"""`and`, `or`, `not` and conditions. As in Python, `and` and `or` give an operand, and the right one is evaluated only where it
decides: a right side that may fail or have effects runs in a branch."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.program.borders import is_true
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.values import Choice, Undefined, pick, same_type
from mindspore.compile.walk.names import Names

# Nodes that neither fail nor have effects.
_HARMLESS = (
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.Attribute,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.expr_context,
    ast.boolop,
    ast.unaryop,
    ast.cmpop,
)
_METHODS = frozenset({"sum", "mean", "max", "min", "any", "all", "abs", "prod"})
_FAILURES = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
_FAILED = Undefined("it fails where Python does not evaluate it, perhaps")


def _unless_it_fails(evaluate: Callable[[], Any]) -> Any:
    """The value of what is harmless, or _FAILED: then it is evaluated only where Python does so."""
    try:
        return evaluate()
    except Unsupported:
        raise
    except _FAILURES:
        return _FAILED


class Logic(Names):
    """A storey of Frame."""

    def test(self, node: ast.expr) -> Any:
        """A condition: a Python value, a tensor or a Choice. Of `and` and `or` only the truth counts."""
        if isinstance(node, ast.BoolOp):
            return self._test_all(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.test(node.operand)
            self.at(node)
            return self.negation(value)
        value = self.eval(node)
        self.tracer.note_states((value,))
        return value

    def negation(self, value: Any) -> Any:
        """`not value`."""
        if not self.tracer.is_undecided(value):
            return not is_true(value)
        return self._truth(value, False)

    def truth_as_bool(self, value: Any) -> Any:
        """`bool(value)`, of what is known only at run time a number."""
        if not self.tracer.is_undecided(value):
            return is_true(value)
        return self._truth(value, True)

    def _truth(self, value: Any, holds: bool) -> Any:
        """Whether the truth of a value is `holds`, as a Python bool."""
        tracer = self.tracer
        condition = tracer.truth(value)
        if not tracer.is_traced(condition):  # of a choice among values that are equally true
            return is_true(condition) is holds
        result = _core.op("Number")(condition if holds else ops.logical_not(condition))
        tracer.note(
            result, tracer.limits_when(condition, holds), tracer.limits_when(condition, not holds)
        )
        return result

    def where(
        self, truth: Tensor, is_: bool, value: Callable[[], Any], other: Callable[[], Any]
    ) -> Any:
        """`value()` where a condition is true, or false, as `is_` says; elsewhere `other()`."""
        return self.choose(truth, value, other) if is_ else self.choose(truth, other, value)

    def _test_all(self, node: ast.BoolOp) -> Any:
        """The truth of `and` or `or`: a Python value where one decides, else that of all tensors together."""
        conjunction = isinstance(node.op, ast.And)
        decided: Any = None  # the truth of the tensors so far
        value: Any = conjunction
        for operand in node.values:
            if decided is None:
                value = self.test(operand)
            else:
                value = self._operand(operand, decided, conjunction)
            self.at(node)
            if self.tracer.is_undecided(value):
                truth = self.tracer.truth(value)
                decided = truth if decided is None else self._combine(decided, truth, conjunction)
            elif is_true(value) is not conjunction:
                return value
        return value if decided is None else decided

    def _combine(self, a: Tensor, b: Tensor, conjunction: bool) -> Tensor:
        """`a and b` or `a or b` of two conditions, and what is known of choices where that holds, or fails."""
        tracer = self.tracer
        result = ops.logical_and(a, b) if conjunction else ops.logical_or(a, b)
        both = tracer.limits_when(a, conjunction) + tracer.limits_when(b, conjunction)
        tracer.note(result, *((both, []) if conjunction else ([], both)))
        return result

    def _operand(self, node: ast.expr, decided: Tensor, needed: bool) -> Any:
        """An operand that Python evaluates only where `decided` is `needed`; elsewhere, `needed`."""
        if self.is_harmless(node):
            value = _unless_it_fails(lambda: self.test(node))
            if value is not _FAILED:
                return value
        return self.where(decided, needed, lambda: self.test(node), lambda: needed)

    def is_harmless(self, node: ast.expr) -> bool:
        """Whether an expression may be evaluated although Python would not."""
        for n in ast.walk(node):
            if isinstance(n, ast.Call):
                method = isinstance(n.func, ast.Attribute) and n.func.attr in _METHODS
                if not method or n.args or n.keywords:
                    return False
            elif isinstance(n, ast.Name):
                if isinstance(self.env.get(n.id), (Choice, Undefined)):
                    return False
            elif not isinstance(n, _HARMLESS):
                return False
        return True

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        return self._deciding_operand(node, node.values)

    def _deciding_operand(self, node: ast.BoolOp, operands: list[ast.expr]) -> Any:
        """The first of these that is false, or true as the operator says; else the last one."""
        conjunction = isinstance(node.op, ast.And)
        value = self.eval(operands[0])
        for i, operand in enumerate(operands[1:], 1):
            if self.tracer.is_undecided(value):
                rest = operands[i:]
                self.at(node)
                harmless = len(rest) == 1 and self.is_harmless(rest[0])
                evaluate = functools.partial(self._deciding_operand, node, rest)
                return self.pick_other(node, value, harmless, evaluate, conjunction)
            if is_true(value) is not conjunction:
                return value
            value = self.eval(operand)
        return value

    def pick_other(
        self, node: ast.expr, value: Any, harmless: bool, rest: Callable[[], Any], conjunction: bool
    ) -> Any:
        """`value and rest` or `value or rest`, where a tensor decides which; what is `harmless` is evaluated in any case."""

        truth = self.tracer.truth(value)
        if harmless and isinstance(value, Tensor):
            other = _unless_it_fails(rest)
            self.at(node)
            if other is value:
                return value
            if same_type(other, value):
                if value.dtype is _core.bool and value.shape == ():
                    result = self._combine(value, other, conjunction)
                else:
                    first, second = (other, value) if conjunction else (value, other)
                    result = pick(truth, first, second)
                return self.tracer.aliases.note(result, (value, other))
        return self.where(truth, conjunction, rest, lambda: value)

    def both(self, a: Any, b: Any) -> Any:
        """`a and b`, both evaluated: of the patterns of a case."""
        return self._combine(self.tracer.truth(a), self.tracer.truth(b), True)

    def either(self, a: Any, b: Any) -> Any:
        """`a or b`, both evaluated: of the comparisons of `in`."""
        if not (self.tracer.is_undecided(a) or self.tracer.is_undecided(b)):
            return a if is_true(a) else b
        return self._combine(self.tracer.truth(a), self.tracer.truth(b), False)
