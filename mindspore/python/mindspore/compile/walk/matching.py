"""`match` in a function under compilation. What a pattern asks of the subject's form is known while compiling; what it compares with
a tensor becomes the condition of a branch, whose other side is the rest of the cases."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from mindspore._core import Tensor
from mindspore.compile.program.borders import is_true, listed, program_error, program_operation
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.host_values import HostValue, decides
from mindspore.compile.walk.handlers import Handlers
from mindspore.compile.walk.names import shares_of

# A positional pattern in one of these, or of what is derived from them, means the subject itself.
_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class _Fails(Exception):
    """The pattern does not fit, whatever the tensors are."""


class Found:
    """What a pattern that may fit asks of tensors, and the names that it binds."""

    def __init__(self) -> None:
        self.conditions: list[Tensor] = []
        self.names: dict[str, Any] = {}


class Matching(Handlers):
    """A storey of Frame."""

    def _run_Match(self, node: ast.Match) -> Any:
        subject = self.eval(node.subject)
        self.at(node)
        return self.branch_on(subject, lambda option: self._match_cases(node, option))

    def _match_cases(self, node: ast.Match, subject: Any) -> Any:
        if isinstance(subject, HostValue):
            raise decides()
        for i, case in enumerate(node.cases):
            found = Found()
            self.at(case.pattern)
            try:
                self._fit(case.pattern, subject, found)
            except _Fails:
                continue
            rest = _at(case.pattern, ast.Match(_value(subject), node.cases[i + 1 :]))
            return self._enter_case(case, found, [rest] if rest.cases else [])
        return None

    def _enter_case(self, case: ast.match_case, found: Found, rest: list[ast.stmt]) -> Any:
        """Runs a case that fits, where it does; elsewhere the rest."""
        body = case.body
        if case.guard is not None:
            body = [_at(case.guard, ast.If(case.guard, body, rest))]
        taken = [_at(case.pattern, _assignment(n, v)) for n, v in found.names.items()] + body
        if not found.conditions:
            self.push(taken)
            return None
        condition = functools.reduce(self.both, found.conditions)
        test = _at(case.pattern, ast.If(_value(condition), taken, rest))
        return self.tensor_if(test, condition)

    # ---- patterns ---------------------------------------------------------------------------------------------------
    def _fit(self, pattern: ast.pattern, subject: Any, found: Found) -> None:
        getattr(self, "_fit_" + type(pattern).__name__)(pattern, subject, found)

    def _require(self, test: Any, found: Found) -> None:
        if self.tracer.is_undecided(test):
            found.conditions.append(self.tracer.truth(test))
        elif not is_true(test):
            raise _Fails

    def _fit_MatchValue(self, pattern: ast.MatchValue, subject: Any, found: Found) -> None:
        value = self.eval(pattern.value)
        self._require(self.tracer.operate(operator.eq, subject, value), found)

    def _fit_MatchSingleton(self, pattern: ast.MatchSingleton, subject: Any, found: Found) -> None:
        self._require(subject is pattern.value, found)

    def _fit_MatchAs(self, pattern: ast.MatchAs, subject: Any, found: Found) -> None:
        if pattern.pattern is not None:
            self._fit(pattern.pattern, subject, found)
        if pattern.name is not None:
            found.names[pattern.name] = subject

    def _fit_MatchOr(self, pattern: ast.MatchOr, subject: Any, found: Found) -> None:
        either: list[Tensor] = []
        for option in pattern.patterns:
            inner = Found()
            try:
                self._fit(option, subject, inner)
            except _Fails:
                continue
            if not inner.conditions and not either:
                found.names.update(inner.names)
                return
            if inner.names:
                raise Unsupported("a tensor decides which of several patterns binds a name")
            if not inner.conditions:
                return
            either.append(functools.reduce(self.both, inner.conditions))
        if not either:
            raise _Fails
        found.conditions.append(functools.reduce(self.either, either))

    def _fit_MatchSequence(self, pattern: ast.MatchSequence, subject: Any, found: Found) -> None:
        if not isinstance(subject, Sequence) or isinstance(subject, (str, bytes, bytearray)):
            raise _Fails
        shares = shares_of(listed(self.tracer.iterate(subject)), pattern.patterns, ast.MatchStar)
        if shares is None:
            raise _Fails
        for part, item in zip(pattern.patterns, shares):
            self._fit(part, item, found)

    def _fit_MatchStar(self, pattern: ast.MatchStar, subject: list, found: Found) -> None:
        if pattern.name is not None:
            found.names[pattern.name] = subject

    def _fit_MatchMapping(self, pattern: ast.MatchMapping, subject: Any, found: Found) -> None:
        if not isinstance(subject, Mapping):
            raise _Fails
        keys = [self.eval(key) for key in pattern.keys]
        with program_operation:
            if any(key not in subject for key in keys):
                raise _Fails
        for key, part in zip(keys, pattern.patterns):
            self._fit(part, self.tracer.get_item(subject, key), found)
        if pattern.rest is not None:
            with program_operation:
                found.names[pattern.rest] = {k: subject[k] for k in subject if k not in keys}

    def _fit_MatchClass(self, pattern: ast.MatchClass, subject: Any, found: Found) -> None:
        kind = self.eval(pattern.cls)
        if not isinstance(kind, type):
            raise program_error(TypeError, "called match pattern must be a class")
        if not self.tracer.call(isinstance, [subject, kind], {}):
            raise _Fails
        for name, part in self._named_parts(pattern, kind):
            if name is None:
                self._fit(part, subject, found)
                continue
            if not self.tracer.call(hasattr, [subject, name], {}):
                raise _Fails
            self._fit(part, self.tracer.get_attribute(subject, name), found)

    def _named_parts(self, pattern: ast.MatchClass, kind: type) -> list[tuple[str | None, Any]]:
        """The patterns of attributes; a name of None is the subject itself."""
        parts = pattern.patterns
        names = listed(getattr(kind, "__match_args__", ()))
        if not hasattr(kind, "__match_args__") and issubclass(kind, _SELF):
            names = [None]
        if len(parts) > len(names):
            plural = "" if len(names) == 1 else "s"
            raise program_error(
                TypeError,
                f"{kind.__name__}() accepts {len(names)} positional sub-pattern{plural} ({len(parts)} given)",
            )
        named = [*zip(names, parts), *zip(pattern.kwd_attrs, pattern.kwd_patterns)]
        for i, (name, _) in enumerate(named):
            if any(name == other for other, _ in named[:i]):
                raise program_error(
                    TypeError, f"{kind.__name__}() got multiple sub-patterns for attribute '{name}'"
                )
        return named


def _value(value: Any) -> ast.expr:
    """An expression that is a value at hand."""
    return ast.Constant(value)


def _assignment(name: str, value: Any) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], _value(value))


def _at(place: ast.AST, node: Any) -> Any:
    """A new node that stands where another does."""
    for n in ast.walk(node) if isinstance(node, ast.Assign) else (node,):
        ast.copy_location(n, place)
    return node
