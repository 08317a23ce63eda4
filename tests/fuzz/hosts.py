"""Lines that nothing compiles - NumPy, an unknown library's function - and containers that they share with the lines around them:
what one name changes, the others see.

What comes from tensors is rounded before it is shown, as passes that make code faster may change last bits."""

from __future__ import annotations

from fuzz.base import rule
from fuzz.effects import Effects
from fuzz.kinds import Array, Loose, Num, T

_SHARE = 0.06  # of the programs
_IN_PLACE = (
    "{} += 1",
    "{} *= 2",
    "{0} -= {0}[::-1]",
    "{0}[{0} > 0.5] = 2",
    "{}[0] = 3",
    "{}[1:] -= 1",
    "{}.sort()",
    "np.add({0}, 1, out={0})",
    "{}.fill(2)",
    "{0}[::-1] = {0}.copy()",
    "np.clip({0}, 0, 2, out={0})",
)
_LIST_CHANGES = (
    "{}.append({n})",
    "{}.insert(0, {n})",
    "{} += [{n}]",
    "{}[0] = {n}",
    "{}[0] += 1",
    "{}.reverse()",
    "{}.sort()",
    "{}.extend(({n}, 1))",
    "{}[1:] = [{n}]",
)
_LIBRARY_CHANGES = ("bisect.insort({}, {n})", "heapq.heappush({}, {n})", "heapq.heapify({})")


class Hosts(Effects):
    """Mixin of the generator."""

    def begin_parts(self) -> None:
        self.parted = self.chance(_SHARE)

    def end_parts(self) -> None:
        """Shows the objects at the end."""
        shown = self.variables(lambda k: isinstance(k, (Array, Loose)))
        if shown:
            self.emit(f"print({', '.join(shown)})")

    @rule("statement", 60)
    def statement_host(self) -> str | None:
        if not self.parted or self.tensor_depth:
            return None
        with self.setting(plain=False):
            return self.pick("host")

    def places(self, wanted: type) -> list[tuple[str, object]]:
        """Names of objects, and ways to those that containers hold."""
        found = []
        for name, kind in self.scope.items():
            inner = kind.holds if isinstance(kind, Loose) and kind.path else kind
            if type(inner) is wanted:
                found.append((name + (kind.path if inner is not kind else ""), inner))
        return found

    def may_give_away(self) -> bool:
        """Whether a list that compiled lines make may be given to a library: the whole program runs eagerly then, which it cannot
        once it has had effects."""
        return not self.effects and not self.counts["statement.host"] and not self.loops

    def tensor_name(self) -> str | None:
        """A variable with numbers in rows."""
        names = self.variables(
            lambda k: isinstance(k, T) and k.dtype != "bool" and k.shape and k.size > 0
        )
        return self.choose(names) if names else None

    # ---- arrays -----------------------------------------------------------------------------------------------------
    @rule("host", 4)
    def host_array(self) -> str | None:
        x = self.tensor_name()
        if x is None:
            return None
        kind, name = self.scope[x], self.fresh("h")
        text = f"{x}.asnumpy().round(1) + 0"
        flat = self.chance(0.4)
        self.emit(f"{name} = np.sort({text}, None)" if flat else f"{name} = {text}")
        self.bind(name, Array(kind.dtype, (kind.size,) if flat else kind.shape))
        return "done"

    @rule("host", 2)
    def host_view(self) -> str | None:
        """A second name for an array, or for a part of it."""
        places = self.places(Array)
        if not places:
            return None
        place, kind = self.choose(places)
        name, shape = self.fresh("h"), kind.shape
        first = shape[0]
        forms = [
            ("{}", shape),
            ("{}[::-1]", shape),
            ("{}.reshape(-1)", (T(kind.dtype, shape).size,)),
            ("{}.T", shape[::-1]),
            (f"np.split({{}}, {first})[{self.random.randrange(first)}]", (1, *shape[1:])),
        ]
        if first > 1:
            forms.append(("{}[1:]", (first - 1, *shape[1:])))
        if len(shape) > 1:
            forms.append(("{}[-1]", shape[1:]))
        text, shape = self.choose(forms)
        self.emit(f"{name} = {text.format(place)}")
        self.bind(name, Array(kind.dtype, shape))
        return "done"

    @rule("host", 3)
    def host_array_in_place(self) -> str | None:
        places = self.places(Array)
        if not places:
            return None
        place, kind = self.choose(places)
        part = self.fresh("h")
        same = self.variables(lambda k: k == T(kind.dtype, kind.shape))
        forms = [form.format(place) for form in _IN_PLACE]
        forms.append(f"for {part} in np.split({place}, {kind.shape[0]}): {part} += 1")
        forms += [f"{place} += {x}.asnumpy().round(1)" for x in same]
        self.emit(self.choose(forms))
        return "done"

    @rule("host", 4)
    def host_to_tensor(self) -> str | None:
        places = self.places(Array)
        if not places:
            return None
        place, kind = self.choose(places)
        name, made = self.fresh(), T(kind.dtype, kind.shape)
        text = f"Tensor({place})"
        forms = [text, f"{text} + {self.leaf(made)}", f"{self.leaf(made)} - {text}"]
        self.emit(f"{name} = {self.choose(forms)}")
        self.bind(name, made)
        return "done"

    @rule("host", 2)
    def host_number(self) -> str | None:
        places = self.places(Array)
        if not places:
            return None
        name, (place, _) = self.fresh(), self.choose(places)
        self.emit(f"{name} = float({place}.{self.choose(('max', 'min'))}())")
        self.bind(name, Num("float", False))
        return "done"

    @rule("host", 1.5)
    def host_branch(self) -> str | None:
        """A branch that an array decides."""
        places = self.places(Array)
        if not places or self.indent > 3:
            return None
        before = dict(self.scope)
        self.emit(f"if {self.choose(places)[0]}.{self.choose(('max', 'min'))}() > 0.5:")
        arms = [self.arm(2, before, False)]
        if self.chance(0.5):
            self.emit("else:")
            arms.append(self.arm(1, before, False))
        else:
            arms.append(before)
        return "leaves" if self.merge(arms, before, False) else "done"

    # ---- lists and dicts --------------------------------------------------------------------------------------------
    def host_value(self) -> str:
        """A number of a list."""
        arrays = [place for place, _ in self.places(Array)]
        forms = ["1", "2.5", "-3", "self.size"]
        forms += [f"float({place}.max())" for place in arrays[-1:]]
        return self.choose(forms)

    @rule("host", 2)
    def host_list(self) -> str | None:
        """A list that NumPy makes, or one that the graph makes and a library changes."""
        rows = [place for place, k in self.places(Array) if len(k.shape) == 1]
        name = self.fresh("h")
        ours = not rows or self.chance(0.3)
        if not ours:
            self.emit(f"{name} = {self.choose(rows)}.tolist()")
        else:
            self.emit(f"{name} = [0.5, {self.choose(('1.5', 'self.size', '2'))}]")
            if self.may_give_away():
                form = self.choose(("bisect.insort({}, {n})", "heapq.heappush({}, {n})"))
                self.emit(form.format(name, n=self.host_value()))
        self.bind(name, Loose(ours=ours))
        return "done"

    @rule("host", 3)
    def host_list_change(self) -> str | None:
        places = [(place, k) for place, k in self.places(Loose) if not k.path]
        if not places:
            return None
        place, kind = self.choose(places)
        forms = _LIST_CHANGES
        if not kind.ours:
            forms += _LIBRARY_CHANGES
        self.emit(self.choose(forms).format(place, n=self.host_value()))
        return "done"

    @rule("host", 2)
    def host_table(self) -> str | None:
        """A container that shares what it holds, a second name, or a copy."""
        places = self.places(Loose) + self.places(Array)
        if not places:
            return None
        place, kind = self.choose(places)
        name = self.fresh("h")
        held = f"{place}"
        forms = [
            (f'{{"k": {held}}}', '["k"]'),
            (f'{{"k": [{held}, 1]}}.copy()', '["k"][0]'),
            (f"dict(k={held})", '["k"]'),
            (f'dict(zip("k", [{held}]))', '["k"]'),
            (f"[{held}, {self.choose(places)[0]}]", "[0]"),
            (f"[{held}, 1][:1]", "[0]"),
        ]
        if isinstance(kind, Loose):
            forms += [(f"{held}", ""), (f"list({held})", ""), (f"{held}[:]", "")]
        text, path = self.choose(forms)
        self.emit(f"{name} = {text}")
        self.bind(name, Loose(path, kind) if path else kind)
        return "done"

    @rule("host", 2)
    def host_items(self) -> str | None:
        """The items of a dict, changed one by one."""
        tables = self.variables(lambda k: isinstance(k, Loose) and k.path == '["k"]')
        if not tables:
            return None
        e = self.fresh("e")
        self.emit(f"for {e} in {self.choose(tables)}.values():")
        self.emit(f"    if isinstance({e}, list):")
        self.emit(f"        {e}.append({self.host_value()})")
        return "done"

    # ---- tensors ----------------------------------------------------------------------------------------------------
    @rule("host", 2)
    def host_copy(self) -> str | None:
        """A copy of a container of tensors, which does or does not share them."""
        kind = self.tensor_kind()
        if kind.dtype == "bool" or not self.may_give_away():
            return None
        name, got = self.fresh("d"), self.fresh()
        form = self.choose(("copy.deepcopy({})", "copy.copy({})"))
        text = self.choose(('{{"k": [{}], "n": 2}}', '{{"k": [{}, {}]}}')).format(
            *[self.tensor(kind, 1)] * 2
        )
        self.emit(f"{name} = {form.format(text)}")
        self.emit(f'{name}["k"][0] {self.choose(("+=", "-="))} {self.operand(kind, 1)}')
        if self.chance(0.5):
            self.emit(f'{name}["k"].append({self.tensor(kind, 1)})')
        self.emit(f'{got} = {name}["k"][{self.choose((0, -1))}] * 1')
        self.bind(got, kind)
        return "done"

    @rule("host", 3)
    def host_update(self) -> str | None:
        """Updates of a tensor of our own, by masks and by slices with bounds that a tensor gives."""
        x = self.tensor_name()
        if x is None:
            return None
        kind, name = self.scope[x], self.fresh()
        n = f"{self.leaf(T('int32', ()))} % {kind.shape[0]}"
        if self.chance(0.5):
            self.emit(self.choose(('print("begin")', f"{self.fresh('h')} = np.abs(self.size)")))
        self.emit(f"{name} = {x} * 1")
        rest = (*kind.shape[1:],)
        forms = (
            f"{name}[{x} > 0.5] -= 1",
            f"{name}[{x} > 0.5] = {self.leaf(T(kind.dtype, ()))}",
            f"{name}[{n}:] = {name}[{n}:] * 2",
            f"{name}[:{n}] = {self.leaf(T(kind.dtype, rest))}",
            f"{name}[{n}:] += 1",
            f"{name}[:{n}] -= {self.leaf(T(kind.dtype, rest))}",
        )
        for form in self.random.sample(forms, 2):
            self.emit(form)
        self.bind(name, kind)
        return "done"

    @rule("host", 1)
    def host_name(self) -> str:
        """A name that comes from outside of the graph chooses an attribute or an item."""
        kind, key, name = self.float_kind(), self.fresh("k"), self.fresh()
        index = f"({self.leaf(T('int32', ()))} % 2).asnumpy()"
        self.emit(f'{key} = str(np.array(["tanh", "sin"])[{index}])')
        a, b = self.tensor(kind, 1), self.tensor(kind, 1)
        self.emit(
            f"{name} = "
            + self.choose(
                (
                    f"getattr(ops, {key})({a})",
                    f"getattr({a}, {key})()",
                    f'{{"tanh": {a}, "sin": {b}}}[{key}]',
                    f'{{"tanh": {a}}}.get({key}, {b})',
                    f"{a} if hasattr({b}, {key}) else {b}",
                    f'{a} if {key} == "sin" else {b}',
                    f'{a} if {key} in {{"sin": 1}} else {b}',
                )
            )
        )
        self.bind(name, kind)
        return "done"
