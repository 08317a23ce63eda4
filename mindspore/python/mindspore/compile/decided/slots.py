"""What a loop of the graph carries from round to round: variables, items of lists and dicts, attributes, tensors that change in place,
and Parameters. What must be carried, and with which types, the rounds show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.decided.carried import (
    bound,
    difference,
    matches,
    passed,
    require_apart,
    widen,
)
from mindspore.compile.decided.exits import OURS, VALUE
from mindspore.compile.decided.heap import Heap
from mindspore.compile.decided.inner import Assigned
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.structure import (
    is_container,
    leaves_of,
    replace_leaves,
    same_contents,
)
from mindspore.compile.values.values import NUMBERS, Undefined, is_weak, placeholder

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame

_MISSING = object()


class Slot:
    """A place whose value is carried: an item of a dict (of variables, say) or list."""

    def __init__(self, container: Any, key: Any, start: Any):
        self.container, self.key, self.start = container, key, start
        self.origins: frozenset[int] = frozenset()  # what its tensors may be; see aliases.py


class Slots:
    """The slots of a loop of a frame, at first those of the `names` that hold tensors; and the Parameters that it assigns."""

    def __init__(self, frame: Frame, names: Iterable[str]):
        self.frame, self.tracer, self.trace = frame, frame.tracer, frame.tracer.trace
        self.place = self.tracer.place_text(frame)
        self.heap = Heap(self.tracer, [f for f, _ in self.tracer.places] + [frame])
        self.holders = _holders(self.heap)
        self.changes = 0  # in place, before the round
        self.slots: dict[tuple, Slot] = {}
        for name in sorted(names):
            start = frame.env.get(name, _MISSING)
            if start is not _MISSING and not isinstance(start, Undefined):
                if not is_container(start) and (leaves_of(start) or name.startswith(OURS)):
                    self._add(frame.env, name, start)
        self.assigned = Assigned(self.trace)
        self.state: dict[str, Any] = {"exit": 0}  # of the loop itself: how it was left
        self._add(self.state, "exit", Tensor(0, _core.int64))

    def _add(self, container: Any, key: Any, start: Any) -> None:
        slot = self.slots[id(container), key] = Slot(container, key, start)
        if container is not self.tracer.cells:
            slot.origins = self.tracer.aliases.held_by_others(leaves_of(start), self.holders)

    def _bound(self, slot: Slot, tensors: Any) -> Any:
        """What a slot holds in the loop or after it: its own object no more, and perhaps one that others hold."""
        value = bound(slot.start, tensors)
        if slot.origins:
            for leaf in leaves_of(value):
                self.tracer.aliases.note_ids(leaf, slot.origins)
        return value

    def value(self, tensor: Tensor) -> Tensor:
        """What a tensor stands for now: later changes in place, or of a Parameter, are not meant."""
        if isinstance(tensor, _late.parameter_class):
            return self.trace.lift(tensor)
        return _core.alias(tensor)

    # ---- their tensors --------------------------------------------------------------------------------------------------
    def initial(self) -> list[Tensor]:
        """What goes into the first round."""
        self.changes = self.tracer.aliases.changes
        starts = [self.value(t) for s in self.slots.values() for t in leaves_of(s.start)]
        return starts + self.assigned.values()

    def bind(self, inputs: list) -> None:
        """Inside, variables and Parameters are what the loop carries."""
        items = map(_core.alias, inputs)  # objects that nobody else holds: see Aliases._is_held
        for slot in self.slots.values():
            slot.container[slot.key] = self._bound(slot, items)
        self.assigned.put(items)

    def now(self) -> list[Tensor]:
        """What the slots hold, with their types."""
        tensors: list[Tensor] = []
        for slot in self.slots.values():
            tensors += passed(self.trace, slot.start, slot.container[slot.key])
        return tensors + self.assigned.values()

    def put(self, outputs: list) -> None:
        """After the loop, they hold what it gave."""
        items = iter(outputs)
        values = [(slot, self._bound(slot, items)) for slot in self.slots.values()]
        self.assigned.put(items)
        for slot, value in values:
            slot.container[slot.key] = value

    # ---- what must be carried -------------------------------------------------------------------------------------------
    def lacking(self, changed: list, loop: Any) -> list[Callable[[], None]]:
        """What to do, outside of the loop, before the next attempt; nothing when all is carried that a round of it changed, of
        Parameters these."""
        todo: list[Callable[[], None]] = []
        new = self.assigned.others(changed)
        if new:
            todo.append(lambda: self.assigned.parameters.extend(new))
        for container, before in list(self.heap.before.values()):
            if container is self.tracer.cells:
                self._compare_tensors(container, before, loop, todo)
            elif not same_contents(before, container):
                self._compare_contents(container, before, todo)
        for slot in self.slots.values():
            self._compare_slot(slot, todo)
        if self._is_held_by_more(loop) and not todo:
            todo.append(lambda: None)
        return todo

    def _is_held_by_more(self, loop: Any) -> bool:
        """Notes which objects of others a round leaves in the slots; whether that may change what was parsed."""
        aliases = self.tracer.aliases
        others = (id(self.tracer.cells), id(self.state))
        slots = [s for s in self.slots.values() if id(s.container) not in others]
        leaves = [[v for v in leaves_of(s.container[s.key]) if not is_weak(v)] for s in slots]
        outer = aliases.older_or_shared(leaves, lambda v: self._is_older(v, loop))
        grown = any(not keys <= slot.origins for slot, keys in zip(slots, outer))
        for slot, keys in zip(slots, outer):
            slot.origins |= keys
        return grown and aliases.changes > self.changes

    def _is_older(self, value: Any, loop: Any) -> bool:
        """Whether a tensor was there before the round, as far as one can tell."""
        if value is None or self.trace.made_in(loop, value):
            return value is None
        if value.is_symbolic or isinstance(value, _late.parameter_class):
            return True
        return id(value) in self.holders or id(value) in self.tracer.lifted

    def _compare_tensors(self, cells: Any, before: dict, loop: Any, todo: list) -> None:
        """Tensors of before the loop that its body changes in place."""
        for key, value in cells.items():
            start = before.get(key, cells.original(key))
            if start is value or (id(cells), key) in self.slots or self.trace.made_in(loop, start):
                continue
            todo.append(lambda k=key, s=start: self._add(cells, k, s))

    def _compare_contents(self, container: Any, before: Any, todo: list) -> None:
        variables = self._is_environment(container)
        if not variables and (isinstance(container, set) or len(before) != len(container)):
            raise Unsupported(
                f"a {type(container).__name__} that was made before a loop that a tensor decides must keep its length in it"
            )
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in items:
            start = before.get(key, _MISSING) if isinstance(before, dict) else before[key]
            if start is value or (id(container), key) in self.slots:
                continue
            if start is _MISSING and not variables:
                raise Unsupported("a dict or object gets new keys in a loop that a tensor decides")
            if start is _MISSING or isinstance(start, Undefined):
                self._add_late(container, key, value, todo)
            else:
                todo.append(lambda c=container, k=key, s=start: self._add(c, k, s))

    def _is_environment(self, container: Any) -> bool:
        frames = [*(f for f, _ in self.tracer.places), self.frame]
        return any(scope.env is container for frame in frames for scope in frame.outward())

    def _add_late(self, container: Any, name: Any, value: Any, todo: list) -> None:
        """A variable that the loop assigns first. Before, it is undefined; what returns holds zeros that nobody reads."""
        if isinstance(value, Undefined):
            return
        if name == VALUE:

            def add() -> None:
                start = replace_leaves(value, lambda t: placeholder(self.trace, t))
                self._add(container, name, start)

            todo.append(add)
        elif leaves_of(value) or isinstance(value, (*NUMBERS, str, type(None))):
            reason = f"it is first assigned inside a loop that a tensor decides{self.place}"
            todo.append(lambda: self._add(container, name, Undefined(reason)))

    def _compare_slot(self, slot: Slot, todo: list) -> None:
        if slot.container is self.state:
            return
        value = slot.container[slot.key]
        require_apart(value)
        if matches(slot.start, value):
            return

        def grow() -> None:
            slot.start = widen(
                self.trace, slot.start, value, lambda a, b: self._refuse(slot.key, a, b)
            )

        todo.append(grow)

    def _refuse(self, name: Any, start: Any, value: Any) -> None:
        name = "the returned value" if name == VALUE else f"the variable '{name}'"
        raise Unsupported(
            f"{name} of a loop that a tensor decides must keep its type, but it is {difference(start, value)} a round; "
            "make it a tensor of one shape and dtype before the loop"
        )


def _holders(heap: Heap) -> Counter:
    """How many variables and items hold each tensor, by id."""
    contents = (c.values() if isinstance(c, dict) else c for _, c in heap.before.values())
    return Counter(id(leaf) for items in contents for item in items for leaf in leaves_of(item))
