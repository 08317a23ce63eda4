"""What was perhaps meant: a sentence that a message ends with where one change would make the program right. Each remedy reads
the message that its op's checks give, and says something only where what it proposes would fit."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from typing import NamedTuple


class Operand(NamedTuple):
    """A tensor among the operands of what failed."""

    name: str
    dtype: str
    shape: tuple[int, ...]


_OPERAND = re.compile(r"([\w.]+): (\w+)\[([\d, ]*)\]")


def operands_of(text: str) -> list[Operand]:
    """The tensors of `x: Float32[2, 3], self.w: Float32[3]`."""
    return [Operand(n, d, _sizes(s)) for n, d, s in _OPERAND.findall(text)]


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def remedy(message: str, values: str, function: str) -> str:
    """The sentence, or nothing. `values` names the operands; `function` is the innermost one, of a layer perhaps."""
    for pattern, rule in _RULES:
        found = pattern.search(message)
        if found is not None:
            return rule(found, operands_of(values), function)
    return ""


def _named(operands: list[Operand], shape: tuple[int, ...], at: int = 0, of: int = 1) -> str:
    """The name of the one operand with this shape, or nothing. Of several operands that the message tells of: of the one
    at this place, if they are all known."""
    named = list(dict.fromkeys(operands))
    if of > 1:
        named = [named[at]] if len(named) == of else []
    names = {o.name for o in named if o.shape == shape}
    return names.pop() if len(names) == 1 else ""


# ---- shapes -------------------------------------------------------------------------------------------------------------
def _inner_sizes(found: re.Match, operands: list[Operand], function: str) -> str:
    inner, x, y = int(found[1]), _sizes(found[3]), _sizes(found[4])
    if function.split(".")[0] == "Dense":
        return f"Did you mean in_channels={inner}?"
    if len(x) < 2 or len(y) < 2:
        return ""
    if inner == x[-1] == y[-1]:
        return f"Did you mean {_named(operands, y, 1, 2) or 'the second'}.T, or transpose_b=True?"
    if x[-2] == y[-2]:
        return f"Did you mean {_named(operands, x, 0, 2) or 'the first'}.T, or transpose_a=True?"
    return "Did you mean the operands in the other order?" if y[-1] == x[-2] else ""


def _broadcast(found: re.Match, operands: list[Operand], _: str) -> str:
    x, y = _sizes(found[1]), _sizes(found[2])
    short, long = sorted((x, y), key=len)
    if len(x) == len(y) == 2 and x == y[::-1]:
        return f"Did you mean {_named(operands, y, 1, 2) or 'the second'}.T?"
    if short and len(short) < len(long) and _fit(short, long[: len(short)]):
        axes = ", ".join([":"] * len(short) + ["None"] * (len(long) - len(short)))
        return f"Did you mean {_named(operands, short) or 'the shorter one'}[{axes}]?"
    return ""


def _fit(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(x, y))


def _reshape(found: re.Match, _: list[Operand], __: str) -> str:
    count, sizes = int(found[1]), list(_sizes(found[2]))
    for i in reversed(range(len(sizes))):
        rest = math.prod(sizes[:i] + sizes[i + 1 :])
        if rest > 0 and count % rest == 0:
            fitting = [*sizes[:i], -1, *sizes[i + 1 :]]
            return f"Did you mean ({', '.join(map(str, fitting))}{',' * (len(fitting) == 1)})?"
    return ""


def _concat(found: re.Match, _: list[Operand], __: str) -> str:
    axis, x, y = int(found[1]), _sizes(found[2]), _sizes(found[3])
    differing = [i for i, (a, b) in enumerate(zip(x, y)) if a != b]
    if len(x) == len(y) and len(differing) == 1 and differing[0] != axis:
        return f"Did you mean axis={differing[0]}?"
    return ""


def _channels(found: re.Match, operands: list[Operand], function: str) -> str:
    needed, given = _sizes(found[1]), _sizes(found[2])
    if len(needed) != 4 or len(given) != 4 or needed[1] == given[1]:
        return ""
    for operand in operands:
        if len(operand.shape) == 4 and operand.shape[-1] == given[1] and operand.shape != given:
            return f"Did you mean {operand.name}.transpose(0, 3, 1, 2), with the channels first?"
    return f"Did you mean in_channels={needed[1]}?" if function.startswith("Conv") else ""


def _batch(found: re.Match, operands: list[Operand], _: str) -> str:
    rank, shape = int(found[1]), _sizes(found[2])
    if len(shape) != rank - 1:
        return ""
    return f"Did you mean {_named(operands, shape) or 'it'}[None], a batch of one?"


def _labels(found: re.Match, _: list[Operand], __: str) -> str:
    logits, labels = _sizes(found[1]), _sizes(found[2])
    return "Did you mean sparse=True?" if labels == logits[:-1] else ""


# ---- dtypes -------------------------------------------------------------------------------------------------------------
def _converted(operands: list[Operand], given: str, target: str, it: str) -> str:
    """The one operand of a dtype as another one; `it`, where it is not known which that is."""
    names = {o.name for o in operands if o.dtype == given}
    return (
        f"Did you mean {names.pop() if len(names) == 1 else it}.astype(mindspore.{target.lower()})?"
    )


def _same_dtype(found: re.Match, operands: list[Operand], _: str) -> str:
    return _converted(operands, found[2], found[1], "the second")


def _one_of(found: re.Match, operands: list[Operand], _: str) -> str:
    allowed, given = found[1].split(", "), found[2]
    wanted = ("Float32", "Int32", "Int64", "Bool")
    target = next((t for t in wanted if t in allowed), None)
    return "" if target is None or given in allowed else _converted(operands, given, target, "it")


def _index_dtype(found: re.Match, operands: list[Operand], _: str) -> str:
    names = [o.name for o in operands[1:] if o.dtype == found[1]]
    return f"Did you mean {names[0] if names else 'it'}.astype(mindspore.int32)?"


# ---- names --------------------------------------------------------------------------------------------------------------
def _argument(found: re.Match, _: list[Operand], __: str) -> str:
    known = re.findall(r"(\w+)'?(?=[,)\]=:]|$)", found["known"])
    close = difflib.get_close_matches(found["given"], known, 1)
    return f"Did you mean '{close[0]}'?" if close else ""


_RULES: list[tuple[re.Pattern, Callable[[re.Match, list[Operand], str], str]]] = [
    (re.compile(pattern), rule)
    for pattern, rule in [
        (
            r"inner sizes must be equal, but got (\d+) and (\d+) from shapes \[([\d, ]*)\] and \[([\d, ]*)\]",
            _inner_sizes,
        ),
        (r"its inputs must broadcast, but got \[([\d, ]*)\] and \[([\d, ]*)\]", _broadcast),
        (
            r"the (\d+) elements of '\w+' with shape \[.*\] must fit 'shape', but got \(([-\d, ]*)\)",
            _reshape,
        ),
        (
            r"shapes must be equal except at axis (\d+), but got \[([\d, ]*)\] and \[([\d, ]*)\]",
            _concat,
        ),
        (r"the weight must have shape \[([\d, ]*)\] .*, but got \[([\d, ]*)\]", _channels),
        (r"the input must have (\d) dimensions, but got shape \[([\d, ]*)\]", _batch),
        (
            r"'logits' and 'labels' must have the same shape, but got \[([\d, ]*)\] and \[([\d, ]*)\]",
            _labels,
        ),
        (r"must have the same dtype, but got (\w+) and (\w+)", _same_dtype),
        (r"the dtype of '\w+' must be one of \[(.*)\], but got (\w+)", _one_of),
        (r"a tensor as an index must be of ints or bools, but got (\w+)", _index_dtype),
        (r"has no argument '(?P<given>\w+)'; it takes (?P<known>\[.*\])", _argument),
        (
            r"must be \w+(?P<known>\(.*\)), but got an unexpected argument '(?P<given>\w+)'",
            _argument,
        ),
        (r"unexpected keyword argument '(?P<given>\w+)'; it takes (?P<known>\(.*\))", _argument),
        (
            r"'variable' must be a Parameter",
            lambda *_: "Make it a Parameter of the cell: Parameter(value, name='...').",
        ),
        (
            r"unsupported operand type\(s\) for .*'NoneType'",
            lambda *_: "One of them is None: does a function miss its 'return'?",
        ),
    ]
]
