"""Expressions of a function under compilation: evaluated on the spot, node by node. Python values stay Python; what touches a
symbolic tensor appends to the graph, because that is what operators on symbolic tensors do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from mindspore.compile.decided.exits import barrier
from mindspore.compile.program.borders import (
    each,
    is_true,
    listed,
    of_compiler,
    plainly,
    program_error,
    program_operation,
)
from mindspore.compile.program.errors import Unsupported, note_expression
from mindspore.compile.values.effects import Text, is_text, is_text_of, text_of
from mindspore.compile.values.host_values import has_host
from mindspore.compile.values.operators import BINARY, UNARY
from mindspore.compile.values.values import Choice
from mindspore.compile.walk.comprehensions import Comprehensions
from mindspore.compile.walk.generators import Yielded


def _format(value: Any, conversion: int, spec: str) -> str:
    if conversion != -1:
        text: dict[str, Callable] = {"s": str, "r": repr, "a": ascii}
        value = text[chr(conversion)](value)
    return format(value, spec)


# ---- keywords of a call, with Python's words ------------------------------------------------------------------------------
def is_mapping(value: Any) -> bool:
    """Whether `**` takes a value."""
    return isinstance(value, dict) or hasattr(value, "keys")


def _mapped(function: Any, value: Any) -> dict:
    with program_operation:
        if not is_mapping(value):
            kind = type(value).__name__
            raise TypeError(f"{_called(function)} argument after ** must be a mapping, not {kind}")
    given: dict = {}
    plainly(given.update, [value], {})
    return given


def _check_keyword(function: Any, key: Any, others: dict) -> None:
    if not isinstance(key, str):
        raise program_error(TypeError, "keywords must be strings")
    if key in others:
        text = f"{_called(function)} got multiple values for keyword argument '{key}'"
        raise program_error(TypeError, text)


def _called(function: Any) -> str:
    """As Python names a function in its errors."""
    name = getattr(function, "__qualname__", None)
    if name is None:
        return str(function)
    module = getattr(function, "__module__", None)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"


class Expressions(Comprehensions):
    """A storey of Frame: `eval(node)` dispatches on the node's class."""

    def eval(self, node: ast.expr) -> Any:
        """The value of an expression, by the method named like its node."""
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            raise Unsupported(
                f"'{type(node).__name__}' expressions are not supported in a compiled function"
            )
        try:
            return method(node)
        except Exception as error:
            note_expression(error, self, node)
            of_compiler(error)
            raise

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        self.name = node
        return self.lookup(node.id)

    def _Attribute(self, node: ast.Attribute) -> Any:
        return self.tracer.get_attribute(self.eval(node.value), node.attr)

    def _NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.eval(node.value)
        self.call_around().bind(node.target.id, value)  # not in a comprehension
        return value

    # ---- displays ---------------------------------------------------------------------------------------------------
    def _items(self, nodes: list[ast.expr]) -> list:
        items: list = []
        for n in nodes:
            if isinstance(n, ast.Starred):
                items.extend(listed(self.tracer.iterate(self.eval(n.value))))
            else:
                items.append(self.eval(n))
        return items

    def _Tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self._items(node.elts))

    def _List(self, node: ast.List) -> list:
        return self._items(node.elts)

    def _Set(self, node: ast.Set) -> set:
        items = self._items(node.elts)
        with program_operation:
            return set(items)

    def _Dict(self, node: ast.Dict) -> dict:
        result: dict = {}
        for key, value in zip(node.keys, node.values):
            k = None if key is None else self.eval(key)
            v = self.eval(value)
            with program_operation:
                if key is None and not is_mapping(v):
                    raise TypeError(f"'{type(v).__name__}' object is not a mapping")
                result.update(v if key is None else {k: v})
        return result

    def _JoinedStr(self, node: ast.JoinedStr) -> Any:
        return self.tracer.split_arguments([self.eval(v) for v in node.values], {}, self._join_text)

    def _join_text(self, parts: list, _: dict) -> Any:
        if is_text(parts):
            return Text(lambda *texts: "".join(texts), *parts)
        if has_host(parts):
            return self.tracer.parts.operate("".join, parts)
        return "".join(parts)

    def _FormattedValue(self, node: ast.FormattedValue) -> Any:
        value = self.tracer.as_choice(self.eval(node.value))
        spec = self.eval(node.format_spec) if node.format_spec else ""
        return self.tracer.split_arguments(
            [value, spec], {}, lambda a, _: self._formatted(node, *a)
        )

    def _formatted(self, node: ast.FormattedValue, value: Any, spec: Any) -> Any:
        if is_text_of(value, self.tracer):
            return text_of(self.tracer, lambda v, s: _format(v, node.conversion, s), value, spec)
        if has_host((value, spec)):
            return self.tracer.parts.operate(_format, value, node.conversion, spec)
        self.tracer.note_states((value,))
        with program_operation:
            return _format(value, node.conversion, spec)

    # ---- operators --------------------------------------------------------------------------------------------------
    def _BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.eval(node.left), self.eval(node.right)
        self.at(node)
        return self.tracer.operate(BINARY[type(node.op)], left, right)

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.eval(node.operand)
        self.at(node)
        if isinstance(node.op, ast.Not):
            return self.negation(value)
        operation = UNARY[type(node.op)]
        return self.tracer.split(value, lambda v: self.tracer.operate_on(operation, v))

    def _IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        self.at(node)
        if not self.tracer.is_undecided(test):
            return self.eval(node.body if is_true(test) else node.orelse)
        return self.choose(test, lambda: self.eval(node.body), lambda: self.eval(node.orelse))

    # ---- subscripts and calls ---------------------------------------------------------------------------------------
    def _Subscript(self, node: ast.Subscript) -> Any:
        value = self.eval(node.value)
        key = self.eval(node.slice)
        self.at(node)
        return self.tracer.get_item(value, key)

    def _Slice(self, node: ast.Slice) -> slice:
        return slice(
            *(
                None if part is None else self.eval(part)
                for part in (node.lower, node.upper, node.step)
            )
        )

    def _Starred(self, node: ast.Starred) -> Any:
        raise Unsupported("a starred expression is not allowed here")

    def _Call(self, node: ast.Call) -> Any:
        if (
            isinstance(node.func, ast.Name)
            and node.func.id == "super"
            and not node.args
            and self.is_builtin("super")
        ):
            return self.zero_argument_super()
        if self.ends_early(node):
            return self.any_or_all(node)
        function = self.eval(node.func)
        args = self._items(node.args)
        named = [(keyword.arg, self.eval(keyword.value)) for keyword in node.keywords]
        self.at(node)
        chosen = next((v for name, v in named if name is None and isinstance(v, Choice)), None)

        def call(option: Any) -> Any:
            kwargs: dict = {}
            for name, value in named:
                given = {name: value}
                if name is None:
                    given = _mapped(function, option if value is chosen else value)
                for key in given:
                    _check_keyword(function, key, kwargs)
                kwargs.update(given)
            return self.tracer.call(function, args, kwargs)

        return call(None) if chosen is None else self.tracer.split(chosen, call)

    def _Lambda(self, node: ast.Lambda) -> Any:
        return self.make_function(node, "<lambda>")

    # ---- yield --------------------------------------------------------------------------------------------------------
    def run_yield(self, node: ast.Yield | ast.YieldFrom) -> Any:
        """`yield x` and `yield from xs`, as statements."""
        if barrier(self.stack) >= 0:
            raise Unsupported("a tensor decides whether a generator gives an item")
        if isinstance(node, ast.YieldFrom):
            items = self.tracer.iterate(self.eval(node.value))
            with program_operation:
                self.stack.append(("yields", iter(items)))
            return None
        return Yielded(None if node.value is None else self.eval(node.value))

    def _Yield(self, node: ast.expr) -> Any:
        raise Unsupported("a generator that takes what is sent to it cannot be compiled")

    _YieldFrom = _Yield

    def _step_yields(self, items: Iterator) -> Any:
        for item in each(items):
            self.stack.append(("yields", items))
            return Yielded(item)
        return None
