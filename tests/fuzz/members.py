"""Numbers that a tensor takes out of containers, membership, and chains of comparisons."""

from __future__ import annotations

from fuzz.base import rule
from fuzz.flow import Flow
from fuzz.kinds import INTEGERS, Map, Num, Seq, T


class Members(Flow):
    """Mixin of the generator."""

    def index_tensor(self, count: int) -> str:
        """A tensor that is an index of so many items."""
        return f"{self.tensor(T(self.choose(INTEGERS), ()), 1)} % {count}"

    # ---- numbers ----------------------------------------------------------------------------------------------------
    @rule("number", 1)
    def number_chosen(self, name: str, depth: int, fixed: bool) -> str | None:
        """An item that a tensor chooses from numbers."""
        if fixed:
            return None
        held = self.variables(
            lambda k: (
                isinstance(k, Seq) and k.items and set(k.items) <= {Num(name), Num(name, False)}
            )
        )
        if held and self.chance(0.5):
            one = self.choose(held)
            return f"{one}[{self.index_tensor(len(self.scope[one].items))}]"
        count = self.choose((2, 2, 3))
        items = [self.number(name, 0, self.chance(0.7)) for _ in range(count)]
        if self.chance(0.1):
            pairs = ", ".join(f"{i}: {text}" for i, text in enumerate(items))
            key = f"int({self.index_tensor(count)})"
            return self.choose((f"{{{pairs}}}[{key}]", f"{{{pairs}}}.get({key}, {items[0]})"))
        display = self.choose(("[{}]", "({})")).format(", ".join(items))
        return f"{display}[{self.index_tensor(count)}]"

    @rule("number", 1.5)
    def number_member(self, name: str, depth: int, fixed: bool) -> str | None:
        """Whether something is in a container: True or False."""
        if name != "bool" or fixed:
            return None
        return f"({self.member()})"

    @rule("number", 1)
    def number_chain(self, name: str, depth: int, fixed: bool) -> str | None:
        if name != "bool":
            return None
        a, b, c = (self.number("int", 1, fixed) for _ in range(3))
        return f"({a} {self.choose(('<', '<=', '!='))} {b} {self.choose(('<', '>=', '=='))} {c})"

    @rule("number", 0.5)
    def number_truth(self, name: str, depth: int, fixed: bool) -> str | None:
        """True and False as numbers."""
        if name != "int":
            return None
        truth = self.number("bool", depth - 1, fixed)
        return self.choose((f"int({truth})", f"({truth} + {self.number('int', 0, fixed)})"))

    @rule("float", 0.5)
    def float_truth(self, kind: T, depth: int) -> str:
        """A tensor times True or False."""
        return f"({self.tensor(kind, depth - 1)} * {self.number('bool', 1)})"

    def member(self) -> str:
        """A test of membership in a tuple, list, dict or tensor."""
        word = self.choose(("in", "not in"))
        forms = [self._member_of_numbers(word)]
        rows = self.variables(
            lambda k: isinstance(k, T) and len(k.shape) == 1 and k.dtype != "bool"
        )
        if rows:
            item = self.choose(("1", "0.5", self.leaf(T("int32", ()))))
            forms.append(f"{item} {word} {self.choose(rows)}")
        maps = self.variables(lambda k: isinstance(k, Map))
        if maps:
            forms.append(
                f"{self.choose(('self.mode', chr(34) + 'b' + chr(34)))} {word} {self.choose(maps)}"
            )
        return self.choose(forms)

    def _member_of_numbers(self, word: str) -> str:
        by_tensor = self.chance(0.5)
        x = self.tensor(T("int32", ()), 1) if by_tensor else self.number("int", 1)
        items = ", ".join(self.number("int", 0) for _ in range(2))
        forms = [f"({items})", f"[{items}]", "range(2)"]
        if not by_tensor:
            forms += ["{1: 2, 3: 4}", "{0, 2}", "{1: 0, 2: 3}.values()"]
        return f"{x} {word} {self.choose(forms)}"

    # ---- conditions -------------------------------------------------------------------------------------------------
    @rule("test", 0.7)
    def test_membership(self, depth: int) -> str:
        return self.member()

    @rule("test", 0.7)
    def test_flag(self, depth: int) -> str:
        """A truth value of Python, as a tensor gave it or not."""
        return self.number("bool", 2)

    @rule("bool", 1)
    def bool_chain(self, kind: T, depth: int) -> str | None:
        """What a chain gives: its first comparison that does not hold, or the last."""
        if kind.size != 1:
            return None
        x = self.tensor(T(self.choose((self.float_dtype, "int32")), kind.shape), depth - 1)
        with self.setting(plain=False):
            low, high = self.number("int", 0), self.number("int", 1)
        return (
            f"({low} {self.choose(('<', '<=', '!='))} {x} {self.choose(('<', '>', '!='))} {high})"
        )
