"""Generators in a function under compilation: a call under way whose statement stack stands still between two items. They advance as
Python's do, item by item, and other iterators with them, except where a tensor decides whether they do: their state is not one
that branches could join."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.compile.decided.recursion import Recursion
from mindspore.compile.program.borders import compiler_work, of_compiler, program_error
from mindspore.compile.program.errors import Unsupported, is_located, locate
from mindspore.compile.program.marks import mark
from mindspore.compile.program.source import own_nodes
from mindspore.compile.values.structure import Structure, register

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame
    from mindspore.compile.walk.tracer import Tracer

_OUTSIDE = (-1, -1)
_MAX_TAKEN = 100_000


class Iterators(Recursion):
    """A storey of Tracer. `iterators`: where each iterator was made, by id."""

    iterators: dict[int, tuple]
    lazily: bool = True  # items are made when their turn comes

    def position(self) -> tuple:
        """Where the program is, as far as tensors have decided."""
        return (self.arms, self.trace.depth)

    def note_iterator(self, value: Any) -> Any:
        """Remembers where a new iterator was made."""
        if isinstance(value, Iterator):
            self.iterators[id(value)] = self.position()
            self.keep.append(value)
        return value

    def taken(self, items: Iterator) -> Any:
        """The items of a generator expression, map or filter: one by one, or at once where nothing can tell."""
        lazy = Lazy(items, [], quiet=False)
        return self.note_iterator(lazy if self.lazily else iter([*lazy]))

    def note_outside(self, value: Any) -> None:
        """Remembers an iterator that was made before: what a run takes of it is gone for the next one."""
        self.iterators.setdefault(id(value), _OUTSIDE)

    def check_iterator(self, value: Any) -> None:
        """Before an iterator goes on: each run must do it, and no branch alone."""
        home = self.iterators.get(id(value))
        if home is None:  # library code made it
            self.note_iterator(value)
            return
        if home == _OUTSIDE:
            raise Unsupported("an iterator that was made outside of the compiled function goes on")
        if home != self.position():
            raise Unsupported("a tensor decides whether an iterator goes on")


class Yielded:
    """The signal that a generator gave an item."""

    def __init__(self, value: Any):
        self.value = value


class UnderWay:
    """`with UnderWay(tracer, frame):` a call is. An error that leaves it shows where it came from."""

    def __init__(self, tracer: Tracer, frame: Frame):
        self.tracer, self.frame, self.caller = tracer, frame, tracer.trace.span

    def __enter__(self) -> None:
        self.tracer.places.append((self.frame, self.caller))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        tracer = self.tracer
        try:
            if isinstance(error, Exception) and not is_located(error):
                located: Any = locate(of_compiler(error), tracer.error_places(error))
                mark(located, "_ms_nested", tracer.trace.depth > 0)
                raise located from error.__cause__
        finally:
            tracer.places.pop()
            tracer.trace.span = self.caller


class Generator:
    """A call of a generator function."""

    def __init__(self, tracer: Tracer, frame: Frame, node: Any):
        self.tracer, self.frame, self.node = tracer, frame, node
        self.sources = [self]
        frame.body = node
        self.begun = self.running = self.ended = False
        tracer.note_iterator(self)

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> Any:
        if self.running:
            raise program_error(ValueError, "generator already executing")
        if self.ended:
            raise StopIteration
        self.running = True
        try:
            with compiler_work:
                self.tracer.check_iterator(self)
                signal = self._advance()
        finally:
            self.running = False
        if isinstance(signal, Yielded):
            return signal.value
        self.ended = True
        raise StopIteration(None if signal is None else signal.value)

    def _refuse(self, *args: Any) -> Any:
        raise Unsupported("a generator that is told more than to go on cannot be compiled")

    send = throw = close = _refuse

    def _advance(self) -> Any:
        if not self.begun:
            self.frame.stack.append(("block", self.node.body, 0))
        self.begun = True
        try:
            with UnderWay(self.tracer, self.frame):
                return self.frame.run(0)
        except Exception:
            self.ended = True
            raise


register(Generator, Structure(sample=lambda _: (item for item in range(0))))


def is_generator(node: ast.AST) -> bool:
    """Whether a function's body yields."""
    known = getattr(node, "_ms_yields", None)
    if known is None:
        known = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(node))
        node._ms_yields = known  # type: ignore[attr-defined]
    return known


class Lazy:
    """Of zip and enumerate of generators, generator expressions, map and filter: the items, which must end, and the generators that
    are advanced. `quiet`: nothing else is to be seen of when the items are made."""

    def __init__(self, items: Iterator, sources: list[Generator], quiet: bool = True):
        self.items, self.sources, self.quiet = items, sources, quiet
        self.left = _MAX_TAKEN

    def __iter__(self) -> Lazy:
        return self

    def __next__(self) -> Any:
        with compiler_work:
            item = next(self.items)
        if not self.left:
            raise Unsupported(f"more than {_MAX_TAKEN} items are taken")
        self.left -= 1
        return item


class Rows:
    """The items of a tensor, or of zip and enumerate of some: each is read when its turn comes, since a loop over them may change the
    tensors in place."""

    def __init__(self, at: Callable[[int], Any], count: int):
        self._at, self._count, self.taken = at, count, 0

    def __len__(self) -> int:
        return self._count

    def has(self, index: int) -> bool:
        """Whether there is such an item."""
        return index < self._count

    def __getitem__(self, index: int) -> Any:
        return self._at(index)

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Any:
        if self.taken >= self._count:
            raise StopIteration
        self.taken += 1
        return self._at(self.taken - 1)


def rows_of(value: Any) -> Rows | None:
    """The items of a tensor, or of what is made of some."""
    if isinstance(value, Tensor) and value.ndim and isinstance(value.shape[0], int):
        return Rows(lambda i: value[i], value.shape[0])
    return value if isinstance(value, Rows) and not value.taken else None


def zipped(parts: list) -> Rows | None:
    """zip of parts, of which one at least is a tensor."""
    if not any(isinstance(p, (Tensor, Rows)) for p in parts):
        return None
    rows: list[Any] = [p if isinstance(p, (tuple, range)) else rows_of(p) for p in parts]
    if any(r is None for r in rows):
        return None
    return Rows(lambda i: tuple([r[i] for r in rows]), min(map(len, rows)))


def lazily(tracer: Tracer, items: Iterator, of: list) -> Any:
    """An iterator over some others, which a loop goes along with where there are generators among these."""
    inner = [v for v in of if isinstance(v, (Generator, Lazy))]
    quiet = all(v.quiet for v in inner if isinstance(v, Lazy))
    sources = [g for v in inner for g in v.sources]
    return tracer.note_iterator(Lazy(items, sources, quiet) if inner else items)
