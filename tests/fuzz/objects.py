"""Records, functions and cells that a tensor chooses, functions of any arguments, and what is done to objects in place."""

from __future__ import annotations

from typing import Any

from fuzz.base import rule
from fuzz.functions import Functions
from fuzz.kinds import Fn, Map, Num, Rec, Seq, T, fresh_ident

# What the rules below use: it stands at the top of every program.
DEFINITIONS = """Pair = namedtuple("Pair", "a b")


@dataclass
class Item:
    a: object
    b: object = 1

    def total(self):
        return self.a * 1 + self.b


def doubled(function):
    def inner(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return inner


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


class Managed:
    def __init__(self, k):
        self.k = k

    def __enter__(self):
        return self.k

    def __exit__(self, *_):
        return False


"""


class Objects(Functions):
    """Mixin of the generator."""

    # ---- records ----------------------------------------------------------------------------------------------------
    def fields(self, wanted: Any) -> list[str]:
        """Fields of records in scope that have a kind."""
        return [
            f"{name}.{field}"
            for name, kind in self.scope.items()
            if isinstance(kind, Rec)
            for field, held in kind.fields
            if held == wanted
        ]

    @rule("statement", 1.2)
    def statement_record(self) -> str:
        other = self.choose((self.tensor_kind(), Num("int"), Num("float")))
        form = self.choose(("Pair", "Item"))
        kind = Rec(form, (("a", self.tensor_kind()), ("b", other)))
        name = self.fresh("r")
        texts = [self.value(k, 2) for _, k in kind.fields]
        style = self.choose(("{}({}, {})", "{}(a={}, b={})", "{}({}, b={})"))
        self.emit(f"{name} = {style.format(form, *texts)}")
        self.bind(name, kind)
        return "done"

    @rule("statement", 2)
    def statement_field(self) -> str | None:
        """A field of a dataclass gets another value of its kind."""
        names = self.writable(lambda k: isinstance(k, Rec) and k.name == "Item")
        if not names:
            return None
        name = self.choose(names)
        field, kind = self.choose(self.scope[name].fields)
        if isinstance(kind, Num):
            if not kind.fixed or not self.tensor_depth:
                self.emit(f"{name}.{field} = {self.value(kind, 1)}")
                return "done"
            return None
        if kind.dtype != "bool" and self.chance(0.3):
            self.emit(f"{name}.{field} {self.choose(('+=', '-='))} {self.operand(kind, 1)}")
        else:
            self.emit(f"{name}.{field} = {self.assignable(kind)}")
        return "done"

    @rule("statement", 0.6)
    def statement_replace(self) -> str | None:
        """A copy of a record with another value, or its parts."""
        names = self.variables(lambda k: isinstance(k, Rec))
        if not names:
            return None
        name = self.choose(names)
        kind = self.scope[name]
        if kind.name == "Pair" and self.chance(0.4):
            made = [self.fresh(), self.fresh()]
            self.emit(f"{made[0]}, {made[1]} = {name}")
            for one, (_, k) in zip(made, kind.fields):
                self.bind(one, k)
            return "done"
        field, held = self.choose(kind.fields)
        with self.setting(plain=False):
            text = self.value(held, 2)
        other = self.fresh("r")
        form = "{}._replace({}={})" if kind.name == "Pair" else "replace({}, {}={})"
        self.emit(f"{other} = {form.format(name, field, text)}")
        self.bind(other, kind)
        return "done"

    @rule("any", 2)
    def any_field(self, kind: T, depth: int) -> str | None:
        places = self.fields(kind)
        return self.choose(places) if places else None

    @rule("any", 0.5)
    def any_record(self, kind: T, depth: int) -> str:
        """A field of a record made on the spot."""
        text = self.tensor(kind, depth - 1)
        return self.choose((f"Pair({text}, 1).a", f"Item({text}).a", f"Pair(b={text}, a=2)[1]"))

    # ---- what a tensor chooses --------------------------------------------------------------------------------------
    def choice_of_two(self) -> str:
        """0 or 1: a tensor or a number."""
        if self.chance(0.7):
            return f"{self.tensor(T(self.choose(('int32', 'int64')), ()), 0)} % 2"
        return f"{self.number('int', 1)} % 2"

    @rule("any", 1)
    def any_chosen_function(self, kind: T, depth: int) -> str:
        inner = self.float_kind()
        name = self.fresh("q")
        with self.setting(plain=False):
            argument = self.tensor(inner, depth - 1)
            test, index = self.test(1), self.choice_of_two()
            with self.setting(scope={**self.scope, name: inner}):
                a, b = (f"lambda {name}: {self.tensor(kind, depth - 1)}" for _ in range(2))
        return self.choose(
            (
                f"(({a}) if {test} else ({b}))({argument})",
                f"[{a}, {b}][{index}]({argument})",
                f"({a}, {b})[{index}]({argument})",
            )
        )

    @rule("statement", 0.6)
    def statement_chosen_function(self) -> str:
        """A name for one of two functions."""
        kind, a, b, name = self.float_kind(), self.fresh("f"), self.fresh("f"), self.fresh("f")
        with self.setting(plain=False, scope={**self.scope, "a": kind}):
            texts = [self.tensor(kind, 2) for _ in range(2)]
        self.emit(f"{a} = lambda a: {texts[0]}")
        self.emit(f"def {b}(a):")
        self.emit(f"    return {texts[1]}")
        self.pin(" ".join(texts))
        with self.setting(plain=False):
            test, index = self.test(1), self.choice_of_two()
        self.emit(f"{name} = " + self.choose((f"{a} if {test} else {b}", f"({a}, {b})[{index}]")))
        self.bind(name, Fn((kind,), kind))
        return "done"

    @rule("float", 1.5)
    def float_chosen_cell(self, kind: T, depth: int) -> str | None:
        if self.cells.get("c0") != kind:
            return None
        return f"self.layers[{self.choice_of_two()}]({self.tensor(kind, depth - 1)})"

    # ---- functions --------------------------------------------------------------------------------------------------
    @rule("statement", 0.7)
    def statement_nonlocal(self) -> str | None:
        """A nested function that assigns a variable around it."""
        names = [
            n for n in self.writable(lambda k: isinstance(k, T) and k.is_float) if n[0] not in "ew"
        ]
        if not names:
            return None
        target, name, result = self.choose(names), self.fresh("f"), self.fresh()
        kind, inner = self.scope[target], self.float_kind()
        argument = self.tensor(inner, 1)
        self.emit(f"def {name}(a):")
        with self.setting(plain=False, scope={**self.scope, "a": inner}), self.block():
            self.emit(f"nonlocal {target}")
            self.emit(f"{target} = ops.tanh({self.tensor(kind, 2)})")
            self.emit(f"return {self.tensor(inner, 2)}")
            self.pin(" ".join(self.lines[-2:]))
        self.emit(f"{result} = {name}({argument})")
        self.bind(target, kind)
        self.bind(result, inner)
        return "done"

    @rule("statement", 0.6)
    def statement_any_arguments(self) -> str:
        """A function of *args and **kwargs, perhaps decorated."""
        kind = self.float_kind()
        name = self.fresh("f")
        result = self.fresh()
        if self.chance(0.5):
            self.emit("@doubled")
        self.emit(f"def {name}(*args, scale=1.5, **rest):")
        with self.block():
            self.emit(
                self.choose(
                    (
                        "return sum(args) * scale + rest.get('t', 0)",
                        "return args[-1] * len(args) - rest['t'] * scale",
                        "return sum(a * scale for a in args) + sum(rest.values())",
                    )
                )
            )
        a, b, t = (self.tensor(kind, 1) for _ in range(3))
        call = self.choose(("{n}({a}, {b}, t={t})", "{n}(*[{a}, {b}], **{{'t': {t}, 'scale': 2}})"))
        self.emit(f"{result} = ops.tanh({call.format(n=name, a=a, b=b, t=t)})")
        self.bind(result, kind)
        return "done"

    @rule("float", 0.5)
    def float_object(self, kind: T, depth: int) -> str:
        """A call of an object, or a method of one."""
        text = self.tensor(kind, depth - 1)
        return self.choose((f"Scale(0.5)({text})", f"Item({text}, 2).total()"))

    # ---- in place ---------------------------------------------------------------------------------------------------
    @rule("statement", 1)
    def statement_item_in_place(self) -> str | None:
        """An item of a list or dict is computed with."""
        places = [
            (f"{name}[{i}]", k)
            for name, held in self.scope.items()
            if isinstance(held, Seq) and held.name == "list" and name not in self.read_only
            for i, k in enumerate(held.items)
        ]
        places += [
            (f'{name}["{key}"]', k)
            for name, held in self.scope.items()
            if isinstance(held, Map) and name not in self.read_only
            for key, k in held.items
        ]
        places = [(p, k) for p, k in places if isinstance(k, T) and k.dtype != "bool"]
        if not places:
            return None
        place, kind = self.choose(places)
        self.emit(f"{place} {self.choose(('+=', '-='))} {self.operand(kind, 1)}")
        return "done"

    @rule("statement", 0.7)
    def statement_list_copy(self) -> str | None:
        """A list made of another, changed afterwards."""
        names = self.variables(lambda k: isinstance(k, Seq) and k.name == "list" and k.items)
        if not names or self.loops:
            return None
        name = self.choose(names)
        items = list(self.scope[name].items)
        other = self.fresh("c")
        with self.setting(plain=False):
            text = self.value(items[0], 1)
        self.emit(f"{other} = {self.choose(('{}.copy()', '{}[:]', '[*{}]')).format(name)}")
        form = self.choose(("slice", "clear", "twice", "remove"))
        if form == "slice":
            self.emit(f"{other}[:1] = [{text}, {text}]")
            items = [items[0], *items]
        elif form == "clear":
            self.emit(f"{other}.clear()")
            items = []
        elif form == "twice":
            self.emit(f"{other} *= 2")
            items *= 2
        else:
            self.emit(f"del {other}[:1]")
            items = items[1:]
        self.bind(other, Seq("list", tuple(items), fresh_ident()))
        return "done"

    # ---- exceptions and managers ------------------------------------------------------------------------------------
    @rule("statement", 0.6)
    def statement_try_after_work(self) -> str | None:
        """What is done before an exception stays done."""
        names = self.writable(lambda k: isinstance(k, T))
        if not names:
            return None
        name = self.choose(names)
        kind = self.scope[name]
        with self.setting(plain=False):
            texts = [self.assignable(kind) for _ in range(3)]
        self.emit("try:")
        with self.block():
            self.emit(f"{name} = {texts[0]}")
            self.emit(self.choose(("int('x')", "raise KeyError(self.mode)", "pass", "self.absent")))
        self.emit("except (ValueError, KeyError, AttributeError) as error:")
        with self.block():
            self.emit(f"{name} = {texts[1]}")
        if self.chance(0.4):
            self.emit("else:")
            with self.block():
                self.emit(f"{name} = {texts[2]}")
        if self.chance(0.4):
            self.emit("finally:")
            with self.block():
                self.emit(f"{name} = {name} * 1" if kind.dtype != "bool" else "pass")
        self.bind(name, kind)
        return "done"

    @rule("statement", 0.4)
    def statement_managed(self) -> str:
        kind = self.float_kind()
        name, k = self.fresh(), self.fresh("k")
        self.emit(f"with Managed({self.choose(('2', '0.5', 'self.size'))}) as {k}:")
        with self.setting(plain=False), self.block():
            self.emit(f"{name} = {self.assignable(kind)} * {k}")
        self.bind(name, kind)
        return "done"
