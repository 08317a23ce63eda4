"""Comprehensions and generator expressions, and `any` and `all` of these: as Python, they end with the first item that decides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mindspore.compile.program.borders import each, is_true, program_operation
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.walk.comparisons import Comparisons
from mindspore.compile.walk.purity import only_computes


class Comprehensions(Comparisons):
    """A storey of Frame."""

    def _ListComp(self, node: ast.ListComp) -> list:
        return [value.eval(node.elt) for value in self.comprehend(node.generators)]

    def _SetComp(self, node: ast.SetComp) -> set:
        result: set = set()
        for scope in self.comprehend(node.generators):
            item = scope.eval(node.elt)
            with program_operation:
                result.add(item)
        return result

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        first = self.tracer.iterate(self.eval(node.generators[0].iter))
        items = (value.eval(node.elt) for value in self.comprehend(node.generators, first))
        return self.tracer.taken(items)

    def _DictComp(self, node: ast.DictComp) -> dict:
        result: dict = {}
        for scope in self.comprehend(node.generators):
            key, value = scope.eval(node.key), scope.eval(node.value)
            with program_operation:
                result[key] = value
        return result

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
        if all(map(self.is_harmless, parts)):
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
            return self.where(self.tracer.truth(item), wanted, lambda: wanted, rest)
        return not wanted
