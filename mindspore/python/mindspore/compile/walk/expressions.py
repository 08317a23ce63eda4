"""Expressions of a function under compilation: evaluated on the spot, node by node. Python values stay Python; what touches a
symbolic tensor appends to the graph, because that is what operators on symbolic tensors do."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.compile.decided.parts import FramePart
from mindspore.compile.program.borders import (
    each,
    is_true,
    listed,
    of_compiler,
    of_program,
    plainly,
    program_operation,
)
from mindspore.compile.program.errors import Unsupported, note_expression
from mindspore.compile.values.effects import Text, is_text, is_text_of, text_of
from mindspore.compile.values.host_values import has_host
from mindspore.compile.values.operators import BINARY, COMPARE, UNARY
from mindspore.compile.values.values import Choice, Undefined


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
        raise of_program(TypeError("keywords must be strings"))
    if key in others:
        text = f"{_called(function)} got multiple values for keyword argument '{key}'"
        raise of_program(TypeError(text))


def _called(function: Any) -> str:
    """As Python names a function in its errors."""
    name = getattr(function, "__qualname__", None)
    if name is None:
        return str(function)
    module = getattr(function, "__module__", None)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"


def symbolic(value: Any) -> bool:
    """Whether a value is a tensor that is known only at run time."""
    return isinstance(value, Tensor) and value.is_symbolic


class Expressions(FramePart):
    """Mixin of Frame: `eval(node)` dispatches on the node's class."""

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
        self.whole.call_around().bind(node.target.id, value)  # not in a comprehension
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

    def compare_once(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(right, Choice) and isinstance(op, (ast.In, ast.NotIn)):
            return self.tracer.split(right, lambda option: self.compare_once(op, left, option))
        if isinstance(op, (ast.In, ast.NotIn)):
            method = self.tracer.special_method(right, "__contains__")
            if method is not None:
                found = self.tracer.call(method, [left], {}, self)
                negate = isinstance(op, ast.NotIn)
                return self.negation(found) if negate else self.truth_as_bool(found)
        if isinstance(op, (ast.In, ast.NotIn)) and (
            self.tracer.is_traced(left) or self.tracer.has_traced(right)
        ):
            return self._contains(left, right, isinstance(op, ast.NotIn))
        if isinstance(op, (ast.Is, ast.IsNot)):
            if isinstance(right, Choice):
                left, right = right, left
            return self.tracer.split(left, lambda option: self._is(op, option, right))
        return self.tracer.operate(COMPARE[type(op)], left, right)

    def _is(self, op: ast.cmpop, a: Any, b: Any) -> bool:
        self.tracer.given.check_identity(a, b)
        return COMPARE[type(op)](a, b)

    def _contains(self, item: Any, container: Any, negate: bool) -> Any:
        found: Any = False
        if isinstance(container, Tensor):  # any of its elements, whatever its rank
            equal = self.tracer.operate(operator.eq, container, item)
            found = ops.any(equal) if isinstance(equal, Tensor) else equal
        else:
            for other in each(self.tracer.iterate(container)):
                if other is item:
                    return not negate
                equal = self.tracer.operate(operator.eq, item, other)
                if symbolic(equal):
                    equal = self.tracer.truth(equal)
                elif is_true(equal):
                    return not negate
                found = self.either(found, equal)
        return self.negation(found) if negate else self.truth_as_bool(found)

    def _IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        self.at(node)
        if not self.tracer.is_undecided(test):
            return self.eval(node.body if is_true(test) else node.orelse)
        return self.choose_expression(node, test)

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
            return self.tracer.call(function, args, kwargs, self)

        return call(None) if chosen is None else self.tracer.split(chosen, call)

    # ---- functions and comprehensions -------------------------------------------------------------------------------
    def _Lambda(self, node: ast.Lambda) -> Any:
        return self.make_function(node, "<lambda>")

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

    def read(self, name: str, value: Any) -> Any:
        """A variable's value, unless branches left it without one."""
        if isinstance(value, Choice):
            return self.tracer.defined(name, value)
        if isinstance(value, Undefined):
            text = f"the variable '{name}' has no single value here: {value.reason}"
            raise Unsupported(text, UnboundLocalError(text))
        return value
