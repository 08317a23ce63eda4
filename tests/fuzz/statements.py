"""Statements: assignments, containers, Parameters. Functions are in `functions`, control flow is in `flow`."""

from __future__ import annotations

from typing import Any

from fuzz.base import rule
from fuzz.kinds import Fn, Map, Num, Seq, T, Text, fresh_ident
from fuzz.scalars import Scalars

_TAME = "ops.tanh({})"


class Statements(Scalars):
    """Mixin of the generator."""

    def statements(self, count: int) -> bool:
        """Some statements; True when the last one leaves the block."""
        for _ in range(count):
            if self.pick("statement") == "leaves":
                return True
        return False

    def target(self, kind: Any) -> str:
        """A name to assign: a new one, or one that may get this kind."""
        old = self.writable(
            lambda k: (
                k == kind or (isinstance(kind, Num) and isinstance(k, Num) and k.name == kind.name)
            )
        )
        if old and self.chance(0.55):
            return self.choose(old)
        if not self.frozen and self.chance(0.1):
            old = [
                n for n in self.writable(lambda k: not isinstance(k, Fn)) if n not in self.pinned
            ]
            if old:
                return self.choose(old)
        return self.fresh()

    def assignable(self, kind: T) -> str:
        """A tensor expression for a variable: squashed inside loops, where values would grow without end."""
        text = self.tensor(kind, 3)
        return _TAME.format(text) if self.loops and kind.is_float else text

    # ---- assignment -------------------------------------------------------------------------------------------------
    @rule("statement", 8)
    def statement_assign(self) -> str:
        kind = self.tensor_kind()
        text = self.assignable(kind)
        name = self.target(kind)
        self.emit(f"{name} = {text}")
        self.bind(name, kind)
        return "done"

    @rule("statement", 4)
    def statement_derive(self) -> str | None:
        made = self.derive()
        if made is None:
            return None
        name = self.fresh()
        self.emit(f"{name} = {made[0]}")
        self.bind(name, made[1])
        return "done"

    @rule("statement", 2)
    def statement_number(self) -> str:
        name = self.choose(("int", "int", "int", "float", "float", "bool"))
        fixed = self.chance(0.6)
        text = self.number(name, 2, fixed)
        kind = Num(name, fixed)
        target = self.target(kind)
        self.emit(f"{target} = {text}")
        self.bind(target, kind)
        return "done"

    @rule("statement", 2)
    def statement_augment(self) -> str | None:
        names = self.writable(
            lambda k: (
                (isinstance(k, T) and k.dtype != "bool")
                or (isinstance(k, Num) and k.name != "bool")
            )
        )
        if not names:
            return None
        name = self.choose(names)
        kind = self.scope[name]
        if isinstance(kind, Num):
            self.emit(f"{name} {self.choose(('+=', '-='))} {self.number('int', 1, kind.fixed)}")
        else:
            form = self.choose(("+=", "-=", "*=") if not self.loops else ("+=", "-="))
            self.emit(f"{name} {form} {self.operand(kind, 1)}")
        self.bind(name, kind)
        return "done"

    @rule("statement", 1)
    def statement_tuple(self) -> str:
        kinds = [self.choose((self.tensor_kind(), Num("int"))) for _ in range(2)]
        texts = [self.value(k, 2) for k in kinds]
        names = [self.fresh(), self.fresh()]
        left = self.choose(("{}, {}", "({}, {})", "[{}, {}]")).format(*names)
        self.emit(f"{left} = {texts[0]}, {texts[1]}")
        for name, kind in zip(names, kinds):
            self.bind(name, kind)
        return "done"

    @rule("statement", 1)
    def statement_swap(self) -> str | None:
        pairs = [
            (a, b)
            for a, k in self.scope.items()
            for b, j in self.scope.items()
            if a < b and k == j and isinstance(k, T) and not {a, b} & self.read_only
        ]
        if not pairs:
            return None
        a, b = self.choose(pairs)
        self.emit(f"{a}, {b} = {b}, {a}")
        self.bind(a, self.scope[a])
        self.bind(b, self.scope[b])
        return "done"

    @rule("statement", 0.7)
    def statement_chain(self) -> str:
        kind = self.tensor_kind()
        a, b = self.fresh(), self.fresh()
        self.emit(f"{a} = {b} = {self.assignable(kind)}")
        self.bind(a, kind)
        self.bind(b, kind)
        return "done"

    @rule("statement", 0.7)
    def statement_star(self) -> str | None:
        names = self.variables(lambda k: isinstance(k, Seq) and len(k.items) >= 2)
        if not names:
            return None
        name = self.choose(names)
        items = self.scope[name].items
        one, rest = self.fresh(), self.fresh()
        if self.chance(0.5):
            self.emit(f"{one}, *{rest} = {name}")
            self.bind(one, items[0])
            self.bind(rest, Seq("list", items[1:], fresh_ident()))
        else:
            self.emit(f"*{rest}, {one} = {name}")
            self.bind(one, items[-1])
            self.bind(rest, Seq("list", items[:-1], fresh_ident()))
        return "done"

    @rule("statement", 0.3)
    def statement_nothing(self) -> str | None:
        names = self.variables(lambda k: isinstance(k, T))
        forms = ["pass", "assert self.size > 0", 'assert self.mode == "a", f"mode {self.mode}"']
        if names:
            forms.append(f"assert {self.choose(names)}.ndim < 5")
        self.emit(self.choose(forms))
        return "done"

    @rule("statement", 0.3)
    def statement_delete(self) -> str | None:
        names = [n for n in self.scope if n not in self.frozen | self.pinned and n.startswith("v")]
        if len(names) < 4 or self.loops or self.tensor_depth:
            return None
        name = self.choose(names)
        self.emit(f"del {name}")
        del self.scope[name]
        return "done"

    @rule("statement", 2)
    def statement_set_item(self) -> str | None:
        """Assignment into a tensor of our own."""
        names = self.writable(
            lambda k: isinstance(k, T) and k.dtype != "bool" and k.size > 0 and len(k.shape) > 0
        )
        if not names:
            return None
        name = self.choose(names)
        kind = self.scope[name]
        if name in self.inputs or self.chance(0.5):
            copy = self.fresh()
            self.emit(f"{copy} = {name}.copy()" if self.chance(0.5) else f"{copy} = {name} * 1")
            self.bind(copy, kind)
            name = copy
        key, shape = self.write_key(kind)
        value = self.operand(T(kind.dtype, shape), 2)
        form = "=" if self.chance(0.7) else "+="
        self.emit(f"{name}[{key}] {form} {value}")
        return "done"

    # ---- views ------------------------------------------------------------------------------------------------------
    def view_of(self, kind: T) -> tuple[str, tuple[int, ...]]:
        """What shows elements of a tensor that is not empty, as text behind it, and its shape."""
        n, *rest = kind.shape
        at, first = self.random.randrange(n), tuple(rest)
        options = [
            (f"[{at}]", first),
            (f"[{at - n}]", first),
            (f"[{at}:]", (n - at, *rest)),
            ("[::-1]", kind.shape),
            ("[::2]", ((n + 1) // 2, *rest)),
            ("[None]", (1, *kind.shape)),
            (".reshape(-1)", (kind.size,)),
            (".T", kind.shape[::-1]),
            (".expand_dims(-1)", (*kind.shape, 1)),
            (f".split(1)[{at}]", (1, *rest)),
            (f".unbind()[{at}]", first),
            (f".narrow(0, {at}, 1)", (1, *rest)),
            (".flatten()", (kind.size,)),
        ]
        if rest and rest[-1]:
            options += [
                ("[..., 0]", kind.shape[:-1]),
                (f"[:, {self.position(rest[0])}]", (n, *rest[1:])),
                (".swapaxes(0, -1)", (kind.shape[-1], *kind.shape[1:-1], n)),
                (".diagonal()", (*rest[1:], min(n, rest[0]))),
            ]
        if 1 in kind.shape:
            options.append((".squeeze()", tuple(s for s in kind.shape if s != 1)))
        return self.choose([o for o in options if len(o[1]) <= 4])

    def shown(self) -> tuple[str, T] | None:
        """A tensor of the program, perhaps a Parameter, that has elements."""
        names = self.writable(lambda k: isinstance(k, T) and k.size > 0 and len(k.shape) > 0)
        found = [(n, self.scope[n]) for n in names]
        if self.may_assign_parameters:
            found += [(f"self.{n}", k) for n, k in self.parameters.items() if k.size and k.shape]
        return self.choose(found) if found else None

    @rule("statement", 1.5)
    def statement_view(self) -> str | None:
        """A name for a part of a tensor."""
        made = self.shown()
        if made is None:
            return None
        text, kind = made
        view, shape = self.view_of(kind)
        name = self.fresh()
        self.emit(f"{name} = {text}{view}")
        self.bind(name, T(kind.dtype, shape))
        return "done"

    @rule("statement", 1.5)
    def statement_write_view(self) -> str | None:
        """A write to a tensor, or to a part of a part of it."""
        made = self.shown()
        if made is None:
            return None
        text, kind = made
        for _ in range(self.random.randrange(3)):
            if kind.size and kind.shape:
                view, shape = self.view_of(kind)
                text, kind = text + view, T(kind.dtype, shape)
        value = self.operand(kind, 1)
        if kind.is_float and self.loops:
            value = _TAME.format(f"(0.0 + {value})")
        if kind.dtype == "bool" or not kind.shape or self.chance(0.6):
            key = "..." if not kind.shape or self.chance(0.5) else ":"
            self.emit(f"{text}[{key}] = {value if kind.dtype != 'bool' else self.tensor(kind, 1)}")
            return "done"
        form = "{}.fill_({})" if self.chance(0.2) else "{}.copy_(0 * {} + {})"
        if form.startswith("{}.fill_"):
            self.emit(form.format(text, self.choose((0, 1, -2))))
        elif self.chance(0.5):
            self.emit(f"{text}.{self.choose(('add_', 'sub_'))}({value})")
        else:
            self.emit(form.format(text, text, value))
        return "done"

    def write_key(self, kind: T) -> tuple[str, tuple[int, ...]]:
        """A key into a tensor and the shape of what it selects."""
        if self.chance(0.15):
            with self.setting(plain=False):  # Python evaluates the key after the value
                return self.tensor(T("bool", kind.shape), 1), ()
        n, *rest = kind.shape
        options = [
            (self.position(n), tuple(rest)),
            (":", kind.shape),
            ("...", kind.shape),
            ("1:", (n - 1, *rest)),
            ("::-1", kind.shape),
        ]
        options += [
            (f"[{self.random.randrange(n)}]", (1, *rest)),
            (f"Tensor([{self.random.randrange(n)}], ms.int32)", (1, *rest)),
        ]
        if rest and rest[-1]:
            options += [
                (f"..., {self.position(rest[-1])}", kind.shape[:-1]),
                (
                    f":, {self.position(rest[0])}" if rest[0] else ":",
                    (n, *rest[1:]) if rest[0] else kind.shape,
                ),
            ]
        return self.choose(options)

    # ---- containers -------------------------------------------------------------------------------------------------
    @rule("statement", 2)
    def statement_container(self) -> str:
        kind = self.container_kind()
        name = self.fresh("c")
        text = self.value(kind, 2)
        if isinstance(kind, Map) and self.chance(0.3):
            text = "dict(" + ", ".join(f"{k}={self.value(v, 1)}" for k, v in kind.items) + ")"
        self.emit(f"{name} = {text}")
        self.bind(name, kind)
        return "done"

    @rule("statement", 2)
    def statement_list_method(self) -> str | None:
        names = self.writable(lambda k: isinstance(k, Seq) and k.name == "list")
        if not names:
            return None
        name = self.choose(names)
        kind = self.scope[name]
        items = list(kind.items)
        if name in self.frozen or any(
            n in self.frozen
            for n, k in self.scope.items()
            if isinstance(k, Seq) and k.ident == kind.ident
        ):
            if not items or isinstance(items[0], Seq):
                return None
            self.emit(f"{name}[0] = {self.value(items[0], 2)}")
            return "done"
        new = self.tensor_kind()
        with self.setting(plain=False):  # not every form below uses it
            text = self.tensor(new, 2)
        form = self.choose(("append", "insert", "extend", "pop", "reverse", "set", "del", "+="))
        if form == "append":
            self.emit(f"{name}.append({text})")
            items.append(new)
        elif form == "insert":
            self.emit(f"{name}.insert(0, {text})")
            items.insert(0, new)
        elif form == "extend":
            self.emit(f"{name}.extend(({text}, 1))")
            items += [new, Num("int")]
        elif form == "+=":
            self.emit(f"{name} += [{text}]")
            items.append(new)
        elif form == "reverse":
            self.emit(f"{name}.reverse()")
            items.reverse()
        elif not items:
            return None
        elif form == "pop":
            got = self.fresh()
            self.emit(f"{got} = {name}.pop()")
            self.bind(got, items.pop())
        elif form == "set":
            self.emit(f"{name}[-1] = {text}")
            items[-1] = new
        else:
            self.emit(f"del {name}[0]")
            del items[0]
        self.changed(name, Seq("list", tuple(items), kind.ident))
        return "done"

    @rule("statement", 0.7)
    def statement_alias(self) -> str | None:
        """A second name for a list or dict."""
        names = self.variables(lambda k: isinstance(k, (Seq, Map)) and k.ident > 0)
        if not names or self.loops or self.tensor_depth:
            return None
        name = self.choose(names)
        other = self.fresh("c")
        self.emit(f"{other} = {name}")
        self.bind(other, self.scope[name])
        return "done"

    @rule("statement", 1)
    def statement_slice_list(self) -> str | None:
        names = self.variables(lambda k: isinstance(k, Seq) and len(k.items) > 1)
        if not names:
            return None
        name = self.choose(names)
        kind = self.scope[name]
        key, items = self.choose(
            (("1:", kind.items[1:]), ("::-1", kind.items[::-1]), (":-1", kind.items[:-1]))
        )
        other = self.fresh("c")
        form = self.choose(
            (
                "{}[{}]",
                "{}[{}] * 2" if len(items) < 3 else "{}[{}]",
                "list({}[{}])",
                "tuple({}[{}])",
            )
        )
        name_of = kind.name if form.startswith("{") else form[: form.index("(")]
        self.emit(f"{other} = " + form.format(name, key))
        self.bind(other, Seq(name_of, items * 2 if "* 2" in form else items, fresh_ident()))
        return "done"

    @rule("statement", 1)
    def statement_dict_method(self) -> str | None:
        names = self.writable(lambda k: isinstance(k, Map))
        if not names:
            return None
        name = self.choose(names)
        kind = self.scope[name]
        if not kind.items:
            return None
        items = dict(kind.items)
        locked = any(
            n in self.frozen
            for n, k in self.scope.items()
            if isinstance(k, Map) and k.ident == kind.ident
        )
        key = self.choose(items)
        if locked:
            self.emit(f'{name}["{key}"] = {self.value(items[key], 2)}')
            return "done"
        new = self.tensor_kind()
        with self.setting(plain=False):  # not every form below uses it
            text = self.tensor(new, 2)
        form = self.choose(("set", "update", "pop", "setdefault", "del"))
        if form == "set":
            items["e"] = new
            self.emit(f'{name}["e"] = {text}')
        elif form == "update":
            items[key], items["f"] = new, Num("int")
            self.emit(f'{name}.update({{"{key}": {text}, "f": 2}})')
        elif form == "setdefault":
            self.emit(f'{name}.setdefault("{key}", {text})')
        elif len(items) < 2:
            return None
        elif form == "pop":
            got = self.fresh()
            self.bind(got, items.pop(key))
            self.emit(f'{got} = {name}.pop("{key}")')
        else:
            del items[key]
            self.emit(f'del {name}["{key}"]')
        self.changed(name, Map(tuple(items.items()), kind.ident))
        return "done"

    @rule("statement", 0.4)
    def statement_text(self) -> str:
        name = self.fresh("s")
        self.emit(
            f"{name} = "
            + self.choose(
                ('f"{self.mode}{self.size:03d}"', '"-".join(["a", self.mode])', "self.mode.upper()")
            )
        )
        self.bind(name, Text())
        return "done"

    # ---- Parameters -------------------------------------------------------------------------------------------------
    @rule("statement", 2.5)
    def statement_parameter(self) -> str | None:
        if not self.parameters or not self.may_assign_parameters:
            return None
        name = self.choose(self.parameters)
        kind = self.parameters[name]
        with self.setting(plain=False):
            text = self.tensor(kind, 2)
        text = _TAME.format(text) if kind.is_float else f"({text}) % 5"
        forms = [f"self.{name} = {text}", f"ops.assign(self.{name}, {text})"]
        if not self.loops:
            forms += [
                f"ops.assign_add(self.{name}, {text})",
                f"ops.assign_sub(self.{name}, {text})",
                f"self.{name} += {text}",
                f"P.Assign()(self.{name}, {text})",
            ]
        if kind.shape and kind.size:
            forms.append(f"self.{name}[{self.position(kind.shape[0])}] = {self.number('int', 0)}")
        self.emit(self.choose(forms))
        return "done"
