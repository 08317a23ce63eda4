"""Where a device has too little memory for any plan, blocks of the network are computed again in the backward pass, as `Cell.recompute`
has it: as few as will do, the first ones. Only planning tells how few, so it is planned, and not compiled, for several counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore import _core
from mindspore.compile.versions.attempt import Asked, Attempt
from mindspore.compile.walk.tracer import Tracer


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
    return "the memory limit must be at least" in str(error)


def with_blocks(
    asked: Asked, cells: list, error: ValueError, tracer: Callable[[], Tracer], make: Callable
) -> Any:
    """What `make` makes while so many of the cells that were called are computed again that a plan fits; the error where none does.
    Those cells stay as they are then, unless it was only planned."""
    assert asked.planning is not None
    blocks = blocks_of(cells)
    least, most = 0, len(blocks)
    if not blocks or not _fits(asked, blocks, tracer):
        raise error
    while most - least > 1:
        middle = (least + most) // 2
        if _fits(asked, blocks[:middle], tracer):
            most = middle
        else:
            least = middle
    chosen = blocks[:most]
    asked.planning.again = len(chosen), len(blocks)
    _mark(chosen, {})
    try:
        return make()
    except BaseException:  # as Planned is
        _mark(chosen, None)
        raise


def _fits(asked: Asked, blocks: Sequence[Any], tracer: Callable[[], Tracer]) -> bool:
    _mark(blocks, {})
    try:
        PlanningAttempt(asked, tracer()).run()
    except Planned:
        return True
    except ValueError as error:
        if not lacks_memory(error):
            raise
    finally:
        _mark(blocks, None)
    return False


def _mark(cells: Sequence[Any], value: dict | None) -> None:
    for cell in cells:
        cell._set_option("_recompute", value)
        cell._update_special()


def blocks_of(called: list) -> list:
    """Of cells that were called, the outermost that stand beside others, made of cells themselves; layers, where there are none."""
    known = set(map(id, called))
    inner = {id(child) for cell in called for child in cell.cells()}
    level = list({id(cell): cell for cell in called if id(cell) not in inner}.values())
    last: list = []
    while level:
        found = [cell for cell in level if any(True for _ in cell.get_parameters())]
        blocks = [cell for cell in found if id(cell) in known and any(True for _ in cell.cells())]
        if len(blocks) > 1:
            return [cell for cell in blocks if cell._recompute is None]
        last = [cell for cell in found if id(cell) in known] or last
        level = [child for cell in found for child in cell.cells()]
    return [cell for cell in last if cell._recompute is None]
