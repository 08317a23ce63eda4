"""`and`, `or`, `not` and conditions. As in Python, `and` and `or` give an operand, and the right one is evaluated only where it
decides: a right side that may fail or have effects runs in a branch."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.program.borders import each, is_true
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.operators import COMPARE
from mindspore.compile.values.values import Choice, Undefined, is_symbolic, pick, same_type
from mindspore.compile.walk.names import Names
from mindspore.compile.walk.purity import only_computes

# What may be evaluated although Python would not: it neither fails nor has effects.
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

    def _where(
        self, truth: Tensor, is_: bool, value: Callable[[], Any], other: Callable[[], Any]
    ) -> Any:
        """`value()` where a condition is true, or false, as `is_` says; elsewhere `other()`."""
        return self.choose(truth, value, other) if is_ else self.choose(truth, other, value)

    def _test_all(self, node: ast.BoolOp) -> Any:
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
        tracer = self.tracer
        result = ops.logical_and(a, b) if conjunction else ops.logical_or(a, b)
        both = tracer.limits_when(a, conjunction) + tracer.limits_when(b, conjunction)
        tracer.note(result, *((both, []) if conjunction else ([], both)))
        return result

    def _operand(self, node: ast.expr, decided: Tensor, needed: bool) -> Any:
        """An operand that Python evaluates only where `decided` is `needed`; elsewhere, `needed`."""
        if self._is_harmless(node):
            value = _unless_it_fails(lambda: self.test(node))
            if value is not _FAILED:
                return value
        return self._where(decided, needed, lambda: self.test(node), lambda: needed)

    def _is_harmless(self, node: ast.expr) -> bool:
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
        conjunction = isinstance(node.op, ast.And)
        return self._pick(node, node.values, conjunction)

    def _pick(self, node: ast.BoolOp, operands: list[ast.expr], conjunction: bool) -> Any:
        value = self.eval(operands[0])
        for i, operand in enumerate(operands[1:], 1):
            if self.tracer.is_undecided(value):
                return self._pick_by_tensor(node, value, operands[i:], conjunction)
            if is_true(value) is not conjunction:
                return value
            value = self.eval(operand)
        return value

    def _pick_by_tensor(
        self, node: ast.BoolOp, value: Any, rest: list[ast.expr], conjunction: bool
    ) -> Any:
        self.at(node)
        harmless = len(rest) == 1 and self._is_harmless(rest[0])
        return self._pick_other(
            node, value, harmless, lambda: self._pick(node, rest, conjunction), conjunction
        )

    def _pick_other(
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
        return self._where(truth, conjunction, rest, lambda: value)

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
        harmless = all(map(self._is_harmless, rest))
        return self._pick_other(
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

    # ---- any and all ------------------------------------------------------------------------------------------------
    def ends_early(self, node: ast.Call) -> bool:
        """Whether a call is `any` or `all` of a generator expression that does more than compute: the first item that decides
        is the last one that is made."""
        function, args = node.func, node.args
        if len(args) != 1 or node.keywords or not isinstance(args[0], ast.GeneratorExp):
            return False
        if not isinstance(function, ast.Name) or function.id not in ("any", "all"):
            return False
        if not self.is_builtin(function.id):
            return False
        loops = args[0].generators
        parts = [args[0].elt, *(t for g in loops for t in g.ifs), *(g.iter for g in loops[1:])]
        if all(map(self._is_harmless, parts)):
            return False
        nodes = [n for part in parts for n in ast.walk(part)]
        assigned = {n.id for g in loops for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        binds = any(isinstance(n, ast.NamedExpr) for n in nodes)
        return binds or not only_computes(self.whole, nodes, assigned)

    def any_or_all(self, node: ast.Call) -> Any:
        """`any(...)` or `all(...)` of a generator expression: the first item that is true, or false, ends it."""
        function: Any = node.func
        items: Any = node.args[0]
        first = self.tracer.iterate(self.eval(items.generators[0].iter))
        values = (scope.eval(items.elt) for scope in self.comprehend(items.generators, first))
        return self._first_that_is(function.id == "any", values, isinstance(first, Iterator))

    def _first_that_is(self, wanted: bool, items: Iterator, shared: bool) -> bool:
        """Whether an item is; those behind the first that is are not made. `shared`: others may go on with the iterator."""
        for item in items:
            if not self.tracer.is_undecided(item):
                if is_true(item) is wanted:
                    return wanted
                continue
            if shared:
                raise Unsupported("a tensor decides whether an iterator goes on")
            rest = lambda: self._first_that_is(wanted, items, shared)  # noqa: E731
            return self._where(self.tracer.truth(item), wanted, lambda: wanted, rest)
        return not wanted

    def both(self, a: Any, b: Any) -> Any:
        """`a and b`, both evaluated: of the patterns of a case."""
        return self._combine(self.tracer.truth(a), self.tracer.truth(b), True)

    def either(self, a: Any, b: Any) -> Any:
        """`a or b`, both evaluated: of the comparisons of `in`."""
        if not (self.tracer.is_undecided(a) or self.tracer.is_undecided(b)):
            return a if is_true(a) else b
        return self._combine(self.tracer.truth(a), self.tracer.truth(b), False)

    def decide(self, test: ast.expr) -> bool:
        """A condition that must be known while compiling."""
        value = self.test(test)
        if self.tracer.is_undecided(value):
            self.at(test)
            raise Unsupported(
                "a condition in a comprehension must be known while compiling, but it is a tensor; "
                "use ops.where or a loop with 'if'"
            )
        return is_true(value)

    def comprehend(self, generators: list[ast.comprehension], first: Any = None) -> Any:
        """Yields a child frame for each round of the loops; `first` are the items of the outermost one."""
        scope = self.child_scope()

        def loop(depth: int) -> Any:
            if depth == len(generators):
                yield scope
                return
            generator = generators[depth]
            outer = self if depth == 0 else scope
            known = first is not None and depth == 0
            items = first if known else self.tracer.iterate(outer.eval(generator.iter))
            for item in each(items):
                scope.assign(generator.target, item)
                if all(scope.decide(test) for test in generator.ifs):
                    yield from loop(depth + 1)

        return loop(0)
