"""What the generator knows of a value: the dtype and shape of a tensor, whether a number is known while compiling, the items of
a container. Kinds are compared to decide whether a variable may be read after a branch."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int32", "int64")
_RANK = {"bool": 0, "int32": 1, "int64": 2, "float16": 3, "float32": 4, "float64": 5}
_idents = itertools.count(1)


@dataclass(frozen=True)
class T:
    """A tensor."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size


@dataclass(frozen=True)
class Num:
    """A Python number; `fixed`: no tensor decided it."""

    name: str  # int, float, bool
    fixed: bool = True


@dataclass(frozen=True)
class Text:
    """A Python string."""


@dataclass(frozen=True)
class Seq:
    """A tuple or list. Lists that are one object share `ident`, so that a change of one is seen in all its names."""

    name: str
    items: tuple
    ident: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Map:
    """A dict with known keys."""

    items: tuple[tuple[str, object], ...]
    ident: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Rec:
    """A record: `Pair`, a namedtuple, or `Item`, a dataclass whose fields may change."""

    name: str
    fields: tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Array:
    """A NumPy array."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Loose:
    """A list of numbers, whose items are not followed, or a container of such: `path` leads to what it holds. `ours`: compiled
    lines made it."""

    path: str = ""
    holds: object = None
    ours: bool = False


@dataclass(frozen=True)
class Fn:
    """A function of tensors; `keywords` may be left out."""

    params: tuple
    result: object
    keywords: tuple[tuple[str, object], ...] = ()


def fresh_ident() -> int:
    """A mark for a new mutable object."""
    return next(_idents)


def promotes_to(dtype: str) -> list[str]:
    """The dtypes that may meet `dtype` in an operation without changing it."""
    return [d for d in _RANK if _RANK[d] <= _RANK[dtype]]


def joined(a: object, b: object, by_tensor: bool) -> object:
    """The kind of a variable that holds either; None when it must not be read."""
    if isinstance(a, Num) and isinstance(b, Num) and a.name == b.name:
        return Num(a.name, a.fixed and b.fixed and not by_tensor)
    if isinstance(a, Fn) or isinstance(b, Fn):
        return None
    if isinstance(a, Seq) and isinstance(b, Seq) and a.name == b.name:
        if len(a.items) != len(b.items):
            return None
        items = tuple(joined(x, y, by_tensor) for x, y in zip(a.items, b.items))
        return None if None in items else Seq(a.name, items, a.ident if a.ident == b.ident else 0)
    if isinstance(a, Map) and isinstance(b, Map):
        if [k for k, _ in a.items] != [k for k, _ in b.items]:
            return None
        pairs = tuple((k, joined(x, y, by_tensor)) for (k, x), (_, y) in zip(a.items, b.items))
        return None if None in [v for _, v in pairs] else Map(pairs, a.ident)
    if isinstance(a, Rec) and isinstance(b, Rec) and a.name == b.name:
        fields = tuple((n, joined(x, y, by_tensor)) for (n, x), (_, y) in zip(a.fields, b.fields))
        return None if None in [k for _, k in fields] else Rec(a.name, fields)
    return a if a == b else None


def broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether a tensor of one shape can stand where another is meant."""
    if len(shape) > len(to):
        return False
    return all(a in (1, b) for a, b in zip(shape[::-1], to[::-1]))
