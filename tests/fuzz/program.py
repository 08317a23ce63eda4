"""A whole program: a module with a Cell, written as text, and the data it is called with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz.base import RULES
from fuzz.effects import EFFECT_DEFINITIONS
from fuzz.hosts import Hosts
from fuzz.kinds import FLOATS, Fn, Num, Rec, Seq, T
from fuzz.objects import DEFINITIONS

HEADER = '''"""Random program {seed}."""
import bisect
import contextlib
import copy
import heapq
from collections import namedtuple
from dataclasses import dataclass, replace

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import operations as P

'''
_ROUNDS = 3  # calls of one program, each with other data


@dataclass
class Program:
    """Source with a class `Net`, and what is needed to call it."""

    seed: int
    source: str
    inputs: list[T]
    parameters: dict[str, T]
    counts: Counter[str] = field(default_factory=Counter)
    parted: bool = False  # it may have lines that nothing compiles

    def data(self, round_: int) -> list[np.ndarray]:
        """Arguments for one call: the same types every time."""
        rng = np.random.default_rng([self.seed, round_])
        return [sample(rng, kind) for kind in self.inputs]


def sample(rng: np.random.Generator, kind: T) -> np.ndarray:
    """Tame values of a kind."""
    if kind.dtype == "bool":
        return rng.random(kind.shape) < 0.5
    if kind.is_float:
        return np.asarray(rng.normal(size=kind.shape)).astype(kind.dtype)
    return np.asarray(rng.integers(-3, 5, size=kind.shape)).astype(kind.dtype)


def rounds() -> range:
    """The calls of one program."""
    return range(_ROUNDS)


class Generator(Hosts):
    """One program from a seed."""

    def program(self) -> Program:
        r = self.random
        self.float_dtype = r.choices(FLOATS, [6, 2, 2])[0]
        self.dims = r.sample([1, 2, 3, 4, 5, 7], 2) + ([0] if self.chance(0.05) else [])
        kinds = [T(self.float_dtype, self.shape()) for _ in range(r.choice((1, 2)))]
        kinds += [self.tensor_kind() for _ in range(r.choice((0, 1)))]
        if self.chance(0.5):
            kinds.append(T(r.choice(("int32", "int64")), ()))
        names = [f"x{i}" for i in range(len(kinds))]
        for i in range(r.choice((0, 1, 1, 2))):
            dtype = self.float_dtype if self.chance(0.85) else "int32"
            self.parameters[f"p{i}"] = T(dtype, r.choice(kinds).shape)
        if self.chance(0.4):
            self.cells["c0"] = kinds[0]
        helpers = self.helpers(kinds)
        self.scope = {**helpers, **dict(zip(names, kinds))}
        self.inputs = set(names)
        self.result = self.result_kind(kinds)
        self.indent = 1
        self.emit(f"def construct(self, {', '.join(names)}):")
        with self.block():
            if self.chance(0.04):
                self.emit("self.count += 1")
            self.begin_effects()
            self.begin_parts()
            count = r.choice((3, 4, 5, 6, 8)) + (6 if self.parted else 0)
            if not self.statements(count):
                self.end_parts()
                self.end_effects()
                self.emit(f"return {self.value(self.result, 3)}")
        text = (
            HEADER.format(seed=self.seed)
            + DEFINITIONS
            + (EFFECT_DEFINITIONS if self.effects else "")
            + "\n".join([*self.cell_class(), *self.class_head(), *self.lines, ""])
        )
        return Program(self.seed, text, kinds, dict(self.parameters), self.counts, self.parted)

    def result_kind(self, kinds: list[T]) -> Any:
        first = self.choose(kinds[:2])
        kind = first if first.is_float else T(self.float_dtype, first.shape)
        if self.chance(0.6):
            return kind
        pair = Rec("Pair", (("a", kind), ("b", self.tensor_kind())))
        others = (self.tensor_kind(), kind, Seq("tuple", (kind,)), pair)
        return Seq("tuple", (kind, *self.random.sample(others, self.choose((1, 2)))))

    def helpers(self, kinds: list[T]) -> dict[str, Any]:
        """Methods and functions beside `construct`."""
        made: dict[str, Any] = {}
        for i in range(self.choose((0, 0, 1, 2))):
            params = tuple(self.choose(kinds) for _ in range(self.choose((1, 2))))
            if not params[0].is_float:
                continue
            inner: dict[str, Any] = {f"a{j}": k for j, k in enumerate(params)}
            inner["k"] = Num("int")
            self.indent = 1
            self.emit(f"def helper{i}(self, {', '.join(inner)}{self.choose(('=1', '=3'))}):")
            self.result = params[0]
            with self.setting(scope=inner, inputs=set(inner), pinned=set()), self.block():
                if not self.statements(self.choose((1, 2, 3))):
                    self.emit(f"return {self.value(params[0], 2)}")
            self.emit("")
            made[f"self.helper{i}"] = Fn(params, params[0], (("k", Num("int")),))
        return made

    def class_head(self) -> list[str]:
        lines = [
            "class Net(nn.Cell):",
            "    def __init__(self, values):",
            "        super().__init__()",
        ]
        for name in self.parameters:
            lines.append(
                f'        self.{name} = Parameter(Tensor(values["{name}"]), name="{name}")'
            )
        if self.cells:
            lines.append("        self.c0 = Inner(0.5)")
            lines.append(
                f"        self.layers = nn.CellList([Inner(1.0), Inner({self.choose(('1.0', '2.0'))})])"
            )
        lines.append(f"        self.flag, self.size = {self.chance(0.5)}, {self.choose((1, 2, 3))}")
        lines.append(f'        self.scale, self.mode = {self.choose((0.5, 1.25))}, "a"')
        attributes, methods = self.effect_methods()
        return [*lines, "        self.nothing, self.count = None, 0", *attributes, "", *methods]

    def cell_class(self) -> list[str]:
        if not self.cells:
            return []
        kind = self.cells["c0"]
        shape = kind.shape[-1:]
        form = self.choose(
            (
                "a * self.w + self.k",
                "ops.tanh(a) * self.w",
                "a - self.w if self.k > 0.7 else a * self.w",
                "self.act(a * self.k) * self.w",
            )
        )
        return [
            "class Inner(nn.Cell):",
            "    def __init__(self, k):",
            "        super().__init__()",
            f'        self.w = Parameter(ops.full({shape}, k, dtype=ms.{kind.dtype}), name="w")',
            "        self.k, self.act = k, nn.ReLU()",
            "",
            "    def construct(self, a):",
            f"        return {form}",
            "",
            "",
        ]


def generate(seed: int) -> Program:
    """The program of a seed: always the same one."""
    return Generator(seed).program()


def all_rules() -> set[str]:
    """The name of every rule of the grammar."""
    return {name for rules in RULES.values() for _, name, _ in rules}
