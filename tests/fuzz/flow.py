"""Compound statements: branches, loops, jumps, and what surrounds statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuzz.base import rule
from fuzz.kinds import INTEGERS, Map, Num, Seq, T, Text, joined
from fuzz.transforms import Transforms

_MAX_DEPTH = 4


class Flow(Transforms):
    """Mixin of the generator."""

    def arm(self, count: int, scope: dict[str, Any], by_tensor: bool) -> dict[str, Any] | None:
        """A block that starts from a scope; what holds at its end, or None when it never gets there."""
        with self.setting(scope=dict(scope), inputs=set(self.inputs)):
            if by_tensor:
                self.tensor_depth += 1
            with self.block():
                leaves = self.statements(count)
            if by_tensor:
                self.tensor_depth -= 1
            return None if leaves else self.scope

    def merge(
        self, arms: list[dict[str, Any] | None], before: dict[str, Any], by_tensor: bool
    ) -> bool:
        """The scope after a branch; True when no arm gets there."""
        ends = [a for a in arms if a is not None]
        if not ends:
            self.scope = before
            return True
        merged = dict(ends[0])
        for other in ends[1:]:
            both = {n: joined(merged[n], other[n], False) for n in merged if n in other}
            merged = {n: k for n, k in both.items() if k is not None}
        if by_tensor:
            for name, kind in merged.items():
                if isinstance(kind, Num) and name not in before:
                    merged[name] = Num(kind.name, False)
        for name in before:
            if name not in merged and name in self.frozen:
                merged[name] = before[name]
        self.scope = merged
        self.inputs = {n for n in self.inputs if n in merged}
        return False

    # ---- branches ---------------------------------------------------------------------------------------------------
    def condition(self, by_tensor: bool, depth: int) -> str:
        return self.tensor_test(depth) if by_tensor else self.python_test(depth)

    @rule("statement", 5)
    def statement_if(self) -> str | None:
        if self.indent > _MAX_DEPTH:
            return None
        by_tensor = self.chance(0.7)
        before = dict(self.scope)
        self.emit(f"if {self.condition(by_tensor, 2)}:")
        before = dict(self.scope)
        arms = [self.arm(self.choose((1, 2, 3)), before, by_tensor)]
        if self.chance(0.3):
            with self.setting(plain=False):
                self.emit(f"elif {self.condition(by_tensor, 1)}:")
            arms.append(self.arm(self.choose((1, 2)), before, by_tensor))
        if self.chance(0.6):
            self.emit("else:")
            arms.append(self.arm(self.choose((1, 2)), before, by_tensor))
        else:
            arms.append(before)
        return "leaves" if self.merge(arms, before, by_tensor) else "done"

    # ---- jumps ------------------------------------------------------------------------------------------------------
    @rule("statement", 1.5)
    def statement_return(self) -> str | None:
        if self.result is None or self.indent < 3 or (self.tensor_depth == 0 and self.chance(0.6)):
            return None
        self.emit(f"return {self.value(self.result, 2)}")
        return "leaves"

    @rule("statement", 2)
    def statement_jump(self) -> str | None:
        if not self.loops or not self.in_branch:
            return None
        self.emit(self.choose(("break", "continue")))
        return "leaves"

    @property
    def in_branch(self) -> bool:
        """Whether the innermost block is an arm of a branch inside the loop."""
        return self.indent > self.loop_indent

    # ---- loops ------------------------------------------------------------------------------------------------------
    def loop_body(
        self,
        new: dict[str, Any],
        by_tensor: bool,
        head: Callable[[], None] | None = None,
        may_end: bool = True,
    ) -> None:
        """The body of a loop: variables of before keep their kinds, those made inside are gone after it."""
        before = dict(self.scope)
        inner = {**before, **new}
        values = {
            "scope": inner,
            "frozen": self.frozen | set(inner),
            "loops": self.loops + 1,
            "loop_indent": self.indent + 1,
        }
        with self.setting(**values, inputs=self.inputs - set(new)):
            if by_tensor:
                self.tensor_depth += 1
            with self.block():
                if head is not None:
                    head()
                self.statements(self.choose((1, 2, 3)))
            if by_tensor:
                self.tensor_depth -= 1
            after = self.scope
        for name, kind in before.items():
            if isinstance(kind, Num) and after.get(name) != kind:
                before[name] = Num(kind.name, False)
        self.scope = before
        if may_end and self.chance(0.25):
            self.emit("else:")
            end = self.arm(1, self.scope, False)
            if end is not None:
                self.merge([end, self.scope], self.scope, False)

    def may_loop(self) -> bool:
        return self.loops < 2 and self.indent < _MAX_DEPTH

    @rule("statement", 2)
    def statement_while_tensor(self) -> str | None:
        """A loop that a tensor ends."""
        if not self.may_loop():
            return None
        counter = self.fresh("n")
        kind = T(self.choose(INTEGERS), ())
        with self.setting(plain=False):
            limit = self.choose(("2", "3", f"(ops.abs({self.tensor(kind, 1)}) % 4)"))
        self.emit(f"{counter} = Tensor(0, ms.{kind.dtype})")
        self.emit(
            f"while {counter} < {limit}"
            + (f" and ({self.tensor_test(1)}):" if self.chance(0.3) else ":")
        )
        step = self.choose((f"{counter} = {counter} + 1", f"{counter} += 1"))
        self.loop_body({}, True, lambda: self.emit(step))
        self.scope[counter] = kind
        return "done"

    @rule("statement", 1)
    def statement_while_python(self) -> str | None:
        if not self.may_loop():
            return None
        counter = self.fresh("n")
        self.emit(f"{counter} = 0")
        self.emit(f"while {counter} < {self.choose((1, 2, 3))}:")
        self.loop_body({}, False, lambda: self.emit(f"{counter} += 1"))
        self.scope[counter] = Num("int", False)
        return "done"

    @rule("statement", 0.7)
    def statement_while_true(self) -> str | None:
        """A loop that a jump ends."""
        if not self.may_loop():
            return None
        counter = self.fresh("n")
        by_tensor = self.chance(0.6)
        kind = T("int32", ()) if by_tensor else Num("int", False)
        self.emit(f"{counter} = {'Tensor(0, ms.int32)' if by_tensor else '0'}")
        self.emit("while True:")

        def head() -> None:
            self.emit(f"{counter} += 1")
            self.emit(f"if {counter} > {self.choose((1, 2, 3))}:")
            self.emit("    break")

        self.loop_body({}, by_tensor, head, may_end=False)
        self.scope[counter] = kind
        return "done"

    @rule("statement", 1.5)
    def statement_for_tensor(self) -> str | None:
        """A range that a tensor bounds."""
        if not self.may_loop():
            return None
        kind = T(self.choose(INTEGERS), ())
        bound = f"ops.abs({self.tensor(kind, 1)}) % 4"
        name = self.fresh("i")
        self.emit(f"for {name} in range({self.choose((bound, '1, ' + bound, bound + ', 0, -1'))}):")
        self.loop_body({name: Num("int", False)}, True)
        return "done"

    @rule("statement", 2)
    def statement_for_range(self) -> str | None:
        if not self.may_loop():
            return None
        name = self.fresh("i")
        self.emit(
            f"for {name} in {self.choose(('range(2)', 'range(3)', 'range(3, 0, -1)', '(0, 2, 1)', 'reversed(range(2))', 'range(0)', 'range(self.size)'))}:"
        )
        self.loop_body({name: Num("int")}, False)
        return "done"

    @rule("statement", 2)
    def statement_for_items(self) -> str | None:
        """Over containers: their items must be of one kind."""
        if not self.may_loop():
            return None
        kind = self.tensor_kind()
        a, i, b = self.fresh("e"), self.fresh("i"), self.fresh("e")
        display = "({})" if self.chance(0.5) else "[{}]"
        form = self.choose(
            (
                "{a} in {x}",
                "{i}, {a} in enumerate({x})",
                "{a}, {b} in zip({x}, {y})",
                "{i}, ({a}, {b}) in enumerate(zip({x}, {y}), 1)",
                "{a} in reversed({x})",
                "{a} in map(lambda z: z + 1, {x})",
                "{i}, {a} in {{1: {u}, 2: {u}}}.items()",
                "{a} in list({x})",
                "{a} in iter({x})",
            )
        )
        if kind.dtype == "bool" and "z + 1" in form:
            return None
        with self.setting(plain=False):
            lists = [
                display.format(", ".join(self.tensor(kind, 1) for _ in range(2))) for _ in range(2)
            ]
            text = form.format(a=a, b=b, i=i, x=lists[0], y=lists[1], u=self.tensor(kind, 1))
        self.emit(f"for {text}:")
        new: dict[str, Any] = {a: kind}
        if "{i}" in form:
            new[i] = Num("int")
        if "{b}" in form:
            new[b] = kind
        self.loop_body(new, False)
        return "done"

    @rule("statement", 1)
    def statement_for_variable(self) -> str | None:
        """Over a container or the rows of a tensor in scope."""
        names = self.variables(
            lambda k: (
                (isinstance(k, T) and k.shape and 0 < k.shape[0] < 5)
                or (isinstance(k, Map) and k.items)
                or (isinstance(k, Seq) and k.items and len(set(k.items)) == 1)
            )
        )
        if not names or not self.may_loop():
            return None
        name = self.choose(names)
        kind = self.scope[name]
        e, i = self.fresh("e"), self.fresh("i")
        if isinstance(kind, T):
            row = T(kind.dtype, kind.shape[1:])
            self.emit(self.choose((f"for {e} in {name}:", f"for {i}, {e} in enumerate({name}):")))
            self.loop_body({e: row}, False)
        elif isinstance(kind, Seq):
            self.emit(f"for {e} in {name}:")
            self.loop_body({e: kind.items[0]}, False)
        else:
            self.emit(
                self.choose(
                    (
                        f"for {e} in {name}:",
                        f"for {e}, {i} in {name}.items():",
                        f"for {e} in sorted({name}.keys()):",
                    )
                )
            )
            self.loop_body({e: Text()}, False)
        return "done"

    @rule("statement", 1)
    def statement_for_cells(self) -> str | None:
        kinds = [k for n, k in self.cells.items() if n == "c0"]
        if not kinds or not self.may_loop():
            return None
        names = self.writable(lambda k: k == kinds[0])
        if not names:
            return None
        name, cell = self.choose(names), self.fresh("b")
        self.emit(
            self.choose(
                (f"for {cell} in self.layers:", f"for _, {cell} in enumerate(self.layers):")
            )
        )
        self.bind(name, kinds[0])
        self.loop_body({}, False, lambda: self.emit(f"{name} = {cell}({name})"))
        return "done"

    @rule("statement", 1)
    def statement_collect(self) -> str | None:
        """A list filled by a loop."""
        if not self.may_loop() or self.tensor_depth:
            return None
        kind = self.tensor_kind()
        name, i = self.fresh("c"), self.fresh("i")
        n = self.choose((1, 2, 3))
        self.emit(f"{name} = []")
        self.emit(f"for {i} in range({n}):")
        with self.setting(scope={**self.scope, i: Num("int")}, loops=self.loops + 1), self.block():
            text = self.tensor(kind, 2)
            self.emit(
                self.choose(
                    (
                        f"{name}.append({text})",
                        f"{name} += [{text}]",
                        f"{name} = {name} + [{text}]",
                        f"{name} = [*{name}, {text}]",
                    )
                )
            )
        self.bind(name, Seq("list", (kind,) * n))
        return "done"

    @rule("statement", 0.7)
    def statement_comprehension(self) -> str:
        kind = self.tensor_kind()
        name, i = self.fresh("c"), self.fresh("i")
        with self.setting(plain=False, scope={**self.scope, i: Num("int")}):
            text = self.tensor(kind, 2)
        form, count = self.choose(
            (
                ("[{} for {i} in range(3)]", 3),
                ("[{} for {i} in range(4) if {i} % 2]", 2),
                ("tuple({} for {i} in (1, 2))", 2),
                ("list({} for {i} in range(1))", 1),
            )
        )
        self.emit(f"{name} = {form.format(text, i=i)}")
        self.bind(name, Seq("tuple" if form.startswith("tuple") else "list", (kind,) * count))
        return "done"

    # ---- exceptions and managers ------------------------------------------------------------------------------------
    @rule("statement", 0.6)
    def statement_try(self) -> str | None:
        if self.indent >= _MAX_DEPTH:
            return None
        before = dict(self.scope)
        self.emit("try:")
        fails = self.choose(
            ("int('x')", "{}['k']", "raise ValueError('no')", "[][3]", "1 // 0", "pass")
        )
        with self.block():
            self.emit(fails)
        self.emit(
            self.choose(
                (
                    "except (ValueError, KeyError, IndexError, ZeroDivisionError):",
                    "except Exception as error:",
                    "except (ValueError, LookupError, ArithmeticError):",
                )
            )
        )
        ends = [before, self.arm(1, before, False)]
        if self.chance(0.3):
            self.emit("finally:")
            with self.block():
                self.emit("pass")
        self.merge(ends, before, False)
        return "done"

    @rule("statement", 0.3)
    def statement_with(self) -> str | None:
        if self.indent >= _MAX_DEPTH:
            return None
        self.emit(
            self.choose(
                (
                    "with contextlib.nullcontext():",
                    "with contextlib.nullcontext(3) as k:",
                    "with contextlib.suppress(KeyError):",
                )
            )
        )
        before = dict(self.scope)
        end = self.arm(2, before, False)
        return "leaves" if self.merge([end], before, False) else "done"

    @rule("statement", 0.3)
    def statement_raise(self) -> str | None:
        """On a way that is not taken, or hardly ever."""
        if self.indent >= _MAX_DEPTH:
            return None
        test = (
            "self.size > 100"
            if self.chance(0.8)
            else f"{self.leaf(T(self.float_dtype, (3,)))}.sum() > 1e9"
        )
        self.emit(f"if {test}:")
        with self.block():
            self.emit(
                self.choose(
                    (
                        'raise ValueError(f"size {self.size}")',
                        "raise RuntimeError",
                        "raise KeyError('a')",
                    )
                )
            )
        return "done"

    @rule("statement", 0.5)
    def statement_recursion(self) -> str:
        """A function that calls itself; a number or a tensor ends it."""
        name, kind = self.fresh("r"), self.float_kind()
        by_tensor = self.chance(0.4)
        self.emit(f"def {name}(a, k):")
        inner = {"a": kind, "k": T("int32", ()) if by_tensor else Num("int")}
        with self.setting(plain=False, scope={**self.scope, **inner}), self.block():
            self.emit("if k <= 0:")
            self.emit(f"    return {self.tensor(kind, 1)}")
            self.emit(f"return ops.tanh({name}({self.tensor(kind, 2)}, k - 1))")
            self.pin(" ".join(self.lines[-3:]))
        result = self.fresh()
        start = (
            f"ops.abs({self.tensor(T('int32', ()), 0)}) % 3"
            if by_tensor
            else self.choose(("2", "self.size", "0"))
        )
        self.emit(f"{result} = {name}({self.tensor(kind, 1)}, {start})")
        self.bind(result, kind)
        return "done"
