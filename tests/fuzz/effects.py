"""Conditions and targets that do something - print, count, append, assign: each does it in its turn and as often as eagerly.

What prints stands in `construct` alone: a function may be run once where eager code runs it for each item (see compare.py)."""

from __future__ import annotations

from fuzz.base import rule
from fuzz.kinds import INTEGERS, Map, Num, Rec, Seq, T, fresh_ident
from fuzz.members import Members

# What the rules below use: it stands at the top of every program that has effects.
EFFECT_DEFINITIONS = """def shown(value):
    print("shown", value)
    return value


def passed(name, value):
    print(name)
    return value


"""
_CLOSURES = {
    "noted": ("log = []", "def noted(value):", "    log.append({item})", "    return value"),
    "counted": ("count = {zero}", "def counted():", "    nonlocal count", "    count {plus} 1", "    return count"),
    "grown": ('kept = {{"n": {zero}}}', "def grown():", '    kept["n"] {plus} 1', '    return kept["n"]'),
}  # fmt: skip
_RESETS = {
    "counted": "count = {zero}",
    "grown": 'kept["n"] = {zero}',
    "self.bumped": "ops.assign(self.bumps, Tensor(0, ms.int32))",
}
_METHODS = {
    "self.bumped": (
        '        self.bumps = Parameter(Tensor(0, ms.int32), name="bumps")',
        ("    def bumped(self):", "        self.bumps += 1", "        return self.bumps", ""),
    ),
    "self.ticked": (
        "        self.ticks = 0",
        ("    def ticked(self):", "        self.count += 1", "        return self.count", ""),
    ),
}
_TAME = "ops.tanh({})"
_SHARE = 0.15  # of the programs


class Effects(Members):
    """Mixin of the generator."""

    # ---- what can be done -------------------------------------------------------------------------------------------
    def begin_effects(self) -> None:
        """Functions with effects at the start of `construct`."""
        if not self.chance(_SHARE):
            return
        some = ["noted", "counted", "grown", "self.bumped"]
        self.effects = ["shown", *self.random.sample(some, self.choose((1, 2)))]
        if self.chance(0.1):
            self.effects.append("self.ticked")
        self.zero = self.choose(("0", "0", "Tensor(0, ms.int32)"))
        for name in self.effects:
            plus = self.choose(("+=", "= count +" if name == "counted" else '= kept["n"] +'))
            item = self.choose(("value", "len(log)"))
            for line in _CLOSURES.get(name, ()):
                self.emit(line.format(zero=self.zero, plus=plus, item=item))
        self.emit("tick = 0")
        self.scope["tick"] = Num("int", False)
        if "counted" in self.effects:
            self.scope["count"] = Num("int", False) if self.zero == "0" else T("int32", ())
        self.read_only = self.read_only | {"tick", "count"}

    def end_effects(self) -> None:
        """Shows what the effects left."""
        texts = {"noted": "log", "counted": "count", "grown": 'kept["n"]'}
        shown = [texts[e] for e in self.effects if e in texts]
        if shown:
            self.emit(f"print({', '.join(shown)})")

    def effect_methods(self) -> tuple[list[str], list[str]]:
        """Lines of the class for `self.bumped` and the like: of `__init__`, and methods."""
        used = [_METHODS[e] for e in self.effects if e in _METHODS]
        return [line for line, _ in used], [line for _, lines in used for line in lines]

    def effect(self) -> str:
        """A small whole number, or a tensor of one, that does something."""
        name = self.choose((*self.effects, ":="))
        if name == ":=":
            return "(tick := tick + 1)"
        if name in ("shown", "noted"):
            return f"{name}({self.small()})"
        return f"{name}()"

    def small(self) -> str:
        """A small whole number that a tensor may decide."""
        with self.setting(plain=False):
            x = self.tensor(T(self.choose(INTEGERS), ()), 0)
            return self.choose(("0", "1", "2", "3", f"{x} % 4", f"[1, 3, 2][{x} % 3]"))

    # ---- conditions -------------------------------------------------------------------------------------------------
    def condition(self, by_tensor: bool, depth: int) -> str:
        if not self.effects or not by_tensor or self.chance(0.6):
            return super().condition(by_tensor, depth)
        self.counts["condition.effect"] += 1
        return self.effect_test()

    def effect_test(self) -> str:
        e, f, n = self.effect(), self.effect(), self.small()
        with self.setting(plain=False):
            test = self.test(1)
        return self.choose(
            (
                f"{e} < {n}",
                f"{n} <= {e} < {f}",
                f"{e} != {n} > {f} < {self.effect()}",
                f"{e} in ({n}, {f})",
                f"{e} not in [{f}, {n}]",
                f"not {e} > {n}",
                f"{e} > {n} and {f} < 3",
                f"({test}) or {e} > {n}",
                f"({test}) and ({e} > 1 or {f} < {n})",
                f"{e}",
                f"any(shown(i) > {n} for i in (0, 2, 1))",
                f"({e} if {f} > {n} else {n}) < 2",
            )
        )

    @rule("statement", 9)
    def statement_effect_while(self) -> str | None:
        """A loop whose condition advances what ends it."""
        if not self.effects or not self.may_loop():
            return None
        free = [e for e in self.effects if e in _RESETS and e not in self.busy]
        name = self.choose((*free, ":=", "shown"))
        counter = self.fresh("n")
        step = None
        if name in free:
            self.emit(_RESETS[name].format(zero=self.zero))
            text, busy = f"{name}()", name
        else:
            number = self.chance(0.7)
            self.emit(f"{counter} = {'0' if number else 'Tensor(0, ms.int32)'}")
            self.scope[counter] = Num("int", False) if number else T("int32", ())
            text, busy = f"({counter} := {counter} + 1)", counter
            if name == "shown":
                text, step = f"shown({counter})", f"{counter} += 1"
        self.emit(f"while {self._ending(text)}:")
        with self.setting(busy=self.busy | {busy}, read_only=self.read_only | {counter}):
            self.loop_body({}, True, None if step is None else lambda: self.emit(step))
        return "done"

    def _ending(self, text: str) -> str:
        """A test that fails for a large number."""
        x = self.leaf(T(self.choose(INTEGERS), ()))
        limit = self.choose(("2", "3", f"ops.abs({x}) % 4", "shown(3)", f"[1, 3, 2][{x} % 3]"))
        with self.setting(plain=False):
            test = self.tensor_test(1)
        return self.choose(
            (
                f"{text} < {limit}",
                f"{text} <= {limit} and ({test})",
                f"-1 < {text} < {limit}",
                f"not {text} >= {limit}",
                f"{limit} > {text} and {self.effect()} < 9",
                f"{text} in (0, 1, {limit})",
                f"{text} < {limit} and not ({self.effect()} > 6 and ({test}))",
            )
        )

    @rule("statement", 6)
    def statement_effect_value(self) -> str | None:
        """Effects in the order of the operands, or in the arms of a conditional expression."""
        if not self.effects:
            return None
        kind = self.float_kind()
        with self.setting(plain=False):
            a, b = self.tensor(kind, 1), self.tensor(kind, 1)
        e, f = self.effect(), self.effect()
        form = self.choose(
            (
                f"{a} * {e} + {f}",
                f"{a} if {self.effect_test()} else {b}",
                f"{a} * ({e} if {self.effect_test()} else {f})",
                f"sum([{a} for i in range(3) if shown(i) % 2 == 1], {b})",
                f"{{shown(1): {a}, {self.choose((1, 2))}: {b} * {e}}}[1]",
                f"(lambda p, q=1: {a} * p - q)(q={e}, p={f})",
            )
        )
        name = self.fresh()
        self.emit(f"{name} = ops.tanh({form})")
        self.bind(name, kind)
        return "done"

    # ---- targets ----------------------------------------------------------------------------------------------------
    @rule("statement", 9)
    def statement_target(self) -> str | None:
        """An augmented assignment whose owner and key do something, once."""
        if not self.effects:
            return None
        if self.chance(0.5):
            self._container()
        places = [
            (name, str(key), k)
            for name, held in self.scope.items()
            if name not in self.read_only
            for key, k in self._items(held)
            if isinstance(k, T) and k.dtype != "bool"
        ]
        if not places:
            return None
        name, key, kind = self.choose(places[-4:])
        place = f"{name}.{key}" if isinstance(self.scope[name], Rec) else f"{name}[{key}]"
        with self.setting(plain=False):
            value = self.operand(kind, 1)
        owner = self.choose((name, f'passed("owner", {name})'))
        if not isinstance(self.scope[name], Rec):
            owner, key = f"{owner}[", f"{self._key(key)}]"
        else:
            owner = f"{owner}."
        forms = [value, f'passed("value", {value})']
        if kind.is_float:
            forms.append(f"({value}) * {self.effect()}")
        self.emit(f"{owner}{key} {self.choose(('+=', '-='))} {self.choose(forms)}")
        got = self.fresh()
        self.emit(f"{got} = {_TAME.format(place) if kind.is_float else place}")
        self.bind(got, kind)
        return "done"

    def _container(self) -> None:
        """A list, dict or record of two tensors."""
        kinds = [self.float_kind(), self.tensor_kind()]
        name = self.fresh("c")
        made = self.choose(
            (
                Seq("list", tuple(kinds), fresh_ident()),
                Map(tuple(zip("ab", kinds)), fresh_ident()),
                Rec("Item", tuple(zip("ab", kinds))),
            )
        )
        self.emit(f"{name} = {self.value(made, 2)}")
        self.bind(name, made)

    @staticmethod
    def _items(held: object) -> list[tuple]:
        """Keys, or names of fields, and the kinds there, of what can be changed."""
        if isinstance(held, Seq) and held.name == "list":
            return list(enumerate(held.items))
        if isinstance(held, Map):
            return [(f'"{key}"', k) for key, k in held.items]
        return list(held.fields) if isinstance(held, Rec) and held.name == "Item" else []

    def _key(self, key: str) -> str:
        """The key, by way of something that is done."""
        if '"' in key:
            return self.choose((f'passed("key", {key})', f"shown({key})"))
        if key == "0" and self.chance(0.3):
            places = self.fresh("k")
            self.emit(f"{places} = iter(range(3))")
            return f"next({places})"
        if self.chance(0.3):
            name = self.fresh("k")
            self.bind(name, Num("int"))
            return f"({name} := {key})"
        return f"shown({key})"
