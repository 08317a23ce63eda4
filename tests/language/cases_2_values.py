"""Cases of the page on the language: values, expressions, indexing."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections import namedtuple

import numpy as np
from caselib import indexed, matrix, section, two

import mindspore as ms
from mindspore import Tensor, ops

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Config:
    """Settings of a case."""

    scale: float = 2.0
    shift: float = 1.0


class Kind(enum.Enum):
    """Choices of a case."""

    PLAIN = 1
    SQUARE = 2


@ms.jit_class
class Scale:
    """A class of the user whose methods are compiled."""

    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return x * self.by


TABLE = np.array([1.0, 2.0, 3.0], np.float32)

# ---- Values -------------------------------------------------------------------------------------------------------------
case = section("Values")


@case("lists and their methods")
def lists(x):
    items = [x]
    items.append(x * 2)
    items.extend([x * 3, x * 4])
    items.insert(0, x * 5)
    last = items.pop()
    items.reverse()
    return ops.stack(items + [last])[1] + len(items)


@case("dicts and their methods")
def dicts(x):
    table = {"a": x}
    table.update(b=x * 2)
    table.setdefault("c", x * 3)
    value = table.pop("b")
    return value + table.get("d", x) + sum(table.values()) + len(list(table.keys()))


@case("tuples, sets, strings")
def tuples_sets_strings(x):
    parts = "scale:3".split(":")
    return x * int(parts[1]) * len({1, 2}) + (1, 2, 3).index(2) + "ab".upper().count("A")


@case("a structure as the result", gradient=False)
def structures(x):
    return x * 2, [x + 1, {"a": x}], 3, None, "text"


@case("named tuples")
def named_tuples(x):
    pair = Pair(left=x, right=x * 2)
    return pair.left * pair.right


@case("dataclasses")
def dataclasses_(x):
    config = Config(scale=3.0)
    return x * config.scale + config.shift


@case("enums")
def enums(x):
    kind = Kind.SQUARE
    return x * x if kind is Kind.SQUARE else x


@case("classes with `jit_class`")
def user_classes(x):
    return Scale(3.0).apply(x)


@case("NumPy arrays and functions of Python on known values")
def numpy_constants(x):
    return x * Tensor(TABLE) + math.sqrt(16.0) + float(np.sum(TABLE))


@case("types, dtypes, modules")
def types_and_modules(x):
    return ops.cast(x, ms.float32) * (2 if x.dtype == ms.float32 and isinstance(x, Tensor) else 3)


@case("f-strings, `%` and `format`")
def strings(x):
    return x * len(f"{x.ndim:>3}") + len("%d" % 12) + len("{}".format(1.5))  # noqa: UP031, UP032


@case("`isinstance`, `len`, `hasattr`, `getattr`, `type`")
def builtins_of_objects(x):
    if isinstance(x, Tensor) and hasattr(x, "shape") and not isinstance(3, str):
        x = x * len(x) * getattr(x, "ndim")  # noqa: B009
    return x


@case("`sum`, `min`, `max`, `abs`, `round`, `pow`, `any`, `all`")
def builtins_of_numbers(x):
    y = sum([x, x * 2], x) + max(2, 3) * min(4, 5) + abs(x) + round(2.6) + pow(x, 2)
    return y if any([True, x.sum() > 0]) and all((1, 2)) else x


@case("numbers that a tensor gives, of 64 bits in a graph: an `int` beyond these wraps round", two)
def numbers_of_tensors(x, y):
    n = int(y.max())
    return x * n + float(x.sum())


@case("values of different types that a tensor chooses, returned", gradient=False)
def returns_of_two_types(x):
    if x.sum() > 100:
        return None
    if x.sum() > 0:
        return x, "up"
    return {"down": x}


# ---- Expressions --------------------------------------------------------------------------------------------------------
case = section("Expressions")


@case("arithmetic operators", two)
def arithmetic(x, y):
    return (x + y) * 2 - x / y + x**2 + -x // 2 + x % 3 + (7 // 2) + (2 << 1)


@case("comparison of tensors", two, gradient=False)
def comparisons(x, y):
    return (x > y) & (x <= 3) | (x == y) ^ ~(x != 0)


@case("comprehensions and generator expressions")
def comprehensions(x):
    rows = [x * i for i in range(4) if i % 2]
    table = {k: v for k, v in zip("ab", rows)}  # noqa: C416
    return sum(r + 1 for r in rows) + table["a"] * len({i % 2 for i in range(4)})


@case("unpacking in calls and displays")
def unpacking(x):
    items = [*(x, x * 2), x * 3]
    return ops.addn([*items]) + dict(**{"a": 1.0})["a"]  # noqa: PIE804


@case("matrix product", matrix)
def matrix_product(x):
    return x @ x.T


# ---- Indexing -----------------------------------------------------------------------------------------------------------
case = section("Indexing")


@case("integers, slices, steps, `...`, `None`", matrix)
def basic_indices(x):
    return x[1] + x[0, ::-1] + x[..., 1:3].sum() + x[None, :, 0].sum() + x[-1, -2]


@case("negative steps", matrix)
def negative_steps(x):
    return x[::-1, ::-2]


@case("lists, arrays, tensors of positions", matrix)
def position_arrays(x):
    return x[[0, 2]] + x[Tensor([1, 1])] + x[np.array([2, 0])]


@case("positions on several axes", matrix)
def paired_positions(x):
    return x[[0, 1, 2], [3, 0, 1]] + x[Tensor([[0], [2], [1]]), [0]].sum()


@case("a tensor that is an argument", indexed)
def tensor_index(x, n):
    return x[n] * x + x[n : n + 1].sum() if x.ndim == 2 else x[n] * x


@case("masks", matrix, gradient=False, lines="the size of the result depends on values")
def masks(x):
    return x[x > 0]


@case(
    "slices up to a tensor", indexed, gradient=False, lines="the size of the result depends on `n`"
)
def slices_of_tensors(x, n):
    return x[:n] * 2


@case("assignment by slice, mask, positions", matrix)
def index_assignment(x):
    y = x * 1
    y[0] = 1.0
    y[1:, ::2] = y[1:, ::2] * 2
    y[y > 3] = 0.5
    y[[0, 1], [1, 2]] = -1.0
    y[..., -1] += 2
    return y


@case("a list by a tensor", indexed)
def list_by_tensor(x, n):
    return [x, x * 2, x * 3][n]


# ---- Mixed --------------------------------------------------------------------------------------------------------------
case = section("Lines that run eagerly")


@case("a call into NumPy", gradient=False, lines="NumPy needs the values of `y`")
def call_into_numpy(x):
    y = ops.relu(x) * 2
    z = Tensor(np.sort(y.asnumpy()))
    return z + x


@case("a number taken out of a tensor", gradient=False, lines="`item()` is a number of Python")
def call_of_item(x):
    scale = x.max().item()
    return x * scale
