"""Cases of the page on the language: statements."""

from __future__ import annotations

import contextlib

from caselib import indexed, matrix, scalar, section, two

from mindspore import Parameter, Tensor, nn, ops

# ---- Assignment ---------------------------------------------------------------------------------------------------------
case = section("Assignment")


@case("several targets, tuples, nested tuples")
def assign_many(x):
    a = b = x + 1
    c, (d, e) = a * 2, (b, 3.0)
    return c + d * e


@case("starred targets")
def assign_starred(x):
    first, *rest, last = (x, x * 2, x * 3, x * 4)
    return first + rest[0] * rest[1] - last


@case("augmented assignment")
def assign_augmented(x):
    y = x
    y += 1
    y *= x
    y -= 0.5
    y /= 2
    return y


@case("annotated assignment")
def assign_annotated(x):
    scale: float = 2.0
    return x * scale


@case("assignment inside an expression")
def assign_walrus(x):
    return (y := x * 2) + y * y


@case("into a tensor by index")
def assign_item(x):
    y = x * 1
    y[0] = 7.0
    y[1:] = y[1:] * 2
    return y


@case("into lists and dicts")
def assign_items_of_containers(x):
    items, table = [x, x], {"a": x}
    items[1] = x * 3
    table["b"] = items[1]
    return items[0] + table["b"]


@case("`del`")
def delete_names(x):
    y = x * 2
    z = y + 1
    del y
    items = [z, x]
    del (items[0], [z])
    return items[0]


# ---- Conditions ---------------------------------------------------------------------------------------------------------
case = section("Conditions")


@case("decided while compiling")
def if_of_python(x):
    if x.ndim == 1 and x.shape[0] > 2:
        y = x * 2
    elif x.ndim == 2:
        y = x * 3
    else:
        y = x
    return y


@case("decided by a tensor")
def if_of_a_tensor(x):
    if x.sum() > 0:
        y = x * 2
    elif x.max() > 10:
        y = x * 3
    else:
        y = -x
    return y


@case("early `return`, nested")
def early_returns(x):
    if x.sum() > 0:
        if x.max() > 5:
            return x * 2
        x = x + 1
    else:
        return -x
    return x * 3


@case("conditional expression")
def conditional_expression(x):
    return x * 2 if x.min() < 0 else x * (3 if x.ndim == 1 else 4)


@case("`and`, `or`, `not` of tensors")
def logic_of_tensors(x):
    if (x.sum() > 0 and not x.max() > 5) or x.min() > 7:
        return x * 2
    return x


@case("chained comparison")
def chained_comparison(x):
    return x * 2 if 0 < x.sum() < 5 <= 7 else x


@case("`in`, `not in`, `is`, `is not`")
def membership(x):
    names, other = ("relu", "tanh"), None
    if "relu" in names and 3 not in (1, 2) and other is None and x is not None:
        x = ops.relu(x)
    return x


@case("a value that some ways do not assign", gradient=False)
def assigned_on_the_way_that_is_taken(x):
    if x.sum() > 0:
        y = x
    if x.sum() > 0:
        return y * 2
    return x


@case("`match`, decided while compiling")
def match_of_python(x):
    match x.shape:
        case (n,) if n > 2:
            y = x * n
        case (n, *rest):
            y = x * len(rest)
        case _:
            y = x
    match {"op": "mul", "by": 2.0}:
        case {"op": "mul", "by": float(b)}:
            y = y * b
        case {"op": "add" | "sub"}:
            y = y + 1
    return y


@case("`match`, decided by a tensor", indexed)
def match_of_a_tensor(x, n):
    match n:
        case 1:
            y = x
        case 2 | 3 if x.sum() > 0:
            y = x * 2
        case k:
            y = x * k
    return y


# ---- Loops --------------------------------------------------------------------------------------------------------------
case = section("Loops")


@case("`for` over ranges, tuples, lists, dicts")
def for_over_python(x):
    for i in range(3):
        x = x + i
    for a, b in ((1, 2.0), (3, 4.0)):
        x = x * a + b
    for name, value in {"one": 1, "two": 2}.items():
        x = x + value * len(name)
    return x


@case("`zip`, `enumerate`, `map`, `filter`, `reversed`, `sorted`")
def for_over_iterators(x):
    for i, (a, b) in enumerate(zip((x, x * 2), reversed([1.0, 2.0]))):
        x = x + a * b * i
    for k in map(lambda v: v * v, filter(lambda v: v % 2, sorted([3, 1, 2]))):  # noqa: C417
        x = x + k
    return x


@case("over a tensor", matrix)
def for_over_a_tensor(x):
    total = x[0] * 0
    for row in x:
        total = total + row * row
    return total


@case("over cells")
class ForOverCells(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x) + 1
        return x


@case("`break`, `continue`, `else`")
def breaks_of_python(x):
    for i in range(10):
        if i == 2:
            continue
        if i == 5:
            break
        x = x + i
    else:
        x = x * 100
    i = 0
    while i < 3:
        i += 1
    else:
        x = x * i
    return x


@case("`while` that a tensor decides", scalar)
def while_of_a_tensor(x):
    while x < 100:
        x = x * 2 + 1
    return x


@case("`for` over a range with a tensor bound", indexed)
def for_of_a_tensor(x, n):
    for i in range(n):
        x = x * 2 + i
    return x


@case("`break`, `continue`, `return`, `else` that a tensor decides", scalar)
def breaks_of_a_tensor(x):
    total = x * 0
    while total < 100:
        total = total + x
        if total > 50:
            break
        if total > 20:
            continue
        total = total * 2
        if total > 1000:
            return total
    else:
        total = total + 0.5
    return total + 1


@case("nested loops with several carried values", scalar)
def nested_loops(x):
    outer, total = 0, x * 0
    while outer < 3:
        inner = 0
        while inner < outer + x:
            total = total + inner * x
            inner += 1
        outer += 1
    return total


# ---- Functions ----------------------------------------------------------------------------------------------------------
case = section("Functions")


@case("generators")
def generators(x):
    def multiples(n):
        for i in range(n):
            yield x * i
        yield from (x, x * 2)

    total = x * 0
    for i, v in enumerate(multiples(3)):
        total = total + v * i
    return total + sum(multiples(2))


@case("nested functions, lambdas, closures", two)
def nested_functions(x, y):
    def scaled(a, by=2.0):
        return a * by + y

    square = lambda a: a * a
    return square(scaled(x)) + scaled(x, by=3.0)


@case("defaults, keywords, `*args`, `**kwargs`")
def argument_forms(x):
    def f(a, /, b=2.0, *more, c, **rest):
        return a * b + sum(more) + c * rest["d"]

    return f(x, 3.0, 4.0, 5.0, c=x, d=2.0)


@case("decorators")
def decorators(x):
    def twice(f):
        return lambda a: f(f(a))

    @twice
    def step(a):
        return a * 2 + 1

    return step(x)


@case("functions as values, in containers")
def functions_as_values(x):
    table = {"relu": ops.relu, "tanh": ops.tanh}
    for f in [table["relu"], lambda a: a + 1, table["tanh"]]:
        x = f(x)
    return x


@case("`nonlocal`")
def nonlocal_names(x):
    count = 0

    def bump():
        nonlocal count
        count += 2

    bump()
    bump()
    return x * count


@case("recursion that a value ends")
def recursion_of_python(x):
    def power(a, n):
        return a if n == 1 else a * power(a, n - 1)

    return power(x, 4)


def collatz_like(x, steps):
    """Recursion outside of the case: decided by a tensor."""
    if steps < 1:
        return x
    return collatz_like(x * 2 + 1, steps - 1)


@case("recursion that a tensor ends", indexed)
def recursion_of_a_tensor(x, n):
    return collatz_like(x, n)


@case("a function that a tensor chooses", indexed)
def choice_of_functions(x, n):
    f = ops.relu if n > 1 else ops.tanh
    return f(x) + 1


@case("a cell that a tensor chooses", indexed)
class ChoiceOfCells(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])

    def construct(self, x, n):
        return self.layers[n](x)


# ---- Other statements ---------------------------------------------------------------------------------------------------
case = section("Assertions, exceptions, managers")


@case("`assert`, decided by Python or a tensor")
def assertions(x):
    assert x.ndim == 1, f"rank {x.ndim}"
    assert x.max() < 100, "too large"
    return x * 2


@case("`raise` on a way that is not taken")
def raises(x):
    if x.sum() > 100:
        raise ValueError(f"the sum {x.sum()} is too large")
    return x * 2


@case("`try` of what is known while compiling")
def tries(x):
    table = {"a": 2.0}
    try:
        scale = table["b"]
    except KeyError:
        scale = 3.0
    else:
        scale = 4.0
    finally:
        x = x + 1
    return x * scale


@case("`with` of managers that work while compiling")
def managers(x):
    with contextlib.nullcontext(2.0) as scale:
        x = x * scale
    return x


@case("`print`", gradient=False)
def prints(x):
    print("the sum is", x.sum())
    return x * 2


@case("`import` inside")
def imports(x):
    from math import pi

    return x * pi


# ---- Parameters ---------------------------------------------------------------------------------------------------------
case = section("Parameters")


@case("read and assigned in program order", gradient=False)
class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(1.0), name="count")

    def construct(self, x):
        before = x * self.count
        self.count = self.count + 1
        ops.assign_add(self.count, 2.0)
        return before + self.count


@case("assigned in branches and loops", gradient=False)
class Accumulator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Parameter(Tensor(0.0), name="total")

    def construct(self, x):
        if x.sum() > 0:
            self.total = self.total + x.sum()
        while self.total < 20:
            self.total += 3
        return x * self.total


@case("one by index", gradient=False)
class Row(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = Parameter(ops.zeros((2, 3)), name="table")

    def construct(self, x):
        self.table[1] = x
        return self.table * 2
