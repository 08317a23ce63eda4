"""Functions inside of the program: lambdas, and nested ones, which see the variables around them."""

from __future__ import annotations

import re
from typing import Any

from fuzz.base import rule
from fuzz.kinds import Fn, Num
from fuzz.statements import Statements

_WORD = re.compile(r"\w+")


class Functions(Statements):
    """Mixin of the generator."""

    @rule("statement", 1)
    def statement_lambda(self) -> str:
        params = tuple(self.float_kind() for _ in range(self.choose((1, 1, 2))))
        result = self.choose(params)
        names = [self.fresh("a") for _ in params]
        keywords: tuple = ()
        spec = ", ".join(names)
        inner = dict(zip(names, params))
        if self.chance(0.3):
            keywords = (("k", Num("int")),)
            spec += f", k={self.number('int', 0, True)}"
            inner["k"] = Num("int")
        with self.setting(plain=False, scope={**self.scope, **inner}):
            body = self.tensor(result, 2)
        name = self.fresh("f")
        self.pin(body)
        self.emit(f"{name} = lambda {spec}: {body}")
        self.bind(name, Fn(params, result, keywords))
        return "done"

    @rule("statement", 1.2)
    def statement_function(self) -> str:
        """A nested function with statements of its own; it sees the variables around it."""
        params = tuple(self.float_kind() for _ in range(self.choose((1, 1, 2))))
        result = self.choose(params)
        names = [self.fresh("a") for _ in params]
        keywords: tuple = ()
        spec = ", ".join(names)
        inner: dict[str, Any] = dict(zip(names, params))
        if self.chance(0.4):
            keywords = (("k", Num("int")), ("t", params[0]))
            default = self.leaf(params[0])
            spec += self.choose((", k=2, t={}", ", *, k=1, t={}")).format(default)
            inner.update(k=Num("int"), t=params[0])
        name = self.fresh("f")
        self.emit(f"def {name}({spec}):")
        outer = {**self.scope}
        with self.setting(
            plain=True,
            scope={**outer, **inner},
            frozen=set(outer),
            loops=0,
            result=result,
            tensor_depth=0,
            inputs=set(names),
            effects=[],
            parted=False,
        ):
            start = len(self.lines)
            self.function_body(result, self.choose((1, 2, 3)), set(outer) - set(inner))
        self.pin(" ".join(self.lines[start:]))
        self.bind(name, Fn(params, result, keywords))
        return "done"

    def pin(self, text: str) -> None:
        """Variables that a function reads keep their kinds from here on."""
        self.pinned |= set(_WORD.findall(text)) & set(self.scope)

    def function_body(self, result: Any, count: int, outer: set[str]) -> None:
        """Statements that only read the variables of the enclosing function, then a return."""
        with self.block(), self.setting(read_only=outer):
            if not self.statements(count):
                self.emit(f"return {self.value(result, 2)}")
