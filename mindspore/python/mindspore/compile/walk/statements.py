"""Statements of a function under compilation. A Frame keeps those still to run on a stack of work items (decided/exits.py)."""

from __future__ import annotations

import ast
import importlib
from typing import Any

from mindspore._core import Tensor
from mindspore.compile.decided.exits import BREAK, CONTINUE
from mindspore.compile.program.borders import (
    is_true,
    program_error,
    program_operation,
    read,
)
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.marks import note_raised
from mindspore.compile.program.source import stored_names
from mindspore.compile.values.effects import contents_of_error, is_text
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.values import Undefined
from mindspore.compile.walk.purity import only_computes
from mindspore.compile.walk.rounds import MAX_UNROLLED, Rounds

_FEW_ROUNDS = 64


class Statements(Rounds):
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

    def _step_while(self, node: ast.While, rounds: int) -> Any:
        self.at(node)
        left = rounds and not self.tracer.unrolls and self.tracer.arms > self.loops[node]
        if rounds == _FEW_ROUNDS or left:
            self._hide_values(node)
        test = self.test(node.test)
        self.at(node)
        if self.tracer.is_undecided(test) or (rounds and self._is_left_by_tensor(node)):
            return self.tensor_while(node)
        if not is_true(test):
            self.push(node.orelse)
            return None
        if rounds > MAX_UNROLLED:
            raise Unsupported(
                f"this loop ran {MAX_UNROLLED} rounds while compiling; let a tensor decide its condition to "
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

    def _run_Assign(self, node: ast.Assign) -> None:
        value = self.eval_lazily(node.value, True)
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
