"""The blocks of a network that may be computed again in the backward pass, as `Cell.recompute` has it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mindspore.compile.values.compilable import WHOLE


@contextlib.contextmanager
def computed_again(blocks: Sequence[Any]) -> Iterator[None]:
    """These are computed again, and stay so where what is done inside ends; an exception, as `Planned` is, undoes it."""
    _mark(blocks, {})
    try:
        yield
    except BaseException:
        _mark(blocks, None)
        raise


def _mark(cells: Sequence[Any], value: dict | None) -> None:
    for cell in cells:
        cell._set_option("_recompute", value)
        cell._update_special()


def blocks_of(called: list) -> list:
    """Of cells that were called, those to compute again, none inside another: the outermost that are made of cells and of a class of
    which there are several; else the innermost that are made of cells; else layers."""
    cells = _parts_of_network(called)
    made = [cell for cell in cells if any(_has_parameters(c) for c in cell.cells())]
    made = [cell for cell in made if not _holds_blocks(cell, made)]
    kinds = Counter(map(type, made))
    repeated = [cell for cell in made if kinds[type(cell)] > 1]
    blocks = _outermost(repeated) or _innermost(made) or _innermost(cells)
    return [cell for cell in blocks if cell._recompute is None]


def _parts_of_network(called: list) -> list:
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


__all__ = ["blocks_of", "computed_again"]
