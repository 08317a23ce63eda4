"""Where a device has too little memory for any plan, blocks of the network are computed again in the backward pass, as `Cell.recompute`
has it: as few as will do, the first ones. Only planning tells how few, so it is planned, and not compiled, for several counts."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mindspore import _core
from mindspore.compile.values.compilable import WHOLE
from mindspore.compile.versions.attempt import Asked, Attempt
from mindspore.compile.walk.tracer import Tracer

# What every refusal of the core says for which a device has too little memory (passes/parallel/search.cc): its kind has other causes.
_LACK = "the memory limit must be at least"


class Planned(BaseException):
    """Leaves a compilation with what was planned."""

    plan: dict[str, Any]


class PlanningAttempt(Attempt):
    """One that ends where the graph would be compiled."""

    def _compiled(self) -> Any:
        assert self.asked.planning is not None
        done = Planned()
        with self.asked.planning.told(self.parameters()):
            done.plan = _core.plan(self.tracer.trace)
        raise done

    def _fail(self, located: Any) -> Any:
        raise located  # nothing is to be done before


def lacks_memory(error: ValueError) -> bool:
    """Whether no plan fits what a device may hold."""
    return _LACK in str(error)


def with_blocks(
    asked: Asked, cells: list, error: ValueError, tracer: Callable[[], Tracer], make: Callable
) -> Any:
    """What `make` makes while so many of the cells that were called are computed again that a plan fits. Where none does, the error
    of the lightest: `error`, where nothing can be computed again. Those cells stay as they are then, unless it was only planned."""
    assert asked.planning is not None
    blocks = blocks_of(cells)
    lack = _lack(asked, blocks, tracer) if blocks else error
    if lack is not None:
        raise lack
    least, most = 0, len(blocks)
    while most - least > 1:
        middle = (least + most) // 2
        if _lack(asked, blocks[:middle], tracer) is None:
            most = middle
        else:
            least = middle
    asked.planning.again = most, len(blocks)
    with _computed_again(blocks[:most]):
        return make()


def _lack(asked: Asked, blocks: Sequence[Any], tracer: Callable[[], Tracer]) -> ValueError | None:
    """The error of a plan by which these are computed again; None: it fits."""
    try:
        with _computed_again(blocks):
            PlanningAttempt(asked, tracer()).run()
    except Planned:
        return None
    except ValueError as error:
        if lacks_memory(error):
            return error
        raise
    raise AssertionError("what is planned ends with an exception")


@contextlib.contextmanager
def _computed_again(cells: Sequence[Any]) -> Iterator[None]:
    """Cells are computed again, and stay so where what is done inside ends; an exception, as `Planned` is, undoes it."""
    _mark(cells, {})
    try:
        yield
    except BaseException:
        _mark(cells, None)
        raise


def _mark(cells: Sequence[Any], value: dict | None) -> None:
    for cell in cells:
        cell._set_option("_recompute", value)
        cell._update_special()


def blocks_of(called: list) -> list:
    """Of cells that were called, those to compute again, none inside another: the outermost that are made of cells and of a class of
    which there are several; else the innermost that are made of cells; else layers."""
    cells = _parts(called)
    made = [cell for cell in cells if any(_has_parameters(c) for c in cell.cells())]
    made = [cell for cell in made if not _holds_blocks(cell, made)]
    kinds = Counter(map(type, made))
    repeated = [cell for cell in made if kinds[type(cell)] > 1]
    blocks = _outermost(repeated) or _innermost(made) or _innermost(cells)
    return [cell for cell in blocks if cell._recompute is None]


def _parts(called: list) -> list:
    """Of cells that were called, each once, those that have some of what is trained: not the network, of which nothing is saved if
    all is computed again, nor an optimizer, nor a loss."""
    updates = {
        id(part) for cell in called if WHOLE in vars(cell) for part in (cell, *_inside(cell))
    }
    cells = list({id(cell): cell for cell in called if id(cell) not in updates}.values())
    trained = {
        id(p) for cell in cells for p in cell.get_parameters(expand=False) if p.requires_grad
    }
    return [
        cell
        for cell in cells
        if _has_parameters(cell) and not trained <= set(map(id, cell.get_parameters()))
    ]


def _holds_blocks(cell: Any, made: list) -> bool:
    """Whether a cell is a list, as a SequentialCell, with cells made of cells inside, or has others of its own class inside."""
    inside = set(map(id, _inside(cell)))
    found = [c for c in made if id(c) in inside]
    is_list = all(name.isdigit() for name in cell.name_cells())
    return any(is_list or type(c) is type(cell) for c in found)


def _outermost(cells: list) -> list:
    inside = {id(part) for cell in cells for part in _inside(cell)}
    return [cell for cell in cells if id(cell) not in inside]


def _innermost(cells: list) -> list:
    known = set(map(id, cells))
    return [cell for cell in cells if known.isdisjoint(map(id, _inside(cell)))]


def _inside(cell: Any) -> list:
    return [part for _, part in cell.cells_and_names() if part is not cell]


def _has_parameters(cell: Any) -> bool:
    return next(cell.get_parameters(), None) is not None
