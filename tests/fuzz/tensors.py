"""Expressions of tensors: each rule writes text that gives a tensor of the asked kind."""

from __future__ import annotations

from fuzz.base import Base, rule
from fuzz.kinds import FLOATS, INTEGERS, Fn, Map, Num, Seq, T, broadcasts, promotes_to

_UNARY = (
    "ops.tanh({})",
    "ops.sin({})",
    "ops.cos({})",
    "ops.relu({})",
    "ops.sigmoid({})",
    "ops.abs({})",
    "abs({})",
    "ops.square({})",
    "-{}",
    "+{}",
    "ops.exp(-ops.abs({}))",
    "ops.sqrt(ops.abs({}) + 0.5)",
    "ops.log(ops.abs({}) + 1.5)",
    "ops.softplus({})",
    "ops.sign({})",
    "ops.floor({})",
    "ops.gelu({})",
    "ops.clamp({}, -1.5, 1.5)",
    "ops.clip_by_value({}, -1.0, 2)",
    "{}.tanh()",
    "{}.copy()",
    "ops.ones_like({})",
    "ops.identity({})",
    "P.Tanh()({})",
    "P.Sigmoid()({})",
)
_ALONG_AXIS = (
    "ops.softmax({}, {})",
    "ops.cumsum({}, {})",
    "ops.flip({}, ({},))",
    "ops.log_softmax({}, {})",
)
_FLOAT_BINARY = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / (ops.abs({}) + 1.5)",
    "ops.maximum({}, {})",
    "ops.minimum({}, {})",
)
_INT_BINARY = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "ops.maximum({}, {})",
    "{} // (ops.abs({}) + 1)",
    "{} % (abs({}) + 2)",
)
_BIT_BINARY = ("{} & {}", "{} | {}", "{} ^ {}")
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


class Tensors(Base):
    """Mixin of the generator."""

    def tensor(self, kind: T, depth: int) -> str:
        """An expression of this kind, of about this depth."""
        if depth <= 0 or self.chance(0.12):
            return self.leaf(kind)
        made = self.pick(
            "float" if kind.is_float else "bool" if kind.dtype == "bool" else "int", kind, depth
        )
        return made if made is not None else self.leaf(kind)

    # ---- leaves -----------------------------------------------------------------------------------------------------
    def leaf(self, kind: T) -> str:
        """A variable, or what comes nearest to one."""
        exact = self.variables(lambda k: k == kind)
        stored = [n for n, k in self.parameters.items() if k == kind]
        if stored and self.chance(0.25):
            return f"self.{self.choose(stored)}"
        if exact and self.chance(0.9):
            return self.choose(exact[-6:])
        near = self.variables(
            lambda k: isinstance(k, T) and broadcasts(k.shape, kind.shape) and kind.size > 0
        )
        if near and self.chance(0.85):
            name = self.choose(near)
            held = self.scope[name]
            text = name
            if held.dtype != kind.dtype:
                text = f"({name} > 0)" if kind.dtype == "bool" else self.cast(name, kind.dtype)
            return text if held.shape == kind.shape else f"ops.broadcast_to({text}, {kind.shape})"
        return self.constant(kind)

    def cast(self, text: str, dtype: str) -> str:
        return self.choose((f"{text}.astype(ms.{dtype})", f"ops.cast({text}, ms.{dtype})"))

    def constant(self, kind: T) -> str:
        value = self.choose((0.5, -1.25, 2.0, 0.25)) if kind.is_float else self.choose((0, 1, 2))
        if kind.dtype == "bool":
            return f"ops.full({kind.shape}, {bool(value)}, dtype=ms.bool_)"
        if kind.shape == () and self.chance(0.5):
            return f"Tensor({value}, ms.{kind.dtype})"
        return self.choose(
            (
                f"ops.full({kind.shape}, {value}, dtype=ms.{kind.dtype})",
                f"ops.ones({kind.shape}, ms.{kind.dtype})",
                f"ops.zeros({kind.shape}, ms.{kind.dtype})",
            )
        )

    def operand(self, kind: T, depth: int) -> str:
        """Something that may stand beside a tensor of this kind: smaller, of a lesser dtype, or a number."""
        at = self.random.random()
        if at < 0.25:
            names = ("int", "float") if kind.is_float else ("int",)
            return self.number(self.choose(names), 1)
        shape = kind.shape
        if at < 0.5 and shape:
            shape = shape[self.random.randrange(len(shape) + 1) :]
            shape = tuple(1 if self.chance(0.3) else n for n in shape)
        dtype = kind.dtype if self.chance(0.75) else self.choose(promotes_to(kind.dtype))
        return self.tensor(T(dtype, shape), depth)

    # ---- of any dtype -----------------------------------------------------------------------------------------------
    @rule("any", 2)
    def any_where(self, kind: T, depth: int) -> str:
        shape = kind.shape if self.chance(0.7) else ()
        condition = self.tensor(T("bool", shape), depth - 1)
        a, b = self.tensor(kind, depth - 1), self.tensor(kind, depth - 1)
        return f"ops.where({condition}, {a}, {b})"

    @rule("any", 2)
    def any_if_expression(self, kind: T, depth: int) -> str:
        test = self.test(depth - 1)
        with self.setting(plain=False):
            return f"({self.tensor(kind, depth - 1)} if {test} else {self.tensor(kind, depth - 1)})"

    @rule("any", 1.5)
    def any_and_or(self, kind: T, depth: int) -> str | None:
        if kind.size != 1:
            return None
        first = self.tensor(kind, depth - 1)
        with self.setting(plain=False):
            return f"({first} {self.choose(('and', 'or'))} {self.tensor(kind, depth - 1)})"

    @rule("any", 3)
    def any_index(self, kind: T, depth: int) -> str:
        shape, key = self.key_for(kind.shape)
        return f"{self.tensor(T(kind.dtype, shape), depth - 1)}[{key}]"

    @rule("any", 1.5)
    def any_lambda(self, kind: T, depth: int) -> str:
        inner = self.float_kind()
        name = self.fresh("q")
        argument = self.tensor(inner, depth - 1)
        with self.setting(plain=False, scope={**self.scope, name: inner}):
            return f"(lambda {name}: {self.tensor(kind, depth - 1)})({argument})"

    @rule("any", 4)
    def any_function(self, kind: T, depth: int) -> str | None:
        names = self.variables(lambda k: isinstance(k, Fn) and k.result == kind)
        return self.call_text(self.choose(names), depth) if names else None

    @rule("any", 3)
    def any_item(self, kind: T, depth: int) -> str | None:
        """An item of a container in scope."""
        places: list[str] = []
        for name, held in self.scope.items():
            if isinstance(held, Seq):
                n = len(held.items)
                for i, k in enumerate(held.items):
                    if k == kind:
                        places += [f"{name}[{i}]", f"{name}[{i - n}]"]
            elif isinstance(held, Map):
                for key, k in held.items:
                    if k == kind:
                        places += [f'{name}["{key}"]', f'{name}.get("{key}")']
        return self.choose(places) if places else None

    @rule("any", 1)
    def any_display(self, kind: T, depth: int) -> str:
        """An item of a tuple, list or dict written on the spot."""
        texts = [self.tensor(kind, depth - 1) for _ in range(2)]
        if self.chance(0.3):
            return f'{{"a": {texts[0]}, "b": {texts[1]}}}["{self.choose("ab")}"]'
        index = self.number("int", 0) + " % 2" if self.chance(0.3) else self.choose((0, 1, -1))
        return (
            f"({texts[0]}, {texts[1]})[{index}]"
            if self.chance(0.5)
            else f"[{texts[0]}, {texts[1]}][{index}]"
        )

    @rule("any", 1)
    def any_walrus(self, kind: T, depth: int) -> str | None:
        if not self.plain or (self.loops and self.frozen is None):
            return None
        text = self.tensor(kind, depth - 1)
        name = self.fresh("w")
        self.bind(name, kind)
        return f"({name} := {text})"

    @rule("any", 1)
    def any_reshape(self, kind: T, depth: int) -> str | None:
        same = self.variables(
            lambda k: isinstance(k, T) and k.dtype == kind.dtype and k.size == kind.size
        )
        if not same:
            return None
        name = self.choose(same)
        return self.choose((f"{name}.reshape({kind.shape})", f"ops.reshape({name}, {kind.shape})"))

    @rule("any", 1)
    def any_transpose(self, kind: T, depth: int) -> str | None:
        rank = len(kind.shape)
        if rank < 2:
            return None
        order = self.random.sample(range(rank), rank)
        source = [0] * rank
        for to, axis in enumerate(order):
            source[axis] = kind.shape[to]
        text = self.tensor(T(kind.dtype, tuple(source)), depth - 1)
        if rank == 2 and order == [1, 0] and self.chance(0.5):
            return f"{text}.T"
        return self.choose(
            (
                f"ops.transpose({text}, {tuple(order)})",
                f"{text}.transpose({', '.join(map(str, order))})",
            )
        )

    @rule("any", 1)
    def any_join(self, kind: T, depth: int) -> str | None:
        """Two parts concatenated, or rows stacked."""
        if not kind.shape or not 2 <= kind.shape[0] <= 6:
            return None
        n, *rest = kind.shape
        if self.chance(0.4) and n <= 4:
            rows = ", ".join(self.tensor(T(kind.dtype, tuple(rest)), depth - 2) for _ in range(n))
            return f"ops.stack({self.choose(('({})', '[{}]')).format(rows)}, axis=0)"
        at = self.random.randrange(1, n)
        parts = [self.tensor(T(kind.dtype, (m, *rest)), depth - 1) for m in (at, n - at)]
        return f"ops.{self.choose(('cat', 'concat'))}(({parts[0]}, {parts[1]}), axis=0)"

    @rule("any", 1)
    def any_comprehension(self, kind: T, depth: int) -> str:
        """The sum over a comprehension."""
        name = self.fresh("c")
        with self.setting(plain=False):
            rest = ", ".join(self.tensor(kind, depth - 2) for _ in range(self.choose((2, 3))))
        with self.setting(plain=False, scope={**self.scope, name: kind}):
            body = self.tensor(kind, depth - 2)
        if kind.dtype == "bool":
            return f"[{body} for {name} in ({rest})][-1]"
        return (
            self.choose(
                (
                    f"sum([{body} for {name} in ({rest})])",
                    f"sum(list(map(lambda {name}: {body}, ({rest}))))",
                )
            )
            if name in body
            else f"[{body} for {name} in ({rest})][0]"
        )

    @rule("any", 1)
    def any_method(self, kind: T, depth: int) -> str:
        """A shape changed there and back."""
        text = self.tensor(kind, depth - 1)
        return (
            self.choose(
                (
                    f"{text}.expand_dims(0)[0]",
                    f"ops.expand_dims({text}, -1).squeeze(-1)",
                    f"{text}.reshape(-1).reshape({kind.shape})",
                )
            )
            if kind.size
            else text
        )

    # ---- floats -----------------------------------------------------------------------------------------------------
    @rule("float", 5)
    def float_binary(self, kind: T, depth: int) -> str:
        form = self.choose(_FLOAT_BINARY)
        if "ops" not in form and self.chance(0.3):
            a, b = self.operand(kind, depth - 1), self.tensor(kind, depth - 1)
        else:
            a, b = self.tensor(kind, depth - 1), self.operand(kind, depth - 1)
        return f"({form.format(a, b)})"

    @rule("float", 4)
    def float_unary(self, kind: T, depth: int) -> str:
        return f"({self.choose(_UNARY).format(self.tensor(kind, depth - 1))})"

    @rule("float", 1)
    def float_along_axis(self, kind: T, depth: int) -> str | None:
        if not kind.shape or not kind.size:
            return None
        axis = self.choose((-1, 0))
        return self.choose(_ALONG_AXIS).format(self.tensor(kind, depth - 1), axis)

    @rule("float", 1)
    def float_power(self, kind: T, depth: int) -> str:
        return f"({self.tensor(kind, depth - 1)} ** {self.choose((1, 2, 3))})"

    @rule("float", 2)
    def float_cast(self, kind: T, depth: int) -> str:
        dtype = self.choose((*FLOATS, "int32", "int64", "bool"))
        return self.cast(f"({self.tensor(T(dtype, kind.shape), depth - 1)})", kind.dtype)

    @rule("float", 3)
    def float_reduce(self, kind: T, depth: int) -> str:
        axis = self.random.randrange(len(kind.shape) + 1)
        n = self.choose(self.dims) or 2
        shape = (*kind.shape[:axis], n, *kind.shape[axis:])
        name = self.choose(("sum", "mean", "max", "min"))
        text = self.tensor(T(kind.dtype, shape), depth - 1)
        if len(shape) == 1 and self.chance(0.4):
            return f"{text}.{name}()"
        spell = {"max": "amax", "min": "amin"}.get(name, name)
        method = f"{name}({axis})" if spell == name else f"{name}(axis={axis})"
        return self.choose((f"{text}.{method}", f"ops.{spell}({text}, {axis - len(shape)})"))

    @rule("float", 1)
    def float_matmul(self, kind: T, depth: int) -> str | None:
        if len(kind.shape) < 2:
            return None
        *batch, m, n = kind.shape
        k = self.choose(self.dims) or 2
        a = self.tensor(T(kind.dtype, (*batch, m, k)), depth - 1)
        b = self.tensor(T(kind.dtype, (k, n) if self.chance(0.6) else (*batch, k, n)), depth - 1)
        return self.choose((f"({a} @ {b})", f"ops.matmul({a}, {b})"))

    @rule("float", 1.5)
    def float_stop_gradient(self, kind: T, depth: int) -> str:
        return f"ops.stop_gradient({self.tensor(kind, depth - 1)})"

    @rule("float", 0.6)
    def float_gradient(self, kind: T, depth: int) -> str:
        """A gradient inside the program."""
        name = self.fresh("g")
        argument = self.tensor(kind, 0)
        with self.setting(plain=False, scope={**self.scope, name: kind}):
            body = self.tensor(kind, 2)
        return f"ms.grad(lambda {name}: {body} * {name})({argument})"

    @rule("float", 3)
    def float_cell(self, kind: T, depth: int) -> str | None:
        names = [n for n, k in self.cells.items() if k == kind]
        return f"self.{self.choose(names)}({self.tensor(kind, depth - 1)})" if names else None

    @rule("float", 6)
    def float_any(self, kind: T, depth: int) -> str | None:
        return self.pick("any", kind, depth)

    # ---- integers ---------------------------------------------------------------------------------------------------
    @rule("int", 4)
    def int_binary(self, kind: T, depth: int) -> str:
        a, b = self.tensor(kind, depth - 1), self.operand(kind, depth - 1)
        return f"({self.choose(_INT_BINARY).format(a, b)})"

    @rule("int", 1)
    def int_bits(self, kind: T, depth: int) -> str:
        a, b = self.tensor(kind, depth - 1), self.tensor(kind, depth - 1)
        return f"({self.choose(_BIT_BINARY).format(a, b)})"

    @rule("int", 1)
    def int_divide(self, kind: T, depth: int) -> str:
        return (
            f"({self.tensor(kind, depth - 1)} {self.choose(('//', '%'))} {self.choose((2, 3, 5))})"
        )

    @rule("int", 2)
    def int_cast(self, kind: T, depth: int) -> str:
        dtype = self.choose((self.float_dtype, *INTEGERS, "bool"))
        return self.cast(f"({self.tensor(T(dtype, kind.shape), depth - 1)})", kind.dtype)

    @rule("int", 1)
    def int_argmax(self, kind: T, depth: int) -> str | None:
        n = self.choose(self.dims) or 2
        text = self.tensor(T(self.float_dtype, (*kind.shape, n)), depth - 1)
        return self.cast(f"{self.choose(('ops.argmax', 'ops.argmin'))}({text}, -1)", kind.dtype)

    @rule("int", 3)
    def int_any(self, kind: T, depth: int) -> str | None:
        return self.pick("any", kind, depth)

    # ---- truth values -----------------------------------------------------------------------------------------------
    @rule("bool", 4)
    def bool_compare(self, kind: T, depth: int) -> str:
        inner = T(self.choose((self.float_dtype, "int32")), kind.shape)
        return (
            f"({self.tensor(inner, depth - 1)} {self.choose(_COMPARE)} {self.operand(inner, depth - 1)})"
            if kind.shape
            else f"({self.tensor(inner, depth - 1)} {self.choose(_COMPARE)} {self.number('int', 0)})"
        )

    @rule("bool", 2)
    def bool_logic(self, kind: T, depth: int) -> str:
        a, b = self.tensor(kind, depth - 1), self.tensor(kind, depth - 1)
        form = self.choose((*_BIT_BINARY, "ops.logical_and({}, {})", "ops.logical_or({}, {})"))
        return f"({form.format(a, b)})"

    @rule("bool", 1)
    def bool_not(self, kind: T, depth: int) -> str:
        return f"({self.choose(('~{}', 'ops.logical_not({})', 'ops.isfinite({})')).format(self.tensor(kind, depth - 1))})"

    @rule("bool", 1)
    def bool_any(self, kind: T, depth: int) -> str | None:
        return self.pick("any", kind, depth)

    # ---- keys -------------------------------------------------------------------------------------------------------
    def key_for(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
        """A shape and a key such that indexing the one with the other leaves a tensor of the asked shape."""
        source: list[int] = []
        key: list[str] = []
        gathered = False
        for n in shape:
            while self.chance(0.2) and len(source) < 4:
                source.append(self.choose((1, 2, 3, 4)))
                key.append(self.position(source[-1]))
            if n == 1 and self.chance(0.3):
                key.append("None")
            elif not gathered and 0 < n <= 4 and self.chance(0.25):
                gathered = True
                source.append(self.choose((2, 3, 4)))
                rows = [self.random.randrange(-source[-1], source[-1]) for _ in range(n)]
                key.append(self.choose((f"{rows}", f"Tensor({rows}, ms.int32)", f"Tensor({rows})")))
            else:
                size, text = self.slice_for(n)
                source.append(size)
                key.append(text)
        if not source or self.chance(0.15):
            source.append(self.choose((1, 2, 3)))
            key.append(self.position(source[-1]))
        if self.chance(0.15) and not gathered:
            key.insert(self.random.randrange(len(key) + 1), "...")
        return tuple(source), ", ".join(key)

    def position(self, size: int) -> str:
        """One index: a constant, or a number that is known now or only later."""
        numbers = self.variables(lambda k: isinstance(k, Num) and k.name == "int")
        if numbers and self.chance(0.3):
            return f"{self.choose(numbers)} % {size}"
        tensors = self.variables(
            lambda k: isinstance(k, T) and k.dtype in INTEGERS and k.shape == ()
        )
        if tensors and self.chance(0.3):
            return f"{self.choose(tensors)} % {size}"
        return str(self.random.randrange(-size, size))

    def slice_for(self, n: int) -> tuple[int, str]:
        """A size and a slice of it with n items."""
        at = self.random.random()
        if at < 0.4:
            return n, ":"
        if at < 0.5:
            return n, "::-1"
        if at < 0.7:
            start = self.choose((0, 1, 2))
            return n + start, f"{start}:" if self.chance(0.5) else f"-{n}:" if n else f"{start}:"
        if at < 0.85:
            return n + 1, f":{self.choose((n, -1))}"
        if n == 0:
            return 3, "1:1"
        return 2 * n, self.choose(("::2", "1::2", "::-2"))
