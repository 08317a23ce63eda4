"""Statements of a function under compilation. A Frame keeps those still to run on a stack of work items (decided/exits.py)."""

from __future__ import annotations

import ast
import contextlib
import importlib
import itertools
import types
from collections import deque
from collections.abc import Iterator, MappingView, Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.compile.decided.exits import BREAK, CONTINUE
from mindspore.compile.program.borders import (
    each,
    is_true,
    of_program,
    program_error,
    program_operation,
    read,
)
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.marks import note_raised
from mindspore.compile.program.source import stored_names
from mindspore.compile.values.effects import contents_of_error, is_text
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.values import Undefined
from mindspore.compile.walk.generators import Generator, Lazy, Rows, rows_of
from mindspore.compile.walk.matching import Matching
from mindspore.compile.walk.pulled import Pulled
from mindspore.compile.walk.purity import body_only_computes, only_computes

_MAX_UNROLLED = 100_000
_FEW_ROUNDS = 64
_CHANGEABLE = (list, dict, types.MappingProxyType, set, deque)


class Statements(Matching):
    """A storey of Frame: `run(base)` executes until the stack is back at `base` items or the function returns."""

    def run(self, base: int) -> Any:
        """Return(value) when the function ended, else None."""
        while len(self.stack) > base:
            item = self.stack.pop()
            try:
                signal = getattr(self, "_step_" + item[0])(*item[1:])
            except Exception as error:
                if not self.catch(error, base):
                    raise
                continue
            if signal is not None:
                return signal
        return None

    def run_body(self, statements: list[ast.stmt]) -> Any:
        """A whole function body; its return value."""
        self.stack.append(("block", statements, 0))
        signal = self.run(0)
        return None if signal is None else signal.value

    # ---- work items -------------------------------------------------------------------------------------------------
    def _step_block(self, statements: list[ast.stmt], index: int) -> Any:
        statement = statements[index]
        if index + 1 < len(statements):
            self.stack.append(("block", statements, index + 1))
        self.at(statement)
        method = getattr(self, "_run_" + type(statement).__name__, None)
        if method is None:
            raise Unsupported(
                f"'{type(statement).__name__}' statements are not supported in a compiled function"
            )
        return method(statement)

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

    def _step_while(self, node: ast.While, rounds: int) -> Any:
        self.at(node)
        if rounds == _FEW_ROUNDS:
            self._hide_values(node)
        test = self.test(node.test)
        self.at(node)
        if self.tracer.is_undecided(test) or (rounds and self._is_left_by_tensor(node)):
            return self.tensor_while(node)
        if not is_true(test):
            self.push(node.orelse)
            return None
        if rounds > _MAX_UNROLLED:
            raise Unsupported(
                f"this loop ran {_MAX_UNROLLED} rounds while compiling; let a tensor decide its condition to "
                "make it a loop of the graph"
            )
        self.stack.append(("while", node, rounds + 1))
        self.push(node.body)
        return None

    def _hide_values(self, node: ast.While) -> None:
        """A loop over tensors that are known while compiling has run for long: let the graph run it."""
        for name in stored_names(node.body):
            value = self.env.get(name)
            if isinstance(value, Tensor) and not self.tracer.is_traced(value):
                self.env[name] = self.tracer.trace.constant(value)

    def _is_left_by_tensor(self, node: ast.While) -> bool:
        """`while True:` whose end a tensor decides: after the first round, more is left to run on some ways only."""
        return isinstance(node.test, ast.Constant) and self.tracer.arms > self.loops[node]

    def _step_loop(self) -> None:
        """The end of the body of a loop in the graph."""

    # ---- simple statements ------------------------------------------------------------------------------------------
    def _run_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            return self.run_yield(node.value)
        self.eval(node.value)
        return None

    def _eval_lazily(self, node: ast.expr, lazily: bool) -> Any:
        """An expression, whose iterators make their items when they are asked for."""
        tracer, before = self.tracer, self.tracer.lazily
        tracer.lazily = lazily
        try:
            return self.eval(node)
        finally:
            tracer.lazily = before

    def _run_Assign(self, node: ast.Assign) -> None:
        value = self._eval_lazily(node.value, True)
        for target in node.targets:
            self.assign(target, value)

    def _run_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.eval(node.value))

    def _run_AugAssign(self, node: ast.AugAssign) -> None:
        self.augment(node)

    def _run_Pass(self, node: ast.Pass) -> None:
        pass

    def _run_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._delete(target)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.lookup(target.id)
            self.env[target.id] = Undefined("it was deleted")
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._delete(part)
        elif isinstance(target, ast.Subscript):
            owner = self.eval(target.value)
            method = self.tracer.special_method(owner, "__delitem__")
            if method is not None:
                self.tracer.call(method, [self.eval(target.slice)], {})
                return
            self.tracer.check_mutable(owner)
            key = self.eval(target.slice)
            with program_operation:
                del owner[key]
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value)
            if id(owner) not in self.tracer.made:
                raise Unsupported(
                    "a compiled function cannot delete attributes of objects that it did not make"
                )
            with program_operation:
                delattr(owner, target.attr)

    def _run_Global(self, node: ast.Global) -> None:
        self.outer_names.update(dict.fromkeys(node.names, "global"))

    def _run_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.outer_names.update(dict.fromkeys(node.names, "nonlocal"))

    def _run_FunctionDef(self, node: ast.FunctionDef) -> None:
        function = self.make_function(node, node.name)
        for decorator in reversed(node.decorator_list):
            function = self.tracer.call(self.eval(decorator), [function], {})
        self.bind(node.name, function)

    def _run_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            with program_operation:
                module = __import__(alias.name)
                if alias.asname:
                    module = importlib.import_module(alias.name)
            self.bind(alias.asname or alias.name.split(".")[0], module)

    def _run_ImportFrom(self, node: ast.ImportFrom) -> None:
        name, package = "." * node.level + (node.module or ""), self.globals.get("__package__")
        with program_operation:
            module = importlib.import_module(name, package)
        for alias in node.names:
            self.bind(alias.asname or alias.name, read(module, alias.name))

    def _run_Assert(self, node: ast.Assert) -> None:
        if not __debug__:  # python -O
            return
        value = self.test(node.test)
        self.at(node)
        if self.tracer.is_undecided(value):
            self.choose(value, lambda: None, lambda: self._fail(node))
        elif not is_true(value):
            self._fail(node)

    def _fail(self, node: ast.Assert) -> None:
        error = AssertionError(*([] if node.msg is None else [self.eval(node.msg)]))
        note_raised(error)
        raise error

    def _run_Raise(self, node: ast.Raise) -> None:
        if node.exc is None:
            raise self.handled_error()
        error = self.eval(node.exc)
        cause = None if node.cause is None else self.eval(node.cause)
        self.at(node)
        if isinstance(error, HostValue):
            session = error.session
            error, session.met_error = session.value(error), True
        if isinstance(error, type):
            error = self.tracer.call(error, [], {})
        if not isinstance(error, BaseException):
            raise program_error(TypeError, "exceptions must derive from BaseException")
        if node.cause is not None:
            with program_operation:
                error.__cause__ = cause() if isinstance(cause, type) else cause
        contents = contents_of_error(error)
        if not self.tracer.arms and (is_text(contents) or self.tracer.has_traced(contents)):
            raise Unsupported(
                "an exception whose text holds values of tensors is raised on every way"
            )
        note_raised(error)
        raise error

    def _run_ClassDef(self, node: ast.ClassDef) -> Any:
        raise Unsupported("a class cannot be defined in a compiled function; define it outside")

    # ---- control ----------------------------------------------------------------------------------------------------
    def _run_Return(self, node: ast.Return) -> Any:
        return self.leave(None if node.value is None else self.eval(node.value))

    def _run_Break(self, node: ast.Break) -> Any:
        return self.jump(BREAK)

    def _run_Continue(self, node: ast.Continue) -> Any:
        return self.jump(CONTINUE)

    def _run_If(self, node: ast.If) -> Any:
        test = self.test(node.test)
        self.at(node)
        if self.tracer.is_undecided(test):
            return self.tensor_if(node, test)
        self.push(node.body if is_true(test) else node.orelse)
        return None

    def _run_For(self, node: ast.For) -> Any:
        iterable = self._eval_lazily(node.iter, _is_lazy(node.iter) and not self._is_apart(node))
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
        if not isinstance(items, Pulled) and len(items) > _MAX_UNROLLED:
            raise Unsupported(
                f"this loop has more than {_MAX_UNROLLED} rounds and would be unrolled; loop over a range with a tensor "
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
        items = Items(itertools.islice(each(self.tracer.iterate(iterable)), _MAX_UNROLLED + 1))
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

    def _run_While(self, node: ast.While) -> Any:
        # To find out who decides a condition it is evaluated, and once more in the loop of the graph.
        parts = list(ast.walk(node.test))
        assigns = any(isinstance(n, (ast.NamedExpr, ast.Yield, ast.YieldFrom)) for n in parts)
        if assigns or not only_computes(self.whole, parts, ()):
            node = tested_inside(node)
        self.loops[node] = self.tracer.arms
        self.stack.append(("while", node, 0))
        return None


def tested_inside(node: ast.While) -> ast.While:
    """`while test: ...` as `while True: if not test: break ...`; made once."""
    made = getattr(node, "_ms_tested_inside", None)
    if made is None:
        if any(isinstance(n, (ast.Break, ast.Continue)) for e in node.orelse for n in ast.walk(e)):
            raise Unsupported(
                "the 'else' of a loop whose condition has effects leaves another loop"
            )
        leave = ast.If(node.test, [ast.Pass()], [*node.orelse, ast.Break()])
        made = ast.While(ast.Constant(True), [leave, *node.body], [])
        for n in (leave, *leave.body, leave.orelse[-1], made, made.test):
            ast.copy_location(n, node.test)
        node._ms_tested_inside = made  # type: ignore[attr-defined]
    return made


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
