"""The machinery of the generator: rules chosen by weight and counted, variables in scope, lines of text."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fuzz.kinds import FLOATS, Map, Num, Seq, T

Rule = Callable[..., Any]
RULES: dict[str, list[tuple[float, str, str]]] = {}  # group -> (weight, name, method)


def rule(group: str, weight: float = 1.0) -> Callable[[Rule], Rule]:
    """Declares a method as one way to make what `group` names; it returns None where it does not apply."""

    def note(method: Rule) -> Rule:
        name = method.__name__.removeprefix(group + "_")
        RULES.setdefault(group, []).append((weight, f"{group}.{name}", method.__name__))
        return method

    return note


class Base:
    """State of one program under construction."""

    def __init__(self, seed: int):
        self.seed, self.random = seed, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.scope: dict[str, Any] = {}
        self.lines: list[str] = []
        self.indent = 0
        self.names = 0
        self.loops = 0  # nesting of loops around the current statement
        self.loop_indent = 0  # of the body of the innermost loop
        self.tensor_depth = 0  # nesting of control flow that a tensor decides
        self.frozen: set[str] = (
            set()
        )  # variables that must keep their kind: a loop reads them again
        self.read_only: set[str] = set()  # variables of an enclosing function
        self.pinned: set[str] = set()  # variables that a nested function reads
        self.result: Any = None  # kind of what the function returns
        self.plain = True  # an expression is evaluated exactly once, in the current scope
        self.parameters: dict[str, T] = {}  # self.p0 -> its kind
        self.cells: dict[str, T] = {}  # self.c0 -> kind it maps to itself
        self.inputs: set[str] = set()  # names that the caller's tensors still have
        self.float_dtype = "float32"
        self.dims: list[int] = [2, 3]
        self.may_assign_parameters = True
        self.effects: list[str] = []  # functions with effects that may be called here
        self.busy: set[str] = set()  # those that a loop counts with
        self.parted = False  # lines that nothing compiles may stand here

    # ---- chance -----------------------------------------------------------------------------------------------------
    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def choose(self, items: Any) -> Any:
        return self.random.choice(list(items))

    def pick(self, group: str, *args: Any) -> Any:
        """What one of the rules of a group makes; None when none applies."""
        waiting = list(RULES[group])
        while waiting:
            at = self.random.choices(range(len(waiting)), [w for w, _, _ in waiting])[0]
            _, name, method = waiting.pop(at)
            made = getattr(self, method)(*args)
            if made is not None:
                self.counts[name] += 1
                return made
        return None

    # ---- names and lines --------------------------------------------------------------------------------------------
    def fresh(self, prefix: str = "v") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Lines one level deeper; an empty block gets a `pass`."""
        self.indent += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.emit("pass")
        self.indent -= 1

    @contextmanager
    def setting(self, **values: Any) -> Iterator[None]:
        """Attributes with other values for a while."""
        before = {name: getattr(self, name) for name in values}
        for name, value in values.items():
            setattr(self, name, value)
        yield
        for name, value in before.items():
            setattr(self, name, value)

    # ---- variables --------------------------------------------------------------------------------------------------
    def variables(self, wanted: Callable[[Any], bool]) -> list[str]:
        """Names in scope whose kind satisfies a condition."""
        return [name for name, kind in self.scope.items() if wanted(kind)]

    def writable(self, wanted: Callable[[Any], bool]) -> list[str]:
        """Names of such a kind that may be assigned here."""
        return [name for name in self.variables(wanted) if name not in self.read_only]

    def bind(self, name: str, kind: Any) -> None:
        """A variable gets a kind; a number that a tensor decides is not known while compiling any more."""
        if isinstance(kind, Num) and self.tensor_depth and name in self.scope:
            kind = Num(kind.name, False)
        self.scope[name] = kind
        self.inputs.discard(name)

    def changed(self, name: str, kind: Any) -> None:
        """A container was changed in place: all its names see it."""
        ident = self.scope[name].ident
        for other, held in self.scope.items():
            if isinstance(held, (Seq, Map)) and (other == name or (ident and held.ident == ident)):
                self.scope[other] = kind

    # ---- random kinds -----------------------------------------------------------------------------------------------
    def shape(self, most: int = 3) -> tuple[int, ...]:
        rank = self.random.choices(range(most + 1), [3, 4, 4, 1][: most + 1])[0]
        return tuple(self.choose(self.dims) for _ in range(rank))

    def tensor_kind(self) -> T:
        """The kind of a new tensor, often that of one in scope."""
        known = [k for k in self.scope.values() if isinstance(k, T)]
        if known and self.chance(0.7):
            kind = self.choose(known)
            if self.chance(0.85):
                return kind
            return T(self.float_dtype, kind.shape)
        dtype = self.float_dtype
        if self.chance(0.3):
            dtype = self.choose((*FLOATS, "int32", "int64", "bool"))
        return T(dtype, self.shape())

    def float_kind(self) -> T:
        kind = self.tensor_kind()
        return kind if kind.is_float else T(self.float_dtype, kind.shape)
