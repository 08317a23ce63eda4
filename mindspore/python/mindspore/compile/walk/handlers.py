"""`try` and `with` in a function under compilation. What Python decides while compiling happens then, in Python's order: handlers
are items of the statement stack, found when an exception comes or when the stack is unwound."""

from __future__ import annotations

import ast
from typing import Any

from mindspore.compile.decided.exits import PROTECTED, Way, holds
from mindspore.compile.program.borders import is_true, program_error, program_operation
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.failures import failed, is_of_compiler, is_of_program
from mindspore.compile.program.marks import original_of
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.walk.expressions import Expressions


class Handlers(Expressions):
    """A storey of Frame."""

    def _run_Try(self, node: ast.Try) -> None:
        if node.finalbody:
            self.stack.append(("finally", node.finalbody))
        self.stack.append(("try", node))
        self.push(node.body)

    def _step_try(self, node: ast.Try) -> None:
        """The body ended without an exception."""
        self.push(node.orelse)

    def _step_finally(self, statements: list[ast.stmt]) -> None:
        self.push(statements)

    def _step_handled(self, name: str | None, error: BaseException) -> None:
        if name is not None:
            self.env.pop(name, None)

    def _step_reraise(self, error: BaseException) -> None:
        raise error

    def _step_leave(self, value: Any) -> Any:
        return self.leave(value)

    def _step_jump(self, way: Way) -> Any:
        return self.jump(way)

    # ---- exceptions -------------------------------------------------------------------------------------------------
    def catch(self, error: Exception, base: int) -> bool:
        """Whether an item above `base` takes the exception; what follows is then on the stack."""
        if is_of_compiler(error):
            return False
        if not is_of_program(error):
            if holds(self.stack, base, *PROTECTED):
                raise failed(error) from error
            return False
        while len(self.stack) > base:
            item = self.stack.pop()
            if item[0] == "finally":
                self.stack.append(("reraise", error))
                self.push(item[1])
                return True
            if item[0] == "with" and self._exit(item[1], error):
                return True
            if item[0] == "try" and self._handle(item[1], error):
                return True
        return False

    def _handle(self, node: ast.Try, error: Exception) -> bool:
        original = original_of(error)
        for handler in node.handlers:
            kinds = Exception if handler.type is None else self.eval(handler.type)
            with program_operation:
                taken = isinstance(original, kinds)
            if taken:
                self.stack.append(("handled", handler.name, error))
                if handler.name is not None:
                    self.bind(handler.name, original)
                self.push(handler.body)
                return True
        return False

    def handled_error(self) -> BaseException:
        """The exception that a bare `raise` raises again."""
        for item in reversed(self.stack):
            if item[0] == "handled":
                return item[2]
        raise program_error(RuntimeError, "no active exception to raise")

    def refuse_handlers(self) -> None:
        """A tensor decides about an exception: that must not concern a handler, which works while compiling."""
        for frame in (self, *(f for f, _ in self.tracer.places)):
            if holds(frame.stack, 0, *PROTECTED):
                raise Unsupported("an exception inside 'try' or 'with' is decided by a tensor")

    # ---- leaving ----------------------------------------------------------------------------------------------------
    def unwind(self, keep: int, again: tuple) -> bool:
        """Cuts the stack to `keep` items. True when a `finally` comes first: `again` is then done after it."""
        while len(self.stack) > keep:
            item = self.stack.pop()
            if item[0] == "finally":
                self.stack.append(again)
                self.push(item[1])
                return True
            if item[0] == "with":
                self._exit(item[1], None)
        return False

    # ---- managers ---------------------------------------------------------------------------------------------------
    def _run_With(self, node: ast.With) -> None:
        body = node.body
        if len(node.items) > 1:  # `with a, b:` is `with a: with b:`
            inner = ast.copy_location(ast.With(node.items[1:], node.body), node)
            body = [inner]
        item = node.items[0]
        manager = self.eval(item.context_expr)
        self.at(item.context_expr)
        kind = type(manager)
        if isinstance(manager, HostValue):
            value = manager.__enter__()
        elif not hasattr(kind, "__enter__") or not hasattr(kind, "__exit__"):
            raise program_error(
                TypeError, f"'{kind.__name__}' object does not support the context manager protocol"
            )
        else:
            value = self.tracer.call(self.tracer.bound(manager, "__enter__"), [], {})
        self.stack.append(("with", manager))
        if item.optional_vars is not None:
            self.assign(item.optional_vars, value)
        self.push(body)

    def _step_with(self, manager: Any) -> None:
        self._exit(manager, None)

    def _exit(self, manager: Any, error: Exception | None) -> bool:
        original = original_of(error)
        if isinstance(manager, HostValue):
            return bool(manager.__exit__(error and type(original), original, None))
        exit_ = self.tracer.bound(manager, "__exit__")
        result = self.tracer.call(exit_, [error and type(original), original, None], {})
        if self.tracer.is_traced(result):
            raise Unsupported("a tensor decides whether a context manager takes an exception")
        return error is not None and is_true(result)
