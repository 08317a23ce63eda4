"""Expressions of Python values and of conditions, calls of functions, and new values of changed shape."""

from __future__ import annotations

from typing import Any

from fuzz.base import rule
from fuzz.kinds import INTEGERS, Map, Num, Rec, Seq, T, Text, fresh_ident
from fuzz.tensors import Tensors


class Scalars(Tensors):
    """Mixin of the generator."""

    # ---- numbers ----------------------------------------------------------------------------------------------------
    def number(self, name: str, depth: int, fixed: bool = False) -> str:
        """An expression of a Python number; `fixed`: one that is known while compiling."""
        known = self.variables(
            lambda k: isinstance(k, Num) and k.name == name and (k.fixed or not fixed)
        )
        if known and self.chance(0.6):
            return self.choose(known)
        if depth > 0 and self.chance(0.5):
            made = self.pick("number", name, depth, fixed)
            if made is not None:
                return made
        if name == "bool":
            return self.choose(("True", "False", "self.flag"))
        if name == "float":
            return self.choose(("0.5", "1.5", "-0.25", "2.0", "self.scale"))
        return self.choose(("1", "2", "3", "-1", "self.size"))

    @rule("number", 2)
    def number_binary(self, name: str, depth: int, fixed: bool) -> str | None:
        if name == "bool":
            return None
        a, b = self.number(name, depth - 1, fixed), self.number("int", depth - 1, fixed)
        return f"({a} {self.choose('+-*')} {b})"

    @rule("number", 1)
    def number_divide(self, name: str, depth: int, fixed: bool) -> str | None:
        if name != "int":
            return None
        return f"({self.number('int', depth - 1, fixed)} {self.choose(('//', '%'))} {self.choose((2, 3))})"

    @rule("number", 1)
    def number_builtin(self, name: str, depth: int, fixed: bool) -> str | None:
        a, b = (self.number(name, depth - 1, fixed) for _ in range(2))
        if name == "bool":
            return f"(not {a})"
        return self.choose((f"max({a}, {b})", f"min({a}, {b})", f"abs({a})", f"sum(({a}, {b}))"))

    @rule("number", 1.5)
    def number_size(self, name: str, depth: int, fixed: bool) -> str | None:
        """Sizes of tensors and lengths of containers."""
        tensors = self.variables(lambda k: isinstance(k, T) and len(k.shape) > 0)
        held = self.variables(lambda k: isinstance(k, (Seq, Map)))
        if name != "int" or not (tensors or held):
            return None
        if held and (not tensors or self.chance(0.5)):
            return f"len({self.choose(held)})"
        x = self.choose(tensors)
        return self.choose(
            (f"{x}.shape[0]", f"{x}.ndim", f"len({x}.shape)", f"{x}.shape[-1]", f"len({x})")
        )

    @rule("number", 0.7)
    def number_of_tensor(self, name: str, depth: int, fixed: bool) -> str | None:
        """A tensor of one element as a Python number."""
        if fixed:
            return None
        if name == "bool":
            return f"bool({self.tensor(T('bool', ()), 1)})"
        if name == "float":
            text = self.tensor(T(self.float_dtype, ()), 1)
            return self.choose((f"float({text})", f"{text}.item()"))
        text = self.tensor(T(self.choose(INTEGERS), ()), 1)
        return self.choose((f"int({text})", f"{text}.item()"))

    @rule("number", 1)
    def number_choice(self, name: str, depth: int, fixed: bool) -> str:
        test = self.python_test(1) if fixed else self.test(1)
        return f"({self.number(name, depth - 1, fixed)} if {test} else {self.number(name, depth - 1, fixed)})"

    @rule("number", 1)
    def number_item(self, name: str, depth: int, fixed: bool) -> str | None:
        places = [
            f"{n}[{i}]"
            for n, k in self.scope.items()
            if isinstance(k, Seq)
            for i, item in enumerate(k.items)
            if isinstance(item, Num) and item.name == name and (item.fixed or not fixed)
        ]
        return self.choose(places) if places else None

    @rule("number", 0.7)
    def number_text(self, name: str, depth: int, fixed: bool) -> str | None:
        """Numbers by way of strings."""
        if name != "int":
            return None
        inner = self.number("int", depth - 1, True)
        if "'" in inner or '"' in inner:  # quotes do not nest
            return None
        return self.choose(
            (
                f"len(f'{{{inner}}}-{{{inner}:>4}}')",
                f'len("ab" * 2 + str({inner}))',
                f"int(f'{{{inner}}}')",
            )
        )

    @rule("number", 0.7)
    def number_comprehension(self, name: str, depth: int, fixed: bool) -> str | None:
        if name != "int":
            return None
        i = self.fresh("i")
        return self.choose(
            (
                f"sum({i} * {i} for {i} in range(4) if {i} % 2)",
                f"len({{{i}: {i} + 1 for {i} in range(3)}})",
                f"max([{i} - 1 for {i} in (3, 1, 2)])",
                f"len({{{i} // 2 for {i} in range(5)}})",
            )
        )

    # ---- conditions -------------------------------------------------------------------------------------------------
    def test(self, depth: int) -> str:
        """A condition, decided by a tensor more often than not."""
        return self.tensor_test(depth) if self.chance(0.7) else self.python_test(depth)

    def tensor_test(self, depth: int) -> str:
        return self.pick("test", depth)

    def python_test(self, depth: int) -> str:
        return self.pick("python", depth)

    @rule("test", 3)
    def test_sum(self, depth: int) -> str:
        kind = self.float_kind()
        text = f"{self.tensor(kind, depth - 1)}.{self.choose(('sum', 'mean', 'max') if kind.size else ('sum',))}()"
        return f"{text} {self.choose(('<', '>', '>=', '<='))} {self.choose((0, 0.5, -0.25, 1))}"

    @rule("test", 2)
    def test_all(self, depth: int) -> str:
        kind = self.tensor_kind()
        text = self.tensor(T("bool", kind.shape), depth - 1)
        return self.choose(("{}.any()", "{}.all()", "ops.any({})", "ops.all({})")).format(text)

    @rule("test", 1)
    def test_chained(self, depth: int) -> str:
        with self.setting(plain=False):
            low, middle = (
                self.tensor(T(self.float_dtype, ()), 1),
                self.tensor(T(self.float_dtype, ()), 1),
            )
        return self.choose(
            (
                f"{low} < {middle} < 1.0",
                f"-1 <= {middle} != {low}",
                f"0 < {middle} <= {self.number('float', 0)}",
            )
        )

    @rule("test", 1.5)
    def test_logic(self, depth: int) -> str | None:
        if depth <= 0:
            return None
        a = self.tensor_test(depth - 1)
        with self.setting(plain=False):
            b = self.test(depth - 1)
        return self.choose(
            (f"({a}) and ({b})", f"({a}) or ({b})", f"not ({a})", f"({a}) and not ({b})")
        )

    @rule("test", 1)
    def test_truth(self, depth: int) -> str:
        """A tensor as a condition by itself."""
        return self.tensor(
            T(self.choose((self.float_dtype, "int32", "bool")), self.choose(((), (1,)))), depth - 1
        )

    @rule("test", 0.7)
    def test_member(self, depth: int) -> str:
        x = self.tensor(T("int32", ()), 1)
        with self.setting(plain=False):
            items = ", ".join(
                self.choose(("0", "1", "2", self.tensor(T("int32", ()), 0))) for _ in range(2)
            )
        return f"{x} {self.choose(('in', 'not in'))} {self.choose(('({})', '[{}]')).format(items)}"

    @rule("test", 1)
    def test_number(self, depth: int) -> str | None:
        """A number that a tensor decided."""
        names = self.variables(lambda k: isinstance(k, Num) and not k.fixed)
        return (
            f"{self.choose(names)} {self.choose(('>', '==', '<='))} {self.choose((0, 1, 2))}"
            if names
            else None
        )

    @rule("python", 3)
    def python_number(self, depth: int) -> str:
        a = self.number("int", 1, True)
        return self.choose(
            (f"{a} % 2 == 0", f"{a} > 1", f"0 < {a} < 3", f"{a} in (1, 2)", f"not {a}", a)
        )

    @rule("python", 1)
    def python_flag(self, depth: int) -> str:
        return self.choose(
            (
                "self.flag",
                "not self.flag",
                "self.training",
                'self.mode == "a"',
                'self.mode in ("b", "c")',
                "self.nothing is None",
            )
        )

    @rule("python", 1.5)
    def python_tensor(self, depth: int) -> str | None:
        """Facts of tensors that are known while compiling."""
        names = self.variables(lambda k: isinstance(k, T))
        if not names:
            return None
        x = self.choose(names)
        rank = len(self.scope[x].shape)
        forms = [
            f"{x}.ndim > 1",
            f"isinstance({x}, Tensor)",
            f"{x} is not None",
            f"{x}.dtype == ms.{self.float_dtype}",
            f"hasattr({x}, 'shape')",
        ]
        if rank:
            forms += [f"{x}.shape[0] > 2", f"{x}.shape == {self.scope[x].shape}", f"len({x}) == 2"]
        return self.choose(forms)

    @rule("python", 1)
    def python_container(self, depth: int) -> str | None:
        names = self.variables(lambda k: isinstance(k, (Seq, Map)))
        if not names:
            return None
        c = self.choose(names)
        if isinstance(self.scope[c], Map):
            return self.choose((f'"a" in {c}', f"len({c}) > 2", f'"z" not in {c}', f"{c}"))
        return self.choose((f"len({c}) > 2", f"{c}", f"isinstance({c}, list)"))

    @rule("python", 1)
    def python_logic(self, depth: int) -> str | None:
        if depth <= 0:
            return None
        a, b = self.python_test(depth - 1), self.python_test(depth - 1)
        return self.choose((f"({a}) and ({b})", f"({a}) or ({b})", f"not ({a})"))

    # ---- values of any kind -----------------------------------------------------------------------------------------
    def value(self, kind: Any, depth: int) -> str:
        """An expression of any kind."""
        if isinstance(kind, T):
            return self.tensor(kind, depth)
        if isinstance(kind, Num):
            return self.number(kind.name, depth, kind.fixed)
        if isinstance(kind, Text):
            return self.choose(('"a"', '"bc"', "self.mode"))
        if isinstance(kind, Map):
            return (
                "{" + ", ".join(f'"{k}": {self.value(v, depth - 1)}' for k, v in kind.items) + "}"
            )
        if isinstance(kind, Rec):
            return f"{kind.name}({', '.join(self.value(k, depth - 1) for _, k in kind.fields)})"
        items = [self.value(k, depth - 1) for k in kind.items]
        if kind.name == "list":
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' * (len(items) == 1)})"

    def container_kind(self) -> Any:
        """The kind of a new container."""
        items = tuple(
            self.choose((self.tensor_kind(), self.tensor_kind(), Num("int"), Num("float")))
            for _ in range(self.choose((1, 2, 2, 3)))
        )
        if self.chance(0.3):
            return Map(tuple(zip("abcd", items)), fresh_ident())
        if self.chance(0.2):
            items = (*items, Seq("tuple", items[:1]))
        return Seq(self.choose(("tuple", "list")), items, fresh_ident())

    def call_text(self, name: str, depth: int) -> str:
        """A call of a function in scope."""
        fn = self.scope[name]
        args = [self.value(k, depth - 1) for k in fn.params]
        for key, kind in fn.keywords:
            if self.chance(0.5):
                args.append(f"{key}={self.value(kind, depth - 1)}")
        if len(args) == 2 and not fn.keywords and self.chance(0.15):
            return f"{name}(*({args[0]}, {args[1]}))"
        return f"{name}({', '.join(args)})"

    # ---- new shapes from a variable ---------------------------------------------------------------------------------
    def derive(self) -> tuple[str, T] | None:
        """An expression that changes the shape of a variable, and its kind."""
        names = self.variables(lambda k: isinstance(k, T) and len(k.shape) <= 3)
        return self.pick("derive", self.choose(names)) if names else None

    @rule("derive", 3)
    def derive_slice(self, name: str) -> tuple[str, T]:
        held = self.scope[name]
        key: list[str] = []
        shape: list[int] = []
        for n in held.shape[: self.random.randrange(len(held.shape) + 1)]:
            if n and self.chance(0.3):
                key.append(self.position(n))
                continue
            start, stop, step = (
                self.choose((None, 0, 1, -2)),
                self.choose((None, None, -1, 2, 9)),
                self.choose((None, None, 1, 2, -1, -2)),
            )
            key.append(":".join("" if b is None else str(b) for b in (start, stop, step)))
            shape.append(len(range(n)[slice(start, stop, step)]))
            if self.chance(0.1):
                key.append("None")
                shape.append(1)
        if not key or self.chance(0.15):
            key.append("...")
        return f"{name}[{', '.join(key)}]", T(
            held.dtype, (*shape, *held.shape[len([k for k in key if k not in ("None", "...")]) :])
        )

    @rule("derive", 1)
    def derive_gather(self, name: str) -> tuple[str, T] | None:
        held = self.scope[name]
        if not held.shape or not held.shape[0]:
            return None
        n = self.choose((1, 2, 3))
        shape = self.choose(((n,), (n, 2)))
        index = self.choose(INTEGERS)
        if self.chance(0.5):
            text = f"({self.tensor(T(index, shape), 1)} % {held.shape[0]})"
        else:
            shape = (n,)
            text = str([self.random.randrange(held.shape[0]) for _ in range(n)])
        return f"{name}[{text}]", T(held.dtype, (*shape, *held.shape[1:]))

    @rule("derive", 2)
    def derive_arrange(self, name: str) -> tuple[str, T] | None:
        held = self.scope[name]
        shape = held.shape
        at = self.random.randrange(len(shape) + 1)
        forms = [
            (f"ops.expand_dims({name}, {at})", (*shape[:at], 1, *shape[at:])),
            (f"{name}.reshape(-1)", (held.size,)),
            (f"ops.stack(({name}, {name} + {name}), {at})", (*shape[:at], 2, *shape[at:])),
        ]
        if shape:
            forms += [
                (f"{name}.flatten()", (held.size,)),
                (f"ops.concat(({name}, {name}), -1)", (*shape[:-1], 2 * shape[-1])),
                (f"ops.tile({name}, {(2,) * len(shape)})", tuple(2 * n for n in shape)),
            ]
        if len(shape) > 1:
            forms += [
                (f"{name}.swapaxes(0, 1)", (shape[1], shape[0], *shape[2:])),
                (f"ops.permute({name}, {tuple(range(len(shape)))[::-1]})", shape[::-1]),
            ]
        text, made = self.choose(forms)
        if T(held.dtype, made).size > 200 or (held.dtype == "bool" and "+" in text):
            return None
        return text, T(held.dtype, made)

    @rule("derive", 2)
    def derive_reduce(self, name: str) -> tuple[str, T] | None:
        held = self.scope[name]
        if not held.is_float or not held.size or not held.shape:
            return None
        axis = self.random.randrange(len(held.shape))
        rest = (*held.shape[:axis], *held.shape[axis + 1 :])
        keep = (*held.shape[:axis], 1, *held.shape[axis + 1 :])
        text, made = self.choose(
            (
                (f"{name}.sum({axis})", rest),
                (f"{name}.mean(axis={axis}, keep_dims=True)", keep),
                (f"ops.sum({name}, dim={axis}, keepdim=True)", keep),
                (f"ops.amax({name}, {axis})", rest),
                (f"ops.prod({name}, {axis})", rest),
                (f"P.ReduceSum(keep_dims=True)({name}, {axis})", keep),
                (f"P.ReduceMean()({name}, ({axis},))", rest),
                (f"ops.max({name}, axis={axis})[0]", rest),
                (f"ops.split({name}, {held.shape[axis]}, {axis})[0]", held.shape),
                (f"ops.unbind({name}, {axis})[-1]", rest),
            )
        )
        return text, T(held.dtype, made)
