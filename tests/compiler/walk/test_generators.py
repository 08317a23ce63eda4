"""Generators and other iterators in compiled functions: they advance item by item, unless a tensor decides whether they do."""

from __future__ import annotations

import itertools
import runpy
import types
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from both_modes import check

from mindspore import Tensor, jit, nn, ops

UP = [1.5, 2.0, 3.0]
DOWN = [1.5, -5.0, 1.0]


def counted(x, n):
    i = 0
    while i < n:
        yield x * i
        i += 1


def nested(x):
    def scaled():
        for i in range(3):
            yield x * i

    total = x * 0
    for v in scaled():
        total = total + v * v
    return total


def consumed(x):
    a, b, *rest = counted(x, 4)
    table = dict(enumerate(counted(x, 3)))
    return sum(counted(x, 3)) + a + b + len(rest) + table[2] + [*counted(x, 2)][1]


def endless(x):
    def powers():
        scale = 1.0
        while True:
            yield x * scale
            scale *= 2

    total = x * 0
    for v, _ in zip(powers(), range(4)):
        total = total + v
    for i, v in enumerate(powers()):
        total = total + v
        if i == 2:
            break
    return total


def left_by_a_tensor(x):
    total = x * 0
    for v in counted(x, 5):
        if total.sum() > 6:
            break
        total = total + v
    return total


def sees_what_the_loop_assigns(x):
    scale = 1.0

    def items():
        for _ in range(3):
            yield x * scale

    total = x * 0
    for v in items():
        scale = scale * 3
        total = total + v
    return total


def takes_turns(x):
    order = []

    def items():
        for i in range(2):
            order.append(i)
            yield x * i
            order.append(-i)

    for _ in items():
        order.append(10)
    return x * (order == [0, 10, 0, 1, 10, -1])


def handed_on(x):
    def down(n):
        if n > 0:
            yield x * n
            yield from down(n - 1)

    return sum(v * (i + 1) for i, v in enumerate(down(3)))


def ends(x):
    def items():
        try:
            yield x
            yield x * 2
        finally:
            pass

    g = items()
    first, second, third = next(g), next(g), next(g, None)
    return first + second if third is None else x


def raises_inside(x):
    def items():
        yield x
        raise ValueError("the end")

    y = x * 0
    try:
        for v in items():
            y = y + v
    except ValueError:
        y = y * 5
    return y


def iterators(x):
    turns, total = iter([x, x * 2, x * 3, x * 4]), x * 0
    for a, b in zip(turns, turns):
        total = total + a * b
    for i, v in zip(itertools.count(), itertools.chain([x], [x * 2])):
        total = total + v * i
    rest = iter([1, 2])
    next(rest)
    return total * next(rest) + len(list(rest))


def expressions_see_what_the_loop_assigns(x):
    k, total, items = 1.0, x * 0, [x, x * 2, x * 3]
    for v in (x * k for _ in range(3)):
        k = k * 3
        total = total + v
    for v in (items[i] for i in range(3)):
        items[2] = total
        total = total + v
    for v in map(lambda q: q * len(items), [1, 2, 3]):  # noqa: C417
        items.append(x)
        total = total + v
    y = x * 1
    for i, v in enumerate(y[j] * 2 for j in range(3)):
        y[i + 1 if i < 2 else 0] = 9.0
        total = total + v
    return total + y


def expressions_kept_for_later(x):
    n, sizes = 3, [1]
    products = (n * i for i in range(n))
    longer = map(lambda v: v + len(sizes), [1, 2])  # noqa: C417
    n = 10
    sizes.append(2)
    return x * sum(products) + sum(longer)


GENERATORS = [
    expressions_see_what_the_loop_assigns,
    expressions_kept_for_later,
    iterators,
    nested,
    consumed,
    endless,
    left_by_a_tensor,
    sees_what_the_loop_assigns,
    takes_turns,
]
GENERATORS += [handed_on, ends, raises_inside]


@pytest.mark.parametrize("function", GENERATORS, ids=lambda f: f.__name__)
def test_generators(function):
    for point in (UP, DOWN):
        check(function, point)


def test_a_method_that_yields():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Tanh()])

        def features(self, x):
            for layer in self.layers:
                x = layer(x)
                yield x

        def construct(self, x):
            return ops.stack(list(self.features(x)))

    net, x = Net(), Tensor(DOWN)
    compiled = jit(lambda v: net(v), fullgraph=True)(x)
    np.testing.assert_array_equal(compiled.asnumpy(), net(x).asnumpy())


def test_items_that_a_tensor_decides_run_eagerly():
    def chosen(x):
        def items():
            if x.sum() > 0:
                yield x
            yield x * 2

        return sum(items())

    with pytest.warns(UserWarning, match="a tensor decides whether a generator gives an item"):
        assert jit(chosen)(Tensor(UP)).asnumpy().tolist() == [4.5, 6.0, 9.0]
    with pytest.raises(TypeError, match="a tensor decides"):
        jit(chosen, fullgraph=True)(Tensor(UP))


def test_a_loop_that_is_left_takes_no_more_than_python_does():
    def by_python(x):
        items, total = iter([x, x * 2, x * 3, x * 4]), x * 0
        for v in items:
            total = total + v
            if len(total) > 2:
                next(items)
                break
        for v, _ in zip(items, range(1)):
            total = total * v
        return total, len(list(items))

    def by_a_tensor(x):
        items, total = (x * i for i in range(5)), x * 0
        for v in items:
            total = total + v
            if total.sum() > 7:
                break
        return total, len(list(items))

    def of_a_list(x):
        items, total = iter([x, x * 2, x * 3]), x * 0
        for v in items:
            total = total + v
            if total.sum() > 7:
                break
        return total, len(list(items))

    for function in (by_python, by_a_tensor, of_a_list):
        for point in (UP, DOWN):
            x = Tensor(point)
            with warnings.catch_warnings():
                warnings.simplefilter("error" if function is by_python else "ignore")
                got, rest = jit(function)(x)
            expected, left = function(x)
            np.testing.assert_array_equal(got.asnumpy(), expected.asnumpy())
            assert rest == left


def test_an_iterator_that_a_tensor_decides_about_runs_eagerly():
    def chosen(x):
        items = iter([x, x * 2])
        y = next(items) if x.sum() > 0 else x * 5
        return y + next(items)

    for point in (UP, DOWN):
        x = Tensor(point)
        with pytest.warns(UserWarning, match="a tensor decides whether an iterator goes on"):
            got = jit(chosen)(x)
        np.testing.assert_array_equal(got.asnumpy(), chosen(x).asnumpy())


def test_an_iterator_from_outside_goes_on_with_every_call():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scales = iter([1.0, 2.0, 3.0])

        def construct(self, x):
            return x * next(self.scales)

    net, x = Net(), Tensor(UP)
    with pytest.warns(UserWarning, match="made outside"):
        function = jit(lambda v: net(v))
        first, second = function(x), function(x)
    np.testing.assert_array_equal(second.asnumpy(), 2 * first.asnumpy())


def test_what_has_no_end_is_refused():
    with pytest.raises(TypeError, match="more than 100000 items are taken"):
        jit(lambda x: x * sum(map(abs, itertools.count(2))), fullgraph=True)(Tensor(UP))


def test_what_has_no_end_may_begin():
    result = jit(lambda x: x * next(map(abs, itertools.count(2))), fullgraph=True)(Tensor(UP))
    np.testing.assert_array_equal(result.asnumpy(), 2 * np.array(UP, np.float32))


def test_a_generator_in_itself_is_refused_as_by_python() -> None:
    def function(x: Tensor) -> Tensor:
        def items() -> Iterator[Tensor]:
            yield x + next(it, 0)

        it = items()
        return next(it)

    for run in (function, jit(function)):
        with pytest.raises(ValueError, match="generator already executing"):
            run(Tensor(1.0))


@pytest.mark.parametrize("last", ["close", "send", "throw"])
def test_what_a_generator_is_told_runs_eagerly(last: str) -> None:
    def function(x: Tensor) -> Tensor:
        def items() -> Iterator[Tensor]:
            yield x
            yield x * 2

        it = items()
        y = next(it)
        if last == "close":
            it.close()
            return y + next(it, x * 5)
        if last == "send":
            return y + it.send(None)
        try:
            it.throw(KeyError("stop"))
        except KeyError:
            return y * 7

    with pytest.warns(UserWarning, match="a generator that is told more than to go on"):
        assert jit(function)(Tensor(1.0)).item() == function(Tensor(1.0)).item()


def test_the_type_of_a_generator() -> None:
    def function(x: Tensor) -> Tensor:
        def items() -> Iterator[Tensor]:
            yield x

        it = items()
        kinds = [isinstance(it, kind) for kind in (types.GeneratorType, Iterator, list)]
        return next(it) * (4 * kinds[0] + 2 * kinds[1] + kinds[2])

    assert jit(function, fullgraph=True)(Tensor(1.0)).item() == function(Tensor(1.0)).item() == 6


CHANGES = (
    "y.add_(1)",
    "y[0] = 5",
    "y = y + 1",
    "z.mul_(2.0)",
    "v = y[0:1]; v[:] = 9",
    "change()",
    "held[0].add_(1)",
    "getattr(y, 'add_')(1)",
)
ITEMS = (
    "items()",
    "(y * 1 for _ in range(3))",
    "map(lambda _: y * 1, range(3))",
    "filter(lambda _: True, (y * 1 for _ in range(3)))",
    "made",
    "expression()",
)


@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_loop_that_changes_what_its_items_are_made_of(change: str, items: str, tmp_path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"""
def function(x):
    y = x * 1
    z, held = y, [y]
    def items():
        for _ in range(3):
            yield y * 1
    def expression():
        return (y * 1 for _ in range(3))
    def change():
        y.add_(1)
    made = (y * 1 for _ in range(3))
    total = x * 0
    for item in {items}:
        {change}
        total = total + item
    return total
""")
    program = runpy.run_path(str(file))["function"]
    check(program, UP)


def test_items_are_made_when_the_callee_takes_them() -> None:
    def consume(items, y):
        total = y * 0
        for item in items:
            y.add_(1)
            total = total + item
        return total

    def expression(x):
        y = x * 1
        return consume((y * 1 for _ in range(3)), y)

    def mapped(x):
        y = x * 1

        def item(_):
            return y * 1

        return consume(map(item, range(3)), y)

    def later_argument(x):
        y = x * 1

        def add(items, other):
            return next(items) + other

        return add((y * 1 for _ in range(3)), y.add_(1))

    for program in (expression, mapped, later_argument):
        check(program, UP)
