"""Loops over generators in a function under compilation: when the items are taken."""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING, Any

from mindspore.compile.program.borders import program_operation
from mindspore.compile.program.source import local_names, own_nodes, stored_names
from mindspore.compile.walk.generators import Generator
from mindspore.compile.walk.purity import body_only_computes, only_computes

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame

_AHEAD = 4096  # items that a loop may take before its first round


class Pulled:
    """The items of a loop over generators. Where neither sees what the other does, they are taken before the loop, so that a tensor
    may leave it; otherwise each when its turn comes."""

    def __init__(self, frame: Frame, items: Any, loop: ast.For, ahead: bool):
        self.tracer = frame.tracer
        self.source, self.ended = items, False
        self.items: list = []
        self.failure: Exception | None = None  # of the item after these
        if ahead and getattr(items, "quiet", True) and _are_apart(frame, loop, items.sources):
            with contextlib.suppress(Exception):  # it is raised when its turn comes
                while len(self.items) < _AHEAD and self.has(len(self.items)):
                    pass

    def has(self, index: int) -> bool:
        """Whether there is such an item."""
        while len(self.items) <= index and not self.ended:
            if self.failure is not None:
                raise self.failure
            try:
                self.tracer.check_iterator(self.source)
                with program_operation:
                    self.items.append(next(self.source))
            except StopIteration:
                self.ended = True
            except Exception as error:
                self.failure = error
                raise
        return index < len(self.items)

    def __getitem__(self, index: int) -> Any:
        return self.items[index]


def _are_apart(frame: Frame, loop: ast.For, sources: list[Generator]) -> bool:
    """Whether a loop and the generators that it goes along with can both only compute, of values that the loop does not assign."""
    stored = stored_names([loop.target, *loop.body])
    return body_only_computes(frame, loop, stored) and all(_is_quiet(g, stored) for g in sources)


def _is_quiet(generator: Generator, stored: set[str]) -> bool:
    nodes = list(own_nodes(generator.node))
    own = local_names(generator.node)
    others = {n.id for n in nodes if isinstance(n, ast.Name)} - own - set(generator.frame.env)
    if others & stored or any(isinstance(n, (ast.Raise, ast.Assert)) for n in nodes):
        return False
    return only_computes(generator.frame, nodes, own)
