"""Transforms inside of programs, `match`, generators, and attributes that calls change."""

from __future__ import annotations

from fuzz.base import rule
from fuzz.kinds import Num, T
from fuzz.objects import Objects


class Transforms(Objects):
    """Mixin of the generator."""

    # ---- transforms -------------------------------------------------------------------------------------------------
    def lambda_of(self, kind: T, result: T, depth: int) -> tuple[str, str]:
        """The name of a parameter, and a lambda that surely reads it."""
        name = self.fresh("g")
        with self.setting(plain=False, scope={**self.scope, name: kind}):
            body = self.tensor(result, depth)
        return name, body

    @rule("float", 0.4)
    def float_forward(self, kind: T, depth: int) -> str:
        """A tangent, or what is pulled back, inside of the program."""
        name, body = self.lambda_of(kind, kind, 2)
        x, v = self.tensor(kind, 0), self.tensor(kind, 0)
        function = f"lambda {name}: {body} * {name}"
        return self.choose(
            (
                f"ms.jvp({function}, {x}, {v})[1]",
                f"ms.jvp({function}, {x}, {v})[0]",
                f"ms.vjp({function}, {x})[0]",
                f"ms.value_and_grad({function})({x})[1]",
                f"ms.grad(ms.grad({function}))({x})",
            )
        )

    @rule("float", 0.5)
    def float_batch(self, kind: T, depth: int) -> str | None:
        """A function of each item."""
        if not kind.shape or not kind.size:
            return None
        item = T(kind.dtype, kind.shape[1:])
        name, body = self.lambda_of(item, item, 2)
        return f"ms.vmap(lambda {name}: {body} + {name})({self.tensor(kind, 1)})"

    @rule("float", 0.3)
    def float_map(self, kind: T, depth: int) -> str:
        name, body = self.lambda_of(kind, kind, 1)
        a, b = self.tensor(kind, 1), self.tensor(kind, 1)
        return self.choose(
            (
                f"ops.HyperMap()(lambda {name}: {body}, ({a}, ({b},)))[1][0]",
                f"ops.Map()(lambda {name}: {body}, ({a}, {b}))[0]",
                f"ops.clip_by_value({a}, -1.0, 1.0)",
            )
        )

    # ---- statements -------------------------------------------------------------------------------------------
    @rule("statement", 0.6)
    def statement_match(self) -> str:
        kind = self.tensor_kind()
        name, subject = self.fresh(), self.fresh("m")
        with self.setting(plain=False):
            texts = [self.assignable(kind) for _ in range(3)]
        number = self.number("int", 1, True)
        self.emit(
            self.choose(
                (
                    f"match ({number}, {texts[2]}):",
                    f"match [{number}, {texts[2]}]:",
                    f"match (self.size, {texts[2]}):",
                )
            )
        )
        with self.block():
            self.emit(f"case (1 | 2, {subject}):")
            self.emit(f"    {name} = {texts[0]}")
            self.emit(f"case (k, {subject}) if {self.choose(('k > 2', 'self.flag'))}:")
            self.emit(f"    {name} = {texts[1]}")
            self.emit(f"case (_, {subject}):")
            self.emit(f"    {name} = {subject}")
        self.bind(name, kind)
        self.bind(subject, kind)
        return "done"

    @rule("statement", 0.6)
    def statement_generator(self) -> str:
        kind = self.float_kind()
        name, e, total = self.fresh("f"), self.fresh("e"), self.fresh()
        with self.setting(plain=False):
            start = self.assignable(kind)
            with self.setting(scope={**self.scope, "a": kind, "i": Num("int")}):
                item = self.tensor(kind, 2)
        self.pin(item)
        self.emit(f"def {name}(a, n):")
        with self.block():
            self.emit("for i in range(n):")
            self.emit(f"    yield ops.tanh({item})")
            if self.chance(0.4):
                self.emit("    if i > 1:")
                self.emit("        return")
        argument = self.tensor(kind, 1)
        self.emit(f"{total} = {start}")
        count = self.choose(("2", "3", "self.size"))
        if self.chance(0.6):
            self.emit(f"for {e} in {name}({argument}, {count}):")
            self.emit(f"    {total} = {total} + {e}")
        else:
            self.emit(f"{total} = sum({name}({argument}, {count}), {total})")
        self.bind(total, kind)
        return "done"

    @rule("statement", 0.3)
    def statement_state(self) -> str:
        """An attribute that each call finds as the one before left it; `construct` changes it at its start."""
        name = self.fresh("k")
        self.emit(f"{name} = self.count")
        self.bind(name, Num("int", False))
        return "done"
