"""Tensors that may be one object in eager code, where a tensor decides. In the graph such a tensor is a value of its own: after
`y = x if c else z` it is neither `x` nor `z`. That makes no difference until one of them changes in place: then the other one
would have to change with it, and the call runs eagerly instead."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import serves
from mindspore.compile.program.errors import Inseparable

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

_NONE: frozenset[int] = frozenset()


class Aliases:
    """For values that came out of branches, loops and calls of graphs, the objects that they may be, by id."""

    def __init__(self, tracer: Tracer):
        self.tracer = tracer
        self.origins: dict[int, frozenset[int]] = {}  # of a value: ids of objects
        self.members: dict[int, set[int]] = {}  # of an object: ids of values that it may be
        self.objects: dict[int, Any] = {}  # both, kept alive so that ids stay theirs
        self.changes = 0  # how often a change was asked for
        self.rows = 0  # tensors at places that a tensor counts

    def of(self, value: Any) -> frozenset[int]:
        """The ids of all objects that a value may be, itself included, and of the memory that it may share."""
        own = {id(value)}
        if isinstance(value, Tensor):
            sharing = _core.sharing(value)
            if len(sharing) > 1:
                memory = _core.sharing_id(value)
                own.add(memory)
                self.objects.update((id(t), t) for t in sharing)
                self.members.setdefault(memory, set()).update(map(id, sharing))
        return self.origins.get(id(value), _NONE) | own

    def note(self, value: Any, others: Iterable[Any]) -> Any:
        """`value` may be one of the others; the value."""
        found: set[int] = set()
        for other in others:
            if other is not value:
                self.objects[id(other)] = other
                found |= self.of(other)
        return self.note_ids(value, found)

    def note_row(self, row: Any, owner: Tensor) -> Any:
        """`row` would be a view of elements of `owner`, if it were known of which; the row."""
        self.rows += 1
        for tensor in (row, owner):  # a change of either, the other would have to see
            self.note_ids(tensor, (-self.rows,))  # of no object: it links the two
        return row

    def note_ids(self, value: Any, ids: Iterable[int]) -> Any:
        """As `note`, for ids that `of` gave."""
        more = frozenset(ids) - self.of(value)
        if more:
            self.objects[id(value)] = value
            self.origins[id(value)] = self.origins.get(id(value), _NONE) | more
            for key in more:
                self.members.setdefault(key, set()).add(id(value))
        return value

    def older_or_shared(
        self, groups: list[Any], is_older: Callable[[Any], bool]
    ) -> list[frozenset[int]]:
        """For each group of values the ids of objects that they may be, if those are older, or others of the groups may be them
        too."""
        found = [frozenset[int]().union(*map(self.of, values)) for values in groups]
        often = Counter(key for keys in found for key in keys)
        new = {id(v): v for values in groups for v in values}
        # None: memory, which links values.
        known = {k: self.objects.get(k, new.get(k)) for k in often}
        chosen = [
            frozenset(k for k in keys if often[k] > 1 or is_older(known[k])) for keys in found
        ]
        self.objects.update((k, known[k]) for keys in chosen for k in keys)
        return chosen

    def note_joined(self, joined: list[tuple[Any, tuple]]) -> None:
        """Of each value, and what it is on the ways that meet."""
        ids = self.older_or_shared([ways for _, ways in joined], self._is_here)
        for (value, _), keys in zip(joined, ids):
            self.note_ids(value, keys)

    @serves
    def check_change(self, tensor: Any) -> None:
        """Refuses a change in place that others would have to see, or not, as a tensor decides."""
        self.changes += 1
        if not self.origins:
            return
        mine = self.of(tensor)
        others = set(mine)
        for key in mine:
            others |= self.members.get(key, _NONE)
        others -= {id(t) for t in _core.sharing(tensor)}  # these follow
        if any(self._is_held(self.objects.get(key)) for key in others):
            raise Inseparable("a tensor decides which tensors a change in place is seen in")

    def check_attribute(self, tensor: Any, name: str) -> None:
        """Refuses what Parameters have of their own, of a tensor that may be one."""
        if self.may_be_parameter(tensor) and name in vars(_late.parameter_class):
            raise Inseparable(
                f"a tensor decides whether this is a Parameter, which has a '{name}' of its own"
            )

    def may_be_parameter(self, tensor: Any) -> bool:
        """Whether a tensor decides that a value is a Parameter."""
        return any(
            isinstance(self.objects.get(key), _late.parameter_class)
            for key in self.origins.get(id(tensor), _NONE)
        )

    def held_by_others(self, values: list, holders: Mapping[int, int]) -> frozenset[int]:
        """The objects that values may be, but for those that one variable alone holds, which will hold something else."""
        found: set[int] = set()
        for value in values:
            keys = set(self.of(value))
            if holders.get(id(value), 0) <= 1 and not self._is_outside(value):
                keys.discard(id(value))
            else:
                self.objects[id(value)] = value
            found |= keys
        return frozenset(found)

    def _is_here(self, value: Any) -> bool:
        """Whether others can hold an object where the trace now stands."""
        if not isinstance(value, Tensor):
            return True
        return isinstance(value, _late.parameter_class) or self.tracer.trace.sees(value)

    def _is_outside(self, value: Any) -> bool:
        """Whether a tensor was there before the call under compilation."""
        tracer = self.tracer
        read = isinstance(value, _late.parameter_class) or id(value) in tracer.lifted
        return read or tracer.is_argument(value)

    def _is_held(self, value: Any) -> bool:
        """Whether the program may still use an object."""
        if not isinstance(value, Tensor):
            return False  # a mark, which only links values
        if self._is_outside(value):
            return True
        return self.tracer.trace.sees(value) and sys.getrefcount(value) > _OURS


def _count(held: dict[int, Any]) -> int:
    """References to an object that only `objects` holds, as `_is_held` sees it."""

    def look(value: Any) -> int:
        return sys.getrefcount(value)

    return max(look(held.get(key)) for key in held)


_OURS = _count({0: Tensor(0)})
