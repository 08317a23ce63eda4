"""Tensors that the program changes in place. A tensor in the graph is a value, but `x[0] = 1` is seen by all who hold `x`: in
eager code they hold one object, and here they do too. The object is given another value; where a branch or loop is decided by
a tensor, these values are part of the state that arms start from and that is joined after them (see heap.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.program.errors import Unsupported

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


class Mark(NamedTuple):
    """What there was of them at one place of the program."""

    values: dict[int, Tensor]
    made: int

    def is_made_after(self, tensor: tuple[Tensor, int] | None) -> bool:
        """Whether one of the known tensors that the program made came later."""
        return tensor is not None and tensor[1] >= self.made


class TensorCells(dict):
    """The current values of tensors that were changed, by id of the tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.originals: dict[int, tuple[Tensor, Tensor]] = {}  # the tensor, and its first value
        # Known tensors that the program made of none (`ops.zeros(3)`), and how many there were before each.
        self.made: dict[int, tuple[Tensor, int]] = {}

    def note_made(self, tensor: Tensor) -> None:
        """The program made a tensor of which nobody else knows."""
        self.made.setdefault(id(tensor), (tensor, len(self.made)))

    def mark(self) -> Mark:
        """What there is now."""
        return Mark(dict(self), len(self.made))

    def change(self, tensor: Tensor, value: Tensor) -> None:
        """`tensor` stands for `value` from here on."""
        self.originals.setdefault(id(tensor), (tensor, _core.alias(tensor)))
        self[id(tensor)] = _core.alias(value)

    def original(self, key: int) -> Tensor:
        """What a tensor stood for before it was changed."""
        return self.originals[key][1]

    def current(self, tensors: list[Tensor]) -> dict[int, Tensor]:
        """The new values of those that were changed, by position."""
        return {i: self[id(t)] for i, t in enumerate(tensors) if id(t) in self}

    def __setitem__(self, key: int, value: Tensor) -> None:
        super().__setitem__(key, value)
        _core.rebind(self.originals[key][0], value)

    def update(self, other: dict) -> None:  # type: ignore[override]
        """Several at once."""
        for key, value in other.items():
            self[key] = value

    def clear(self) -> None:
        """All as they were at first."""
        for key in self:
            _core.rebind(*self.originals[key])
        super().clear()


def refuse_changes(tracer: Tracer, graph: Any, before: Mark, what: str) -> None:
    """Where a graph is a function of its own: it must not change tensors that were made outside of it."""
    cells = tracer.cells
    for key, value in cells.items():
        if before.values.get(key) is value:
            continue
        base = _core.shows(cells.originals[key][0])
        if before.is_made_after(cells.made.get(key if base is None else id(base))):
            continue
        if not tracer.trace.made_in(graph, cells.original(key)):
            raise Unsupported(f"{what} changes a tensor in place that was made outside of it")
