"""`for` in a function under compilation: what it runs over, and when the items are made. Most are taken when the loop begins, as Items.
A loop that may change the tensors that it runs over reads the Rows of these when their turn comes. What an iterator has is
Pulled: ahead, where neither the loop nor the iterator can tell, so that a tensor may leave the loop; else when its turn comes."""

from __future__ import annotations

import ast
import contextlib
import itertools
import types
from collections import deque
from collections.abc import Iterator, MappingView, Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.compile.program.borders import each, of_program
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.source import stored_names
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.walk.generators import Generator, Lazy, Rows, rows_of
from mindspore.compile.walk.matching import Matching
from mindspore.compile.walk.pulled import Pulled
from mindspore.compile.walk.purity import body_only_computes

MAX_UNROLLED = 100_000  # rounds
_CHANGEABLE = (list, dict, types.MappingProxyType, set, deque)


class Items(list):
    """The items of a loop, as they were when it began. Python's iterators see what becomes of a container later."""

    sources: Sequence[tuple[Any, list]] = ()

    def has(self, index: int) -> bool:
        """Whether there is such an item, which must be what came next when the loop began."""
        for container, before in self.sources:
            same = len(container) == len(before)
            if same and isinstance(container, list) and index < len(before):
                same = container[index] is before[index]
            if not same:
                raise Unsupported("a loop changes what it runs over")
        return index < len(self)


class Rounds(Matching):
    """A storey of Frame."""

    def eval_lazily(self, node: ast.expr, lazily: bool) -> Any:
        """An expression, whose iterators make their items when they are asked for."""
        tracer, before = self.tracer, self.tracer.lazily
        tracer.lazily = lazily
        try:
            return self.eval(node)
        finally:
            tracer.lazily = before

    def _run_For(self, node: ast.For) -> Any:
        iterable = self.eval_lazily(node.iter, _is_lazy(node.iter) and not self._is_apart(node))
        self.at(node)
        return self.branch_on(iterable, lambda option: self._unroll(node, option))

    def _is_apart(self, node: ast.For) -> bool:
        """Whether the body of a loop only computes, of other variables than its items are made of."""
        stored = stored_names([node.target, *node.body])
        read = {n.id for n in ast.walk(node.iter) if isinstance(n, ast.Name)}
        return not read & stored and body_only_computes(self.whole, node, stored)

    def _unroll(self, node: ast.For, iterable: Any) -> Any:
        if isinstance(iterable, TracedRange):
            return self.tensor_for(node, iterable)
        items = self._rounds(node, iterable)
        if not isinstance(items, Pulled) and len(items) > MAX_UNROLLED:
            raise Unsupported(
                f"this loop has more than {MAX_UNROLLED} rounds and would be unrolled; loop over a range with a tensor "
                "bound to make it a loop of the graph"
            )
        self.stack.append(("for", node, items, 0))
        return None

    def _rounds(self, node: ast.For, iterable: Any) -> Items | Rows | Pulled:
        """What a loop runs over: known from the beginning, or made when their turn comes."""
        held = self._reads_iterator(node.iter)
        if isinstance(iterable, (Generator, Lazy)) or (held and isinstance(iterable, Iterator)):
            self.tracer.check_iterator(iterable)
            return Pulled(self.whole, iterable, node, not held)
        changes = _may_change_objects(node.body) and (isinstance(iterable, Tensor) or not held)
        rows = rows_of(iterable) if changes else None
        if rows is not None:
            return rows
        items = Items(itertools.islice(each(self.tracer.iterate(iterable)), MAX_UNROLLED + 1))
        items.sources = [(c, list(c)) for c in self._containers(node.iter, iterable)]
        return items

    def _containers(self, node: ast.expr, iterable: Any) -> list:
        """The lists, dicts and the like that a loop runs over: directly, or with enumerate or zip."""
        found = [
            getattr(iterable, "mapping", None) if isinstance(iterable, MappingView) else iterable
        ]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("enumerate", "zip"):
                for argument in node.args:
                    with contextlib.suppress(KeyError, ValueError):
                        if isinstance(argument, ast.Name):
                            found.append(self.peek(argument.id))
        return [c for c in found if isinstance(c, _CHANGEABLE)]

    def _reads_iterator(self, node: ast.expr) -> bool:
        """Whether an expression is, or is made of, an iterator that others may go on with."""
        if not isinstance(node, (ast.Call, ast.GeneratorExp)):
            return True
        for n in ast.walk(node):
            with contextlib.suppress(KeyError, ValueError):
                if isinstance(n, ast.Name) and isinstance(self.peek(n.id), Iterator):
                    return True
        return False

    def _step_for(self, node: ast.For, items: Items | Rows | Pulled, index: int) -> None:
        if not (items and items.has(index)):
            self.push(node.orelse)
            return
        self.stack.append(("for", node, items, index + 1))
        try:
            item = items[index]
        except Exception as error:  # of a tensor's items
            of_program(error)
            raise
        self.assign(node.target, item)
        self.push(node.body)


def _is_lazy(node: ast.expr) -> bool:
    """Items that Python makes when the loop comes to them; here they are made before, where the loop does not see that."""
    return any(
        isinstance(n, ast.GeneratorExp)
        or (
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Name)
            and n.func.id in ("map", "filter")
        )
        for n in ast.walk(node)
    )


def _may_change_objects(statements: list[ast.stmt]) -> bool:
    """Whether statements assign attributes or items, or call what does so by its name."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                return True
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name.lower().startswith("assign"):
                    return True
    return False
